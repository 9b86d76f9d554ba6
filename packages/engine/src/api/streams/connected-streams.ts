/** Two streams that share an operator, without and with keys (org.apache.flink.streaming.api.datastream.ConnectedStreams). */
import { MillraceError } from '../../base/index.ts';
import {
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
import { coFlatMapFunction, coMapFunction } from '../co-functions.ts';
import {
  type DataStream,
  type KeyedStream,
  type SingleOutputStreamOperator,
  transform,
} from './data-stream.ts';

/** Two streams that share an operator without keys. */
export class ConnectedStreams<A, B> {
  readonly #first: DataStream<A>;
  readonly #second: DataStream<B>;

  constructor(first: DataStream<A>, second: DataStream<B>) {
    this.#first = first;
    this.#second = second;
  }

  /** Keys for both, of one type. */
  keyBy<K>(
    first: KeySelector<A, K>,
    second: KeySelector<B, NoInfer<K>>,
    type?: TypeInformation<K>,
  ): KeyedConnectedStreams<A, B, K> {
    return new KeyedConnectedStreams(this.#first.keyBy(first, type), this.#second.keyBy(second, type));
  }

  map<R>(
    first: MapFunction<A, R>,
    second: MapFunction<B, R>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R> {
    return this.#add('co-map', 'Co-Map', coMapFunction(first, second), type);
  }

  flatMap<R>(
    first: FlatMapFunction<A, R>,
    second: FlatMapFunction<B, R>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R> {
    return this.#add('co-flat-map', 'Co-Flat Map', coFlatMapFunction(first, second), type);
  }

  process<R>(
    fn: FunctionOrFactory<CoProcessFunction<A, B, R>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R> {
    return this.#add('co-process', 'Co-Process', fn, type);
  }

  #add<R>(
    kind: string,
    name: string,
    fn: FunctionOrFactory<CoProcessFunction<A, B, R>>,
    type: TypeInformation<R> | undefined,
  ): SingleOutputStreamOperator<R> {
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
export class KeyedConnectedStreams<A, B, K> {
  readonly #first: KeyedStream<A, K>;
  readonly #second: KeyedStream<B, K>;

  /** Throws INVALID_ARGUMENT if the keys are described as different types. */
  constructor(first: KeyedStream<A, K>, second: KeyedStream<B, K>) {
    const [one, other] = [first, second].map(({ keyType }) =>
      JSON.stringify(keyType?.description ?? 'undescribed'),
    );
    if (one !== other) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `the keys of connected streams must be of one type, found ${one} and ${other}: the same key would have two states`,
      );
    }
    this.#first = first;
    this.#second = second;
  }

  process<R>(
    fn: FunctionOrFactory<KeyedCoProcessFunction<K, A, B, R>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R> {
    return transform(this.#first.job, [this.#first.origins, this.#second.origins], {
      kind: 'keyed-co-process',
      name: 'Keyed Co-Process',
      create: () => new KeyedCoProcessOperator(fn),
      type,
      keyed: { selectors: [this.#first.selector, this.#second.selector], type: this.#first.keyType },
    });
  }
}
