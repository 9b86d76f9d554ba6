/**
 * Timers of one operator: registers them for the current key, and fires them as the host moves time on (Flink's
 * InternalTimerServiceImpl). The queues are keyed state; this holds only the watermark.
 *
 * Invariants:
 * I1 Timers fire in the order of their timestamps; a timer that is registered while others fire and is due already fires in
 *    the same advance.
 * I2 While timers fire, `currentWatermark` is the new watermark.
 * I3 The watermark never goes back.
 * I4 A host may advance in slices (`maxTimers`): what was not fired stays in the queue, so a snapshot between two slices is
 *    right. No element may be processed between two slices of event time.
 */
import { MIN_WATERMARK, MillraceError } from '../base/index.ts';
import type { TimerQueue } from '../state/index.ts';
import { atTimer } from './failed-element.ts';
import type { TimerService, Triggerable } from './operator.ts';

export interface TimerServiceOptions<N> {
  readonly eventTimers: TimerQueue<N>;
  readonly processingTimers: TimerQueue<N>;
  readonly triggerable: Triggerable<N>;
  /** While a timer fires, its key. */
  readonly currentKey: () => unknown;
  /** As the host says; constant within one batch. */
  readonly processingTimeMs: () => number;
}

export class InternalTimerService<N> implements TimerService<N> {
  private readonly eventTimers: TimerQueue<N>;
  private readonly processingTimers: TimerQueue<N>;
  private readonly triggerable: Triggerable<N>;
  private readonly currentKey: () => unknown;
  private readonly processingTimeMs: () => number;
  private watermarkMs = MIN_WATERMARK;

  constructor(options: TimerServiceOptions<N>) {
    this.eventTimers = options.eventTimers;
    this.processingTimers = options.processingTimers;
    this.triggerable = options.triggerable;
    this.currentKey = options.currentKey;
    this.processingTimeMs = options.processingTimeMs;
  }

  currentWatermark(): number {
    return this.watermarkMs;
  }

  currentProcessingTime(): number {
    return this.processingTimeMs();
  }

  registerEventTimeTimer(namespace: N, timestampMs: number): void {
    if (!Number.isSafeInteger(timestampMs)) throw notATimestamp(timestampMs);
    this.eventTimers.register(timestampMs, namespace);
  }

  deleteEventTimeTimer(namespace: N, timestampMs: number): void {
    if (!Number.isSafeInteger(timestampMs)) throw notATimestamp(timestampMs);
    this.eventTimers.delete(timestampMs, namespace);
  }

  moveEventTimeTimer(from: N, fromMs: number, to: N, toMs: number): void {
    if (!Number.isSafeInteger(fromMs)) throw notATimestamp(fromMs);
    if (!Number.isSafeInteger(toMs)) throw notATimestamp(toMs);
    this.eventTimers.move(fromMs, from, toMs, to);
  }

  registerProcessingTimeTimer(namespace: N, timestampMs: number): void {
    if (!Number.isSafeInteger(timestampMs)) throw notATimestamp(timestampMs);
    this.processingTimers.register(timestampMs, namespace);
  }

  deleteProcessingTimeTimer(namespace: N, timestampMs: number): void {
    if (!Number.isSafeInteger(timestampMs)) throw notATimestamp(timestampMs);
    this.processingTimers.delete(timestampMs, namespace);
  }

  /**
   * Fires event-time timers up to `watermarkMs`, at most `maxTimers` of them. True when none is left; else call again with
   * the same watermark, after the outputs had room. Call it before the operator's `processWatermark`.
   */
  advanceWatermark(watermarkMs: number, maxTimers = Number.POSITIVE_INFINITY): boolean {
    if (watermarkMs > this.watermarkMs) this.watermarkMs = watermarkMs;
    const timers = this.eventTimers;
    let fired = 0;
    while (timers.nextTimestamp() <= watermarkMs) {
      if (fired === maxTimers) return false;
      if (!timers.poll(watermarkMs)) break;
      fired++;
      try {
        this.triggerable.onEventTime(timers.polledTimestamp, timers.polledNamespace);
      } catch (error) {
        throw this.atTimer(error, timers, 'event');
      }
    }
    return true;
  }

  /** Fires processing-time timers up to `nowMs`, at most `maxTimers` of them. True when none is left. */
  advanceProcessingTime(nowMs: number, maxTimers = Number.POSITIVE_INFINITY): boolean {
    const timers = this.processingTimers;
    let fired = 0;
    while (timers.nextTimestamp() <= nowMs) {
      if (fired === maxTimers) return false;
      if (!timers.poll(nowMs)) break;
      fired++;
      try {
        this.triggerable.onProcessingTime(timers.polledTimestamp, timers.polledNamespace);
      } catch (error) {
        throw this.atTimer(error, timers, 'processing');
      }
    }
    return true;
  }

  private atTimer(error: unknown, timers: TimerQueue<N>, timeDomain: 'event' | 'processing'): unknown {
    const { polledTimestamp: timestampMs, polledNamespace: namespace } = timers;
    return atTimer(error, { timestampMs, timeDomain, key: this.currentKey(), namespace });
  }

  /** When the next event-time timer is due; more than MAX_SAFE_INTEGER if there is none. */
  nextEventTime(): number {
    return this.eventTimers.nextTimestamp();
  }

  lastRestoredEventTime(): number {
    return this.eventTimers.lastRestoredTimestamp;
  }

  lastRestoredTime(): number {
    return Math.max(this.eventTimers.lastRestoredTimestamp, this.processingTimers.lastRestoredTimestamp);
  }

  /** When the next processing-time timer is due; more than MAX_SAFE_INTEGER if there is none. */
  nextProcessingTime(): number {
    return this.processingTimers.nextTimestamp();
  }
}

function notATimestamp(found: unknown): MillraceError {
  const shown = typeof found === 'number' ? String(found) : `${String(found)} (${typeof found})`;
  return new MillraceError(
    'TIMESTAMP_INVALID',
    `A timer needs a time that is an integer (milliseconds since the epoch), found ${shown}.`,
  );
}
