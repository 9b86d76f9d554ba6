/**
 * Event time as the engine counts it, with the sentinels of Apache Flink's Watermark and TimestampAssigner.
 *
 * A timestamp is a finite number of milliseconds since the epoch (a safe integer). The two ends of that range are
 * reserved: a record without timestamp carries NO_TIMESTAMP, the last watermark of a stream is MAX_WATERMARK.
 */

/** The timestamp of a record that has none. */
export const NO_TIMESTAMP = Number.MIN_SAFE_INTEGER;

/** The watermark before any other. */
export const MIN_WATERMARK = Number.MIN_SAFE_INTEGER;

/** The watermark after the last element: event time is over, every event-time timer fires. */
export const MAX_WATERMARK = Number.MAX_SAFE_INTEGER;
