/** How timestamps and watermarks are made (Flink's WatermarkStrategy), as the runtime runs it. */

/** Where a generator puts what it has decided (org.apache.flink.api.common.eventtime.WatermarkOutput). */
export interface WatermarkOutput {
  /**
   * No record with this timestamp or a lower one is expected any more; milliseconds since 1970. What is not higher than
   * the last watermark changes nothing. Ends idleness.
   */
  emitWatermark(watermarkMs: number): void;
  /** No records come for a while: this input no longer holds back event time, until a watermark or `markActive`. */
  markIdle(): void;
  /** The stream is not idle any more. */
  markActive(): void;
}

/**
 * Watches records and makes watermarks (org.apache.flink.api.common.eventtime.WatermarkGenerator). One for each reader or
 * operator subtask; not state: after a restore it begins anew.
 */
export interface WatermarkGenerator<T = unknown> {
  /** A record was emitted. What goes to `output` here is sent on with the batch that the record is in, behind it. */
  onEvent(value: T, timestampMs: number, output: WatermarkOutput): void;
  /** Called every `pipeline.auto-watermark-interval`. Emits the watermark so far, or returns it. */
  onPeriodicEmit(output: WatermarkOutput): number | void;
}

/** `previousMs` is what the record carries already, NO_TIMESTAMP for nothing. Must return a finite safe integer. */
export type TimestampAssigner<T = unknown> = (value: T, previousMs: number) => number;

/** Sources of one group wait for each other: none gets further ahead of the slowest than the drift. */
export interface WatermarkAlignment {
  readonly group: string;
  readonly maxDriftMs: number;
  readonly updateIntervalMs: number;
}

export interface WatermarkStrategySpec<T = unknown> {
  readonly createGenerator: () => WatermarkGenerator<T>;
  readonly assigner: TimestampAssigner<T> | undefined;
  /** Idle after that much time without records; undefined: never. */
  readonly idleTimeoutMs: number | undefined;
  /** undefined: no source is waited for. */
  readonly alignment?: WatermarkAlignment;
  /**
   * Lets the generator be inlined: `bounded` emits max - delayMs - 1; monotonous is delay 0; `none` makes no watermarks
   * before the end.
   */
  readonly inline:
    | { readonly kind: 'bounded'; readonly delayMs: number }
    | { readonly kind: 'none' }
    | undefined;
}
