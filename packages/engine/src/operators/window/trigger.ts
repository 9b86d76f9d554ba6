/** When a window is evaluated (org.apache.flink.streaming.api.windowing.triggers.Trigger). Triggers keep no state here. */
import type { TimeWindow } from './time-window.ts';

/** FIRE evaluates the window, PURGE removes its contents (not the window itself). */
export type TriggerResult = 'CONTINUE' | 'FIRE' | 'PURGE' | 'FIRE_AND_PURGE';

/** Time and timers of the current key and window. */
export interface TriggerContext {
  getCurrentWatermark(): number;
  getCurrentProcessingTime(): number;
  registerEventTimeTimer(timestampMs: number): void;
  registerProcessingTimeTimer(timestampMs: number): void;
  deleteEventTimeTimer(timestampMs: number): void;
  deleteProcessingTimeTimer(timestampMs: number): void;
}

/** One object serves all keys and windows of a subtask: it must not keep anything in fields. */
export interface Trigger<T = unknown> {
  onElement(value: T, timestampMs: number, window: TimeWindow, context: TriggerContext): TriggerResult;
  onEventTime(timestampMs: number, window: TimeWindow, context: TriggerContext): TriggerResult;
  onProcessingTime(timestampMs: number, window: TimeWindow, context: TriggerContext): TriggerResult;
  /** True if the trigger works with merging windows; then `onMerge` must be there. */
  canMerge(): boolean;
  /** `window` is the result of a merge. Timers of the merged windows are deleted by `clear`, which follows for each. */
  onMerge?(window: TimeWindow, context: TriggerContext): void;
  /** The window is removed: deletes its timers. */
  clear(window: TimeWindow, context: TriggerContext): void;
}

/** Fires when the watermark passes the end of the window, and at once for elements that come later than that. */
export class EventTimeTrigger implements Trigger {
  static create(): EventTimeTrigger {
    return new EventTimeTrigger();
  }

  onElement(
    _value: unknown,
    _timestampMs: number,
    window: TimeWindow,
    context: TriggerContext,
  ): TriggerResult {
    if (window.maxTimestamp() <= context.getCurrentWatermark()) return 'FIRE';
    context.registerEventTimeTimer(window.maxTimestamp());
    return 'CONTINUE';
  }

  onEventTime(timestampMs: number, window: TimeWindow): TriggerResult {
    return timestampMs === window.maxTimestamp() ? 'FIRE' : 'CONTINUE';
  }

  onProcessingTime(): TriggerResult {
    return 'CONTINUE';
  }

  canMerge(): boolean {
    return true;
  }

  /** Only for windows that are not over: otherwise the next element fires. */
  onMerge(window: TimeWindow, context: TriggerContext): void {
    if (window.maxTimestamp() > context.getCurrentWatermark())
      context.registerEventTimeTimer(window.maxTimestamp());
  }

  clear(window: TimeWindow, context: TriggerContext): void {
    context.deleteEventTimeTimer(window.maxTimestamp());
  }
}

/** Fires when the clock of the machine passes the end of the window. */
export class ProcessingTimeTrigger implements Trigger {
  static create(): ProcessingTimeTrigger {
    return new ProcessingTimeTrigger();
  }

  onElement(
    _value: unknown,
    _timestampMs: number,
    window: TimeWindow,
    context: TriggerContext,
  ): TriggerResult {
    context.registerProcessingTimeTimer(window.maxTimestamp());
    return 'CONTINUE';
  }

  onEventTime(): TriggerResult {
    return 'CONTINUE';
  }

  onProcessingTime(): TriggerResult {
    return 'FIRE';
  }

  canMerge(): boolean {
    return true;
  }

  onMerge(window: TimeWindow, context: TriggerContext): void {
    if (window.maxTimestamp() > context.getCurrentProcessingTime()) {
      context.registerProcessingTimeTimer(window.maxTimestamp());
    }
  }

  clear(window: TimeWindow, context: TriggerContext): void {
    context.deleteProcessingTimeTimer(window.maxTimestamp());
  }
}
