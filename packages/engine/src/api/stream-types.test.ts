/** The types of records flow from the source to the sink: each line that must not compile says so to the compiler. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  type Collector,
  type KeyedProcessContext,
  KeyedProcessFunction,
  OutputTag,
  ProcessFunction,
  type ProcessWindowContext,
  ProcessWindowFunction,
  type TimeWindow,
  TumblingEventTimeWindows,
} from '../operators/index.ts';
import type { Sink } from '../runtime/index.ts';
import {
  type AggregateFunction,
  MapStateDescriptor,
  ReducingStateDescriptor,
  ValueStateDescriptor,
} from '../state/index.ts';
import { Types } from '../types/index.ts';
import type { StreamExecutionEnvironment } from './stream-execution-environment.ts';
import type { DataStream, KeyedStream } from './streams/data-stream.ts';
import { WatermarkStrategy } from './watermark-strategy.ts';

const Order = Types.POJO('Order', {
  customer: Types.STRING,
  amount: Types.DOUBLE,
  note: Types.OPTIONAL(Types.STRING),
});

interface Total {
  customer: string;
  sum: number;
}

class Totals extends KeyedProcessFunction<string, { customer: string; amount: number }, Total> {
  processElement(
    order: { customer: string; amount: number },
    context: KeyedProcessContext<string>,
    out: Collector<Total>,
  ): void {
    out.collect({ customer: context.getCurrentKey(), sum: order.amount });
  }
}

class Average implements AggregateFunction<{ amount: number }, { sum: number; count: number }, number> {
  createAccumulator() {
    return { sum: 0, count: 0 };
  }
  add(order: { amount: number }, acc: { sum: number; count: number }) {
    return { sum: acc.sum + order.amount, count: acc.count + 1 };
  }
  getResult(acc: { sum: number; count: number }) {
    return acc.sum / acc.count;
  }
  merge(a: { sum: number; count: number }, b: { sum: number; count: number }) {
    return { sum: a.sum + b.sum, count: a.count + b.count };
  }
}

class Labelled extends ProcessWindowFunction<number, string, string, TimeWindow> {
  process(
    key: string,
    context: ProcessWindowContext<TimeWindow>,
    elements: Iterable<number>,
    out: Collector<string>,
  ): void {
    for (const average of elements) out.collect(`${key} ${context.window().start} ${average}`);
  }
}

class Latest extends ProcessWindowFunction<Date, Date, string, TimeWindow> {
  process(_key: string, _context: unknown, elements: Iterable<Date>, out: Collector<Date>): void {
    for (const date of elements) out.collect(date);
  }
}

class Numbers extends ProcessFunction<number, number> {
  processElement(value: number, _context: unknown, out: Collector<number>): void {
    out.collect(value);
  }
}

/** Never called: it is compiled. */
function compiled(env: StreamExecutionEnvironment, totals: Sink<Total>, texts: Sink<string>): void {
  const orders = env.fromCollection([{ customer: 'a', amount: 1 }], Order);
  const names: DataStream<string> = orders.map((order) => order.customer);
  const optional: DataStream<string | undefined> = orders.map((order) => order.note);
  const parts: DataStream<string> = names.flatMap((name) => name.split(' '));
  const keyed: KeyedStream<{ customer: string; amount: number; note?: string | undefined }, string> =
    orders.keyBy('customer');
  const results: DataStream<Total> = keyed.process(new Totals());
  keyed.process(Totals).sinkTo(totals);
  keyed.process(() => new Totals()).sinkTo(totals);
  const windows = keyed.window(TumblingEventTimeWindows.of(1000));
  const averages: DataStream<number> = windows.aggregate(new Average());
  const labels: DataStream<string> = windows.aggregate(new Average(), new Labelled());
  const side: DataStream<Date> = results.map((t) => t).getSideOutput(new OutputTag<Date>('d'));
  const joined: DataStream<number | string> = names.connect(averages).map<number | string>(
    (name) => name,
    (average) => average,
  );
  results.sinkTo(totals);
  labels.sinkTo(texts);
  orders.assignTimestampsAndWatermarks(
    WatermarkStrategy.forBoundedOutOfOrderness<{ amount: number }>('5 s').withTimestampAssigner(
      (order) => order.amount,
    ),
  );
  const guarded: DataStream<string> = joined.filter((value) => typeof value === 'string');
  void [optional, parts, side, joined, guarded];

  // @ts-expect-error there is no such field
  orders.map((order) => order.price);
  // @ts-expect-error there is no such field to key by
  orders.keyBy('price');
  // @ts-expect-error a sink of totals does not take orders' names
  names.sinkTo(totals);
  // @ts-expect-error the function wants keys of type string
  orders.keyBy((order) => order.amount).process(new Totals());
  // @ts-expect-error the function wants orders
  names.keyBy((name) => name).process(new Totals());
  // @ts-expect-error the function wants numbers
  names.process(new Numbers());
  // @ts-expect-error a filter answers true or false
  names.filter((name) => name);
  // @ts-expect-error the guard is one for records of another type
  names.filter((name: number | Date): name is Date => typeof name !== 'number');
  // @ts-expect-error streams of two types have no union
  names.union(averages);
  // @ts-expect-error the type described is not that of the results
  orders.map((order) => order.customer, Types.DOUBLE);
  // @ts-expect-error the elements lack a field of the type
  env.fromCollection([{ customer: 'a' }], Order);
  // @ts-expect-error the elements are not of the type
  env.fromCollection([1, 2], Types.STRING);
  // @ts-expect-error the results lack a field of the type
  orders.map((order) => ({ customer: order.customer }), Order);
  // @ts-expect-error the results may be undefined
  orders.map((order) => order.note, Types.STRING);
  // @ts-expect-error not every result is a value of the enum
  orders.map((order) => order.customer, Types.ENUM(['a', 'b']));
  // @ts-expect-error the results lack a field of the type
  orders.flatMap((order) => [{ customer: order.customer }], Order);
  // @ts-expect-error the keys are not of the type
  orders.keyBy((order) => order.customer, Types.LONG);
  // @ts-expect-error the keys may be undefined
  orders.keyBy((order) => order.note, Types.STRING);
  // @ts-expect-error the values of the state are not of the type
  new ValueStateDescriptor<number>('sum', Types.STRING);
  // @ts-expect-error the default of the state is not of its type
  new ValueStateDescriptor('sum', Types.STRING, 0);
  // @ts-expect-error the function reduces numbers
  new ReducingStateDescriptor('sum', (a: number, b: number) => a + b, Types.STRING);
  // @ts-expect-error the values of the map are not of the type
  new MapStateDescriptor<string, number>('sums', Types.STRING, Types.STRING);
  // @ts-expect-error what is emitted is not of the type
  new OutputTag<string>('late', Types.LONG);
  // What is described widens what the function gives.
  const wider: DataStream<string | null> = orders.map(
    (order) => order.customer,
    Types.NULLABLE(Types.STRING),
  );
  void wider;
  const connected = names.connect(averages);
  // @ts-expect-error both selectors give keys of one type
  connected.keyBy(String, Number);
  // @ts-expect-error reduce keeps the type
  keyed.reduce((a, b) => a.amount + b.amount);
  // @ts-expect-error the function wants dates, the aggregate gives numbers
  windows.aggregate(new Average(), new Latest());
  // @ts-expect-error no such mode
  env.enableCheckpointing(1000, 'SOMETIMES');
  // @ts-expect-error no such option
  env.configure({ paralellism: 2 });
  // @ts-expect-error returns describes what the stream has
  names.map((name) => name).returns(Types.LONG);
}

it('the types of records flow from the source to the sink', () => {
  assert.equal(typeof compiled, 'function');
});
