/** The types of broadcast states and partitioners: each line that must not compile says so to the compiler. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  type BroadcastContext,
  BroadcastProcessFunction,
  type Collector,
  type FunctionInitializationContext,
  type KeyedBroadcastContext,
  KeyedBroadcastProcessFunction,
  type KeyedReadOnlyBroadcastContext,
  type ReadOnlyBroadcastContext,
} from '../operators/index.ts';
import type { Sink } from '../runtime/index.ts';
import {
  type BroadcastState,
  type ListState,
  ListStateDescriptor,
  MapStateDescriptor,
  type ReadOnlyBroadcastState,
  type ValueState,
  ValueStateDescriptor,
} from '../state/index.ts';
import { Types } from '../types/index.ts';
import type { StreamExecutionEnvironment } from './stream-execution-environment.ts';
import type { DataStream } from './streams/data-stream.ts';

interface Order {
  readonly customer: string;
  readonly amount: number;
}

interface Rule {
  readonly name: string;
  readonly limit: number;
}

const rules = new MapStateDescriptor<string, Rule>('rules', Types.STRING);
const totals = new ValueStateDescriptor('totals', Types.LONG);
const names = new ListStateDescriptor('names', Types.STRING);

class Check extends KeyedBroadcastProcessFunction<string, Order, Rule, string> {
  override processElement(
    order: Order,
    context: KeyedReadOnlyBroadcastContext<string>,
    out: Collector<string>,
  ): void {
    const state: ReadOnlyBroadcastState<string, Rule> = context.getBroadcastState(rules);
    const key: string = context.getCurrentKey();
    const rule: Rule | undefined = state.get(key);
    for (const [name, { limit }] of state.immutableEntries()) out.collect(`${name} ${limit + order.amount}`);
    context.timerService().registerEventTimeTimer(rule?.limit ?? 0);
    // @ts-expect-error it can only be read here
    state.put('a', { name: 'a', limit: 1 });
    // @ts-expect-error it can only be read here
    state.clear();
    // @ts-expect-error the keys are texts
    state.get(5);
    // @ts-expect-error keyed state of other keys belongs to the broadcast side
    context.applyToKeyedState(totals, () => {});
  }

  override processBroadcastElement(
    rule: Rule,
    context: KeyedBroadcastContext<string>,
    out: Collector<string>,
  ): void {
    const state: BroadcastState<string, Rule> = context.getBroadcastState(rules);
    state.put(rule.name, rule);
    context.applyToKeyedState(totals, (key, total) => {
      const typed: ValueState<number> = total;
      typed.update(key.length);
      out.collect(key);
      // @ts-expect-error the state holds numbers
      total.update('a');
    });
    context.applyToKeyedState(names, (_key, list) => {
      const typed: ListState<string> = list;
      typed.add('a');
    });
    // @ts-expect-error the values are rules
    state.put('a', 5);
    // @ts-expect-error there is no current key here
    context.getCurrentKey();
    // @ts-expect-error there are no timers here
    context.timerService();
    // @ts-expect-error results are texts
    out.collect(5);
  }
}

class Plain extends BroadcastProcessFunction<Order, Rule, number> {
  override processElement(order: Order, context: ReadOnlyBroadcastContext, out: Collector<number>): void {
    out.collect(order.amount + context.currentWatermark());
    // @ts-expect-error records of this stream have no keys
    context.getCurrentKey();
  }

  override processBroadcastElement(rule: Rule, context: BroadcastContext): void {
    context.getBroadcastState(rules).put(rule.name, rule);
    // @ts-expect-error there are no keys
    context.applyToKeyedState(totals, () => {});
  }
}

/** Never called: it is compiled. */
function compiled(env: StreamExecutionEnvironment, texts: Sink<string>): void {
  const orders: DataStream<Order> = env.fromCollection<Order>([]);
  const ruleStream: DataStream<Rule> = env.fromCollection<Rule>([]);
  const spread = ruleStream.broadcast(rules, new MapStateDescriptor('more', Types.LONG, Types.DATE));
  const byCustomer = orders.keyBy('customer');
  const checked: DataStream<string> = byCustomer.connect(spread).process(new Check());
  byCustomer.connect(spread).process(Check, Types.STRING).sinkTo(texts);
  const numbers: DataStream<number> = orders.connect(spread).process(() => new Plain());
  const everywhere: DataStream<Rule> = ruleStream.broadcast();
  orders.connect(spread).process({
    processElement(order: Order, context: ReadOnlyBroadcastContext, out: Collector<Date>) {
      out.collect(new Date(order.amount + (context.getBroadcastState(rules).get('a')?.limit ?? 0)));
    },
    processBroadcastElement(rule: Rule, context: BroadcastContext) {
      context.getBroadcastState(rules).put(rule.name, rule);
    },
  });
  void [checked, numbers, everywhere];

  // @ts-expect-error the function wants keys
  orders.connect(spread).process(new Check());
  const byAmount = orders.keyBy((order) => order.amount);
  // @ts-expect-error the function wants keys of type string
  byAmount.connect(spread).process(new Check());
  byCustomer.connect(spread).process(new Plain());
  // @ts-expect-error the function wants rules on the broadcast side
  byCustomer.connect(orders.broadcast(rules)).process(new Check());
  // @ts-expect-error broadcast states are maps
  ruleStream.broadcast(totals);
  // @ts-expect-error a stream with broadcast states is for connect
  spread.map((rule) => rule);

  orders.partitionCustom((customer, count) => customer.length % count, 'customer').print();
  orders
    .partitionCustom(
      (amount: number, count) => amount % count,
      (order) => order.amount,
    )
    .print();
  orders.partitionCustom({ partition: (amount: number) => amount }, (order) => order.amount).print();
  // @ts-expect-error the partitioner wants numbers
  orders.partitionCustom(
    (amount: number) => amount,
    (order) => order.customer,
  );
  // @ts-expect-error the customer is a text
  orders.partitionCustom((customer: number) => customer, 'customer');
  // @ts-expect-error there is no such field
  orders.partitionCustom(() => 0, 'price');
  // @ts-expect-error a partitioner answers with a number
  orders.partitionCustom(() => 'first', 'customer');

  const wrong = {
    processElement() {},
    initializeState(context: FunctionInitializationContext) {
      const list: ListState<string> = context.getOperatorStateStore().getListState(names);
      return void list;
    },
    snapshotState(_checkpoint: { getCheckpointId(): string }) {},
  };
  // @ts-expect-error the number of a checkpoint is a number
  orders.process(wrong);
}

it('the types of broadcast states flow from the descriptor to the contexts', () => {
  assert.equal(typeof compiled, 'function');
});
