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

import { MillraceError } from '../base/index.ts';
import type { MetricGroup } from '../runtime/index.ts';
import type {
  AggregatingState,
  AggregatingStateDescriptor,
  BroadcastState,
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

/**
 * Any number of results: collected, or returned as an iterable (an array, a generator). If a function does both, both are
 * emitted: first what it collected, then what it returned.
 */
export type FlatMapFunction<In, Out> = (value: In, out: Collector<Out>) => Iterable<Out> | void;

/** The key of a value. Must be a pure function of it: the same value, the same key, in every thread. */
export type KeySelector<In, K> = (value: In) => K;

/** Where a function puts its results. A result must not be changed afterwards. */
export interface Collector<T> {
  /** Emits one result. */
  collect(value: T): void;
}

/** What a function knows about where it runs, and the way to its state. Handed to `open`. */
export interface RuntimeContext extends KeyedStateStore {
  /** The name that `execute` was given. */
  getJobName(): string;
  /** 32 hexadecimal digits; another one for each start of the job. */
  getJobId(): string;
  /** The name of the operator. */
  getTaskName(): string;
  /** As logs name it: `name (2/4)#0`, with subtasks counted from 1 and the number of the attempt. */
  getTaskNameWithSubtasks(): string;
  /** From 0 to getNumberOfParallelSubtasks() - 1. */
  getIndexOfThisSubtask(): number;
  /** The parallelism of the operator. */
  getNumberOfParallelSubtasks(): number;
  /** The max parallelism: the number of key groups. */
  getMaxNumberOfParallelSubtasks(): number;
  /** 0 for the first execution, one more after each restart. */
  getAttemptNumber(): number;
  /** True if the operator's state was restored from a snapshot. */
  isRestored(): boolean;
  /** Where metrics of the operator are made. */
  getMetricGroup(): MetricGroup;
  /** What `env.getConfig().setGlobalJobParameters` was given. */
  getGlobalJobParameters(): Readonly<Record<string, string>>;

  /** State of this subtask, not of keys; its elements are split among the subtasks when the parallelism changes. */
  getOperatorListState<T>(descriptor: ListStateDescriptor<T>): ListState<T>;
  /** After a restore every subtask has the elements of all. */
  getUnionListState<T>(descriptor: ListStateDescriptor<T>): ListState<T>;
  /** Must be the same in every subtask. */
  getBroadcastState<K, V>(descriptor: MapStateDescriptor<K, V>): BroadcastState<K, V>;
}

/** State of the current key. Only in operators after `keyBy` (INVALID_ARGUMENT elsewhere). */
export interface KeyedStateStore {
  /** The state of one value that `descriptor` describes. */
  getState<T>(descriptor: ValueStateDescriptor<T>): ValueState<T>;
  /** The list that `descriptor` describes. */
  getListState<T>(descriptor: ListStateDescriptor<T>): ListState<T>;
  /** The map that `descriptor` describes. */
  getMapState<K, V>(descriptor: MapStateDescriptor<K, V>): MapState<K, V>;
  /** The state of one value, into which added values are reduced. */
  getReducingState<T>(descriptor: ReducingStateDescriptor<T>): ReducingState<T>;
  /** The accumulator that `descriptor` describes. */
  getAggregatingState<In, Acc, Out>(
    descriptor: AggregatingStateDescriptor<In, Acc, Out>,
  ): AggregatingState<In, Out>;
}

/** State of this subtask, in functions with and without keys. A name stands for one state, of whatever mode. */
export interface OperatorStateStore {
  /** Its elements are split among the subtasks when the parallelism changes. */
  getListState<T>(descriptor: ListStateDescriptor<T>): ListState<T>;
  /** After a restore every subtask has the elements of all. */
  getUnionListState<T>(descriptor: ListStateDescriptor<T>): ListState<T>;
  /** Must be the same in every subtask. */
  getBroadcastState<K, V>(descriptor: MapStateDescriptor<K, V>): BroadcastState<K, V>;
}

/** What a function begins with. */
export interface FunctionInitializationContext {
  /** True if the operator's state was restored from a snapshot. */
  isRestored(): boolean;
  /** undefined if nothing was restored. */
  getRestoredCheckpointId(): number | undefined;
  /** The way to state of this subtask. */
  getOperatorStateStore(): OperatorStateStore;
  /** The way to state of keys. */
  getKeyedStateStore(): KeyedStateStore;
}

/** The snapshot that is being taken. */
export interface FunctionSnapshotContext {
  /** Ids count up over the life of the job. */
  getCheckpointId(): number;
}

/** A function with state of its own beside that of keys. Any function with a life may have these methods. */
export interface CheckpointedFunction {
  /** Once per subtask and attempt, before `open`: the place to get state and to read what was restored. */
  initializeState(context: FunctionInitializationContext): void | Promise<void>;
  /** Before each snapshot: put what is in fields into operator state. Must answer at once. */
  snapshotState(context: FunctionSnapshotContext): void;
}

/** A function that is told how checkpoints went. Any function with a life may have these methods. */
export interface CheckpointListener {
  /** After that checkpoint completed; not for every one, and not on time. */
  notifyCheckpointComplete(checkpointId: number): void | Promise<void>;
  /** That checkpoint will not complete; its changes belong to the next. Not for every one. Must answer at once. */
  notifyCheckpointAborted?(checkpointId: number): void;
}

/** Time, and timers of the current key. One timer per key and timestamp: registering again changes nothing. */
export interface TimerService {
  /** Milliseconds since the epoch. */
  currentProcessingTime(): number;
  /** MIN_WATERMARK before the first. */
  currentWatermark(): number;
  /** `timestampMs` is a safe integer (TIMESTAMP_INVALID). Refused in functions that are not keyed (INVALID_ARGUMENT). */
  registerEventTimeTimer(timestampMs: number): void;
  /** As registerEventTimeTimer, by the wall clock. */
  registerProcessingTimeTimer(timestampMs: number): void;
  /** Nothing happens if there is no such timer. */
  deleteEventTimeTimer(timestampMs: number): void;
  /** Nothing happens if there is no such timer. */
  deleteProcessingTimeTimer(timestampMs: number): void;
}

/** `EVENT_TIME` or `PROCESSING_TIME`. */
export type TimeDomain = 'EVENT_TIME' | 'PROCESSING_TIME';

/** What a process function may ask about the current record. Valid during the call only; one object serves all calls. */
export interface ProcessContext {
  /** Of the record, or of the timer that fires; undefined if the record has none. */
  timestamp(): number | undefined;
  /** Time; after `keyBy` also timers. */
  timerService(): TimerService;
  /** Emits to a side output, with the timestamp of the record. */
  output<T>(tag: OutputTag<T>, value: T): void;
}

/** What a function after `keyBy` may ask about the current record. */
export interface KeyedProcessContext<K> extends ProcessContext {
  /** The key of the record or of the timer. */
  getCurrentKey(): K;
}

/** What a function may ask when a timer fires. */
export interface OnTimerContext<K> extends KeyedProcessContext<K> {
  /** Which time the timer was set for. */
  timeDomain(): TimeDomain;
}

/** What functions with a life have in common. */
export abstract class RichFunction implements Partial<CheckpointedFunction & CheckpointListener> {
  /** Before `open`: see {@link CheckpointedFunction}. */
  initializeState?(context: FunctionInitializationContext): void | Promise<void>;
  /** Before the first record, once per subtask and attempt: the place to get state handles. May be asynchronous. */
  open?(context: RuntimeContext): void | Promise<void>;
  /** In every case, also after a failure, if open was called. */
  close?(): void | Promise<void>;
  /** Before each snapshot: put what is in fields into operator state. Must answer at once. */
  snapshotState?(context: FunctionSnapshotContext): void;
  /** After that checkpoint completed; not for every one, and not on time. */
  notifyCheckpointComplete?(checkpointId: number): void | Promise<void>;
  /** That checkpoint will not complete. Not for every one. Must answer at once. */
  notifyCheckpointAborted?(checkpointId: number): void;

  /** What `open` is handed, from `initializeState` on. Before, such as in a constructor: INVALID_ARGUMENT. */
  getRuntimeContext(): RuntimeContext {
    const context = (this as HoldsContext)[CONTEXT] ?? contextsOfOthers.get(this);
    if (context !== undefined) return context;
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `${this.constructor.name}: getRuntimeContext() is called before the function is opened. Call it in open() or later.`,
    );
  }
}

