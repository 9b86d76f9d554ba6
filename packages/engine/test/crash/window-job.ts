/**
 * Windows under crashes: those whose triggers, evictors and window types keep something in state.
 *
 *     orders ─► by customer ─┬─► sessions, early results ─────────► sessions/
 *                │           ├─► count windows, also sliding ─┐
 *                │           ├─► global: delta, end of stream ├──► counts/
 *                │           └─► windows of its own ──────────┘
 *                └─► all in one: by time, by count ──────────────► all/
 */
import {
  type Collector,
  ContinuousEventTimeTrigger,
  DeltaTrigger,
  EventTimeSessionWindows,
  FileSink,
  GlobalWindows,
  TimeEvictor,
  type TimeWindow,
  TumblingEventTimeWindows,
  Types,
} from '@millrace/engine';
import { orders, runToEnd, settings } from './crash-job-frame.ts';
import { addUp, amountsType } from './functions.ts';
import { type Order, orderType } from './orders.ts';
import { CategorySeconds, endedSessions, listOrders, SessionReport } from './window-functions.ts';

const sinkTo = (folder: string) => FileSink.forJsonLines<object>(`${settings.directory}/out/${folder}`);
const byCustomer = orders.keyBy((order) => order.customer, Types.STRING);

byCustomer
  .window(EventTimeSessionWindows.withGap(400))
  .trigger(ContinuousEventTimeTrigger.of(150))
  .process(SessionReport)
  .uid('sessions')
  .getSideOutput(endedSessions)
  .sinkTo(sinkTo('sessions'))
  .uid('sessions-sink');

const tumbling = byCustomer.countWindow(3).apply(listOrders('count')).uid('count');
const sliding = byCustomer.countWindow(4, 2).apply(listOrders('sliding count')).uid('sliding-count');
const summed = byCustomer
  .countWindow(5)
  .sum('amount')
  .uid('summed')
  .map((order): object => ({ what: 'sum', ...order }))
  .uid('name-summed');
const delta = byCustomer
  .window(GlobalWindows.create())
  .trigger(
    DeltaTrigger.of(60, (old: Order, current: Order) => Math.abs(current.amount - old.amount), orderType),
  )
  .evictor(TimeEvictor.of(3000))
  .apply(listOrders('delta'))
  .uid('delta');
const whole = byCustomer
  .window(GlobalWindows.createWithEndOfStreamTrigger())
  .aggregate(addUp, { accumulator: amountsType })
  .uid('whole')
  .map((amounts): object => ({ what: 'whole', ...amounts }))
  .uid('name-whole');
const own = byCustomer
  .window(new CategorySeconds())
  .maxBy('amount')
  .uid('own')
  .map((order): object => ({ what: 'own', ...order }))
  .uid('name-own');
tumbling.union(sliding, summed, delta, whole, own).sinkTo(sinkTo('counts')).uid('counts-sink');

const ofTime = orders
  .windowAll(TumblingEventTimeWindows.of(500))
  .apply((window: TimeWindow, all: Iterable<Order>, out: Collector<object>) =>
    out.collect({ from: window.start, orders: [...all].map((order) => order.id) }),
  )
  .uid('all-of-time');
const ofCount = orders
  .countWindowAll(7)
  .apply((_window, all, out: Collector<object>) => out.collect({ orders: [...all].map((order) => order.id) }))
  .uid('all-of-count');
ofTime.union(ofCount).sinkTo(sinkTo('all')).uid('all-sink');

await runToEnd('windows');
