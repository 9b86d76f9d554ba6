/**
 * Broadcast state under crashes, behind every kind of exchange: each payment sets a surcharge from its time on, and all
 * orders have to know of all surcharges.
 *
 *     orders ─ shuffle ─ custom ─ rescale ─ by customer ─┬─► surcharged ─┬─ global ─► orders/
 *     payments ─────────────── broadcast ────────────────┘    └ side ────┴──────────► customers/
 *
 * What comes out is a function of the data alone: an order waits until event time is past it on both streams, and the
 * order in which payments arrive, which is another one in each subtask, makes no difference.
 */
import {
  type BroadcastOnTimerContext,
  type Collector,
  FileSink,
  type KeyedBroadcastContext,
  KeyedBroadcastProcessFunction,
  type KeyedReadOnlyBroadcastContext,
  type MapState,
  MapStateDescriptor,
  OutputTag,
  type RuntimeContext,
  Types,
  type ValueState,
  ValueStateDescriptor,
} from '@millrace/engine';
import { orders, payments, runToEnd, settings } from './crash-job-frame.ts';
import { type Order, orderType, type Payment, paymentType } from './orders.ts';

/** Comes after all records, before the end of time. */
const END_OF_TIME = Number.MAX_SAFE_INTEGER - 1;
const SURCHARGES = 20;

interface Surcharged {
  readonly order: number;
  readonly surcharge: number;
}

interface CustomerReport {
  readonly customer: string;
  readonly orders: number;
  readonly payments: number;
}

/** All payments for a surcharge, by time. */
const surcharges = new MapStateDescriptor('surcharges', Types.INT, Types.LIST(paymentType));
/** How many payments there were. */
const counts = new MapStateDescriptor('counts', Types.STRING, Types.LONG);
/** The same, counted by each customer from the first order on. */
const paymentsSeen = new ValueStateDescriptor('payments-seen', Types.LONG);
const reports = new OutputTag<CustomerReport>('reports');

const bySize = (a: Payment, b: Payment): number => a.at - b.at || a.order - b.order || a.amount - b.amount;

class Surcharge extends KeyedBroadcastProcessFunction<string, Order, Payment, Surcharged> {
  private waiting!: MapState<number, Order>;
  private ordersSeen!: ValueState<number>;
  private paymentsSeen!: ValueState<number>;

  override open(context: RuntimeContext): void {
    this.waiting = context.getMapState(new MapStateDescriptor('waiting', Types.LONG, orderType));
    this.ordersSeen = context.getState(new ValueStateDescriptor('orders-seen', Types.LONG, 0));
    this.paymentsSeen = context.getState(paymentsSeen);
  }

  override processElement(order: Order, context: KeyedReadOnlyBroadcastContext<string>): void {
    if (this.paymentsSeen.value() === undefined) {
      this.paymentsSeen.update(context.getBroadcastState(counts).get('payments') ?? 0);
      context.timerService().registerEventTimeTimer(END_OF_TIME);
    }
    this.ordersSeen.update(this.ordersSeen.value()! + 1);
    this.waiting.put(order.id, order);
    context.timerService().registerEventTimeTimer(order.at);
  }

  override processBroadcastElement(payment: Payment, context: KeyedBroadcastContext<string>): void {
    const state = context.getBroadcastState(surcharges);
    const name = payment.order % SURCHARGES;
    state.put(name, [...(state.get(name) ?? []), payment].sort(bySize));
    const count = context.getBroadcastState(counts);
    count.put('payments', (count.get('payments') ?? 0) + 1);
    context.applyToKeyedState(paymentsSeen, (_customer, seen) => seen.update(seen.value()! + 1));
  }

  override onTimer(
    timestampMs: number,
    context: BroadcastOnTimerContext<string>,
    out: Collector<Surcharged>,
  ): void {
    if (timestampMs === END_OF_TIME) {
      context.output(reports, {
        customer: context.getCurrentKey(),
        orders: this.ordersSeen.value()!,
        payments: this.paymentsSeen.value()!,
      });
      return;
    }
    for (const order of [...this.waiting.values()].filter(({ at }) => at === timestampMs)) {
      const known = context.getBroadcastState(surcharges).get(order.id % SURCHARGES) ?? [];
      const last = known.findLast(({ at }) => at <= order.at);
      out.collect({ order: order.id, surcharge: last?.amount ?? 0 });
      this.waiting.remove(order.id);
    }
  }
}

const { directory, parallelism } = settings;
const narrower = Math.ceil(parallelism / 2);
const handedOn = orders
  .shuffle()
  .map((order) => order, orderType)
  .uid('shuffled')
  .partitionCustom((id, count) => id % count, 'id')
  .map((order) => order, orderType)
  .uid('partitioned')
  .rescale()
  .map((order) => order, orderType)
  .uid('rescaled')
  .setParallelism(narrower);

const surcharged = handedOn
  .keyBy((order) => order.customer, Types.STRING)
  .connect(payments.broadcast(surcharges, counts))
  .process(Surcharge)
  .uid('surcharge');
surcharged
  .global()
  .sinkTo(FileSink.forJsonLines(`${directory}/out/orders`))
  .uid('orders-sink');
surcharged
  .getSideOutput(reports)
  .sinkTo(FileSink.forJsonLines(`${directory}/out/customers`))
  .uid('customers-sink');

await runToEnd('broadcast');