/** Where open functions have their context: beside their fields, which are the user's, are copied and are looked at. */
const CONTEXT: unique symbol = Symbol('runtime context');

interface HoldsContext {
  [CONTEXT]?: RuntimeContext;
}

/**
 * Of functions that can be given nothing. Not of all: a context leads back to its function, and V8 keeps such an entry of an
 * old map, with the whole job behind it, until it collects the old generation.
 */
const contextsOfOthers = new WeakMap<object, RuntimeContext>();

/** Gives `fn` the context that its getRuntimeContext answers with. For operators that call functions with a life. */
export function setRuntimeContext(fn: object, context: RuntimeContext): void {
  if (Object.isExtensible(fn))
    Object.defineProperty(fn, CONTEXT, { value: context, configurable: true, writable: true });
  else contextsOfOthers.set(fn, context);
}

/** Any number of results for each value of a stream without keys: side outputs, timestamps, no timers, no keyed state. */
export abstract class ProcessFunction<In, Out> extends RichFunction {
  /** For each record. */
  abstract processElement(value: In, context: ProcessContext, out: Collector<Out>): void;
}

/** The same after `keyBy`: keyed state and timers of the current key. */
export abstract class KeyedProcessFunction<K, In, Out> extends RichFunction {
  /** For each record; state is that of its key. */
  abstract processElement(value: In, context: KeyedProcessContext<K>, out: Collector<Out>): void;
  /** A timer fires; results get its timestamp. */
  onTimer?(timestampMs: number, context: OnTimerContext<K>, out: Collector<Out>): void;
}

