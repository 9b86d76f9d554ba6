/**
 * Another trigger that also fires when it has not fired for some time
 * (org.apache.flink.streaming.api.windowing.triggers.ProcessingTimeoutTrigger).
 */
import { type Duration, durationMs } from '../../base/index.ts';
import { ValueStateDescriptor } from '../../state/index.ts';
import { Types } from '../../types/index.ts';
import { Trigger, type TriggerContext, type TriggerResult } from './trigger.ts';
import type { Window } from './window.ts';

/** Flink's name. */
const TIMEOUT = new ValueStateDescriptor<number>('timeout', Types.LONG);

/**
 * Fires as the given trigger does on elements, and at each timer: its own, which is `timeout` after the first element that
 * came since it fired (after the last one with `resetTimerOnNewRecord`), and those of the given trigger. With
 * `shouldClearOnTimeout` the given trigger is cleared then: it starts over. Not for merging windows.
 */
export class ProcessingTimeoutTrigger<T, W extends Window> extends Trigger<T, W> {
  private readonly nestedTrigger: Trigger<T, W>;
  private readonly timeoutMs: number;
  private readonly resetTimerOnNewRecord: boolean;
  private readonly shouldClearOnTimeout: boolean;

  private constructor(
    nestedTrigger: Trigger<T, W>,
    timeoutMs: number,
    resetTimerOnNewRecord: boolean,
    shouldClearOnTimeout: boolean,
  ) {
    super();
    this.nestedTrigger = nestedTrigger;
    this.timeoutMs = timeoutMs;
    this.resetTimerOnNewRecord = resetTimerOnNewRecord;
    this.shouldClearOnTimeout = shouldClearOnTimeout;
  }

  /** Throws INVALID_ARGUMENT for a timeout that is none. */
  static of<T, W extends Window>(
    nestedTrigger: Trigger<T, W>,
    timeout: Duration,
    resetTimerOnNewRecord = false,
    shouldClearOnTimeout = true,
  ): ProcessingTimeoutTrigger<T, W> {
    const timeoutMs = durationMs(timeout, 'ProcessingTimeoutTrigger.of(…, timeout)');
    return new ProcessingTimeoutTrigger(
      nestedTrigger,
      timeoutMs,
      resetTimerOnNewRecord,
      shouldClearOnTimeout,
    );
  }

  onElement(value: T, timestampMs: number, window: W, context: TriggerContext): TriggerResult {
    const result = this.nestedTrigger.onElement(value, timestampMs, window, context);
    if (result === 'FIRE' || result === 'FIRE_AND_PURGE') {
      this.clear(window, context);
      return result;
    }
    const timeout = context.getPartitionedState(TIMEOUT);
    const current = timeout.value();
    if (current !== undefined && !this.resetTimerOnNewRecord) return result;
    const next = context.getCurrentProcessingTime() + this.timeoutMs;
    if (current === next) return result;
    if (current !== undefined) context.deleteProcessingTimeTimer(current);
    timeout.update(next);
    context.registerProcessingTimeTimer(next);
    return result;
  }

  onEventTime(timestampMs: number, window: W, context: TriggerContext): TriggerResult {
    return firing(this.nestedTrigger.onEventTime(timestampMs, window, context));
  }

  onProcessingTime(timestampMs: number, window: W, context: TriggerContext): TriggerResult {
    const result = this.nestedTrigger.onProcessingTime(timestampMs, window, context);
    if (this.shouldClearOnTimeout) this.clear(window, context);
    return firing(result);
  }

  clear(window: W, context: TriggerContext): void {
    const timeout = context.getPartitionedState(TIMEOUT);
    const current = timeout.value();
    if (current !== undefined) {
      context.deleteProcessingTimeTimer(current);
      timeout.clear();
    }
    this.nestedTrigger.clear(window, context);
  }
}

function firing(result: TriggerResult): TriggerResult {
  return result === 'PURGE' || result === 'FIRE_AND_PURGE' ? 'FIRE_AND_PURGE' : 'FIRE';
}
