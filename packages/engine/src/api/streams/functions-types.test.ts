/** Which functions a stream takes: each line that must not compile says so to the compiler. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  type Collector,
  DeltaEvictor,
  type KeyedProcessContext,
  KeyedProcessFunction,
  OutputTag,
  type ProcessContext,
  type ProcessWindowContext,
  ProcessWindowFunction,
  type TimeWindow,
  TumblingEventTimeWindows,
} from '../../operators/index.ts';
import type { AggregateFunction } from '../../state/index.ts';
import type { DataStream, KeyedStream } from './data-stream.ts';

interface Amount {
  amount: number;
}

interface Order extends Amount {
  customer: string;
}

interface PaidOrder extends Order {
  method: string;
}

class SumAmounts implements AggregateFunction<Amount, number, number> {
  createAccumulator() {
    return 0;
  }
  add(value: Amount, sum: number) {
    return sum + value.amount;
  }
  getResult(sum: number) {
    return sum;
  }
  merge(a: number, b: number) {
    return a + b;
  }
}

class CountMethods extends SumAmounts implements AggregateFunction<PaidOrder, number, number> {
  override add: (value: PaidOrder, sum: number) => number = (value, sum) => sum + value.method.length;
}

class Amounts extends KeyedProcessFunction<string, Amount, number> {
  processElement(value: Amount, _context: KeyedProcessContext<string>, out: Collector<number>): void {
    out.collect(value.amount);
  }
}

class Methods extends KeyedProcessFunction<string, PaidOrder, string> {
  processElement(value: PaidOrder, _context: KeyedProcessContext<string>, out: Collector<string>): void {
    out.collect(value.method);
  }
}

class WindowMethods extends ProcessWindowFunction<PaidOrder, string, string, TimeWindow> {
  process(
    _key: string,
    _context: ProcessWindowContext<TimeWindow>,
    elements: Iterable<PaidOrder>,
    out: Collector<string>,
  ): void {
    for (const { method } of elements) out.collect(method);
  }
}

function functionsTake(orders: KeyedStream<Order, string>): void {
  const windows = orders.window(TumblingEventTimeWindows.of('1 min'));
  const sums: DataStream<number> = windows.aggregate(new SumAmounts());
  const amounts: DataStream<number> = orders.process(new Amounts());
  orders.process(Amounts);
  orders.process(() => new Amounts());
  windows.sideOutputLateData(new OutputTag<Order>('late')).aggregate(new SumAmounts());
  assert.ok(sums !== amounts);

  // @ts-expect-error the function wants orders that are paid
  orders.process(new Methods());
  // @ts-expect-error the same by its class
  orders.process(Methods);
  // @ts-expect-error the same by a function that makes it
  orders.process(() => new Methods());
  // @ts-expect-error the same in windows
  windows.process(new WindowMethods());
  // @ts-expect-error the aggregate function wants orders that are paid
  windows.aggregate(new CountMethods());
  // @ts-expect-error the evictor wants orders that are paid
  windows.evictor(DeltaEvictor.of(1, (a: PaidOrder, b: PaidOrder) => b.method.length - a.method.length));
  // @ts-expect-error late records are orders that may not be paid
  windows.sideOutputLateData(new OutputTag<PaidOrder>('late'));
}

function outputsTake(context: ProcessContext, order: Order, paid: PaidOrder): void {
  context.output(new OutputTag<Order>('orders'), order);
  context.output(new OutputTag<Order>('orders'), paid);
  // @ts-expect-error the side output is of orders that are paid
  context.output(new OutputTag<PaidOrder>('paid'), order);
}

it('a stream takes functions of its type or a wider one, not of a narrower one', () => {
  assert.ok([functionsTake, outputsTake].every((each) => typeof each === 'function'));
});
