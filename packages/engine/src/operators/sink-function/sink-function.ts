/** The functions at the end of a stream (org.apache.flink.streaming.api.functions.sink.SinkFunction). */
import { RichFunction } from '../functions.ts';

/** What a sink function may ask about the record. Valid during the call, up to its first `await`. */
export interface SinkFunctionContext {
  /** Milliseconds since the epoch. */
  currentProcessingTime(): number;
  /** MIN_WATERMARK before the first. */
  currentWatermark(): number;
  /** Of the record; undefined if it has none. */
  timestamp(): number | undefined;
}

/**
 * Takes each record out of the job. What it returns is ignored, unless it is a promise: then the record is done when that
 * has resolved, and no snapshot completes before.
 *
 * Guarantee: at-least-once. After a failure the records since the last checkpoint come again.
 */
export type SinkFunction<In> = (value: In, context: SinkFunctionContext) => unknown;

/** A sink function with a life. Guarantee: at-least-once, as for SinkFunction. */
export abstract class RichSinkFunction<In> extends RichFunction {
  /** As SinkFunction. */
  abstract invoke(value: In, context: SinkFunctionContext): unknown;
  /**
   * Writes out what was kept back: in each snapshot and at the end of the input, when all calls of `invoke` before it are
   * done. Calls for later records may come meanwhile. The snapshot waits for its promise.
   */
  flush?(): void | PromiseLike<unknown>;
}
