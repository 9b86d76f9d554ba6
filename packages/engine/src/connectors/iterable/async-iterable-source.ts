/**
 * A source of what an async iterable gives: an async generator, a Readable, a ReadableStream, the lines of readline.
 *
 * Made by the API's fromAsyncIterable and fromReadable. Parallelism 1. In worker threads the iterable is that of the
 * worker's own copy of the module.
 *
 * Guarantee: at-most-once. An iterable has no position to go back to. After a failure the job goes on from its last
 * checkpoint, and what the iterable had given since is lost:
 *
 *     given a factory     it is called again, with the position, so that it can begin there if it knows how; a warning
 *                         says from which record on that is, and that without a checkpoint it starts anew
 *     given an iterable   it was used up by the attempt that failed: the job fails with SOURCE_NOT_REPLAYABLE. A new
 *                         process has a new iterable: that is read, with the same warning
 */
import { MillraceError } from '../../base/index.ts';
import type {
  EnumeratorContext,
  ReaderContext,
  Source,
  SourceReader,
  SplitEnumerator,
} from '../../runtime/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import type { TimestampOf } from '../generated-loop.ts';
import { type IterableFactory, isAsyncIterable, onlyOnce } from './iterable-factory.ts';
import { type IterableEnumeratorState, IterableReader, type IterableSplit } from './iterable-reader.ts';

/** Options of AsyncIterableSource. */
export interface AsyncIterableSourceOptions<T> {
  readonly type?: TypeInformation<T> | undefined;
  readonly timestampOf?: TimestampOf<T> | undefined;
  /** The iterable is not asked for more while so many of its records wait to be processed. Default 256. */
  readonly maxBuffered?: number | undefined;
}

/** A source that cannot be read again from where a checkpoint was taken. */
export interface NonReplayableSource<T> extends Source<T, IterableSplit, IterableEnumeratorState> {
  readonly guarantee: 'at-most-once';
}

const MAX_BUFFERED = 256;

/**
 * Reads an async iterable, in one subtask: an async generator, a Readable, a ReadableStream. The job ends when it ends.
 *
 * Guarantee: at-most-once. After a failure the job goes on from its last checkpoint; what the iterable had given since is
 * lost, unless a function makes the iterable and begins at the position it is told. Given the iterable itself, a job that
 * failed is not restarted in the same process (SOURCE_NOT_REPLAYABLE). The log says what happens.
 */
export class AsyncIterableSource<T> implements NonReplayableSource<T> {
  readonly boundedness = 'unbounded';
  readonly guarantee = 'at-most-once';
  readonly outputType: TypeInformation<T> | undefined;
  readonly #open: IterableFactory<T>;
  readonly #isFactory: boolean;
  readonly #options: AsyncIterableSourceOptions<T>;

  /** The job ends when the iterable does. Throws INVALID_ARGUMENT. */
  constructor(iterable: AsyncIterable<T> | IterableFactory<T>, options: AsyncIterableSourceOptions<T> = {}) {
    const { maxBuffered } = options;
    if (maxBuffered !== undefined && !(Number.isSafeInteger(maxBuffered) && maxBuffered > 0)) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `AsyncIterableSource: maxBuffered is ${maxBuffered}, expected a whole number above 0`,
      );
    }
    if (typeof iterable !== 'function' && !isAsyncIterable(iterable)) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        'AsyncIterableSource: expected an async iterable (an async generator, a Readable, a ReadableStream) or a ' +
          'function that makes one. For arrays and other collections there is fromCollection.',
      );
    }
    this.#open = typeof iterable === 'function' ? iterable : onlyOnce(iterable);
    this.#isFactory = typeof iterable === 'function';
    this.#options = options;
    this.outputType = options.type;
  }

  createEnumerator(context: EnumeratorContext<IterableSplit>): SplitEnumerator<IterableEnumeratorState> {
    return this.restoreEnumerator(context, { assigned: false });
  }

  restoreEnumerator(
    context: EnumeratorContext<IterableSplit>,
    state: IterableEnumeratorState,
  ): SplitEnumerator<IterableEnumeratorState> {
    if (context.parallelism !== 1) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `source "${context.sourceName}": an iterable can be read by one subtask only, but the parallelism of the source ` +
          `is ${context.parallelism}. Call setParallelism(1) on its stream.`,
        { details: { source: context.sourceName, parallelism: context.parallelism } },
      );
    }
    let { assigned } = state;
    return {
      start: () => {},
      addReader: () => {},
      handleSplitRequest: (subtask) => {
        if (assigned) context.signalNoMoreSplits(subtask);
        else context.assignSplit({ splitId: 'iterable', position: undefined }, subtask);
        assigned = true;
      },
      snapshotState: () => ({ assigned }),
      close: () => {},
    };
  }

  createReader(context: ReaderContext): SourceReader<T, IterableSplit> {
    const { timestampOf, maxBuffered = MAX_BUFFERED } = this.#options;
    return new IterableReader<T>(context, this.#open, this.#isFactory, timestampOf, maxBuffered);
  }
}
