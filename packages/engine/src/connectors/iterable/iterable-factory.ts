/** How users give iterables: as they are, or by a function that makes one for each attempt to run the job. */
import { MillraceError } from '../../base/index.ts';

/** What a factory of iterables is told. */
export interface IterableContext {
  /** Records that had been emitted at the checkpoint that the job goes on from; 0 if it begins. */
  readonly position: number;
  /** Aborted when the job ends, fails or is cancelled: whatever the iterable waits for must end then. */
  readonly signal: AbortSignal;
}

/** Makes the iterable; called once for each attempt to run the job. */
export type IterableFactory<T> = (
  context: IterableContext,
) => AsyncIterable<T> | PromiseLike<AsyncIterable<T>>;

/** A Readable of Node.js, as far as it matters here. Its chunks are the records. */
export interface ReadableLike extends AsyncIterable<unknown> {
  /** Called when the job ends before the stream does. */
  destroy(error?: Error): unknown;
}

/** For an iterable that was given as it is. */
export const ONLY_ONCE_ADVICE =
  'It cannot be read again. Give a function that makes a new one, or start the program again from its last checkpoint: ' +
  'what was read since is lost.';

/** The iterable the first time; SOURCE_NOT_REPLAYABLE whenever it is wanted again. */
export function onlyOnce<T>(iterable: AsyncIterable<T>): IterableFactory<T> {
  let isUsed = false;
  return () => {
    if (isUsed) {
      throw new MillraceError(
        'SOURCE_NOT_REPLAYABLE',
        `the iterable was used up by the attempt before. ${ONLY_ONCE_ADVICE}`,
      );
    }
    isUsed = true;
    return iterable;
  };
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === 'function'
  );
}
