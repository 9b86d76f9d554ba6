/**
 * Reads ranges of indexes: emits one record for each, in order, as fast as it is polled or at a limited rate.
 *
 * Called by the task that runs the source. The emitting loop is generated (generated-loop.ts).
 *
 * I1  A split's `start` is the index after the last record emitted from it; between two calls it is exact.
 * I2  A split is asked for in `poll` (only then it is sure that restored ones have come) when there is none left, or
 *     early when a long one ends, so that long sources do not wait for the answer and short ones are spread evenly.
 */
import type { TimerHandle } from '../../platform/index.ts';
import type {
  PollStatus,
  ReaderContext,
  ReaderProgress,
  SourceOutput,
  SourceReader,
} from '../../runtime/index.ts';
import type { EmitRange } from '../generated-loop.ts';
import { tooShort } from './index-range-enumerator.ts';
import type { IndexRangeSplit } from './index-range-split.ts';
import type { RateLimiter } from './rate-limiter.ts';

/** A split at least that long is followed by an early request, when fewer than EARLY_RECORDS of it are left. */
const LONG_SPLIT_RECORDS = 16_384;
const EARLY_RECORDS = 8_192;

export interface IndexRangeReaderOptions<T> {
  readonly emitRange: EmitRange<T>;
  /** Records of the whole source; undefined: endless. */
  readonly count: number | undefined;
  /** Of this reader; undefined: no limit. */
  readonly limiter: RateLimiter | undefined;
}

export class IndexRangeReader<T> implements SourceReader<T, IndexRangeSplit> {
  readonly #context: ReaderContext;
  readonly #options: IndexRangeReaderOptions<T>;
  readonly #limiter: RateLimiter | undefined;
  readonly #splits: {
    readonly splitId: string;
    start: number;
    readonly end: number;
    readonly long: boolean;
  }[] = [];
  #timer: TimerHandle | undefined;
  #started = false;
  #requested = false;
  #noMoreSplits = false;
  #emitted = 0;

  constructor(context: ReaderContext, options: IndexRangeReaderOptions<T>) {
    this.#context = context;
    this.#options = options;
    this.#limiter = options.limiter;
  }

  start(): void {
    this.#started = true;
  }

  /** Splits that were restored together are read in their order, so that event time made from the index does not go back. */
  addSplits(splits: readonly IndexRangeSplit[]): void {
    this.#requested = false;
    for (const { splitId, start, end } of [...splits].sort((a, b) => a.start - b.start)) {
      const { count } = this.#options;
      if (count !== undefined && end > count) throw tooShort(this.#context.sourceName, end, count);
      this.#splits.push({ splitId, start, end, long: end - start >= LONG_SPLIT_RECORDS });
    }
    this.#context.wake();
  }

  noMoreSplits(): void {
    this.#noMoreSplits = true;
    this.#context.wake();
  }

  poll(output: SourceOutput<T>, maxRecords: number): PollStatus {
    if (!this.#started) return 'nothing';
    const allowed = this.#allowed(maxRecords);
    if (allowed === 0) return this.#waitForTime();
    const split = this.#splits[0];
    if (split !== undefined) {
      const from = split.start;
      const to = Math.min(split.end, from + allowed);
      this.#options.emitRange(output, from, to);
      split.start = to;
      this.#emitted += to - from;
      this.#limiter?.take(to - from);
      if (split.start >= split.end) this.#splits.shift();
    }
    this.#requestIfNeeded();
    if (this.#splits.length > 0) return 'more';
    return this.#noMoreSplits ? 'end' : 'nothing';
  }

  snapshotState(): IndexRangeSplit[] {
    return this.#splits.map(({ splitId, start, end }) => ({ splitId, start, end }));
  }

  notifyCheckpointComplete(): void {
    if (this.#limiter === undefined) return;
    this.#limiter.notifyCheckpointComplete();
    this.#context.wake();
  }

  progress(): ReaderProgress {
    const left = this.#splits.reduce((sum, { start, end }) => sum + end - start, 0);
    return { done: this.#emitted, left, total: this.#options.count, unit: 'records' };
  }

  close(): void {
    this.#timer?.cancel();
  }

  #allowed(maxRecords: number): number {
    if (this.#limiter === undefined || this.#splits.length === 0) return maxRecords;
    return Math.min(maxRecords, this.#limiter.available(this.#context.platform.clock.monotonicMs()));
  }

  #waitForTime(): PollStatus {
    const waitMs = this.#limiter!.waitMs();
    if (waitMs === undefined) return 'nothing';
    this.#timer ??= this.#context.platform.timers.after(waitMs, () => {
      this.#timer = undefined;
      this.#context.wake();
    });
    return 'nothing';
  }

  /** I2. */
  #requestIfNeeded(): void {
    if (this.#requested || this.#noMoreSplits) return;
    const [split, next] = this.#splits;
    if (next !== undefined) return;
    if (split !== undefined && !(split.long && split.end - split.start < EARLY_RECORDS)) return;
    this.#requested = true;
    this.#context.requestSplit();
  }
}
