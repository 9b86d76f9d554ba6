/**
 * Two streams joined by key and window (org.apache.flink.streaming.api.datastream.JoinedStreams): each record of the first
 * with each of the second. A key that one side alone has gives nothing.
 *
 *     a.join(b).where(keyOfA).equalTo(keyOfB).window(assigner).apply(fn)
 */
import {
  assertSynchronous,
  type FlatJoinFunction,
  type JoinFunction,
  type JoinMethod,
  joinWindowFunction,
  type RichFlatJoinFunction,
  type RichJoinFunction,
  type TaggedUnion,
  type TimeWindow,
  type Window,
  type WindowAssigner,
} from '../../operators/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import { type FunctionObject, isPlainFunction } from '../rich-function.ts';
import { type KeyedPair, PairWindows, StreamPair } from './co-grouped-streams.ts';
import type { DataStream, SingleOutputStreamOperator } from './data-stream.ts';

/** Two streams that are joined. */
export class JoinedStreams<A, B> extends StreamPair<A, B, JoinedPair<A, B>> {
  constructor(first: DataStream<A>, second: DataStream<B>) {
    super(first, second, (pair) => new JoinedPair(pair));
  }
}

/** Two streams with keys that are joined. */
export class JoinedPair<A, B> {
  readonly #pair: KeyedPair<A, B>;

  constructor(pair: KeyedPair<A, B>) {
    this.#pair = pair;
  }

  /** The windows in which records with the same key meet. The assigner sees records as `{ one }` or `{ two }`. */
  window<W extends Window>(assigner: WindowAssigner<TaggedUnion<A, B>, W>): JoinWindows<A, B, W> {
    return new JoinWindows(this.#pair, assigner);
  }
}

/** Windows of two streams that are joined. */
export class JoinWindows<A, B, W extends Window = TimeWindow> extends PairWindows<A, B, W> {
  /**
   * Called for each pair. A function with two parameters answers with its one result, one with three collects its results;
   * so do objects with such a method `join`. Results get the last timestamp of the window.
   */
  apply<R>(fn: FlatJoinFunction<A, B, R>, type?: TypeInformation<R>): SingleOutputStreamOperator<R>;
  apply<R>(
    fn: JoinFunction<A, B, R> | FunctionObject<RichJoinFunction<A, B, R>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R>;
  apply<R>(
    fn: FunctionObject<RichFlatJoinFunction<A, B, R>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R>;
  apply<R>(
    fn: JoinMethod<A, B, R>['join'] | FunctionObject<JoinMethod<A, B, R>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R> {
    if (!isPlainFunction(fn)) return this.evaluate('Window Join', joinWindowFunction(fn), type);
    assertSynchronous(fn, 'join function');
    return this.evaluate('Window Join', joinWindowFunction<A, B, R>({ join: fn }), type);
  }
}
