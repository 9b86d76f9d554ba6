/**
 * The functions that users write, with Flink's names (org.apache.flink.streaming.api.functions).
 *
 * Plain functions where Flink has an interface of one method; for functions with a life (open, timers, close) an abstract
 * class that users extend. A plain object with the same methods is as good as a class. All but open and close answer at
 * once: a promise is refused (PROMISE_NOT_EXPECTED).
 *
 * An object belongs to one subtask at a time. For more than one subtask in a thread, and for a fresh start after a
 * failure, operators make copies of it (function-instance.ts); a function without arguments that makes the object
 * may be given in its place.
 */

import type { OperatorMetrics } from '../runtime/index.ts';
import type {
  AggregatingState,
  AggregatingStateDescriptor,
  ListState,
  ListStateDescriptor,
  MapState,
  MapStateDescriptor,
  ReducingState,
  ReducingStateDescriptor,
  ValueState,
  ValueStateDescriptor,
} from '../state/index.ts';
import type { OutputTag } from './output-tag.ts';

/** One result for each value. The value may be kept, but must not be changed. */
export type MapFunction<In, Out> = (value: In) => Out;

/** Keeps the value if it answers true. Any other answer than true or false is an error (RESULT_NOT_ALLOWED). */
export type FilterFunction<T> = (value: T) => boolean;

/** Any number of results: collected, or returned as an iterable (an array, a generator), not both. */
export type FlatMapFunction<In, Out> = (value: In, out: Collector<Out>) => Iterable<Out> | void;

/** The key of a value. Must be a pure function of it: the same value, the same key, in every thread. */
export type KeySelector<In, K> = (value: In) => K;

/** Where a function puts its results. A result must not be changed afterwards. */
export interface Collector<T> {
  collect(value: T): void;
}

/** What a function knows about where it runs, and the way to its state. Handed to `open`. */
export interface RuntimeContext extends KeyedStateStore {
  getJobName(): string;
  /** The name of the operator. */
  getTaskName(): string;
  /** From 0 to getNumberOfParallelSubtasks() - 1. */
  getIndexOfThisSubtask(): number;
  getNumberOfParallelSubtasks(): number;
  getMaxNumberOfParallelSubtasks(): number;
  /** 0 for the first execution, one more after each restart. */
  getAttemptNumber(): number;
  /** True if the operator's state was restored from a snapshot. */
  isRestored(): boolean;
  getMetricGroup(): OperatorMetrics;

  /** State of this subtask, not of keys; its elements are split among the subtasks when the parallelism changes. */
  getOperatorListState<T>(descriptor: ListStateDescriptor<T>): ListState<T>;
  /** After a restore every subtask has the elements of all. */
  getUnionListState<T>(descriptor: ListStateDescriptor<T>): ListState<T>;
  /** Must be the same in every subtask. */
  getBroadcastState<K, V>(descriptor: MapStateDescriptor<K, V>): MapState<K, V>;
}

/** State of the current key. Only in operators after `keyBy` (INVALID_ARGUMENT elsewhere). */
export interface KeyedStateStore {
  getState<T>(descriptor: ValueStateDescriptor<T>): ValueState<T>;
  getListState<T>(descriptor: ListStateDescriptor<T>): ListState<T>;
  getMapState<K, V>(descriptor: MapStateDescriptor<K, V>): MapState<K, V>;
  getReducingState<T>(descriptor: ReducingStateDescriptor<T>): ReducingState<T>;
  getAggregatingState<In, Acc, Out>(
    descriptor: AggregatingStateDescriptor<In, Acc, Out>,
  ): AggregatingState<In, Out>;
}

/** Time, and timers of the current key. One timer per key and timestamp: registering again changes nothing. */
export interface TimerService {
  /** Milliseconds since the epoch. */
  currentProcessingTime(): number;
  /** MIN_WATERMARK before the first. */
  currentWatermark(): number;
  /** `timestampMs` is a safe integer (TIMESTAMP_INVALID). Refused in functions that are not keyed (INVALID_ARGUMENT). */
  registerEventTimeTimer(timestampMs: number): void;
  registerProcessingTimeTimer(timestampMs: number): void;
  deleteEventTimeTimer(timestampMs: number): void;
  deleteProcessingTimeTimer(timestampMs: number): void;
}

