/** State descriptors and the states they describe, with Flink's names and meaning (org.apache.flink.api.common.state). */
import type { TypeInformation } from '../types/index.ts';
import { StateTtlConfig, type StateTtlOptions } from './state-ttl-config.ts';

/** State of one value per key (and window). */
export interface ValueState<T> {
  /** The value, or the descriptor's default (undefined without one). A private copy: changing it changes no state. */
  value(): T | undefined;
  /** Sets the value; undefined clears. */
  update(value: T | undefined): void;
  /** Removes the value. */
  clear(): void;
}

/** State of a list per key (and window); as operator state, of a list per subtask. */
export interface ListState<T> {
  /** The elements in order; an empty array if there are none. A private copy. */
  get(): T[];
  /** Appends one element. */
  add(value: T): void;
  /** Appends elements. */
  addAll(values: Iterable<T>): void;
  /** Replaces all elements. */
  update(values: Iterable<T>): void;
  /** Removes all elements. */
  clear(): void;
}

/** Iteration order is not defined. Entries may be put and removed while iterating; whether they are seen is not defined. */
export interface MapState<K, V> {
  /** The value of this key of the map. A private copy: changing it changes no state. */
  get(key: K): V | undefined;
  /** Sets one entry. */
  put(key: K, value: V): void;
  /** Sets entries. */
  putAll(entries: Iterable<readonly [K, V]>): void;
  /** Removes one entry, if it is there. */
  remove(key: K): void;
  /** True if there is such an entry. */
  contains(key: K): boolean;
  /** All entries. Private copies. */
  entries(): Iterable<[K, V]>;
  /** The keys of all entries. */
  keys(): Iterable<K>;
  /** The values of all entries. */
  values(): Iterable<V>;
  /** True if there is no entry. */
  isEmpty(): boolean;
  /** Removes all entries. */
  clear(): void;
}

/** A broadcast state where it may only be read. Entries come in the order in which they were put first. */
export interface ReadOnlyBroadcastState<K, V> {
  /** A private copy: changing it changes no state. */
  get(key: K): V | undefined;
  /** True if there is such an entry. */
  contains(key: K): boolean;
  /** The same as `entries`, by Flink's name. */
  immutableEntries(): Iterable<[K, V]>;
  /** All entries. Private copies. */
  entries(): Iterable<[K, V]>;
  /** The keys of all entries. */
  keys(): Iterable<K>;
  /** The values of all entries. */
  values(): Iterable<V>;
  /** True if there is no entry. */
  isEmpty(): boolean;
}

/** A map that is the same in all subtasks. Whoever changes it must do so in all of them alike. */
export interface BroadcastState<K, V> extends MapState<K, V>, ReadOnlyBroadcastState<K, V> {}

/** Values are merged into one as they are added. */
export interface ReducingState<T> {
  /** All values added so far, reduced; undefined if there are none. A private copy. */
  get(): T | undefined;
  /** Reduces `value` into what is there. */
  add(value: T): void;
  /** Removes the value. */
  clear(): void;
}

/** Values are added to an accumulator; what is read is the result of it. */
export interface AggregatingState<In, Out> {
  /** The result of what was added so far; undefined if nothing was. */
  get(): Out | undefined;
  /** Adds `value` to the accumulator. */
  add(value: In): void;
  /** Removes the accumulator. */
  clear(): void;
}

/** Flink's AggregateFunction. Must not keep state of its own. */
export interface AggregateFunction<In, Acc, Out> {
  /** An empty accumulator. */
  createAccumulator(): Acc;
  /** The accumulator with `value`: a new one, or the same changed. */
  readonly add: (value: In, accumulator: Acc) => Acc;
  /** What the accumulator stands for. */
  getResult(accumulator: Acc): Out;
  /** Both together: a new one, or one of them changed. For windows that merge. */
  merge(a: Acc, b: Acc): Acc;
}

