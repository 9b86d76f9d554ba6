/**
 * The joins under crashes: orders with payments of their customer, by window and by time, and what both sides of a window
 * hold.
 *
 *     orders ───┬─► window join ───► window-join/
 *               ├─► co-group ──────► co-group/
 *     payments ─┴─► interval join ─► interval-join/
 */
import { type Collector, FileSink, TumblingEventTimeWindows, Types } from '@millrace/engine';
import { orders, payments, runToEnd, settings } from './crash-job-frame.ts';

interface Group {
  readonly orders: readonly number[];
  readonly payments: readonly number[];
}

const WINDOW = TumblingEventTimeWindows.of('500 ms');

const sinkTo = (folder: string) => FileSink.forJsonLines(`${settings.directory}/out/${folder}`);

orders
  .join(payments)
  .where('customer')
  .equalTo('customer')
  .window(WINDOW)
  .apply((order, payment) => ({
    order: order.id,
    due: order.amount,
    for: payment.order,
    paid: payment.amount,
  }))
  .uid('window-join')
  .sinkTo(sinkTo('window-join'))
  .uid('window-join-sink');

orders
  .coGroup(payments)
  .where('customer')
  .equalTo('customer')
  .window(WINDOW)
  .apply((ordered, paid, out: Collector<Group>) => {
    // The order of arrival is not that of the data: sides are sorted.
    out.collect({
      orders: [...ordered].map(({ id }) => id).sort((a, b) => a - b),
      payments: [...paid].map(({ order }) => order).sort((a, b) => a - b),
    });
  })
  .uid('co-group')
  .sinkTo(sinkTo('co-group'))
  .uid('co-group-sink');

orders
  .keyBy((order) => order.customer, Types.STRING)
  .intervalJoin(payments.keyBy((payment) => payment.customer, Types.STRING))
  .between('-100 ms', '700 ms')
  .upperBoundExclusive()
  .process((order, payment) => ({ order: order.id, at: order.at, for: payment.order, paidAt: payment.at }))
  .uid('interval-join')
  .sinkTo(sinkTo('interval-join'))
  .uid('interval-join-sink');

await runToEnd('joins');
