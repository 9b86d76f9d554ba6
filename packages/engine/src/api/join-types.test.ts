/** The types of joins, connected streams and aggregations: each line that must not compile says so to the compiler. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  type CoFlatMapFunction,
  type Collector,
  CoProcessFunction,
  EventTimeSessionWindows,
  OutputTag,
  type ProcessContext,
  type ProcessJoinContext,
  ProcessJoinFunction,
  RichCoGroupFunction,
  RichCoMapFunction,
  RichFlatJoinFunction,
  RichJoinFunction,
  TumblingEventTimeWindows,
} from '../operators/index.ts';
import { Types } from '../types/index.ts';
import type { StreamExecutionEnvironment } from './stream-execution-environment.ts';
import type { DataStream } from './streams/data-stream.ts';

interface Order {
  readonly id: string;
  readonly customer: string;
  readonly amount: number;
  readonly units?: number;
  readonly price: { readonly cents: bigint; readonly tags: string[] };
  readonly at: Date;
}

interface Payment {
  readonly order: string;
  readonly cents: number;
}

class Both extends ProcessJoinFunction<Order, Payment, string> {
  processElement(left: Order, right: Payment, _context: ProcessJoinContext, out: Collector<string>): void {
    out.collect(left.id + right.order);
  }
}

class Joined extends RichJoinFunction<Order, Payment, number> {
  join(order: Order, payment: Payment): number {
    return order.amount + payment.cents;
  }
}

class FlatJoined extends RichFlatJoinFunction<Order, Payment, string> {
  join(order: Order, _payment: Payment, out: Collector<string>): void {
    out.collect(order.id);
  }
}

class Grouped extends RichCoGroupFunction<Order, Payment, Date> {
  coGroup(orders: Iterable<Order>, _payments: Iterable<Payment>, out: Collector<Date>): void {
    for (const order of orders) out.collect(order.at);
  }
}

class Named extends RichCoMapFunction<Order, Payment, string> {
  map1(order: Order): string {
    return order.id;
  }
  map2(payment: Payment): string {
    return payment.order;
  }
}

class Split implements CoFlatMapFunction<Order, Payment, bigint> {
  flatMap1(order: Order): bigint[] {
    return [order.price.cents];
  }
  flatMap2(payment: Payment, out: Collector<bigint>): void {
    out.collect(BigInt(payment.cents));
  }
}

class Unkeyed extends CoProcessFunction<Order, Payment, Date> {
  processElement1(order: Order, _context: ProcessContext, out: Collector<Date>): void {
    out.collect(order.at);
  }
  processElement2(): void {}
}

/** Never called: it is compiled. */
function compiled(env: StreamExecutionEnvironment, all: Order[], paid: Payment[]): void {
  const orders = env.fromCollection(all);
  const payments = env.fromCollection(paid);
  const pairs = env.fromCollection<[string, number]>([['a', 1]]);
  const byCustomer = orders.keyBy('customer');

  const total: DataStream<Order> = byCustomer.sum('amount');
  byCustomer.sum('price.cents');
  byCustomer.min('at');
  byCustomer.maxBy('id', false);
  pairs.keyBy((pair) => pair[0]).sum(1);
  pairs.keyBy((pair) => pair[0]).max(0);
  env
    .fromElements(1)
    .keyBy((n) => n)
    .sum(0);
  // @ts-expect-error there is no such field
  byCustomer.sum('amuont');
  // @ts-expect-error a text has no sum
  byCustomer.sum('id');
  // @ts-expect-error it may be missing
  byCustomer.sum('units');
  // @ts-expect-error a date has no sum
  byCustomer.sum('at');
  // @ts-expect-error lists have no order
  byCustomer.max('price.tags');
  // @ts-expect-error there is no such position
  pairs.keyBy((pair) => pair[0]).sum(2);
  // @ts-expect-error a text has no sum
  pairs.keyBy((pair) => pair[0]).sum(0);
  // @ts-expect-error records have no positions
  byCustomer.sum(0);

  const windows = orders
    .join(payments)
    .where((order) => order.id)
    .equalTo((payment) => payment.order)
    .window(TumblingEventTimeWindows.of('1 min'));
  const sums: DataStream<number> = windows.apply((order, payment) => order.amount + payment.cents);
  const tuples: DataStream<[string, number]> = windows.apply((order, payment): [string, number] => [
    order.id,
    payment.cents,
  ]);
  const flat: DataStream<string> = windows.apply((order, payment, out: Collector<string>) => {
    if (payment.cents > 0) out.collect(order.id);
  });
  const rich: DataStream<number> = windows.apply(new Joined());
  const richClass: DataStream<number> = windows.apply(Joined);
  const richFlat: DataStream<string> = windows.apply(FlatJoined);
  const described: DataStream<string> = windows.apply((order) => order.id, Types.STRING);
  const byId = orders.join(payments).where('id');
  byId
    .equalTo('order')
    .window(EventTimeSessionWindows.withDynamicGap((tagged) => ('one' in tagged ? tagged.one.amount : 1)));
  // @ts-expect-error the keys are of two types
  byId.equalTo('cents');
  // @ts-expect-error the keys are of two types
  byId.equalTo((payment) => payment.cents);
  // @ts-expect-error there is no such field
  orders.join(payments).where('order');
  // @ts-expect-error orders have no cents
  windows.apply((order, payment) => order.cents + payment.cents);
  // @ts-expect-error the type described is not that of the results
  windows.apply((order) => order.id, Types.LONG);

  const groups = orders.coGroup(payments).where('id').equalTo('order').window(TumblingEventTimeWindows.of(1));
  const dates: DataStream<Date> = groups.apply(new Grouped());
  const counts: DataStream<number> = groups.apply((some, others, out: Collector<number>) => {
    for (const order of some) out.collect(order.amount);
    for (const payment of others) out.collect(payment.cents);
  });
  // @ts-expect-error the sides are the other way round
  payments.coGroup(orders).where('order').equalTo('id').window(TumblingEventTimeWindows.of(1)).apply(Grouped);

  const byOrder = payments.keyBy('order');
  const interval = orders.keyBy('id').intervalJoin(byOrder).between('-5 min', 0);
  const both: DataStream<string> = interval.process(new Both());
  const one: DataStream<number> = interval.process((order, payment) => order.amount - payment.cents);
  const many: DataStream<number> = interval.process((order, payment, context, out: Collector<number>) => {
    if (context.getLeftTimestamp() < context.getRightTimestamp()) out.collect(order.amount + payment.cents);
  });
  interval.sideOutputLeftLateData(new OutputTag<Order>('late'));
  // @ts-expect-error left records are orders
  interval.sideOutputLeftLateData(new OutputTag<Payment>('late'));
  // @ts-expect-error the keys are of two types
  orders.keyBy('id').intervalJoin(payments.keyBy('cents'));
  // @ts-expect-error bounds come first
  orders.keyBy('id').intervalJoin(byOrder).process(new Both());

  for (const connected of [
    orders.connect(payments),
    orders.connect(payments).keyBy('id', 'order'),
  ] as const) {
    const named: DataStream<string> = connected.map(new Named());
    const mapped: DataStream<string | number> = connected.map<string | number>(
      (order) => order.id,
      (payment) => payment.cents,
    );
    const split: DataStream<bigint> = connected.flatMap(Split);
    const processed: DataStream<Date> = connected.process(new Unkeyed());
    void [named, mapped, split, processed];
  }
  // @ts-expect-error the keys are of two types
  orders.connect(payments).keyBy('id', 'cents');
  // @ts-expect-error both functions are needed
  orders.connect(payments).map((order) => order.id);
  // @ts-expect-error the sides are the other way round
  payments.connect(orders).map(new Named());
  void [total, sums, tuples, flat, rich, richClass, richFlat, described, dates, counts, both, one, many];
}

it('the types of joins and aggregations follow from those of their streams', () => {
  assert.equal(typeof compiled, 'function');
});
