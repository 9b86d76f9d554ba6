/**
 * What is in the files of FileSink: how records become the bytes of one file. Rows (row-part.ts) and bulk formats
 * (bulk-writer.ts, parquet-format.ts) implement it; the writer calls it and knows nothing of formats.
 */
import type { Platform } from '../../platform/index.ts';

export interface PartFormat<T> {
  /** For messages. */
  readonly name: string;
  /** Of the files' names, with its dot. May be empty. */
  readonly suffix: string;
  /** False: a file cannot be cut and ends with each checkpoint. */
  readonly isAppendable: boolean;
  /** Once a subtask: loads what is needed, and gives what begins files. */
  open(platform: Platform): Promise<PartEncoderFactory<T>>;
}

/** Begins a file. */
export type PartEncoderFactory<T> = (out: PartOutput) => PartEncoder<T>;

/** Where the bytes of a file go. They must not be changed until `release` is called; without it, never again. */
export interface PartOutput {
  write(bytes: Uint8Array, release?: () => void): void;
}

/** One file in the making. Synchronous. */
export interface PartEncoder<T> {
  /** Bytes that are held back. */
  readonly pendingBytes: number;
  /** Throws UnwritableRecord. */
  add(record: T): void;
  /** Writes everything held back: the file may be cut here. Not called if the format is not appendable. */
  flush(): void;
  /** Writes what is held back, and what ends a file. */
  finish(): void;
  /** Nothing more is written; instead of `finish`. */
  abandon?(): void;
}
