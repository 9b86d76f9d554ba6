/**
 * The bytes of a file in pieces, from an offset on: as they are, or decompressed.
 *
 * Called by the reading of text. A piece is read when it is asked for; leaving the loop early releases everything but the
 * file, which is the caller's.
 */
import type { AppendableCompression, Platform, ReadableFile } from '../../platform/index.ts';

const PACKED_PIECE_BYTES = 64 * 1024;

/** How compressed files are recognised: by `.gz`, `.zst` and the like, or all of them are, or none. */
export type Compression = 'auto' | 'none' | AppendableCompression;

/** The compression of the file at `path`; undefined: none. */
export function compressionOf(path: string, compression: Compression): AppendableCompression | undefined {
  if (compression === 'none') return undefined;
  if (compression !== 'auto') return compression;
  if (/\.(gz|gzip)$/i.test(path)) return 'gzip';
  return /\.(zst|zstd)$/i.test(path) ? 'zstd' : undefined;
}

/** Bytes `from` to `until` of a file; `pieceBytes` says how many to read next. Ends early if the file does. */
export async function* plainPieces(
  file: ReadableFile,
  from: number,
  until: number,
  pieceBytes: (at: number) => number,
): AsyncGenerator<Uint8Array> {
  for (let at = from; at < until; ) {
    const piece = await file.read(at, Math.min(pieceBytes(at), until - at));
    if (piece.length === 0) return;
    at += piece.length;
    yield piece;
  }
}

/** A compressed file and what is heard of its reading. */
export interface PackedFile {
  readonly file: ReadableFile;
  readonly compression: AppendableCompression;
  /** Compressed bytes that were read. */
  onRead(sizeBytes: number): void;
}

/**
 * The bytes that a compressed file stands for, from `from` on. There is no way into the middle of a compressed file: what
 * is before `from` is decompressed and left out.
 */
export async function* unpackedPieces(
  platform: Platform,
  { file, compression, onRead }: PackedFile,
  from: number,
): AsyncGenerator<Uint8Array> {
  let read = 0;
  const next = async (): Promise<Uint8Array | undefined> => {
    const piece = await file.read(read, PACKED_PIECE_BYTES);
    read += piece.length;
    onRead(piece.length);
    return piece.length === 0 ? undefined : piece;
  };
  let toSkip = from;
  for await (const piece of platform.decompressPieces(compression, next)) {
    const skipped = Math.min(toSkip, piece.length);
    toSkip -= skipped;
    if (skipped < piece.length) yield piece.subarray(skipped);
  }
}
