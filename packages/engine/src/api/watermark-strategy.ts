/**
 * Timestamps and watermarks, as users choose them (org.apache.flink.api.common.eventtime.WatermarkStrategy). Immutable:
 * each `with…` gives a new strategy. The runtime runs what `toSpec` says.
 */
import { type Duration, durationMs, MAX_WATERMARK, MIN_WATERMARK, MillraceError } from '../base/index.ts';
import type { TimestampAssigner, WatermarkGenerator, WatermarkStrategySpec } from '../runtime/index.ts';

/** Where event time comes from: how records get timestamps, and how watermarks follow from them. */
export class WatermarkStrategy<T> {
  readonly #spec: WatermarkStrategySpec<T>;

  private constructor(spec: WatermarkStrategySpec<T>) {
    this.#spec = spec;
  }

  /** Timestamps never go back: the watermark is just below the highest so far. */
  static forMonotonousTimestamps<T>(): WatermarkStrategy<T> {
    return WatermarkStrategy.forBoundedOutOfOrderness<T>(0);
  }

  /** A record is at most `maxOutOfOrderness` (milliseconds or text) older than the newest before it. */
  static forBoundedOutOfOrderness<T>(maxOutOfOrderness: Duration): WatermarkStrategy<T> {
    const delayMs = durationMs(maxOutOfOrderness, 'forBoundedOutOfOrderness');
    return new WatermarkStrategy<T>({
      createGenerator: () => new BoundedOutOfOrderness(delayMs),
      assigner: undefined,
      idleTimeoutMs: undefined,
      inline: { kind: 'bounded', delayMs },
    });
  }

  /** No watermark before the end of input. */
  static noWatermarks<T>(): WatermarkStrategy<T> {
    return new WatermarkStrategy<T>({
      createGenerator: () => ({ onEvent() {}, onPeriodicEmit: () => MIN_WATERMARK }),
      assigner: undefined,
      idleTimeoutMs: undefined,
      inline: { kind: 'none' },
    });
  }

  /** A generator of your own; `create` is called once for each reader or subtask and attempt. */
  static forGenerator<T>(create: () => WatermarkGenerator<T>): WatermarkStrategy<T> {
    requireFunction(create, 'forGenerator');
    const spec = {
      createGenerator: create,
      assigner: undefined,
      idleTimeoutMs: undefined,
      inline: undefined,
    };
    return new WatermarkStrategy<T>(spec);
  }

  /**
   * Takes the timestamp from the record: milliseconds since 1970, a whole number. `previousMs` is what the source gave,
   * NO_TIMESTAMP if nothing.
   */
  withTimestampAssigner<U extends T>(assigner: TimestampAssigner<U>): WatermarkStrategy<U> {
    requireFunction(assigner, 'withTimestampAssigner');
    return new WatermarkStrategy<U>({ ...this.#spec, assigner });
  }

  /** A reader without records for that long (milliseconds or text) no longer holds back the watermark. */
  withIdleness(timeout: Duration): WatermarkStrategy<T> {
    const idleTimeoutMs = durationMs(timeout, 'withIdleness');
    if (idleTimeoutMs === 0)
      throw new MillraceError('INVALID_ARGUMENT', 'withIdleness: the time must not be 0');
    return new WatermarkStrategy<T>({ ...this.#spec, idleTimeoutMs });
  }

  /**
   * Sources with the same `group` wait for each other: none reads on while its watermark is more than `maxDrift` ahead of
   * the slowest, so that joins and windows need not keep what a fast source is ahead. Progress is compared every
   * `updateInterval` (default 1 s). Without effect on assignTimestampsAndWatermarks.
   */
  withWatermarkAlignment(
    group: string,
    maxDrift: Duration,
    updateInterval: Duration = 1000,
  ): WatermarkStrategy<T> {
    if (typeof group !== 'string' || group === '')
      throw new MillraceError('INVALID_ARGUMENT', 'withWatermarkAlignment: the group must be a text');
    const maxDriftMs = durationMs(maxDrift, 'withWatermarkAlignment');
    const updateIntervalMs = durationMs(updateInterval, 'withWatermarkAlignment');
    if (updateIntervalMs === 0)
      throw new MillraceError(
        'INVALID_ARGUMENT',
        'withWatermarkAlignment: the update interval must not be 0',
      );
    return new WatermarkStrategy<T>({ ...this.#spec, alignment: { group, maxDriftMs, updateIntervalMs } });
  }

  /** For the runtime. @internal */
  toSpec(): WatermarkStrategySpec<T> {
    return this.#spec;
  }
}

/** What the runtime inlines where it can, for places where it cannot. */
class BoundedOutOfOrderness implements WatermarkGenerator {
  readonly #delayMs: number;
  #maxMs = MIN_WATERMARK;

  constructor(delayMs: number) {
    this.#delayMs = delayMs;
  }

  onEvent(_value: unknown, timestampMs: number): void {
    if (timestampMs > this.#maxMs && timestampMs < MAX_WATERMARK) this.#maxMs = timestampMs;
  }

  onPeriodicEmit(): number {
    return this.#maxMs === MIN_WATERMARK ? MIN_WATERMARK : this.#maxMs - this.#delayMs - 1;
  }
}

function requireFunction(value: unknown, what: string): void {
  if (typeof value !== 'function')
    throw new MillraceError('INVALID_ARGUMENT', `${what}: expected a function`);
}
