/** How timestamps and watermarks are made (Flink's WatermarkStrategy), as the runtime runs it. */

/** Watches records and makes watermarks. One per source reader or operator subtask; not state. */
export interface WatermarkGenerator<T = unknown> {
  onEvent(value: T, timestampMs: number): void;
  /** Called periodically (`pipeline.auto-watermark-interval`). Returns the watermark so far; MIN_WATERMARK for none. */
  onPeriodicEmit(): number;
}

/** `previousMs` is what the record carries already, NO_TIMESTAMP for nothing. Must return a finite safe integer. */
export type TimestampAssigner<T = unknown> = (value: T, previousMs: number) => number;

export interface WatermarkStrategySpec<T = unknown> {
  readonly createGenerator: () => WatermarkGenerator<T>;
  readonly assigner: TimestampAssigner<T> | undefined;
  /** Idle after that much processing time without records; undefined: never. */
  readonly idleTimeoutMs: number | undefined;
  /**
   * Lets the generator be inlined: `bounded` emits max - delayMs - 1; monotonous is delay 0; `none` makes no watermarks
   * before the end.
   */
  readonly inline:
    | { readonly kind: 'bounded'; readonly delayMs: number }
    | { readonly kind: 'none' }
    | undefined;
}
