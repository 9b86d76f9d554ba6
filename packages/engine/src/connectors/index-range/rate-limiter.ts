/**
 * How many records may be emitted by now: RateLimiterStrategy, which users choose, and the limiter that each reader makes
 * of it. Pure: time is handed in.
 *
 * Used by the reader of index ranges. (org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy.)
 */
import { MillraceError } from '../../base/index.ts';

/** Of one reader. */
export interface RateLimiter {
  /** Records that may be emitted at `nowMs` (monotonic). */
  available(nowMs: number): number;
  /** Notes that `records` were emitted. */
  take(records: number): void;
  /** Milliseconds until the next record is allowed; undefined: time alone allows none. */
  waitMs(): number | undefined;
  /** That checkpoint completed. */
  notifyCheckpointComplete(): void;
}

/** Limits how fast a generator emits. The limit is that of all subtasks together; each gets an equal part. */
export interface RateLimiterStrategy {
  /** Records of all subtasks in one stretch, about a second or from checkpoint to checkpoint; undefined: no limit. */
  readonly paceRecords: number | undefined;
  /** Of one subtask; undefined: no limit. Throws INVALID_ARGUMENT. */
  createRateLimiter(subtaskIndex: number, parallelism: number): RateLimiter | undefined;
}

/** How fast a source may be. */
export const RateLimiterStrategy = {
  /** So many records each second; more than 0, fractions allowed. Throws INVALID_ARGUMENT. */
  perSecond(recordsPerSecond: number): RateLimiterStrategy {
    if (!(Number.isFinite(recordsPerSecond) && recordsPerSecond > 0)) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `RateLimiterStrategy.perSecond: recordsPerSecond is ${recordsPerSecond}, expected more than 0`,
      );
    }
    return {
      paceRecords: recordsPerSecond,
      createRateLimiter: (_, parallelism) => new TimeLimiter(recordsPerSecond / parallelism),
    };
  },

  /**
   * So many records between two checkpoints: the next ones come when the checkpoint after them has completed. At least 1;
   * at least the parallelism of the source, so that each subtask has one. Without checkpointing nothing comes after the
   * first ones. Throws INVALID_ARGUMENT.
   */
  perCheckpoint(recordsPerCheckpoint: number): RateLimiterStrategy {
    if (!(Number.isSafeInteger(recordsPerCheckpoint) && recordsPerCheckpoint > 0)) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `RateLimiterStrategy.perCheckpoint: recordsPerCheckpoint is ${recordsPerCheckpoint}, expected a whole number above 0`,
      );
    }
    return {
      paceRecords: recordsPerCheckpoint,
      createRateLimiter: (subtaskIndex, parallelism) => {
        if (recordsPerCheckpoint < parallelism) {
          throw new MillraceError(
            'INVALID_ARGUMENT',
            `RateLimiterStrategy.perCheckpoint: ${recordsPerCheckpoint} records are too few for ${parallelism} subtasks; ` +
              'expected at least one for each, or a lower parallelism of the source',
          );
        }
        const rest = subtaskIndex < recordsPerCheckpoint % parallelism ? 1 : 0;
        return new CheckpointLimiter(Math.floor(recordsPerCheckpoint / parallelism) + rest);
      },
    };
  },

  /** As fast as it goes. */
  noOp(): RateLimiterStrategy {
    return { paceRecords: undefined, createRateLimiter: () => undefined };
  },
};

/**
 * A reader that was held up does not catch up more than a tenth of a second's worth at once, so the limit holds over
 * any second.
 */
const BURST_MS = 100;

class TimeLimiter implements RateLimiter {
  readonly #recordsPerMs: number;
  readonly #burst: number;
  #credit = 1;
  #lastMs: number | undefined;

  constructor(recordsPerSecond: number) {
    this.#recordsPerMs = recordsPerSecond / 1000;
    this.#burst = Math.max(1, this.#recordsPerMs * BURST_MS);
  }

  available(nowMs: number): number {
    const passedMs = this.#lastMs === undefined ? 0 : nowMs - this.#lastMs;
    this.#lastMs = nowMs;
    this.#credit = Math.min(this.#burst, this.#credit + passedMs * this.#recordsPerMs);
    return Math.floor(this.#credit + 1e-9);
  }

  take(records: number): void {
    this.#credit -= records;
  }

  waitMs(): number {
    return Math.max(0, (1 - this.#credit) / this.#recordsPerMs);
  }

  notifyCheckpointComplete(): void {}
}

class CheckpointLimiter implements RateLimiter {
  readonly #records: number;
  #left: number;

  constructor(records: number) {
    this.#records = records;
    this.#left = records;
  }

  available(): number {
    return this.#left;
  }

  take(records: number): void {
    this.#left -= records;
  }

  waitMs(): undefined {
    return undefined;
  }

  notifyCheckpointComplete(): void {
    this.#left = this.#records;
  }
}