/** Two connected streams, with keys or without; timers only with keys. */
export abstract class CoProcessFunction<In1, In2, Out> extends RichFunction {
  /** For each record of the first stream. */
  abstract processElement1(value: In1, context: ProcessContext, out: Collector<Out>): void;
  /** For each record of the second stream. */
  abstract processElement2(value: In2, context: ProcessContext, out: Collector<Out>): void;
  /** A timer fires; results get its timestamp. */
  onTimer?(timestampMs: number, context: OnTimerContext<unknown>, out: Collector<Out>): void;
}

/** One result for each value of two connected streams. */
export interface CoMapFunction<In1, In2, Out> {
  /** The result for a record of the first stream. */
  map1(value: In1): Out;
  /** The result for a record of the second stream. */
  map2(value: In2): Out;
}

/** Any number of results for each value of two connected streams: collected, or returned as an iterable. */
export interface CoFlatMapFunction<In1, In2, Out> {
  /** The results for a record of the first stream. */
  flatMap1(value: In1, out: Collector<Out>): Iterable<Out> | void;
  /** The results for a record of the second stream. */
  flatMap2(value: In2, out: Collector<Out>): Iterable<Out> | void;
}

/** A CoMapFunction with a life: state and metrics in `open`. */
export abstract class RichCoMapFunction<In1, In2, Out>
  extends RichFunction
  implements CoMapFunction<In1, In2, Out>
{
  abstract map1(value: In1): Out;
  abstract map2(value: In2): Out;
}

/** A CoFlatMapFunction with a life: state and metrics in `open`. */
export abstract class RichCoFlatMapFunction<In1, In2, Out>
  extends RichFunction
  implements CoFlatMapFunction<In1, In2, Out>
{
  abstract flatMap1(value: In1, out: Collector<Out>): Iterable<Out> | void;
  abstract flatMap2(value: In2, out: Collector<Out>): Iterable<Out> | void;
}

/** One result for a pair of values with the same key. */
export type JoinFunction<First, Second, Out> = (first: First, second: Second) => Out;

/** Any number of results for a pair, collected. It has three parameters: that tells it from JoinFunction. */
export type FlatJoinFunction<First, Second, Out> = (
  first: First,
  second: Second,
  out: Collector<Out>,
) => Nothing;

/** Unlike `void` alone, which for the compiler any function answers. */
type Nothing = void | undefined;

/** A JoinFunction with a life. */
export abstract class RichJoinFunction<First, Second, Out> extends RichFunction {
  /** The one result for a pair. */
  abstract join(first: First, second: Second): Out;
}

/** A FlatJoinFunction with a life. */
export abstract class RichFlatJoinFunction<First, Second, Out> extends RichFunction {
  /** Any number of results for a pair. */
  abstract join(first: First, second: Second, out: Collector<Out>): void;
}

/** Called with all values of both sides that have the same key and window; one side may be empty. */
export type CoGroupFunction<First, Second, Out> = (
  first: Iterable<First>,
  second: Iterable<Second>,
  out: Collector<Out>,
) => void;

