/**
 * The records of a whole stream in windows (org.apache.flink.streaming.api.datastream.AllWindowedStream): as WindowedStream,
 * with one key for all records, in one subtask.
 */
import type {
  AllWindowFunction,
  FunctionOrFactory,
  ProcessAllWindowFunction,
  TimeWindow,
  Window,
  WindowAssigner,
} from '../../operators/index.ts';
import type { AggregateFunction, ReduceFunction } from '../../state/index.ts';
import { type TypeInformation, Types } from '../../types/index.ts';
import type { DataStream, SingleOutputStreamOperator } from './data-stream.ts';
import { aggregateArguments, StreamWindows, type WindowTypes } from './stream-windows.ts';

/**
 * All records of a stream in windows, which one subtask takes: the functions see the contents of one window. Where records
 * have keys, `keyBy(…).window(…)` works in parallel.
 */
export class AllWindowedStream<T, W extends Window = TimeWindow> extends StreamWindows<T, number, W> {
  constructor(stream: DataStream<T>, assigner: WindowAssigner<T, W>) {
    super(
      stream.keyBy(() => 0, Types.INT),
      assigner,
      true,
    );
  }

  /** One value for each window: its records reduced as they come; `fn` may make results of it, with the window. */
  reduce(reduce: ReduceFunction<T>): SingleOutputStreamOperator<T>;
  reduce<R>(
    reduce: ReduceFunction<T>,
    fn: FunctionOrFactory<ProcessAllWindowFunction<T, R, W>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R>;
  reduce<R>(
    reduce: ReduceFunction<T>,
    fn?: FunctionOrFactory<ProcessAllWindowFunction<T, R, W>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R> | SingleOutputStreamOperator<T> {
    const contents = { kind: 'reduce', reduce, type: this.type } as const;
    if (fn === undefined) return this.addOperator<unknown, T, T>(contents, undefined, this.type);
    return this.addOperator<unknown, T, R>(contents, { kind: 'process-all', fn }, type);
  }

  /** One accumulator for each window; `fn` may make results of its result, with the window. */
  aggregate<Acc, R>(
    aggregate: AggregateFunction<T, Acc, R>,
    types?: WindowTypes<Acc, R>,
  ): SingleOutputStreamOperator<R>;
  aggregate<Acc, V, R>(
    aggregate: AggregateFunction<T, Acc, V>,
    fn: FunctionOrFactory<ProcessAllWindowFunction<V, R, W>>,
    types?: WindowTypes<Acc, R>,
  ): SingleOutputStreamOperator<R>;
  aggregate<Acc, V, R>(
    aggregate: AggregateFunction<T, Acc, V>,
    fnOrTypes?: FunctionOrFactory<ProcessAllWindowFunction<V, R, W>> | WindowTypes<Acc, R>,
    typesAfterFn?: WindowTypes<Acc, R>,
  ): SingleOutputStreamOperator<R> {
    const { fn, types } = aggregateArguments<ProcessAllWindowFunction<V, R, W>, Acc, R>(
      fnOrTypes,
      typesAfterFn,
    );
    const { type } = this;
    const contents = { kind: 'aggregate', aggregate, accumulatorType: types?.accumulator, type } as const;
    const evaluation = fn === undefined ? undefined : ({ kind: 'process-all', fn } as const);
    return this.addOperator<Acc, V, R>(contents, evaluation, types?.result);
  }

  /** All records of the window at once. They are kept until then: reduce or aggregate where that is possible. */
  process<R>(
    fn: FunctionOrFactory<ProcessAllWindowFunction<T, R, W>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R> {
    const contents = { kind: 'elements', type: this.type } as const;
    return this.addOperator<unknown, T, R>(contents, { kind: 'process-all', fn }, type);
  }

  /** As `process`, with a plain function. */
  apply<R>(fn: AllWindowFunction<T, R, W>, type?: TypeInformation<R>): SingleOutputStreamOperator<R> {
    const contents = { kind: 'elements', type: this.type } as const;
    return this.addOperator<unknown, T, R>(contents, { kind: 'apply-all', fn }, type);
  }
}
