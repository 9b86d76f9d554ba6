/**
 * Which elements a window loses when it fires (org.apache.flink.streaming.api.windowing.evictors): the contract, and the
 * evictors by number, time and distance. A window with an evictor keeps all its elements, also where they are reduced.
 */
import { type Duration, durationMs, MillraceError } from '../../base/index.ts';
import type { MetricGroup } from '../../runtime/index.ts';
import { describe } from '../user-result.ts';
import { checkDelta, type DeltaFunction, deltaOf } from './delta-trigger.ts';
import type { TimestampedValue } from './timestamped-value.ts';
import type { Window } from './window.ts';

/** Time of the operator. Valid during the call only. */
export interface EvictorContext {
  /** Milliseconds since the epoch. */
  getCurrentProcessingTime(): number;
  /** MIN_WATERMARK before the first. */
  getCurrentWatermark(): number;
  /** Of the operator. */
  getMetricGroup(): MetricGroup;
}

declare const EVICTS: unique symbol;

/**
 * Removes elements from a window that fires, before and after its function is called. One object serves all keys and
 * windows of a subtask: it keeps nothing in fields. Both methods answer at once.
 */
export abstract class Evictor<T = unknown, W extends Window = Window> {
  /** For the compiler: an evictor of certain elements or windows is no evictor of all. */
  declare readonly [EVICTS]?: (value: T, window: W) => void;

  /**
   * `elements` are those of the window in the order in which they came; what the method removes from the array (by
   * `splice`) is gone for good. `size` is their number before. It returns nothing: anything else is refused
   * (RESULT_NOT_ALLOWED).
   */
  abstract evictBefore(
    elements: TimestampedValue<T>[],
    size: number,
    window: W,
    context: EvictorContext,
  ): void;

  /** The same after the window function was called with what was left. */
  abstract evictAfter(
    elements: TimestampedValue<T>[],
    size: number,
    window: W,
    context: EvictorContext,
  ): void;
}

/** The evictors of this file do the same before or after. */
abstract class OneTimeEvictor<T> extends Evictor<T> {
  private readonly doEvictAfter: boolean;

  protected constructor(doEvictAfter: boolean) {
    super();
    this.doEvictAfter = doEvictAfter;
  }

  evictBefore(elements: TimestampedValue<T>[]): void {
    if (!this.doEvictAfter) this.evict(elements);
  }

  evictAfter(elements: TimestampedValue<T>[]): void {
    if (this.doEvictAfter) this.evict(elements);
  }

  protected abstract evict(elements: TimestampedValue<T>[]): void;
}

/** Keeps the newest elements: so many, in the order in which they came. */
export class CountEvictor extends OneTimeEvictor<unknown> {
  private readonly maxCount: number;

  private constructor(maxCount: number, doEvictAfter: boolean) {
    super(doEvictAfter);
    this.maxCount = maxCount;
  }

  /** `maxCount` is an integer of at least 0 (INVALID_ARGUMENT). */
  static of(maxCount: number, doEvictAfter = false): CountEvictor {
    if (!Number.isSafeInteger(maxCount) || maxCount < 0) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `CountEvictor.of: the count must be an integer of at least 0, found ${describe(maxCount)}.`,
      );
    }
    return new CountEvictor(maxCount, doEvictAfter);
  }

  protected evict(elements: unknown[]): void {
    if (elements.length > this.maxCount) elements.splice(0, elements.length - this.maxCount);
  }
}

/** Keeps the elements whose timestamps are less than the duration before the latest. All of them if the first has none. */
export class TimeEvictor extends OneTimeEvictor<unknown> {
  private readonly durationMs: number;

  private constructor(lengthMs: number, doEvictAfter: boolean) {
    super(doEvictAfter);
    this.durationMs = lengthMs;
  }

  /** Throws INVALID_ARGUMENT for a duration that is none. */
  static of(duration: Duration, doEvictAfter = false): TimeEvictor {
    return new TimeEvictor(durationMs(duration, 'TimeEvictor.of'), doEvictAfter);
  }

  protected evict(elements: TimestampedValue<unknown>[]): void {
    if (elements[0]?.hasTimestamp() !== true) return;
    let latest = elements[0].getTimestamp();
    for (const element of elements) latest = Math.max(latest, element.getTimestamp());
    keep(elements, (element) => element.getTimestamp() > latest - this.durationMs);
  }
}

/** Keeps the elements whose distance to the newest is less than the threshold. */
export class DeltaEvictor<T> extends OneTimeEvictor<T> {
  private readonly threshold: number;
  private readonly deltaFunction: DeltaFunction<T>;

  private constructor(threshold: number, deltaFunction: DeltaFunction<T>, doEvictAfter: boolean) {
    super(doEvictAfter);
    this.threshold = threshold;
    this.deltaFunction = deltaFunction;
  }

  /** `deltaFunction` gets the element and the newest. Throws INVALID_ARGUMENT, PROMISE_NOT_EXPECTED. */
  static of<T>(threshold: number, deltaFunction: DeltaFunction<T>, doEvictAfter = false): DeltaEvictor<T> {
    checkDelta('DeltaEvictor.of', threshold, deltaFunction);
    return new DeltaEvictor(threshold, deltaFunction, doEvictAfter);
  }

  protected evict(elements: TimestampedValue<T>[]): void {
    const newest = elements.at(-1)?.getValue() as T;
    const { deltaFunction, threshold } = this;
    keep(elements, (each) => deltaOf('DeltaEvictor', deltaFunction, each.getValue(), newest) < threshold);
  }
}

/** In place, and without a call that takes all elements as arguments: there may be many. */
function keep<E>(elements: E[], isKept: (element: E) => boolean): void {
  let count = 0;
  for (const element of elements) if (isKept(element)) elements[count++] = element;
  elements.length = count;
}
