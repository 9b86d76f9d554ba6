/**
 * The functions of the broadcast state pattern, with Flink's names (KeyedBroadcastProcessFunction and its like, in
 * org.apache.flink.streaming.api.functions.co).
 *
 * One stream brings records to single subtasks, the other brings every record to every subtask. What the second leaves in
 * broadcast state is therefore the same everywhere, provided that processBroadcastElement does the same with the same
 * record in every subtask: that is why only that method may change it. No order is guaranteed between the two streams.
 */
import type {
  AggregatingState,
  AggregatingStateDescriptor,
  BroadcastState,
  ListState,
  ListStateDescriptor,
  MapState,
  MapStateDescriptor,
  ReadOnlyBroadcastState,
  ReducingState,
  ReducingStateDescriptor,
  ValueState,
  ValueStateDescriptor,
} from '../../state/index.ts';
import { type Collector, RichFunction, type TimeDomain, type TimerService } from '../functions.ts';
import type { OutputTag } from '../output-tag.ts';

/** What both methods may ask. Valid during the call only; one object serves all calls. */
interface AnyBroadcastContext {
  /** Of the record, or of the timer that fires; undefined if the record has none. */
  timestamp(): number | undefined;
  /** Milliseconds since the epoch. */
  currentProcessingTime(): number;
  /** The lower one of both streams; MIN_WATERMARK before the first. */
  currentWatermark(): number;
  /** Emits to a side output, with the timestamp of the record. */
  output<T>(tag: OutputTag<T>, value: T): void;
}

/** What processElement may ask: broadcast state can only be read. */
export interface ReadOnlyBroadcastContext extends AnyBroadcastContext {
  /** A state that `broadcast(...)` was given (INVALID_ARGUMENT for others). Ask with the same descriptor object: it is found faster. */
  getBroadcastState<K, V>(descriptor: MapStateDescriptor<K, V>): ReadOnlyBroadcastState<K, V>;
}

/** What processBroadcastElement may ask. */
export interface BroadcastContext extends AnyBroadcastContext {
  /** A state that `broadcast(...)` was given (INVALID_ARGUMENT for others). To be changed during the call only. */
  getBroadcastState<K, V>(descriptor: MapStateDescriptor<K, V>): BroadcastState<K, V>;
}

/** What processElement of a keyed stream may ask. */
export interface KeyedReadOnlyBroadcastContext<K> extends ReadOnlyBroadcastContext {
  /** The key of the record or of the timer. */
  getCurrentKey(): K;
  /** Time, and timers of the current key. */
  timerService(): TimerService;
}

/** What onTimer may ask. */
export interface BroadcastOnTimerContext<K> extends KeyedReadOnlyBroadcastContext<K> {
  /** Which time the timer was set for. */
  timeDomain(): TimeDomain;
}

/** Called for each key that has a state, with that state. Broadcast state can only be read in it. */
export type KeyedStateFunction<K, S> = (key: K, state: S) => void;

/** What processBroadcastElement beside a keyed stream may ask. There is no current key: keyed state is reached by applyToKeyedState. */
export interface KeyedBroadcastContext<K> extends BroadcastContext {
  /**
   * Calls `fn` for each key of this subtask that has something in the state, in no particular order, before it returns. It
   * may read and change that state and collect results. All keys in one go: nothing else happens in the subtask meanwhile.
   */
  applyToKeyedState<T>(descriptor: ValueStateDescriptor<T>, fn: KeyedStateFunction<K, ValueState<T>>): void;
  applyToKeyedState<T>(descriptor: ListStateDescriptor<T>, fn: KeyedStateFunction<K, ListState<T>>): void;
  applyToKeyedState<UK, UV>(
    descriptor: MapStateDescriptor<UK, UV>,
    fn: KeyedStateFunction<K, MapState<UK, UV>>,
  ): void;
  applyToKeyedState<T>(
    descriptor: ReducingStateDescriptor<T>,
    fn: KeyedStateFunction<K, ReducingState<T>>,
  ): void;
  applyToKeyedState<In, Acc, Out>(
    descriptor: AggregatingStateDescriptor<In, Acc, Out>,
    fn: KeyedStateFunction<K, AggregatingState<In, Out>>,
  ): void;
}

/** In types only: a function that wants keys does not fit a stream without. */
declare const KEY: unique symbol;

/** A stream without keys beside a broadcast stream. */
export abstract class BroadcastProcessFunction<In, Broadcast, Out> extends RichFunction {
  declare readonly [KEY]?: undefined;
  /** For each record of the stream that is not broadcast. */
  abstract processElement(value: In, context: ReadOnlyBroadcastContext, out: Collector<Out>): void;
  /** For each record of the broadcast stream, in every subtask. */
  abstract processBroadcastElement(value: Broadcast, context: BroadcastContext, out: Collector<Out>): void;
}

/** A stream with keys beside a broadcast stream: keyed state and timers in processElement and onTimer. */
export abstract class KeyedBroadcastProcessFunction<K, In, Broadcast, Out> extends RichFunction {
  declare readonly [KEY]?: (key: K) => void;
  /** For each record of the keyed stream. */
  abstract processElement(value: In, context: KeyedReadOnlyBroadcastContext<K>, out: Collector<Out>): void;
  /** For each record of the broadcast stream, in every subtask. */
  abstract processBroadcastElement(
    value: Broadcast,
    context: KeyedBroadcastContext<K>,
    out: Collector<Out>,
  ): void;
  /** A timer fires; results get its timestamp. */
  onTimer?(timestampMs: number, context: BroadcastOnTimerContext<K>, out: Collector<Out>): void;
}
