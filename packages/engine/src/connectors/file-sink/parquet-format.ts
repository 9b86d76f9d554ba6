/**
 * Parquet files, by the library `hyparquet-writer`, which is loaded with the first sink that needs it.
 *
 *     record → converted values by column → row group, when they take enough memory → bytes → output
 *
 * I1  The columns in memory of one file take about `rowGroupBytes` at most, those of all files of a subtask about
 *     MEMORY_BYTES_MAX: above that the largest is written as a row group.
 */
import type { ByteWriter, ParquetWriter } from 'hyparquet-writer/src/index.js';
import { type MemorySize, MillraceError, memorySizeBytes } from '../../base/index.ts';
import type { Platform } from '../../platform/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import { type ByteCount, type ParquetSchema, parquetSchema } from './parquet-schema.ts';
import type { PartEncoder, PartEncoderFactory, PartFormat, PartOutput } from './part-format.ts';

const DEFAULT_ROW_GROUP_SIZE = '8 mb';
const MEMORY_BYTES_MAX = 64 * 1024 * 1024;

const CODECS = { none: 'UNCOMPRESSED', snappy: 'SNAPPY', gzip: 'GZIP', zstd: 'ZSTD' } as const;

type Codec = (typeof CODECS)[keyof typeof CODECS];

/** How `FileSink.forParquet` writes records. */
export interface ParquetSinkOptions {
  /** Of the pages; default `snappy`. */
  readonly compression?: keyof typeof CODECS;
  /**
   * About how much memory the rows of a row group take before it is written: bytes, or text such as `'64 mb'`; default
   * 8 MB. Larger groups are better for readers; writing one takes the task's thread for a moment.
   */
  readonly rowGroupSize?: MemorySize;
}

interface Library {
  readonly ByteWriter: typeof ByteWriter;
  readonly ParquetWriter: typeof ParquetWriter;
}

/** Files with the fields of `type` as columns. Throws INVALID_ARGUMENT. */
export function parquetPartFormat<T>(type: TypeInformation<T>, options: ParquetSinkOptions): PartFormat<T> {
  const schema = parquetSchema(type);
  const codec = codecOf(options.compression);
  const { rowGroupSize = DEFAULT_ROW_GROUP_SIZE } = options;
  const rowGroupBytes = memorySizeBytes(rowGroupSize, 'FileSink.forParquet: rowGroupSize');
  return {
    name: 'Parquet',
    suffix: '.parquet',
    isAppendable: false,
    async open(platform): Promise<PartEncoderFactory<T>> {
      const library = await import('hyparquet-writer/src/index.js');
      const subtask = new ParquetSubtask(library, { schema, codec, rowGroupBytes, platform });
      return (out) => subtask.begin(out);
    },
  };
}

interface ParquetSettings {
  readonly schema: ParquetSchema;
  readonly codec: Codec;
  readonly rowGroupBytes: number;
  readonly platform: Platform;
}

/** The files of a subtask, and the memory they take together (I1). */
class ParquetSubtask {
  readonly library: Library;
  readonly settings: ParquetSettings;
  readonly parts = new Set<ParquetPart>();
  bytes = 0;

  constructor(library: Library, settings: ParquetSettings) {
    this.library = library;
    this.settings = settings;
  }

  begin(out: PartOutput): ParquetPart {
    const part = new ParquetPart(this, out);
    this.parts.add(part);
    return part;
  }

  /** After `part` took in a record. */
  limit(part: ParquetPart): void {
    if (part.pendingBytes >= this.settings.rowGroupBytes) part.flush();
    if (this.bytes < MEMORY_BYTES_MAX) return;
    let largest = part;
    for (const each of this.parts) if (each.pendingBytes > largest.pendingBytes) largest = each;
    largest.flush();
  }
}

class ParquetPart implements PartEncoder<unknown> {
  readonly #subtask: ParquetSubtask;
  readonly #out: PartOutput;
  readonly #bytes: ByteWriter;
  readonly #writer: ParquetWriter;
  #columns: unknown[][];
  #count: ByteCount = { bytes: 0 };

  constructor(subtask: ParquetSubtask, out: PartOutput) {
    const { library, settings } = subtask;
    const { schema, codec, platform } = settings;
    this.#subtask = subtask;
    this.#out = out;
    this.#bytes = new library.ByteWriter();
    this.#writer = new library.ParquetWriter({
      writer: this.#bytes,
      schema: schema.elements,
      codec,
      compressors: {
        GZIP: (bytes) => platform.compress('gzip', bytes),
        ZSTD: (bytes) => platform.compress('zstd', bytes),
      },
      createdBy: 'millrace',
    });
    this.#columns = schema.columns.map(() => []);
  }

  get pendingBytes(): number {
    return this.#count.bytes;
  }

  add(record: unknown): void {
    const before = this.#count.bytes;
    const { columns } = this.#subtask.settings.schema;
    const row = record as Readonly<Record<string, unknown>>;
    // All values first: a record that is refused leaves nothing behind.
    const values = columns.map(({ name, convert }) => convert(row[name], name, this.#count));
    for (let i = 0; i < values.length; i++) this.#columns[i]!.push(values[i]);
    this.#subtask.bytes += this.#count.bytes - before;
    this.#subtask.limit(this);
  }

  /** Writes the rows so far as a row group. */
  flush(): void {
    if (this.#columns[0]!.length === 0) return;
    const { columns } = this.#subtask.settings.schema;
    const columnData = columns.map(({ name }, i) => ({ name, data: this.#columns[i]! }));
    this.#forgetRows();
    void this.#writer.write({ columnData, rowGroupSize: columnData[0]!.data.length });
    this.#emit();
  }

  finish(): void {
    this.flush();
    void this.#writer.finish();
    this.#emit();
    this.#subtask.parts.delete(this);
  }

  abandon(): void {
    this.#forgetRows();
    this.#subtask.parts.delete(this);
  }

  #forgetRows(): void {
    this.#subtask.bytes -= this.#count.bytes;
    this.#count = { bytes: 0 };
    this.#columns = this.#columns.map(() => []);
  }

  #emit(): void {
    const bytes = this.#bytes.getBytes().slice();
    this.#bytes.index = 0;
    this.#out.write(bytes);
  }
}

function codecOf(compression: keyof typeof CODECS = 'snappy'): Codec {
  if (Object.hasOwn(CODECS, compression)) return CODECS[compression];
  const known = Object.keys(CODECS).join(', ');
  throw new MillraceError(
    'INVALID_ARGUMENT',
    `FileSink.forParquet: compression is ${JSON.stringify(compression)}; expected one of ${known}`,
  );
}
