/**
 * The records of each key in windows (org.apache.flink.streaming.api.datastream.WindowedStream): how windows are evaluated
 * and what becomes of their contents.
 */
import type {
  FunctionOrFactory,
  ProcessWindowFunction,
  TimeWindow,
  Window,
  WindowAssigner,
  WindowFunction,
} from '../../operators/index.ts';
import type { AggregateFunction, ReduceFunction } from '../../state/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import type { KeyedStream, SingleOutputStreamOperator } from './data-stream.ts';
import { aggregateArguments, StreamWindows, type WindowTypes } from './stream-windows.ts';

/** The records of each key in windows. The functions see the contents of one key and window. */
export class WindowedStream<T, K, W extends Window = TimeWindow> extends StreamWindows<T, K, W> {
  constructor(stream: KeyedStream<T, K>, assigner: WindowAssigner<T, W>) {
    super(stream, assigner, false);
  }

  /** One value for each window: its records reduced as they come; `fn` may make results of it, with the window. */
  reduce(reduce: ReduceFunction<T>): SingleOutputStreamOperator<T>;
  reduce<R>(
    reduce: ReduceFunction<T>,
    fn: FunctionOrFactory<ProcessWindowFunction<T, R, K, W>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R>;
  reduce<R>(
    reduce: ReduceFunction<T>,
    fn?: FunctionOrFactory<ProcessWindowFunction<T, R, K, W>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R> | SingleOutputStreamOperator<T> {
    const contents = { kind: 'reduce', reduce, type: this.type } as const;
    if (fn === undefined) return this.addOperator<unknown, T, T>(contents, undefined, this.type);
    return this.addOperator<unknown, T, R>(contents, { kind: 'process', fn }, type);
  }

  /** One accumulator for each window; `fn` may make results of its result, with the window. */
  aggregate<Acc, R>(
    aggregate: AggregateFunction<T, Acc, R>,
    types?: WindowTypes<Acc, R>,
  ): SingleOutputStreamOperator<R>;
  aggregate<Acc, V, R>(
    aggregate: AggregateFunction<T, Acc, V>,
    fn: FunctionOrFactory<ProcessWindowFunction<V, R, K, W>>,
    types?: WindowTypes<Acc, R>,
  ): SingleOutputStreamOperator<R>;
  aggregate<Acc, V, R>(
    aggregate: AggregateFunction<T, Acc, V>,
    fnOrTypes?: FunctionOrFactory<ProcessWindowFunction<V, R, K, W>> | WindowTypes<Acc, R>,
    typesAfterFn?: WindowTypes<Acc, R>,
  ): SingleOutputStreamOperator<R> {
    const { fn, types } = aggregateArguments<ProcessWindowFunction<V, R, K, W>, Acc, R>(
      fnOrTypes,
      typesAfterFn,
    );
    const { type } = this;
    const contents = { kind: 'aggregate', aggregate, accumulatorType: types?.accumulator, type } as const;
    const evaluation = fn === undefined ? undefined : ({ kind: 'process', fn } as const);
    return this.addOperator<Acc, V, R>(contents, evaluation, types?.result);
  }

  /** All records of the window at once. They are kept until then: reduce or aggregate where that is possible. */
  process<R>(
    fn: FunctionOrFactory<ProcessWindowFunction<T, R, K, W>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R> {
    const contents = { kind: 'elements', type: this.type } as const;
    return this.addOperator<unknown, T, R>(contents, { kind: 'process', fn }, type);
  }

  /** As `process`, with a plain function. */
  apply<R>(fn: WindowFunction<T, R, K, W>, type?: TypeInformation<R>): SingleOutputStreamOperator<R> {
    const contents = { kind: 'elements', type: this.type } as const;
    return this.addOperator<unknown, T, R>(contents, { kind: 'apply', fn }, type);
  }
}
