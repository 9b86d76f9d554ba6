/**
 * Compression and decompression by `node:zlib`. What comes out of a decompression is bounded: damaged or hostile bytes must
 * not fill the memory.
 */
import { pipeline, Readable } from 'node:stream';
import {
  brotliDecompressSync,
  createGunzip,
  createZstdDecompress,
  gunzipSync,
  gzipSync,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib';
import { MillraceError } from '../../base/index.ts';
import type { AppendableCompression, CompressionFormat } from '../platform.ts';

const COMPRESSORS = {
  gzip: gzipSync,
  zstd: zstdCompressSync,
} as const satisfies Record<AppendableCompression, unknown>;

const DECOMPRESSORS = {
  gzip: gunzipSync,
  zstd: zstdDecompressSync,
  brotli: brotliDecompressSync,
} as const satisfies Record<CompressionFormat, unknown>;

/** One gzip member or zstd frame, at the format's default level. */
export function compress(format: AppendableCompression, bytes: Uint8Array): Uint8Array {
  const packed = COMPRESSORS[format](bytes);
  return new Uint8Array(packed.buffer as ArrayBuffer, packed.byteOffset, packed.length);
}

/** Throws DECOMPRESSION_FAILED if the bytes are damaged or stand for more than `sizeBytesMax`. */
export function decompress(format: CompressionFormat, bytes: Uint8Array, sizeBytesMax: number): Uint8Array {
  try {
    // zlib refuses a limit of zero.
    const plain = DECOMPRESSORS[format](bytes, { maxOutputLength: Math.max(1, sizeBytesMax) });
    if (plain.length > sizeBytesMax) throw new RangeError(`more than ${sizeBytesMax} bytes came out`);
    return new Uint8Array(plain.buffer as ArrayBuffer, plain.byteOffset, plain.length);
  } catch (cause) {
    throw failed(`${bytes.length} bytes of ${format}`, cause, { format, sizeBytesMax });
  }
}

const PIECE_BYTES = 256 * 1024;

const STREAMS = {
  gzip: () => createGunzip({ chunkSize: PIECE_BYTES }),
  zstd: () => createZstdDecompress({ chunkSize: PIECE_BYTES }),
} as const satisfies Record<AppendableCompression, unknown>;

/** What `next` rejects with is thrown as it is; DECOMPRESSION_FAILED is for the bytes. */
export async function* decompressPieces(
  format: AppendableCompression,
  next: () => Promise<Uint8Array | undefined>,
): AsyncGenerator<Uint8Array> {
  let readError: unknown;
  async function* packed(): AsyncGenerator<Uint8Array> {
    try {
      for (let piece = await next(); piece !== undefined; piece = await next()) yield piece;
    } catch (error) {
      readError = error;
      throw error;
    }
  }
  // Nothing is read ahead of what the decompressor asks for.
  const input = Readable.from(packed(), { objectMode: false, highWaterMark: 1 });
  const output = STREAMS[format]();
  // Errors arrive at the loop below; the pipeline sees to it that both streams are destroyed.
  pipeline(input, output, () => {});
  try {
    for await (const piece of output) yield piece as Buffer;
  } catch (cause) {
    throw readError ?? failed(`a file of ${format}`, cause, { format });
  }
}

function failed(what: string, cause: unknown, details: Record<string, unknown>): MillraceError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new MillraceError('DECOMPRESSION_FAILED', `${what} cannot be decompressed: ${reason}`, {
    cause,
    details,
  });
}
