/** Another trigger whose windows are emptied as they fire (org.apache.flink.streaming.api.windowing.triggers.PurgingTrigger). */
import { type OnMergeContext, Trigger, type TriggerContext, type TriggerResult } from './trigger.ts';
import type { Window } from './window.ts';

/** Fires as the given trigger does, and removes the contents of the window each time. */
export class PurgingTrigger<T, W extends Window> extends Trigger<T, W> {
  private readonly nestedTrigger: Trigger<T, W>;

  private constructor(nestedTrigger: Trigger<T, W>) {
    super();
    this.nestedTrigger = nestedTrigger;
  }

  /** As `trigger`, and the window is emptied each time it is evaluated. */
  static of<T, W extends Window>(nestedTrigger: Trigger<T, W>): PurgingTrigger<T, W> {
    return new PurgingTrigger(nestedTrigger);
  }

  onElement(value: T, timestampMs: number, window: W, context: TriggerContext): TriggerResult {
    return purging(this.nestedTrigger.onElement(value, timestampMs, window, context));
  }

  onEventTime(timestampMs: number, window: W, context: TriggerContext): TriggerResult {
    return purging(this.nestedTrigger.onEventTime(timestampMs, window, context));
  }

  onProcessingTime(timestampMs: number, window: W, context: TriggerContext): TriggerResult {
    return purging(this.nestedTrigger.onProcessingTime(timestampMs, window, context));
  }

  override canMerge(): boolean {
    return this.nestedTrigger.canMerge();
  }

  override onMerge(window: W, context: OnMergeContext<W>): void {
    this.nestedTrigger.onMerge?.(window, context);
  }

  clear(window: W, context: TriggerContext): void {
    this.nestedTrigger.clear(window, context);
  }
}

function purging(result: TriggerResult): TriggerResult {
  return result === 'FIRE' ? 'FIRE_AND_PURGE' : result;
}
