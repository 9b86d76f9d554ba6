/** An element of a window with its timestamp, as evictors see it (org.apache.flink.streaming.runtime.operators.windowing.TimestampedValue). */
import { MillraceError, NO_TIMESTAMP } from '../../base/index.ts';

/** A record in a window, with its timestamp: what evictors see. */
export class TimestampedValue<T> {
  private readonly value: T;
  private readonly timestampMs: number;

  /** `timestampMs` is NO_TIMESTAMP if the element has none. */
  constructor(value: T, timestampMs: number = NO_TIMESTAMP) {
    this.value = value;
    this.timestampMs = timestampMs;
  }

  /** The record. */
  getValue(): T {
    return this.value;
  }

  /** Milliseconds since the epoch. Throws TIMESTAMP_MISSING if the element has none. */
  getTimestamp(): number {
    if (this.hasTimestamp()) return this.timestampMs;
    throw new MillraceError(
      'TIMESTAMP_MISSING',
      'An element of the window has no timestamp: ask hasTimestamp() first, or assign timestamps.',
    );
  }

  /** False if the record came without one. */
  hasTimestamp(): boolean {
    return this.timestampMs !== NO_TIMESTAMP;
  }
}
