/** Decompression by `node:zlib`, bounded: damaged or hostile bytes must not fill the memory. */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { MillraceError } from '../../base/index.ts';
import type { CompressionFormat } from '../platform.ts';

const DECOMPRESSORS = {
  gzip: gunzipSync,
  zstd: zstdDecompressSync,
  brotli: brotliDecompressSync,
} as const satisfies Record<CompressionFormat, unknown>;

/** Throws DECOMPRESSION_FAILED if the bytes are damaged or stand for more than `sizeBytesMax`. */
export function decompress(format: CompressionFormat, bytes: Uint8Array, sizeBytesMax: number): Uint8Array {
  try {
    // zlib refuses a limit of zero.
    const plain = DECOMPRESSORS[format](bytes, { maxOutputLength: Math.max(1, sizeBytesMax) });
    if (plain.length > sizeBytesMax) throw new RangeError(`more than ${sizeBytesMax} bytes came out`);
    return new Uint8Array(plain.buffer as ArrayBuffer, plain.byteOffset, plain.length);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new MillraceError(
      'DECOMPRESSION_FAILED',
      `${bytes.length} bytes of ${format} cannot be decompressed: ${reason}`,
      {
        cause,
        details: { format, sizeBytesMax },
      },
    );
  }
}
