/**
 * Formats that write many records at a time and end a file with what only they know, such as Parquet or ORC
 * (org.apache.flink.api.common.serialization.BulkWriter): implemented by users, called through FileSink.forBulkFormat.
 */
import type { PartEncoder, PartFormat } from './part-format.ts';

/** Where the bytes of a file go, in order. */
export interface BulkOutput {
  /** Synchronous. `bytes` must not be changed afterwards. */
  write(bytes: Uint8Array): void;
}

/** Writes one file. Synchronous. */
export interface BulkWriter<T> {
  /** Bytes in memory, about; counts for policies that roll by size. Default 0. */
  readonly bufferedBytes?: number;
  /** Writes `element`, or keeps it in memory: no more than some megabytes. */
  addElement(element: T): void;
  /** Writes what is left, and what ends the file. Nothing is called afterwards. */
  finish(): void;
}

/** Makes the writers; shared by the subtasks of a thread. */
export interface BulkWriterFactory<T> {
  /** Once a subtask, before its first file: the place to load libraries. */
  open?(): Promise<void> | void;
  /** Begins a file. */
  create(out: BulkOutput): BulkWriter<T>;
}

/** Options of `FileSink.forBulkFormat`. */
export interface BulkFormatOptions {
  /** For messages; default `bulk format`. */
  readonly name?: string;
  /** Of the files' names, such as `.orc`; default none. */
  readonly suffix?: string;
}

/** The files of a user's factory. */
export function bulkPartFormat<T>(factory: BulkWriterFactory<T>, options: BulkFormatOptions): PartFormat<T> {
  return {
    name: options.name ?? 'bulk format',
    suffix: options.suffix ?? '',
    isAppendable: false,
    async open() {
      await factory.open?.();
      return (out) => new BulkPart(factory.create({ write: (bytes) => out.write(bytes) }));
    },
  };
}

class BulkPart<T> implements PartEncoder<T> {
  readonly #writer: BulkWriter<T>;

  constructor(writer: BulkWriter<T>) {
    this.#writer = writer;
  }

  get pendingBytes(): number {
    return this.#writer.bufferedBytes ?? 0;
  }

  add(record: T): void {
    this.#writer.addElement(record);
  }

  flush(): void {}

  finish(): void {
    this.#writer.finish();
  }
}
