/**
 * A job that is killed some hundred times before it goes into production, in a second or two: with its state where it belongs,
 * or with a mistake that only a crash shows.
 *
 *     node examples/crash-test.ts          the right job: says how often it was killed
 *     node examples/crash-test.ts wrong    the wrong one: says where it was killed, what is wrong then, and why
 *
 * Nothing is written to disk: processes, files and time are simulated. In a project of yours this is a test, with `test` of
 * node:test or another runner around it.
 */
import {
  type Collector,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type RuntimeContext,
  Types,
  type ValueState,
  ValueStateDescriptor,
  WatermarkStrategy,
} from 'millrace';
import { crashTest } from 'millrace/testing';

interface Order {
  readonly customer: string;
  readonly cents: number;
}

const orderType = Types.ROW({ customer: Types.STRING, cents: Types.LONG });

/** The running total of each customer, in state. */
class Total extends KeyedProcessFunction<string, Order, Order> {
  private total!: ValueState<number>;

  override open(context: RuntimeContext): void {
    this.total = context.getState(new ValueStateDescriptor('total', Types.LONG));
  }

  override processElement(order: Order, _context: KeyedProcessContext<string>, out: Collector<Order>): void {
    const cents = (this.total.value() ?? 0) + order.cents;
    this.total.update(cents);
    out.collect({ customer: order.customer, cents });
  }
}

/** The same in a field of the function: right until the first crash. */
class TotalInField extends KeyedProcessFunction<string, Order, Order> {
  private readonly totals = new Map<string, number>();

  override processElement(order: Order, _context: KeyedProcessContext<string>, out: Collector<Order>): void {
    const cents = (this.totals.get(order.customer) ?? 0) + order.cents;
    this.totals.set(order.customer, cents);
    out.collect({ customer: order.customer, cents });
  }
}

const orders = Array.from({ length: 60 }, (_, n) => ({
  customer: ['Ada', 'Grace', 'Edsger'][n % 3]!,
  cents: 100 + ((n * 37) % 900),
}));
const totals = process.argv[2] === 'wrong' ? TotalInField : Total;

const report = await crashTest({
  job: (env, { source, sink }) => {
    env
      .fromSource(source(orders, { type: orderType }), WatermarkStrategy.noWatermarks(), 'orders')
      .uid('orders')
      .keyBy('customer')
      .process(totals)
      .uid('totals')
      .sinkTo(sink({ name: 'totals', orderedBy: ({ customer }) => customer }))
      .uid('sink');
  },
  parallelism: [1, 2],
  seeds: 20,
});
console.log(`The totals are right after ${report.kills} kills in ${report.runs} runs.`);
