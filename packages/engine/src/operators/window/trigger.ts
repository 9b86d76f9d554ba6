/**
 * When a window is evaluated (org.apache.flink.streaming.api.windowing.triggers.Trigger). The contract between triggers,
 * those of this folder and those of users, and the window operator.
 */
import type { MetricGroup } from '../../runtime/index.ts';
import type {
  AggregatingState,
  AggregatingStateDescriptor,
  ListState,
  ListStateDescriptor,
  ReducingState,
  ReducingStateDescriptor,
  ValueState,
  ValueStateDescriptor,
} from '../../state/index.ts';
import type { TimeWindow } from './time-window.ts';
import type { Window } from './window.ts';

/** FIRE evaluates the window, PURGE removes its contents (not the window itself, nor what the trigger keeps). */
export const TriggerResult = {
  CONTINUE: 'CONTINUE',
  FIRE: 'FIRE',
  PURGE: 'PURGE',
  FIRE_AND_PURGE: 'FIRE_AND_PURGE',
} as const;
export type TriggerResult = keyof typeof TriggerResult;

/** Time, timers and state of the current key and window. Valid during the call only; one object serves all calls. */
export interface TriggerContext {
  /** MIN_WATERMARK before the first. */
  getCurrentWatermark(): number;
  /** Milliseconds since the epoch. */
  getCurrentProcessingTime(): number;
  /** `timestampMs` is a safe integer (TIMESTAMP_INVALID). One timer per key, window and timestamp. */
  registerEventTimeTimer(timestampMs: number): void;
  /** The same by the wall clock. */
  registerProcessingTimeTimer(timestampMs: number): void;
  /**
   * At the time at which the window is removed the trigger is called in any case: that is the operator's own timer, which
   * stays.
   */
  deleteEventTimeTimer(timestampMs: number): void;
  /** Nothing happens if there is no such timer. */
  deleteProcessingTimeTimer(timestampMs: number): void;
  /**
   * State of this key and window. Must be cleared in `clear`. Make the descriptor once, not in each call. A window
   * function that asks for window state of the same name gets the same state.
   */
  getPartitionedState<T>(descriptor: ValueStateDescriptor<T>): ValueState<T>;
  getPartitionedState<T>(descriptor: ListStateDescriptor<T>): ListState<T>;
  getPartitionedState<T>(descriptor: ReducingStateDescriptor<T>): ReducingState<T>;
  getPartitionedState<In, Acc, Out>(
    descriptor: AggregatingStateDescriptor<In, Acc, Out>,
  ): AggregatingState<In, Out>;
  /** Of the operator. */
  getMetricGroup(): MetricGroup;
}

/** What `onMerge` may do: the context is that of the window that results. */
export interface OnMergeContext<W = Window> extends TriggerContext {
  /** Moves the state of the merged windows into that of the result, merged with what is there. */
  mergePartitionedState<T, Acc, Out>(
    descriptor: ListStateDescriptor<T> | ReducingStateDescriptor<T> | AggregatingStateDescriptor<T, Acc, Out>,
  ): void;
  /**
   * Calls `action` for each of the merged windows, in its place: state and timers are then those of that window. For
   * timers whose time is known by state only; do it before the state is merged.
   */
  forEachMergedWindow(action: (window: W) => void): void;
}

declare const ACCEPTS: unique symbol;

/**
 * Decides for windows of type W with elements of type T. One object serves all keys and windows of a subtask: what it has
 * to remember goes into partitioned state, nothing into fields. All methods answer at once.
 */
export abstract class Trigger<T = unknown, W extends Window = TimeWindow> {
  /** For the compiler: a trigger of certain elements or windows is no trigger of all. */
  declare readonly [ACCEPTS]?: (value: T, window: W) => void;

  /** An element was added to the window. `timestampMs` is NO_TIMESTAMP if it has none. */
  abstract onElement(value: T, timestampMs: number, window: W, context: TriggerContext): TriggerResult;
  /** A timer of event time; also called when the window is about to be removed. */
  abstract onEventTime(timestampMs: number, window: W, context: TriggerContext): TriggerResult;
  /** A processing-time timer of the window fires. */
  abstract onProcessingTime(timestampMs: number, window: W, context: TriggerContext): TriggerResult;
  /** The window is removed: delete its timers and state. */
  abstract clear(window: W, context: TriggerContext): void;

  /** True if the trigger works with merging windows; then `onMerge` must be there. */
  canMerge(): boolean {
    return false;
  }

  /** `window` is the result of a merge. `clear` follows for each of the windows that were merged. */
  onMerge?(window: W, context: OnMergeContext<W>): void;
}
