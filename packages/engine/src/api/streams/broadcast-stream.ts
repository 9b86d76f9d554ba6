/**
 * The broadcast state pattern: a stream whose records reach every subtask, and what may be connected with it
 * (org.apache.flink.streaming.api.datastream.BroadcastStream and BroadcastConnectedStream).
 *
 *     rules.broadcast(descriptor) ──> BroadcastStream ──┐
 *     orders, or orders.keyBy(…) ──connect──────────────┴──> BroadcastConnectedStream ──process──> results
 */
import {
  type AnyMapStateDescriptor,
  type BroadcastProcessFunction,
  BroadcastProcessOperator,
  checkBroadcastDescriptors,
  type FunctionOrFactory,
  type KeyedBroadcastProcessFunction,
  KeyedBroadcastProcessOperator,
} from '../../operators/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import { exchanged } from '../job-builder.ts';
import type { DataStream, KeyedStream, SingleOutputStreamOperator } from './data-stream.ts';
import { transform } from './transformation.ts';

/** A stream whose records go to every subtask, and the broadcast states that they are kept in. */
export class BroadcastStream<T> {
  readonly stream: DataStream<T>;
  readonly descriptors: readonly AnyMapStateDescriptor[];

  /** Throws INVALID_ARGUMENT unless the descriptors are of maps with names of their own. @internal */
  constructor(stream: DataStream<T>, descriptors: readonly AnyMapStateDescriptor[]) {
    checkBroadcastDescriptors(descriptors);
    this.stream = stream;
    this.descriptors = descriptors;
  }
}

/** A stream without keys beside a broadcast stream. */
export class BroadcastConnectedStream<T, B> {
  protected readonly broadcast: BroadcastStream<B>;
  readonly #stream: DataStream<T>;

  constructor(stream: DataStream<T>, broadcast: BroadcastStream<B>) {
    this.#stream = stream;
    this.broadcast = broadcast;
  }

  /** Records of the one stream, with the broadcast state that those of the other have left. `type` describes the results. */
  process<R>(
    fn: FunctionOrFactory<BroadcastProcessFunction<T, B, R>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R> {
    const { stream, descriptors } = this.broadcast;
    return transform(this.#stream.job, [this.#stream.origins, exchanged(stream.origins, 'broadcast')], {
      kind: 'broadcast-process',
      name: 'Co-Process-Broadcast',
      create: () => new BroadcastProcessOperator(fn, descriptors),
      type,
    });
  }
}

/** A stream with keys beside a broadcast stream. */
export class KeyedBroadcastConnectedStream<T, B, K> extends BroadcastConnectedStream<T, B> {
  readonly #keyed: KeyedStream<T, K>;

  constructor(keyed: KeyedStream<T, K>, broadcast: BroadcastStream<B>) {
    super(keyed, broadcast);
    this.#keyed = keyed;
  }

  /** As without keys, with keyed state and timers of the current key. */
  override process<R>(
    fn: FunctionOrFactory<KeyedBroadcastProcessFunction<K, T, B, R>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R>;
  override process<R>(
    fn: FunctionOrFactory<BroadcastProcessFunction<T, B, R>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R>;
  override process<R>(
    fn: FunctionOrFactory<KeyedBroadcastProcessFunction<K, T, B, R> | BroadcastProcessFunction<T, B, R>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R> {
    const { job, origins, selector, keyType } = this.#keyed;
    const { stream, descriptors } = this.broadcast;
    return transform(job, [origins, exchanged(stream.origins, 'broadcast')], {
      kind: 'keyed-broadcast-process',
      name: 'Co-Process-Broadcast-Keyed',
      create: () =>
        new KeyedBroadcastProcessOperator(
          fn as FunctionOrFactory<KeyedBroadcastProcessFunction<K, T, B, R>>,
          descriptors,
        ),
      type,
      keyed: { selectors: [selector, undefined], type: keyType },
    });
  }
}
