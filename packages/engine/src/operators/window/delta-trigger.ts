/**
 * Fires when elements have moved on far enough (org.apache.flink.streaming.api.windowing.triggers.DeltaTrigger); and the
 * distance function that DeltaEvictor takes as well.
 */
import { ignoreRejection, MillraceError } from '../../base/index.ts';
import { ValueStateDescriptor } from '../../state/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import { assertSynchronous, describe } from '../user-result.ts';
import { Trigger, type TriggerContext, type TriggerResult } from './trigger.ts';
import type { Window } from './window.ts';

/** How far the newer element is from the older; not NaN. Must be a pure function. */
export type DeltaFunction<T> = (oldDataPoint: T, newDataPoint: T) => number;

/** The distance, or an error without the name of the operator, which adds it. `what` is such as `DeltaTrigger`. */
export function deltaOf<T>(what: string, deltaFunction: DeltaFunction<T>, older: T, newer: T): number {
  const delta: unknown = deltaFunction(older, newer);
  if (typeof delta === 'number' && !Number.isNaN(delta)) return delta;
  ignoreRejection(delta);
  throw new TypeError(`the delta function of ${what} must return a number, found ${describe(delta)}`);
}

/** Throws INVALID_ARGUMENT, PROMISE_NOT_EXPECTED. `what` is such as `DeltaTrigger.of`. */
export function checkDelta(what: string, threshold: number, deltaFunction: unknown): void {
  assertSynchronous(deltaFunction, `delta function of ${what}`);
  if (typeof threshold === 'number' && !Number.isNaN(threshold)) return;
  throw new MillraceError(
    'INVALID_ARGUMENT',
    `${what}: the threshold must be a number, found ${describe(threshold)}.`,
  );
}

/** Fires when an element is more than the threshold away from the one that fired last (or the first of the window). */
export class DeltaTrigger<T> extends Trigger<T, Window> {
  private readonly threshold: number;
  private readonly deltaFunction: DeltaFunction<T>;
  private readonly lastElement: ValueStateDescriptor<T>;

  private constructor(threshold: number, deltaFunction: DeltaFunction<T>, type?: TypeInformation<T>) {
    super();
    this.threshold = threshold;
    this.deltaFunction = deltaFunction;
    this.lastElement = new ValueStateDescriptor('last-element', type);
  }

  /** `type` describes the elements, one of which is kept for each window. Throws INVALID_ARGUMENT. */
  static of<T>(
    threshold: number,
    deltaFunction: DeltaFunction<T>,
    type?: TypeInformation<T>,
  ): DeltaTrigger<T> {
    checkDelta('DeltaTrigger.of', threshold, deltaFunction);
    return new DeltaTrigger(threshold, deltaFunction, type);
  }

  onElement(value: T, _timestampMs: number, _window: Window, context: TriggerContext): TriggerResult {
    const lastElement = context.getPartitionedState(this.lastElement);
    const last = lastElement.value();
    if (last !== undefined && deltaOf('DeltaTrigger', this.deltaFunction, last, value) <= this.threshold) {
      return 'CONTINUE';
    }
    lastElement.update(value);
    return last === undefined ? 'CONTINUE' : 'FIRE';
  }

  onEventTime(): TriggerResult {
    return 'CONTINUE';
  }

  onProcessingTime(): TriggerResult {
    return 'CONTINUE';
  }

  clear(_window: Window, context: TriggerContext): void {
    context.getPartitionedState(this.lastElement).clear();
  }
}
