/**
 * Reads an async iterable: pulls beside the calls, at most `maxBuffered` records ahead; `poll` emits what is there.
 *
 * Called by the task that runs the source.
 *
 * I1  `#position` counts the records that were emitted, over all attempts; those pulled and not yet emitted are not in it.
 * I2  There is at most one call of `next` under way, and none while the buffer is full.
 * I3  Closing waits for nobody: an iterable that never answers must not hold up the end of the job.
 */
import { hasCode, MillraceError } from '../../base/index.ts';
import type {
  PollStatus,
  ReaderContext,
  SourceOutput,
  SourceReader,
  SourceSplit,
} from '../../runtime/index.ts';
import { compileEmitOne, type EmitOne, type TimestampOf } from '../generated-loop.ts';
import {
  type IterableFactory,
  isAsyncIterable,
  ONLY_ONCE_ADVICE,
  type ReadableLike,
} from './iterable-factory.ts';

/** The one split. */
export interface IterableSplit extends SourceSplit {
  /** Records that were emitted; undefined: the iterable was not opened yet. */
  readonly position: number | undefined;
}

export interface IterableEnumeratorState {
  readonly assigned: boolean;
}

export class IterableReader<T> implements SourceReader<T, IterableSplit> {
  readonly #context: ReaderContext;
  readonly #open: IterableFactory<T>;
  readonly #isReopened: boolean;
  readonly #emitOne: EmitOne<T>;
  readonly #maxBuffered: number;
  readonly #abort = new AbortController();
  #buffer: T[] = [];
  #iterable: AsyncIterable<T> | undefined;
  #iterator: AsyncIterator<T> | undefined;
  #roomAwaited: (() => void) | undefined;
  #started = false;
  #begun = false;
  #split: IterableSplit | undefined;
  #position = 0;
  #emitted = 0;
  #ended = false;
  /** What the iterable threw; told when all that it had given before is emitted. */
  #failure: { readonly cause: unknown } | undefined;
  #isFailureTold = false;
  #requested = false;
  #noMoreSplits = false;
  #closed = false;

  /** `isReopened`: `open` makes a new iterable each time. */
  constructor(
    context: ReaderContext,
    open: IterableFactory<T>,
    isReopened: boolean,
    timestampOf: TimestampOf<T> | undefined,
    maxBuffered: number,
  ) {
    this.#context = context;
    this.#open = open;
    this.#isReopened = isReopened;
    this.#emitOne = compileEmitOne<T>('iterable source', timestampOf);
    this.#maxBuffered = maxBuffered;
  }

  start(): void {
    this.#started = true;
    this.#begin();
  }

  addSplits(splits: readonly IterableSplit[]): void {
    this.#requested = false;
    this.#split = splits[0];
    this.#position = splits[0]?.position ?? 0;
    this.#begin();
    this.#context.wake();
  }

  noMoreSplits(): void {
    this.#noMoreSplits = true;
    this.#context.wake();
  }

  poll(output: SourceOutput<T>, maxRecords: number): PollStatus {
    if (!this.#started) return 'nothing';
    if (this.#split === undefined) return this.#withoutSplit();
    const batch = this.#buffer.splice(0, maxRecords);
    for (const value of batch) {
      this.#emitOne(output, value);
      this.#position += 1;
    }
    this.#emitted += batch.length;
    this.#roomAwaited?.();
    if (this.#buffer.length > 0) return 'more';
    if (this.#failure !== undefined) return this.#tellFailure(this.#failure.cause);
    if (!this.#ended) return 'nothing';
    this.#split = undefined;
    return this.#withoutSplit();
  }

  snapshotState(): IterableSplit[] {
    return this.#split === undefined ? [] : [{ ...this.#split, position: this.#position }];
  }

  progress(): { done: number; total: undefined; unit: 'records' } {
    return { done: this.#emitted, total: undefined, unit: 'records' };
  }

  close(): void {
    this.#closed = true;
    this.#buffer = [];
    this.#roomAwaited?.();
    this.#abort.abort();
    if (!this.#ended) this.#release();
  }

  /** I3. What the iterable says to being left is nobody's business any more. */
  #release(): void {
    try {
      // A Readable that waits for its next chunk answers `return` only after it: it has to be destroyed.
      const readable = this.#iterable as Partial<ReadableLike> | undefined;
      if (typeof readable?.destroy === 'function') readable.destroy();
      else this.#iterator?.return?.().then(undefined, () => {});
    } catch {}
  }

  #withoutSplit(): PollStatus {
    if (this.#noMoreSplits) return 'end';
    if (!this.#requested) this.#context.requestSplit();
    this.#requested = true;
    return 'nothing';
  }

  #begin(): void {
    if (!this.#started || this.#split === undefined || this.#begun) return;
    this.#begun = true;
    this.#say(this.#split.position);
    this.#pull().catch((error: unknown) => {
      this.#failure = { cause: error };
      this.#context.wake();
    });
  }

  async #pull(): Promise<void> {
    const iterable = await this.#open({ position: this.#position, signal: this.#abort.signal });
    if (!isAsyncIterable(iterable)) {
      throw new MillraceError('INVALID_ARGUMENT', 'the function did not return an async iterable');
    }
    this.#iterable = iterable;
    this.#iterator = iterable[Symbol.asyncIterator]();
    if (this.#closed) this.#release();
    while (!this.#closed) {
      const { done, value } = await this.#iterator.next();
      if (done === true) break;
      this.#buffer.push(value);
      if (this.#buffer.length === 1) this.#context.wake();
      if (this.#buffer.length >= this.#maxBuffered) await this.#room();
    }
    this.#ended = true;
    this.#context.wake();
  }

  /** Resolves when `poll` has emitted what was there. */
  #room(): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.#buffer.length >= this.#maxBuffered && !this.#closed) return;
        this.#roomAwaited = undefined;
        resolve();
      };
      this.#roomAwaited = look;
      look();
    });
  }

  /** Nothing is lost or repeated without a word. `position`: of the split that was given or restored. */
  #say(position: number | undefined): void {
    const { logger, sourceName, attemptNumber } = this.#context;
    if (position === undefined && attemptNumber === 0) {
      const rule = 'what it has under way at a failure is lost (at-most-once)';
      logger.log('info', `source "${sourceName}": reads an iterable, which cannot be read again: ${rule}`);
      return;
    }
    logger.log(
      'warn',
      `source "${sourceName}": opens its iterable again, after record ${this.#position}. What it had given beyond that ` +
        'is lost, and what it gives again is processed again (at-most-once).',
      { position: this.#position, attempt: attemptNumber },
    );
  }

  #tellFailure(cause: unknown): PollStatus {
    if (!this.#isFailureTold) this.#context.fail(this.#failed(cause));
    this.#isFailureTold = true;
    return 'nothing';
  }

  #failed(cause: unknown): MillraceError {
    const source = this.#context.sourceName;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const details = { source, position: this.#position };
    const own = hasCode(cause, 'SOURCE_NOT_REPLAYABLE') || hasCode(cause, 'INVALID_ARGUMENT');
    if (own) {
      return new MillraceError((cause as MillraceError).code, `source "${source}": ${reason}`, {
        cause,
        details,
      });
    }
    const failed = `source "${source}": the iterable failed after record ${this.#position}: ${reason}`;
    if (this.#isReopened) return new MillraceError('SOURCE_READ_FAILED', failed, { cause, details });
    return new MillraceError('SOURCE_NOT_REPLAYABLE', `${failed}. ${ONLY_ONCE_ADVICE}`, { cause, details });
  }
}
