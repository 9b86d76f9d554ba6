/**
 * Early results: windows fire again and again before they end (org.apache.flink.streaming.api.windowing.triggers,
 * ContinuousEventTimeTrigger and ContinuousProcessingTimeTrigger).
 *
 * Invariant I1: the state of a window holds the time of its one timer for early results; undefined if there is none.
 */
import { type Duration, durationMs, MillraceError, NO_TIMESTAMP } from '../../base/index.ts';
import { ReducingStateDescriptor } from '../../state/index.ts';
import { Types } from '../../types/index.ts';
import { windowStart } from './time-window.ts';
import { type OnMergeContext, Trigger, type TriggerContext, type TriggerResult } from './trigger.ts';
import type { Window } from './window.ts';

/** Flink's name. Of merged windows the earliest time counts. */
const FIRE_TIME = new ReducingStateDescriptor<number>(
  'fire-time',
  (left, right) => Math.min(left, right),
  Types.LONG,
);

/**
 * Fires each time the watermark passes a multiple of the interval, counted from 1970, and when the window ends; for elements
 * that come later than that, at once. A watermark that passes several multiples fires as many times.
 */
export class ContinuousEventTimeTrigger extends Trigger<unknown, Window> {
  private readonly intervalMs: number;

  private constructor(intervalMs: number) {
    super();
    this.intervalMs = intervalMs;
  }

  /** Throws INVALID_ARGUMENT unless the interval is positive. */
  static of(interval: Duration): ContinuousEventTimeTrigger {
    return new ContinuousEventTimeTrigger(intervalOf(interval, 'ContinuousEventTimeTrigger.of'));
  }

  onElement(_value: unknown, timestampMs: number, window: Window, context: TriggerContext): TriggerResult {
    if (window.maxTimestamp() <= context.getCurrentWatermark()) return 'FIRE';
    if (timestampMs === NO_TIMESTAMP) throw noTimestamp();
    context.registerEventTimeTimer(window.maxTimestamp());
    if (context.getPartitionedState(FIRE_TIME).get() === undefined) this.registerNext(timestampMs, context);
    return 'CONTINUE';
  }

  /** From the end of the window on late elements fire by themselves. */
  onEventTime(timestampMs: number, window: Window, context: TriggerContext): TriggerResult {
    const endMs = window.maxTimestamp();
    const fireTime = context.getPartitionedState(FIRE_TIME);
    const isEarly = fireTime.get() === timestampMs;
    if (isEarly) {
      fireTime.clear();
      if (timestampMs < endMs) this.registerNext(timestampMs, context);
    }
    return timestampMs === endMs || (isEarly && timestampMs < endMs) ? 'FIRE' : 'CONTINUE';
  }

  onProcessingTime(): TriggerResult {
    return 'CONTINUE';
  }

  override canMerge(): boolean {
    return true;
  }

  override onMerge(_window: Window, context: OnMergeContext): void {
    context.forEachMergedWindow(() => {
      const time = context.getPartitionedState(FIRE_TIME).get();
      if (time !== undefined) context.deleteEventTimeTimer(time);
    });
    context.mergePartitionedState(FIRE_TIME);
    const time = context.getPartitionedState(FIRE_TIME).get();
    if (time !== undefined) context.registerEventTimeTimer(time);
  }

  clear(window: Window, context: TriggerContext): void {
    context.deleteEventTimeTimer(window.maxTimestamp());
    const fireTime = context.getPartitionedState(FIRE_TIME);
    const time = fireTime.get();
    if (time === undefined) return;
    context.deleteEventTimeTimer(time);
    fireTime.clear();
  }

  /** Also after the end of the window: a session may grow. */
  private registerNext(afterMs: number, context: TriggerContext): void {
    const next = windowStart(afterMs, 0, this.intervalMs) + this.intervalMs;
    context.getPartitionedState(FIRE_TIME).add(next);
    context.registerEventTimeTimer(next);
  }
}

/**
 * Fires when the clock of the machine has passed a multiple of the interval, and when a window of processing time ends.
 * Windows of event time do not fire at their end.
 */
export class ContinuousProcessingTimeTrigger extends Trigger<unknown, Window> {
  private readonly intervalMs: number;

  private constructor(intervalMs: number) {
    super();
    this.intervalMs = intervalMs;
  }

  /** Throws INVALID_ARGUMENT unless the interval is positive. */
  static of(interval: Duration): ContinuousProcessingTimeTrigger {
    return new ContinuousProcessingTimeTrigger(intervalOf(interval, 'ContinuousProcessingTimeTrigger.of'));
  }

  onElement(_value: unknown, _timestampMs: number, window: Window, context: TriggerContext): TriggerResult {
    if (context.getPartitionedState(FIRE_TIME).get() === undefined) this.registerNext(window, context);
    return 'CONTINUE';
  }

  onEventTime(): TriggerResult {
    return 'CONTINUE';
  }

  onProcessingTime(timestampMs: number, window: Window, context: TriggerContext): TriggerResult {
    const fireTime = context.getPartitionedState(FIRE_TIME);
    if (fireTime.get() !== timestampMs) return 'CONTINUE';
    fireTime.clear();
    this.registerNext(window, context, timestampMs);
    return 'FIRE';
  }

  override canMerge(): boolean {
    return true;
  }

  /** The next multiple is the same for all windows; only the ends of the merged ones are no longer of interest. */
  override onMerge(window: Window, context: OnMergeContext): void {
    context.forEachMergedWindow((merged) => this.clear(merged, context));
    this.registerNext(window, context);
  }

  clear(_window: Window, context: TriggerContext): void {
    const fireTime = context.getPartitionedState(FIRE_TIME);
    const time = fireTime.get();
    if (time === undefined) return;
    context.deleteProcessingTimeTimer(time);
    fireTime.clear();
  }

  /** The end of the window too, unless it is over: by the clock a window of event time may have ended long ago. */
  private registerNext(window: Window, context: TriggerContext, firedMs = Number.NEGATIVE_INFINITY): void {
    const nowMs = context.getCurrentProcessingTime();
    const endMs = window.maxTimestamp();
    const next = windowStart(nowMs, 0, this.intervalMs) + this.intervalMs;
    const time = endMs >= nowMs && endMs > firedMs ? Math.min(next, endMs) : next;
    context.getPartitionedState(FIRE_TIME).add(time);
    context.registerProcessingTimeTimer(time);
  }
}

function noTimestamp(): MillraceError {
  return new MillraceError(
    'TIMESTAMP_MISSING',
    'ContinuousEventTimeTrigger: a record has no timestamp. ' +
      'Did you forget the watermark strategy of the source, or assignTimestampsAndWatermarks?',
  );
}

function intervalOf(interval: Duration, what: string): number {
  const intervalMs = durationMs(interval, what);
  if (intervalMs > 0) return intervalMs;
  throw new MillraceError('INVALID_ARGUMENT', `${what}: the interval must be positive.`);
}