/** Flink's ReduceFunction. */
export type ReduceFunction<T> = (left: T, right: T) => T;

/** What all descriptors have. */
abstract class DescriptorWithTtl {
  private ttlConfig = StateTtlConfig.DISABLED;

  /**
   * Gives the values of this state a time-to-live: see `StateTtlConfig`. Of a map state each entry, of a list state each
   * element lives by itself. To be called before the state is asked for; for keyed state only. Throws INVALID_ARGUMENT.
   */
  enableTimeToLive(config: StateTtlConfig | StateTtlOptions): this {
    this.ttlConfig = StateTtlConfig.of(config);
    return this;
  }

  /** The time-to-live; `StateTtlConfig.DISABLED` if there is none. */
  getTtlConfig(): StateTtlConfig {
    return this.ttlConfig;
  }
}

/** Without a type any plain data is taken, as by Types.GENERIC; it takes more bytes and cannot evolve by schema. */
export class ValueStateDescriptor<T> extends DescriptorWithTtl {
  readonly kind = 'value';
  readonly name: string;
  readonly type: TypeInformation<T> | undefined;
  readonly defaultValue: T | undefined;
  /** `name` is unique in the operator. `defaultValue` is what `value()` gives as long as there is none. */
  constructor(name: string, type?: TypeInformation<T>, defaultValue?: T) {
    super();
    this.name = name;
    this.type = type;
    this.defaultValue = defaultValue;
  }
}

/** Describes a ListState. Without a type the general codec is used. */
export class ListStateDescriptor<T> extends DescriptorWithTtl {
  readonly kind = 'list';
  readonly name: string;
  readonly type: TypeInformation<T> | undefined;
  /** `name` is unique in the operator. */
  constructor(name: string, elementType?: TypeInformation<T>) {
    super();
    this.name = name;
    this.type = elementType;
  }
}

/** Describes a MapState. Without types the general codec is used. */
export class MapStateDescriptor<K, V> extends DescriptorWithTtl {
  readonly kind = 'map';
  readonly name: string;
  readonly keyType: TypeInformation<K> | undefined;
  readonly valueType: TypeInformation<V> | undefined;
  /** `name` is unique in the operator. */
  constructor(name: string, keyType?: TypeInformation<K>, valueType?: TypeInformation<V>) {
    super();
    this.name = name;
    this.keyType = keyType;
    this.valueType = valueType;
  }
}

/** Describes a ReducingState. Without a type the general codec is used. */
export class ReducingStateDescriptor<T> extends DescriptorWithTtl {
  readonly kind = 'reducing';
  readonly name: string;
  readonly reduce: ReduceFunction<T>;
  readonly type: TypeInformation<T> | undefined;
  /** `name` is unique in the operator. `reduce` makes one value of two. */
  constructor(name: string, reduce: ReduceFunction<T>, type?: TypeInformation<T>) {
    super();
    this.name = name;
    this.reduce = reduce;
    this.type = type;
  }
}

/** Describes an AggregatingState. Without a type the general codec is used for the accumulator. */
export class AggregatingStateDescriptor<In, Acc, Out> extends DescriptorWithTtl {
  readonly kind = 'aggregating';
  readonly name: string;
  readonly aggregate: AggregateFunction<In, Acc, Out>;
  readonly type: TypeInformation<Acc> | undefined;
  /** `name` is unique in the operator. */
  constructor(
    name: string,
    aggregate: AggregateFunction<In, Acc, Out>,
    accumulatorType?: TypeInformation<Acc>,
  ) {
    super();
    this.name = name;
    this.aggregate = aggregate;
    this.type = accumulatorType;
  }
}

/** Any keyed state descriptor. */
export type StateDescriptor =
  | ValueStateDescriptor<never>
  | ListStateDescriptor<never>
  | MapStateDescriptor<never, never>
  | ReducingStateDescriptor<never>
  | AggregatingStateDescriptor<never, never, never>;
