/**
 * Reads one row group of a Parquet file: its columns are decoded once into arrays, then rows are built as they are polled.
 *
 * Owned by FileReader. Between two columns the event loop gets its turn, because decoding a column takes some
 * milliseconds of this thread. At most the group being emitted and the next one are in memory.
 *
 * I1  `#position` is the index of the next row; rows are emitted in order.
 */
import type { ReadableFile } from '../../platform/index.ts';
import type { ReaderContext, SourceOutput } from '../../runtime/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import type { RowGroupSplit } from './file-split.ts';
import type { ColumnValues } from './parquet-file.ts';
import { chooseColumns, compileEmitRows, type EmitRows, rowFieldNames } from './parquet-rows.ts';
import { openSplitFile } from './split-file.ts';
import { type FileReadOptions, readError, type SplitReading } from './split-reading.ts';

export interface ParquetReadOptions<T> extends FileReadOptions<T> {
  /** The columns to read; default: the fields of `type`, else all. */
  readonly columns?: readonly string[];
  /** A row or pojo whose fields are columns. Without it, values are as the file has them (parquet-rows.ts says how). */
  readonly type?: TypeInformation<T>;
  /** Reads no more than this many rows, the first ones. Default: all. */
  readonly maxRows?: number;
}

/** The loop that builds rows: one for each reader and set of fields, shared by its row groups. */
export class RowEmitters<T> {
  readonly #byFields = new Map<string, EmitRows<T>>();
  readonly #options: ParquetReadOptions<T>;

  constructor(options: ParquetReadOptions<T>) {
    this.#options = options;
  }

  /** For rows with these fields. Files of one source may differ in their columns: then there are several. */
  of(fields: readonly string[]): EmitRows<T> {
    const key = JSON.stringify(fields);
    let emit = this.#byFields.get(key);
    if (emit === undefined) {
      const { type, timestampOf } = this.#options;
      emit = compileEmitRows<T>(fields, type?.classes?.get(type.description), timestampOf);
      if (this.#byFields.size >= EMITTERS_MAX) this.#byFields.clear();
      this.#byFields.set(key, emit);
    }
    return emit;
  }
}

const EMITTERS_MAX = 64;

export class RowGroupReading<T> implements SplitReading<T> {
  readonly #context: ReaderContext;
  readonly #split: RowGroupSplit;
  readonly #options: ParquetReadOptions<T>;
  readonly #emitters: RowEmitters<T>;
  #columns: readonly (ColumnValues | undefined)[] = [];
  #emit: EmitRows<T> | undefined;
  #position: number;
  #closed = false;
  finished = false;
  loaded = false;

  constructor(
    context: ReaderContext,
    split: RowGroupSplit,
    options: ParquetReadOptions<T>,
    emitters: RowEmitters<T>,
  ) {
    this.#context = context;
    this.#split = split;
    this.#options = options;
    this.#emitters = emitters;
    this.#position = split.position;
  }

  get done(): number {
    return this.#position - this.#split.position;
  }

  get left(): number {
    return this.#split.rows - this.#position;
  }

  start(): void {
    this.#load().catch((error: unknown) => {
      if (!this.#closed) this.#context.fail(readError(this.#context.sourceName, this.#split.path, error));
    });
  }

  poll(output: SourceOutput<T>, maxRecords: number): number {
    if (this.#emit === undefined) return 0;
    const from = this.#position;
    const to = Math.min(this.#split.rows, from + maxRecords);
    this.#emit(output, this.#columns, from, to);
    this.#position = to;
    if (to === this.#split.rows) this.#finish();
    return to - from;
  }

  snapshot(): RowGroupSplit {
    return { ...this.#split, position: this.#position };
  }

  close(): void {
    this.#closed = true;
    this.#finish();
  }

  #finish(): void {
    this.finished = true;
    this.loaded = true;
    this.#emit = undefined;
    this.#columns = [];
  }

  async #load(): Promise<void> {
    const { onMissingFile = 'fail' } = this.#options;
    const file = await openSplitFile(this.#context, { ...this.#split, exactSize: true }, onMissingFile);
    if (file === undefined) this.#finish();
    else {
      try {
        await this.#decode(file);
      } finally {
        await file.close();
      }
    }
    this.#context.wake();
  }

  async #decode(file: ReadableFile): Promise<void> {
    const { platform, sourceName } = this.#context;
    const { path, rowGroup } = this.#split;
    const { openParquet } = await import('./parquet-file.ts');
    const parquet = await openParquet(platform, sourceName, path, file);
    const where = `source "${sourceName}": ${path}`;
    const chosen = chooseColumns(parquet.columns, this.#options.columns, this.#options.type, where);
    const columns: (ColumnValues | undefined)[] = [];
    for (const column of chosen) {
      if (this.#closed) return;
      columns.push(
        column && (await parquet.readColumn(column.name, rowGroup, column.convert, column.isText)),
      );
      await platform.timers.yieldToEventLoop();
    }
    if (this.#closed) return;
    this.#columns = columns;
    this.#emit = this.#emitters.of(rowFieldNames(parquet.columns, this.#options.columns, this.#options.type));
    this.loaded = true;
  }
}
