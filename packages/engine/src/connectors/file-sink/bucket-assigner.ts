/**
 * Into which folder of FileSink a record goes (org.apache.flink.streaming.api.functions.sink.filesystem.BucketAssigner).
 *
 * Asked by the writer for each record. A bucket id is a relative path of folder names; everything else is refused, so that
 * records cannot write outside the sink's directory. Pure.
 */
import { MillraceError } from '../../base/index.ts';

const NAME_BYTES_MAX = 255;
const DEPTH_MAX = 16;
/** What folder names must not have: separators, what is special on other systems, invisible characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const UNFIT = /[\\:*?"<>|\u0000-\u001f\u007f]/;

/** What an assigner may ask. Valid during the call only. */
export interface BucketAssignerContext {
  /** Wall time in milliseconds; constant within a batch. */
  currentProcessingTime(): number;
  /** Milliseconds since the epoch; MIN_WATERMARK before the first. */
  currentWatermark(): number;
  /** Of the record; undefined if it has none. */
  timestamp(): number | undefined;
}

/** Shared by the subtasks of a thread. */
export interface BucketAssigner<T> {
  /**
   * Names of folders, separated by `/`, such as `country=de/2024-06-01`; empty for the sink's directory itself. If it
   * depends on the record alone, a restart brings each record to the same bucket again.
   */
  getBucketId(record: T, context: BucketAssignerContext): string;
}

/** A bucket assigner, or its one function. */
export type BucketAssignment<T> = BucketAssigner<T> | ((record: T, context: BucketAssignerContext) => string);

/** All files in the sink's directory: the default. */
export class BasePathBucketAssigner implements BucketAssigner<unknown> {
  getBucketId(): string {
    return '';
  }
}

/** Why `id` is no bucket id; undefined if it is one. */
export function bucketIdObjection(id: unknown): string | undefined {
  if (typeof id !== 'string') return `it is a ${id instanceof Promise ? 'promise' : typeof id}`;
  if (id === '') return undefined;
  const names = id.split('/');
  if (names.length > DEPTH_MAX) return `it is more than ${DEPTH_MAX} folders deep`;
  for (const name of names) {
    if (name === '') return 'it begins or ends with a slash, or has two together';
    if (name.startsWith('.')) return 'a folder begins with a dot';
    if (UNFIT.test(name) || !name.isWellFormed())
      return 'it has characters that are not for names of folders';
    if (Buffer.byteLength(name) > NAME_BYTES_MAX) return `a folder has more than ${NAME_BYTES_MAX} bytes`;
  }
  return undefined;
}

/** RESULT_NOT_ALLOWED for a bucket id. */
export function badBucketId(sinkName: string, id: unknown, objection: string): MillraceError {
  const shown = typeof id === 'string' ? ` ${JSON.stringify(id.slice(0, NAME_BYTES_MAX))}` : '';
  return new MillraceError(
    'RESULT_NOT_ALLOWED',
    `sink "${sinkName}": the bucket assigner gave${shown} for a record: ${objection}. Expected the names of folders below ` +
      'the directory of the sink, separated by slashes, such as "2024-06-01/de".',
    { details: { sink: sinkName } },
  );
}
