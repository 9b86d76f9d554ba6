/**
 * Files of rows: each record is a piece of text; texts are collected in chunks, each compressed as a whole where
 * compression is on. The appendable format of FileSink.
 *
 *     record ─encode→ text → chunk ─full, flush, finish→ (compressed) → output
 *
 * I1  A chunk that is compressed is a gzip member or a zstd frame of its own, so a file may be cut after each, and what is
 *     left is a whole file: several members or frames, one after the other, are one stream to every reader.
 */
import type { AppendableCompression, Platform } from '../../platform/index.ts';
import type { PartEncoder, PartEncoderFactory, PartFormat, PartOutput } from './part-format.ts';
import type { RowFormat } from './row-format.ts';

const CHUNK_BYTES = 256 * 1024;
/** A file that gets few records, one of many, needs no more. */
const FIRST_CHUNK_BYTES = 16 * 1024;
const CHUNK_GROWTH = 4;
const SPARE_CHUNKS_MAX = 4;
/** The most bytes that a UTF-16 unit takes in UTF-8. */
const UTF8_BYTES_MAX = 3;

const SUFFIXES: Readonly<Record<AppendableCompression, string>> = { gzip: '.gz', zstd: '.zst' };

/** The compressions, for messages. */
export const ROW_COMPRESSIONS = Object.keys(SUFFIXES) as readonly AppendableCompression[];

/** Files of rows in `format`. */
export function rowPartFormat<T>(
  format: RowFormat<T>,
  compression: AppendableCompression | undefined,
): PartFormat<T> {
  return {
    name: format.name,
    suffix: format.suffix + (compression === undefined ? '' : SUFFIXES[compression]),
    isAppendable: true,
    open: async (platform) => rowPartFactory(format, compressorOf(platform, compression)),
  };
}

type Compress = ((bytes: Uint8Array) => Uint8Array) | undefined;

function compressorOf(platform: Platform, compression: AppendableCompression | undefined): Compress {
  return compression === undefined ? undefined : (bytes) => platform.compress(compression, bytes);
}

function rowPartFactory<T>(format: RowFormat<T>, compress: Compress): PartEncoderFactory<T> {
  const spares: Buffer[] = [];
  return (out) => new RowPart(format, compress, spares, out);
}

class RowPart<T> implements PartEncoder<T> {
  readonly #format: RowFormat<T>;
  readonly #compress: Compress;
  /** Chunks of full size, of all files of the subtask. */
  readonly #spares: Buffer[];
  readonly #out: PartOutput;
  #chunk: Buffer;
  #chunkBytes = 0;

  constructor(format: RowFormat<T>, compress: Compress, spares: Buffer[], out: PartOutput) {
    this.#format = format;
    this.#compress = compress;
    this.#spares = spares;
    this.#out = out;
    this.#chunk = spares.pop() ?? Buffer.allocUnsafe(FIRST_CHUNK_BYTES);
    if (format.header !== undefined) this.#append(format.header);
  }

  get pendingBytes(): number {
    return this.#chunkBytes;
  }

  add(record: T): void {
    this.#append(this.#format.encode(record));
  }

  flush(): void {
    this.#flush(this.#chunk.length);
  }

  finish(): void {
    this.flush();
    this.abandon();
  }

  abandon(): void {
    this.#spare(this.#chunk);
  }

  #append(text: string): void {
    const bytesMax = text.length * UTF8_BYTES_MAX;
    if (this.#chunkBytes + bytesMax > this.#chunk.length) {
      this.#flush(Math.min(CHUNK_BYTES, this.#chunk.length * CHUNK_GROWTH));
      if (bytesMax > this.#chunk.length) return this.#appendLong(text);
    }
    this.#chunkBytes += this.#chunk.write(text, this.#chunkBytes, 'utf8');
  }

  /** Writes the chunk, and goes on with one of at least `nextBytes`. */
  #flush(nextBytes: number): void {
    if (this.#chunkBytes === 0) return;
    const chunk = this.#chunk;
    const bytes = chunk.subarray(0, this.#chunkBytes);
    this.#chunkBytes = 0;
    if (this.#compress === undefined) {
      this.#chunk = this.#spares.pop() ?? Buffer.allocUnsafe(nextBytes);
      this.#out.write(bytes, () => this.#spare(chunk));
      return;
    }
    if (chunk.length < nextBytes) this.#chunk = this.#spares.pop() ?? Buffer.allocUnsafe(nextBytes);
    this.#out.write(this.#compress(bytes));
  }

  /** A record that no chunk holds. */
  #appendLong(text: string): void {
    const bytes = Buffer.from(text, 'utf8');
    this.#out.write(this.#compress === undefined ? bytes : this.#compress(bytes));
  }

  #spare(chunk: Buffer): void {
    if (chunk.length >= CHUNK_BYTES && this.#spares.length < SPARE_CHUNKS_MAX) this.#spares.push(chunk);
  }
}
