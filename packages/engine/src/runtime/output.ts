/**
 * Where an operator's results go: the next operator of the chain (a direct call) or an exchange. Generated per chain, so
 * that no call site on the hot path is shared between jobs.
 */
export interface Output<T> {
  /** `timestampMs` is NO_TIMESTAMP for a record without one. The receiver may keep the object: do not change it. */
  collect(value: T, timestampMs: number): void;
  /** To a side output; dropped if nobody reads the tag. */
  collectSide(tagId: string, value: unknown, timestampMs: number): void;
  /** Watermarks never go back. */
  emitWatermark(watermarkMs: number): void;
  /** Idle inputs do not hold back the watermark of the receiver. */
  emitWatermarkStatus(idle: boolean): void;
}
