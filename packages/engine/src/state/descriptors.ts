/** State descriptors and the states they describe, with Flink's names and meaning (org.apache.flink.api.common.state). */
import type { TypeInformation } from '../types/index.ts';

/** State of one value per key (and window). */
export interface ValueState<T> {
  /** The value, or the descriptor's default (undefined without one). A private copy: changing it changes no state. */
  value(): T | undefined;
  /** Sets the value; undefined clears. */
  update(value: T | undefined): void;
  clear(): void;
}

export interface ListState<T> {
  /** The elements in order; an empty array if there are none. A private copy. */
  get(): T[];
  add(value: T): void;
  addAll(values: Iterable<T>): void;
  update(values: Iterable<T>): void;
  clear(): void;
}

/** Iteration order is not defined. Entries may be put and removed while iterating; whether they are seen is not defined. */
export interface MapState<K, V> {
  get(key: K): V | undefined;
  put(key: K, value: V): void;
  putAll(entries: Iterable<readonly [K, V]>): void;
  remove(key: K): void;
  contains(key: K): boolean;
  entries(): Iterable<[K, V]>;
  keys(): Iterable<K>;
  values(): Iterable<V>;
  isEmpty(): boolean;
  clear(): void;
}

/** Values are merged into one as they are added. */
export interface ReducingState<T> {
  get(): T | undefined;
  add(value: T): void;
  clear(): void;
}

export interface AggregatingState<In, Out> {
  get(): Out | undefined;
  add(value: In): void;
  clear(): void;
}

/** Flink's AggregateFunction. Must not keep state of its own. */
export interface AggregateFunction<In, Acc, Out> {
  createAccumulator(): Acc;
  add(value: In, accumulator: Acc): Acc;
  getResult(accumulator: Acc): Out;
  merge(a: Acc, b: Acc): Acc;
}

/** Flink's ReduceFunction. */
export type ReduceFunction<T> = (left: T, right: T) => T;

/** Without a type the general codec is used: it works, is slower, and cannot evolve by schema. */
export class ValueStateDescriptor<T> {
  readonly kind = 'value';
  readonly name: string;
  readonly type: TypeInformation<T> | undefined;
  readonly defaultValue: T | undefined;
  constructor(name: string, type?: TypeInformation<T>, defaultValue?: T) {
    this.name = name;
    this.type = type;
    this.defaultValue = defaultValue;
  }
}

export class ListStateDescriptor<T> {
  readonly kind = 'list';
  readonly name: string;
  readonly type: TypeInformation<T> | undefined;
  constructor(name: string, elementType?: TypeInformation<T>) {
    this.name = name;
    this.type = elementType;
  }
}

export class MapStateDescriptor<K, V> {
  readonly kind = 'map';
  readonly name: string;
  readonly keyType: TypeInformation<K> | undefined;
  readonly valueType: TypeInformation<V> | undefined;
  constructor(name: string, keyType?: TypeInformation<K>, valueType?: TypeInformation<V>) {
    this.name = name;
    this.keyType = keyType;
    this.valueType = valueType;
  }
}

export class ReducingStateDescriptor<T> {
  readonly kind = 'reducing';
  readonly name: string;
  readonly reduce: ReduceFunction<T>;
  readonly type: TypeInformation<T> | undefined;
  constructor(name: string, reduce: ReduceFunction<T>, type?: TypeInformation<T>) {
    this.name = name;
    this.reduce = reduce;
    this.type = type;
  }
}

export class AggregatingStateDescriptor<In, Acc, Out> {
  readonly kind = 'aggregating';
  readonly name: string;
  readonly aggregate: AggregateFunction<In, Acc, Out>;
  readonly type: TypeInformation<Acc> | undefined;
  constructor(
    name: string,
    aggregate: AggregateFunction<In, Acc, Out>,
    accumulatorType?: TypeInformation<Acc>,
  ) {
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
