/**
 * How many records may be emitted by now. Pure: time is handed in.
 *
 * A reader that was held up does not catch up more than a tenth of a second's worth at once, so the limit holds over
 * any second.
 */

const BURST_MS = 100;

export class RateLimiter {
  readonly #recordsPerMs: number;
  readonly #burst: number;
  #credit = 0;
  #lastMs: number | undefined;

  /** `recordsPerSecond` > 0, fractions allowed. */
  constructor(recordsPerSecond: number) {
    this.#recordsPerMs = recordsPerSecond / 1000;
    this.#burst = Math.max(1, this.#recordsPerMs * BURST_MS);
    this.#credit = 1;
  }

  /** Records that may be emitted at `nowMs` (monotonic). */
  available(nowMs: number): number {
    const passedMs = this.#lastMs === undefined ? 0 : nowMs - this.#lastMs;
    this.#lastMs = nowMs;
    this.#credit = Math.min(this.#burst, this.#credit + passedMs * this.#recordsPerMs);
    return Math.floor(this.#credit + 1e-9);
  }

  /** Notes that `records` were emitted. */
  take(records: number): void {
    this.#credit -= records;
  }

  /** Milliseconds until the next record is allowed. */
  waitMs(): number {
    return Math.max(0, (1 - this.#credit) / this.#recordsPerMs);
  }
}
