/**
 * One split being read: what the reader of file sources needs of each format.
 *
 * Implemented by TextReading (byte ranges) and RowGroupReading (Parquet). I/O happens beside the calls, bounded; `poll`
 * emits what is there.
 */
import { hasCode, MillraceError } from '../../base/index.ts';
import type { SourceOutput } from '../../runtime/index.ts';
import type { TimestampOf } from '../generated-loop.ts';
import type { ListingOptions } from './file-listing.ts';
import type { FileSplit } from './file-split.ts';

export interface SplitReading<T> {
  /** Begins to read ahead. */
  start(): void;
  /** Emits at most `maxRecords`; returns how many lines or rows it went through (0: nothing is there yet). */
  poll(output: SourceOutput<T>, maxRecords: number): number;
  /** Everything was emitted. */
  readonly finished: boolean;
  /** Nothing of it is left to load: the next split may begin to read ahead. */
  readonly loaded: boolean;
  /** The split with its position after the last emitted record. */
  snapshot(): FileSplit;
  /** Bytes or rows it went through since it was opened. */
  readonly done: number;
  /** Bytes or rows that are left of it. */
  readonly left: number;
  close(): void;
}

/** What to do with a record that is not what was declared. */
export type OnMalformed = 'fail' | 'skip';
/** What to do with a file that is gone since it was listed. */
export type OnMissingFile = 'fail' | 'skip';

/** What all file sources may be told. */
export interface FileReadOptions<T> extends ListingOptions {
  /** Records carry no timestamp unless this gives one (milliseconds since the epoch). */
  readonly timestampOf?: TimestampOf<T>;
  /** Default `fail`. With `skip`, what was not read of a file that disappeared is left out, with a warning. */
  readonly onMissingFile?: OnMissingFile;
}

/** Makes an error of this source of whatever reading a file rejected with. */
export function readError(sourceName: string, path: string, cause: unknown): unknown {
  const reason = cause instanceof Error ? cause.message : String(cause);
  if (hasCode(cause, 'DECOMPRESSION_FAILED')) {
    return new MillraceError('DECOMPRESSION_FAILED', `source "${sourceName}": ${path}: ${reason}`, {
      cause,
      details: { source: sourceName, path },
    });
  }
  if (cause instanceof MillraceError && !hasCode(cause, 'FILE_SYSTEM_ERROR')) return cause;
  return new MillraceError('SOURCE_READ_FAILED', `source "${sourceName}": cannot read ${path}: ${reason}`, {
    cause,
    details: { source: sourceName, path },
  });
}
