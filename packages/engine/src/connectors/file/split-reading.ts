/**
 * One split being read: what the reader of file sources needs of each format.
 *
 * Implemented by TextReading (byte ranges) and RowGroupReading (Parquet). I/O happens beside the calls, bounded; `poll`
 * emits what is there.
 */
import { hasCode, MillraceError } from '../../base/index.ts';
import type { ReadableFile } from '../../platform/index.ts';
import type { ReaderContext, SourceOutput } from '../../runtime/index.ts';
import type { TimestampOf } from '../generated-loop.ts';
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
  close(): void;
}

/** What to do with a record that is not what was declared. */
export type OnMalformed = 'fail' | 'skip';
/** What to do with a file that is gone since it was listed. */
export type OnMissingFile = 'fail' | 'skip';

/** What all file sources may be told. */
export interface FileReadOptions<T> {
  /** Records carry no timestamp unless this gives one (milliseconds since the epoch). */
  readonly timestampOf?: TimestampOf<T>;
  /** Default `fail`. With `skip`, what was not read of a file that disappeared is left out, with a warning. */
  readonly onMissingFile?: OnMissingFile;
}

/**
 * Opens the file of a split and checks that it still is what was listed; undefined if it is gone and may be skipped.
 * Rejects with SOURCE_FILE_MISSING, SOURCE_FILE_CHANGED (`exactSize`: any other size; else: shorter), SOURCE_READ_FAILED.
 */
export async function openSplitFile(
  context: ReaderContext,
  split: FileSplit,
  onMissing: OnMissingFile,
  exactSize: boolean,
): Promise<ReadableFile | undefined> {
  const { files, path } = context.platform.fileSystem(split.path);
  const stat = await files.stat(path);
  if (stat === undefined) {
    if (onMissing === 'fail') throw missingError(context.sourceName, split.path);
    context.logger.log(
      'warn',
      `source "${context.sourceName}": ${split.path} is gone; what was not read is left out`,
    );
    return undefined;
  }
  const file = await files.open(path);
  if (file.sizeBytes < split.fileSizeBytes || (exactSize && file.sizeBytes !== split.fileSizeBytes)) {
    const sizeBytes = file.sizeBytes;
    await file.close();
    throw changedError(context.sourceName, split, sizeBytes);
  }
  return file;
}

function missingError(sourceName: string, path: string): MillraceError {
  return new MillraceError(
    'SOURCE_FILE_MISSING',
    `source "${sourceName}": ${path} is gone since the source listed it, and is not read to its end. Put it back and ` +
      `start again from the checkpoint, or set onMissingFile: 'skip' to go on without the rest of it.`,
    { details: { source: sourceName, path } },
  );
}

function changedError(sourceName: string, split: FileSplit, sizeBytes: number): MillraceError {
  return new MillraceError(
    'SOURCE_FILE_CHANGED',
    `source "${sourceName}": ${split.path} had ${split.fileSizeBytes} bytes when the source listed it and has ` +
      `${sizeBytes} now. Positions in it no longer mean the same: put the old file back, or start without the checkpoint.`,
    { details: { source: sourceName, path: split.path, listedBytes: split.fileSizeBytes, sizeBytes } },
  );
}

/** Makes an error of this source of whatever reading a file rejected with. */
export function readError(sourceName: string, path: string, cause: unknown): unknown {
  if (cause instanceof MillraceError && !hasCode(cause, 'FILE_SYSTEM_ERROR')) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new MillraceError('SOURCE_READ_FAILED', `source "${sourceName}": cannot read ${path}: ${reason}`, {
    cause,
    details: { source: sourceName, path },
  });
}
