/** Fires by the number of elements (org.apache.flink.streaming.api.windowing.triggers.CountTrigger). */
import { MillraceError } from '../../base/index.ts';
import { ReducingStateDescriptor } from '../../state/index.ts';
import { Types } from '../../types/index.ts';
import { describe } from '../user-result.ts';
import { type OnMergeContext, Trigger, type TriggerContext, type TriggerResult } from './trigger.ts';
import type { Window } from './window.ts';

/** Flink's name. */
const COUNT = new ReducingStateDescriptor<number>('count', (left, right) => left + right, Types.LONG);

/** Fires each time the window has got so many elements more. Does not fire when the window ends. */
export class CountTrigger extends Trigger<unknown, Window> {
  private readonly maxCount: number;

  private constructor(maxCount: number) {
    super();
    this.maxCount = maxCount;
  }

  /** `maxCount` is a positive integer (INVALID_ARGUMENT). */
  static of(maxCount: number): CountTrigger {
    if (!Number.isSafeInteger(maxCount) || maxCount < 1) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `CountTrigger.of: the count must be a positive integer, found ${describe(maxCount)}.`,
      );
    }
    return new CountTrigger(maxCount);
  }

  onElement(_value: unknown, _timestampMs: number, _window: Window, context: TriggerContext): TriggerResult {
    const count = context.getPartitionedState(COUNT);
    if ((count.get() ?? 0) + 1 < this.maxCount) {
      count.add(1);
      return 'CONTINUE';
    }
    count.clear();
    return 'FIRE';
  }

  onEventTime(): TriggerResult {
    return 'CONTINUE';
  }

  onProcessingTime(): TriggerResult {
    return 'CONTINUE';
  }

  override canMerge(): boolean {
    return true;
  }

  override onMerge(_window: Window, context: OnMergeContext): void {
    context.mergePartitionedState(COUNT);
  }

  clear(_window: Window, context: TriggerContext): void {
    context.getPartitionedState(COUNT).clear();
  }
}
