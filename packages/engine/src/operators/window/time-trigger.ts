/**
 * The default triggers of windows of time: once, at the end (org.apache.flink.streaming.api.windowing.triggers,
 * EventTimeTrigger and ProcessingTimeTrigger). They keep no state; the window operator knows them and saves work.
 */
import { Trigger, type TriggerContext, type TriggerResult } from './trigger.ts';
import type { Window } from './window.ts';

/** Fires when the watermark passes the end of the window, and at once for elements that come later than that. */
export class EventTimeTrigger extends Trigger<unknown, Window> {
  /** Evaluates a window when the watermark passes its end. */
  static create(): EventTimeTrigger {
    return new EventTimeTrigger();
  }

  onElement(_value: unknown, _timestampMs: number, window: Window, context: TriggerContext): TriggerResult {
    if (window.maxTimestamp() <= context.getCurrentWatermark()) return 'FIRE';
    context.registerEventTimeTimer(window.maxTimestamp());
    return 'CONTINUE';
  }

  onEventTime(timestampMs: number, window: Window): TriggerResult {
    return timestampMs === window.maxTimestamp() ? 'FIRE' : 'CONTINUE';
  }

  onProcessingTime(): TriggerResult {
    return 'CONTINUE';
  }

  override canMerge(): boolean {
    return true;
  }

  /** Only for windows that are not over: otherwise the next element fires. */
  override onMerge(window: Window, context: TriggerContext): void {
    if (window.maxTimestamp() > context.getCurrentWatermark())
      context.registerEventTimeTimer(window.maxTimestamp());
  }

  clear(window: Window, context: TriggerContext): void {
    context.deleteEventTimeTimer(window.maxTimestamp());
  }
}

/** Fires when the clock of the machine passes the end of the window. */
export class ProcessingTimeTrigger extends Trigger<unknown, Window> {
  /** Evaluates a window when the clock passes its end. */
  static create(): ProcessingTimeTrigger {
    return new ProcessingTimeTrigger();
  }

  onElement(_value: unknown, _timestampMs: number, window: Window, context: TriggerContext): TriggerResult {
    context.registerProcessingTimeTimer(window.maxTimestamp());
    return 'CONTINUE';
  }

  onEventTime(): TriggerResult {
    return 'CONTINUE';
  }

  onProcessingTime(): TriggerResult {
    return 'FIRE';
  }

  override canMerge(): boolean {
    return true;
  }

  override onMerge(window: Window, context: TriggerContext): void {
    if (window.maxTimestamp() > context.getCurrentProcessingTime()) {
      context.registerProcessingTimeTimer(window.maxTimestamp());
    }
  }

  clear(window: Window, context: TriggerContext): void {
    context.deleteProcessingTimeTimer(window.maxTimestamp());
  }
}
