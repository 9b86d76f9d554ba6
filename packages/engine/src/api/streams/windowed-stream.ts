/**
 * The records of each key in windows (org.apache.flink.streaming.api.datastream.WindowedStream): how windows are evaluated
 * and what becomes of their contents.
 */
import { type Duration, durationMs } from '../../base/index.ts';
import {
  type FunctionOrFactory,
  type OutputTag,
  type ProcessWindowFunction,
  type TimeWindow,
  type Trigger,
  type WindowAssigner,
  type WindowContentsSpec,
  type WindowEvaluation,
  WindowOperator,
} from '../../operators/index.ts';
import type { AggregateFunction, ReduceFunction } from '../../state/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import type { KeyedStream, SingleOutputStreamOperator } from './data-stream.ts';

/** The records of each key in windows. The functions see the contents of one key and window. */
export class WindowedStream<T, K> {
  readonly #stream: KeyedStream<T, K>;
  readonly #assigner: WindowAssigner<T>;
  #trigger: Trigger<T> | undefined;
  #allowedLatenessMs = 0;
  #lateTag: OutputTag<T> | undefined;

  constructor(stream: KeyedStream<T, K>, assigner: WindowAssigner<T>) {
    this.#stream = stream;
    this.#assigner = assigner;
  }

  /** When windows are evaluated, instead of the assigner's way. */
  trigger(trigger: Trigger<T>): this {
    this.#trigger = trigger;
    return this;
  }

  /** How long after its end a window still takes records (and is evaluated again). */
  allowedLateness(lateness: Duration): this {
    this.#allowedLatenessMs = durationMs(lateness, 'allowedLateness');
    return this;
  }

  /** Records that come too late go to this side output of the result; otherwise they are counted and dropped. */
  sideOutputLateData(tag: OutputTag<T>): this {
    this.#lateTag = tag;
    return this;
  }

  /** One value for each window: its records reduced as they come; `fn` may make results of it, with the window. */
  reduce(reduce: ReduceFunction<T>): SingleOutputStreamOperator<T>;
  reduce<R>(
    reduce: ReduceFunction<T>,
    fn: FunctionOrFactory<ProcessWindowFunction<T, R, K, TimeWindow>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R>;
  reduce<R>(
    reduce: ReduceFunction<T>,
    fn?: FunctionOrFactory<ProcessWindowFunction<T, R, K, TimeWindow>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R> | SingleOutputStreamOperator<T> {
    const contents = { kind: 'reduce', reduce, type: this.#stream.getType() } as const;
    if (fn === undefined) return this.#add<unknown, T, T>(contents, undefined, this.#stream.getType());
    return this.#add<unknown, T, R>(contents, { kind: 'process', fn }, type);
  }

  /** One accumulator for each window; `fn` may make results of its result, with the window. */
  aggregate<Acc, R>(
    aggregate: AggregateFunction<T, Acc, R>,
    types?: WindowTypes<Acc, R>,
  ): SingleOutputStreamOperator<R>;
  aggregate<Acc, V, R>(
    aggregate: AggregateFunction<T, Acc, V>,
    fn: FunctionOrFactory<ProcessWindowFunction<V, R, K, TimeWindow>>,
    types?: WindowTypes<Acc, R>,
  ): SingleOutputStreamOperator<R>;
  aggregate<Acc, V, R>(
    aggregate: AggregateFunction<T, Acc, V>,
    fnOrTypes?: FunctionOrFactory<ProcessWindowFunction<V, R, K, TimeWindow>> | WindowTypes<Acc, R>,
    typesAfterFn?: WindowTypes<Acc, R>,
  ): SingleOutputStreamOperator<R> {
    const isFn = typeof fnOrTypes === 'function' || (fnOrTypes !== undefined && 'process' in fnOrTypes);
    const types = isFn ? typesAfterFn : (fnOrTypes as WindowTypes<Acc, R> | undefined);
    const fn = isFn
      ? (fnOrTypes as FunctionOrFactory<ProcessWindowFunction<V, R, K, TimeWindow>>)
      : undefined;
    const contents = { kind: 'aggregate', aggregate, accumulatorType: types?.accumulator } as const;
    return this.#add<Acc, V, R>(
      contents,
      fn === undefined ? undefined : { kind: 'process', fn },
      types?.result,
    );
  }

  /** All records of the window at once. They are kept until then: reduce or aggregate where that is possible. */
  process<R>(
    fn: FunctionOrFactory<ProcessWindowFunction<T, R, K, TimeWindow>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R> {
    return this.#add<unknown, T, R>(
      { kind: 'elements', type: this.#stream.getType() },
      { kind: 'process', fn },
      type,
    );
  }

  #add<Acc, V, R>(
    contents: WindowContentsSpec<T, Acc, V>,
    evaluation: WindowEvaluation<K, V, R> | undefined,
    type: TypeInformation<R> | undefined,
  ): SingleOutputStreamOperator<R> {
    const options = {
      assigner: this.#assigner,
      trigger: this.#trigger,
      allowedLatenessMs: this.#allowedLatenessMs,
      lateTag: this.#lateTag,
      contents,
      evaluation,
    };
    const create = (): unknown => new WindowOperator<K, T, Acc, V, R>(options);
    return this.#stream.addKeyed({ kind: 'window', name: 'Window', create, type });
  }
}

/** What `aggregate` keeps and what it gives, described. */
export interface WindowTypes<Acc, R> {
  readonly accumulator?: TypeInformation<Acc>;
  readonly result?: TypeInformation<R>;
}
