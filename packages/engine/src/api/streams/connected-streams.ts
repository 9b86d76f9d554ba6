/** Two streams that share an operator, without and with keys (org.apache.flink.streaming.api.datastream.ConnectedStreams). */
import { MillraceError } from '../../base/index.ts';
import {
  type CoFlatMapFunction,
  type CoMapFunction,
  type CoProcessFunction,
  CoProcessOperator,
  type FlatMapFunction,
  type FunctionOrFactory,
  type KeyedCoProcessFunction,
  KeyedCoProcessOperator,
  type KeySelector,
  type MapFunction,
} from '../../operators/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import { coFlatMapFunction, coFlatMapPair, coMapFunction, coMapPair } from '../co-functions.ts';
import type { DataStream, KeyedStream, SingleOutputStreamOperator } from './data-stream.ts';
import { type Transformation, transform } from './transformation.ts';

/** How the function of a call becomes an operator. */
interface CoTransformation<A, B, R> {
  readonly kind: string;
  readonly name: string;
  readonly fn: FunctionOrFactory<CoProcessFunction<A, B, R>>;
  readonly type: TypeInformation<R> | undefined;
}

/** What both kinds of connected streams have. */
abstract class CoStreams<A, B> {
  /** One result for each record: two functions, or an object with map1 and map2 (its class, a function that makes it). */
  map<R>(
    first: MapFunction<A, R>,
    second: MapFunction<B, R>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R>;
  map<R>(
    fn: FunctionOrFactory<CoMapFunction<A, B, R>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R>;
  map<R>(
    first: MapFunction<A, R> | FunctionOrFactory<CoMapFunction<A, B, R>>,
    second?: MapFunction<B, R> | TypeInformation<R>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R> {
    const what = { kind: 'co-map', name: 'Co-Map' };
    if (typeof second === 'function') {
      const fn = coMapFunction(coMapPair(first as MapFunction<A, R>, second));
      return this.addCo({ ...what, fn, type });
    }
    const fn = coMapFunction(first as FunctionOrFactory<CoMapFunction<A, B, R>>);
    return this.addCo({ ...what, fn, type: second });
  }

  /** Any number of results for each record: two functions, or an object with flatMap1 and flatMap2. */
  flatMap<R>(
    first: FlatMapFunction<A, R>,
    second: FlatMapFunction<B, R>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R>;
  flatMap<R>(
    fn: FunctionOrFactory<CoFlatMapFunction<A, B, R>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R>;
  flatMap<R>(
    first: FlatMapFunction<A, R> | FunctionOrFactory<CoFlatMapFunction<A, B, R>>,
    second?: FlatMapFunction<B, R> | TypeInformation<R>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R> {
    const what = { kind: 'co-flat-map', name: 'Co-Flat Map' };
    if (typeof second === 'function') {
      const fn = coFlatMapFunction(coFlatMapPair(first as FlatMapFunction<A, R>, second));
      return this.addCo({ ...what, fn, type });
    }
    const fn = coFlatMapFunction(first as FunctionOrFactory<CoFlatMapFunction<A, B, R>>);
    return this.addCo({ ...what, fn, type: second });
  }

  protected abstract addCo<R>(transformation: CoTransformation<A, B, R>): SingleOutputStreamOperator<R>;
}

/** Two streams that share an operator without keys. */
export class ConnectedStreams<A, B> extends CoStreams<A, B> {
  readonly #first: DataStream<A>;
  readonly #second: DataStream<B>;

  constructor(first: DataStream<A>, second: DataStream<B>) {
    super();
    this.#first = first;
    this.#second = second;
  }

  /** The stream that `connect` was called on. */
  getFirstInput(): DataStream<A> {
    return this.#first;
  }

  /** The stream that `connect` was given. */
  getSecondInput(): DataStream<B> {
    return this.#second;
  }

  /** Keys for both, of one type: selectors, or the names of fields. */
  keyBy<K>(
    first: KeySelector<A, K>,
    second: KeySelector<B, NoInfer<K>>,
    type?: TypeInformation<K>,
  ): KeyedConnectedStreams<A, B, K>;
  keyBy<F extends keyof A & string, G extends FieldsOfType<B, A[F]>>(
    first: F,
    second: G,
  ): KeyedConnectedStreams<A, B, A[F]>;
  keyBy<K>(
    first: KeySelector<A, K> | string,
    second: KeySelector<B, K> | string,
    type?: TypeInformation<K>,
  ): KeyedConnectedStreams<A, B, K> {
    return new KeyedConnectedStreams(
      this.#first.keyBy(first as KeySelector<A, K>, type),
      this.#second.keyBy(second as KeySelector<B, K>, type),
    );
  }

  /** Any number of results for each record, side outputs, timestamps. */
  process<R>(
    fn: FunctionOrFactory<CoProcessFunction<A, B, R>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R> {
    return this.addCo({ kind: 'co-process', name: 'Co-Process', fn, type });
  }

  protected override addCo<R>({
    kind,
    name,
    fn,
    type,
  }: CoTransformation<A, B, R>): SingleOutputStreamOperator<R> {
    const create = (): unknown => new CoProcessOperator(fn);
    return transform(this.#first.job, [this.#first.origins, this.#second.origins], {
      kind,
      name,
      create,
      type,
    });
  }
}

/** Two streams with keys of one type: their operator sees the same state for the same key. */
export class KeyedConnectedStreams<A, B, K> extends CoStreams<A, B> {
  /** For the classes of this folder. @internal */
  readonly first: KeyedStream<A, K>;
  readonly second: KeyedStream<B, K>;

  /** Throws INVALID_ARGUMENT if the keys are described as different types. @internal */
  constructor(first: KeyedStream<A, K>, second: KeyedStream<B, K>) {
    super();
    const [one, other] = [first, second].map(({ keyType }) =>
      JSON.stringify(keyType?.description ?? 'undescribed'),
    );
    if (one !== other) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `the keys of connected streams must be of one type, found ${one} and ${other}: the same key would have two states`,
      );
    }
    this.first = first;
    this.second = second;
  }

  /** The stream that `connect` was called on. */
  getFirstInput(): KeyedStream<A, K> {
    return this.first;
  }

  /** The stream that `connect` was given. */
  getSecondInput(): KeyedStream<B, K> {
    return this.second;
  }

  /** Any number of results for each record, side outputs, timestamps, state and timers of the current key. */
  process<R>(
    fn: FunctionOrFactory<KeyedCoProcessFunction<K, A, B, R>> | FunctionOrFactory<CoProcessFunction<A, B, R>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R> {
    const keyed = fn as FunctionOrFactory<KeyedCoProcessFunction<K, A, B, R>>;
    return this.addKeyed({
      kind: 'keyed-co-process',
      name: 'Keyed Co-Process',
      create: () => new KeyedCoProcessOperator(keyed),
      type,
    });
  }

  /** For the classes of this folder. @internal */
  addKeyed<R>(transformation: Transformation<R>): SingleOutputStreamOperator<R> {
    const { first, second } = this;
    return transform(first.job, [first.origins, second.origins], {
      ...transformation,
      keyed: { selectors: [first.selector, second.selector], type: first.keyType },
    });
  }

  protected override addCo<R>({
    kind,
    name,
    fn,
    type,
  }: CoTransformation<A, B, R>): SingleOutputStreamOperator<R> {
    const keyed = fn as FunctionOrFactory<KeyedCoProcessFunction<K, A, B, R>>;
    return this.addKeyed({ kind, name, create: () => new KeyedCoProcessOperator(keyed), type });
  }
}

/** The names of the fields of T whose values are keys of type K. */
export type FieldsOfType<T, K> = { [F in keyof T & string]: [T[F]] extends [K] ? F : never }[keyof T &
  string];