/** A CoGroupFunction with a life. */
export abstract class RichCoGroupFunction<First, Second, Out> extends RichFunction {
  /** Called with all values of both sides that have the same key and window. */
  abstract coGroup(first: Iterable<First>, second: Iterable<Second>, out: Collector<Out>): void;
}

/** What the function of an interval join may ask about a pair. Valid during the call only. */
export interface ProcessJoinContext {
  /** Of the left record. */
  getLeftTimestamp(): number;
  /** Of the right record. */
  getRightTimestamp(): number;
  /** That of the results: the later of the two. */
  getTimestamp(): number;
  /** Emits to a side output, with the timestamp of the results. */
  output<T>(tag: OutputTag<T>, value: T): void;
}

/** The plain form of ProcessJoinFunction. It has more than two parameters: that tells it from JoinFunction. */
export type PlainProcessJoinFunction<Left, Right, Out> = (
  left: Left,
  right: Right,
  context: ProcessJoinContext,
  out: Collector<Out>,
) => Nothing;

/** Called for each pair of an interval join. */
export abstract class ProcessJoinFunction<Left, Right, Out> extends RichFunction {
  /** Any number of results for a pair. */
  abstract processElement(left: Left, right: Right, context: ProcessJoinContext, out: Collector<Out>): void;
}

/** Two connected streams with keys of one type: both see the same state. */
export abstract class KeyedCoProcessFunction<K, In1, In2, Out> extends RichFunction {
  /** For each record of the first stream; state is that of its key. */
  abstract processElement1(value: In1, context: KeyedProcessContext<K>, out: Collector<Out>): void;
  /** For each record of the second stream; state is that of its key. */
  abstract processElement2(value: In2, context: KeyedProcessContext<K>, out: Collector<Out>): void;
  /** A timer fires; results get its timestamp. */
  onTimer?(timestampMs: number, context: OnTimerContext<K>, out: Collector<Out>): void;
}

/** What a window function may ask. Valid during the call only. */
export interface ProcessWindowContext<W> {
  /** The window that is evaluated. */
  window(): W;
  /** Milliseconds since the epoch. */
  currentProcessingTime(): number;
  /** MIN_WATERMARK before the first. */
  currentWatermark(): number;
  /** State of this key and window; clear it in `clear`. Not with merging windows (INVALID_ARGUMENT). */
  windowState(): WindowStateStore;
  /** State of this key, across windows. */
  globalState(): KeyedStateStore;
  /** Emits to a side output, with the last timestamp of the window. */
  output<T>(tag: OutputTag<T>, value: T): void;
}

/** As KeyedStateStore, without maps. The handles are for the current window only. */
export type WindowStateStore = Omit<KeyedStateStore, 'getMapState'>;

/** Called with the contents of a window when it fires: all elements, or the one result of reduce or aggregate. */
export abstract class ProcessWindowFunction<In, Out, K, W> extends RichFunction {
  /** Any number of results for the window of a key. */
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

/** As ProcessWindowFunction, for windows of a whole stream (`windowAll`): there is no key. */
export abstract class ProcessAllWindowFunction<In, Out, W> extends RichFunction {
  /** Any number of results for the window. */
  abstract process(context: ProcessWindowContext<W>, elements: Iterable<In>, out: Collector<Out>): void;
  /** The window is removed: clear its windowState. */
  clear?(context: ProcessWindowContext<W>): void;
}

/** The plain function of a window of a whole stream (Flink's AllWindowFunction.apply). */
export type AllWindowFunction<In, Out, W> = (window: W, elements: Iterable<In>, out: Collector<Out>) => void;

/** An object, or a function without arguments (or a class) that makes one: then each subtask makes its own. */
export type FunctionOrFactory<F extends object> =
  | FunctionShape<F>
  | (() => FunctionShape<F>)
  | (new () => FunctionShape<F>);

/** An F, or a plain object with the same methods: what F inherits from {@link RichFunction} is not needed. */
export type FunctionShape<F extends object> = (F | Omit<F, 'getRuntimeContext'>) &
  StrictMethods<Omit<F, 'getRuntimeContext'>>;

/** For the compiler: methods as functions, so that none is accepted that wants more of its parameters than F gives. */
type StrictMethods<F> = { readonly [M in keyof F]: StrictMethod<F[M]> };
type StrictMethod<M> = M extends (...parameters: infer P) => infer R ? (...parameters: P) => R : M;
