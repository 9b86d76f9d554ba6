/**
 * The user functions of the crash job. What they emit is a function of the data alone, whatever the interleaving: all
 * records of a customer's orders come from one reader, in order; payments are only added up until event time is past them.
 */
import {
  type AggregateFunction,
  type Collector,
  KeyedCoProcessFunction,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type ListState,
  ListStateDescriptor,
  type MapState,
  MapStateDescriptor,
  type OnTimerContext,
  OutputTag,
  type ProcessWindowContext,
  ProcessWindowFunction,
  type RuntimeContext,
  type TimeWindow,
  Types,
  type ValueState,
  ValueStateDescriptor,
} from '@millrace/engine';
import { type Order, orderType, PAYMENT_DELAY_MAX_MS, type Payment } from './orders.ts';

/** Comes after all records, before the end of time. */
const END_OF_TIME = Number.MAX_SAFE_INTEGER - 1;
const LARGE_AMOUNT = 90;
const REMEMBERED_ORDERS = 3;

export interface RunningTotal {
  readonly customer: string;
  readonly order: number;
  readonly count: number;
  readonly sum: number;
}

export interface FinalTotal {
  readonly customer: string;
  readonly count: number;
  readonly sum: number;
  readonly byCategory: readonly (readonly [string, number])[];
  readonly lastOrders: readonly number[];
}

export const largeOrders = new OutputTag<Order>('large-orders', orderType);
export const finalTotals = new OutputTag<FinalTotal>('final-totals');

const totalType = Types.ROW({ count: Types.LONG, sum: Types.LONG });

/** Value, map and list state and a timer for each customer; a running total for each order. */
export class CustomerTotals extends KeyedProcessFunction<string, Order, RunningTotal> {
  private total!: ValueState<{ count: number; sum: number }>;
  private byCategory!: MapState<string, number>;
  private lastOrders!: ListState<number>;

  override open(context: RuntimeContext): void {
    this.total = context.getState(new ValueStateDescriptor('total', totalType));
    this.byCategory = context.getMapState(new MapStateDescriptor('by-category', Types.STRING, Types.LONG));
    this.lastOrders = context.getListState(new ListStateDescriptor<number>('last-orders'));
  }

  override processElement(
    order: Order,
    context: KeyedProcessContext<string>,
    out: Collector<RunningTotal>,
  ): void {
    const before = this.total.value();
    if (before === undefined) context.timerService().registerEventTimeTimer(END_OF_TIME);
    const total = { count: (before?.count ?? 0) + 1, sum: (before?.sum ?? 0) + order.amount };
    this.total.update(total);
    this.byCategory.put(order.category, (this.byCategory.get(order.category) ?? 0) + 1);
    this.lastOrders.update([...this.lastOrders.get(), order.id].slice(-REMEMBERED_ORDERS));
    if (order.amount > LARGE_AMOUNT) context.output(largeOrders, order);
    out.collect({ customer: order.customer, order: order.id, ...total });
  }

  override onTimer(_timestampMs: number, context: OnTimerContext<string>): void {
    context.output(finalTotals, {
      customer: context.getCurrentKey(),
      ...this.total.value()!,
      byCategory: [...this.byCategory.entries()].sort(([a], [b]) => (a < b ? -1 : 1)),
      lastOrders: this.lastOrders.get(),
    });
  }
}

export interface PaidOrder {
  readonly order: number;
  readonly customer: string;
  readonly due: number;
  readonly paid: number;
}

const openOrderType = Types.ROW({ due: Types.INT, deadline: Types.LONG });

/** Joins orders with all their payments, when event time says that no more can come. */
export class JoinPayments extends KeyedCoProcessFunction<string, Order, Payment, PaidOrder> {
  private orders!: MapState<number, { due: number; deadline: number }>;
  private paid!: MapState<number, number>;

  override open(context: RuntimeContext): void {
    this.orders = context.getMapState(new MapStateDescriptor('orders', Types.LONG, openOrderType));
    this.paid = context.getMapState(new MapStateDescriptor('paid', Types.LONG, Types.LONG));
  }

  override processElement1(order: Order, context: KeyedProcessContext<string>): void {
    const deadline = order.at + PAYMENT_DELAY_MAX_MS;
    this.orders.put(order.id, { due: order.amount, deadline });
    context.timerService().registerEventTimeTimer(deadline);
  }

  override processElement2(payment: Payment): void {
    this.paid.put(payment.order, (this.paid.get(payment.order) ?? 0) + payment.amount);
  }

  override onTimer(timestampMs: number, context: OnTimerContext<string>, out: Collector<PaidOrder>): void {
    const customer = context.getCurrentKey();
    const due = [...this.orders.entries()].filter(([, { deadline }]) => deadline === timestampMs);
    for (const [order, open] of due) {
      out.collect({ order, customer, due: open.due, paid: this.paid.get(order) ?? 0 });
      this.orders.remove(order);
      this.paid.remove(order);
    }
  }
}

export interface Amounts {
  readonly count: number;
  readonly sum: number;
}

export const amountsType = Types.ROW({ count: Types.LONG, sum: Types.LONG });

/** Number and sum of orders. */
export const addUp: AggregateFunction<Order, Amounts, Amounts> = {
  createAccumulator: () => ({ count: 0, sum: 0 }),
  add: (order, { count, sum }) => ({ count: count + 1, sum: sum + order.amount }),
  getResult: (accumulator) => accumulator,
  merge: (a, b) => ({ count: a.count + b.count, sum: a.sum + b.sum }),
};

export interface WindowTotal extends Amounts {
  readonly customer: string;
  readonly from: number;
  readonly to: number;
}

/** Adds customer and window to the result of a window. */
export class NameWindow extends ProcessWindowFunction<Amounts, WindowTotal, string, TimeWindow> {
  override process(
    customer: string,
    context: ProcessWindowContext<TimeWindow>,
    results: Iterable<Amounts>,
    out: Collector<WindowTotal>,
  ): void {
    const { start, end } = context.window();
    for (const result of results) out.collect({ customer, from: start, to: end, ...result });
  }
}