/** `EVENT_TIME` or `PROCESSING_TIME`. */
export type TimeDomain = 'EVENT_TIME' | 'PROCESSING_TIME';

/** What a process function may ask about the current record. Valid during the call only; one object serves all calls. */
export interface ProcessContext {
  /** Of the record, or of the timer that fires; undefined if the record has none. */
  timestamp(): number | undefined;
  timerService(): TimerService;
  /** Emits to a side output, with the timestamp of the record. */
  output<T>(tag: OutputTag<T>, value: T): void;
}

export interface KeyedProcessContext<K> extends ProcessContext {
  getCurrentKey(): K;
}

export interface OnTimerContext<K> extends KeyedProcessContext<K> {
  timeDomain(): TimeDomain;
}

/** What functions with a life have in common. */
export abstract class RichFunction {
  /** Before the first record, once per subtask and attempt: the place to get state handles. May be asynchronous. */
  open?(context: RuntimeContext): void | Promise<void>;
  /** In every case, also after a failure, if open was called. */
  close?(): void | Promise<void>;
  /** Before each snapshot: put what is in fields into operator state. Must answer at once. */
  snapshotState?(checkpointId: number): void;
  /** After that checkpoint completed; not for every one, and not on time. */
  notifyCheckpointComplete?(checkpointId: number): void | Promise<void>;
}

/** Any number of results for each value of a stream without keys: side outputs, timestamps, no timers, no keyed state. */
export abstract class ProcessFunction<In, Out> extends RichFunction {
  abstract processElement(value: In, context: ProcessContext, out: Collector<Out>): void;
}

/** The same after `keyBy`: keyed state and timers of the current key. */
export abstract class KeyedProcessFunction<K, In, Out> extends RichFunction {
  abstract processElement(value: In, context: KeyedProcessContext<K>, out: Collector<Out>): void;
  /** A timer fires; results get its timestamp. */
  onTimer?(timestampMs: number, context: OnTimerContext<K>, out: Collector<Out>): void;
}

/** Two connected streams without keys. */
export abstract class CoProcessFunction<In1, In2, Out> extends RichFunction {
  abstract processElement1(value: In1, context: ProcessContext, out: Collector<Out>): void;
  abstract processElement2(value: In2, context: ProcessContext, out: Collector<Out>): void;
}

/** Two connected streams with keys of one type: both see the same state. */
export abstract class KeyedCoProcessFunction<K, In1, In2, Out> extends RichFunction {
  abstract processElement1(value: In1, context: KeyedProcessContext<K>, out: Collector<Out>): void;
  abstract processElement2(value: In2, context: KeyedProcessContext<K>, out: Collector<Out>): void;
  onTimer?(timestampMs: number, context: OnTimerContext<K>, out: Collector<Out>): void;
}

/** What a window function may ask. Valid during the call only. */
export interface ProcessWindowContext<W> {
  window(): W;
  currentProcessingTime(): number;
  currentWatermark(): number;
  /** State of this key and window; clear it in `clear`. Not with merging windows (INVALID_ARGUMENT). */
  windowState(): WindowStateStore;
  /** State of this key, across windows. */
  globalState(): KeyedStateStore;
  output<T>(tag: OutputTag<T>, value: T): void;
}

/** As KeyedStateStore, without maps. The handles are for the current window only. */
export type WindowStateStore = Omit<KeyedStateStore, 'getMapState'>;

/** Called with the contents of a window when it fires: all elements, or the one result of reduce or aggregate. */
export abstract class ProcessWindowFunction<In, Out, K, W> extends RichFunction {
  abstract process(
    key: K,
    context: ProcessWindowContext<W>,
    elements: Iterable<In>,
    out: Collector<Out>,
  ): void;
  /** The window is removed: clear its windowState. */
  clear?(context: ProcessWindowContext<W>): void;
}

/** The plain function of a window (Flink's WindowFunction.apply). */
export type WindowFunction<In, Out, K, W> = (
  key: K,
  window: W,
  elements: Iterable<In>,
  out: Collector<Out>,
) => void;

/** An object, or a function without arguments (or a class) that makes one: then each subtask makes its own. */
export type FunctionOrFactory<F extends object> = F | (() => F) | (new () => F);
