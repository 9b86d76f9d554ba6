/**
 * The job of the crash suite: keyed state of three kinds, timers, two kinds of windows, a join, side outputs, exactly-once
 * files.
 *
 *     orders ─┬─ by customer ─► totals ──────┬─► records/
 *             │                   └ side ────┘
 *             ├─ by customer ─► tumbling, session windows ─┬─► windows/
 *             └─ by customer ─► join ──────────────────────┘
 *     payments ─────────────────┘
 */
import { EventTimeSessionWindows, FileSink, TumblingEventTimeWindows, Types } from '@millrace/engine';
import { orders, payments, runToEnd, settings } from './crash-job-frame.ts';
import {
  addUp,
  amountsType,
  CustomerTotals,
  finalTotals,
  JoinPayments,
  largeOrders,
  NameWindow,
} from './functions.ts';

const TUMBLING_MS = 1000;
const SESSION_GAP_MS = 250;

const byCustomer = orders.keyBy((order) => order.customer, Types.STRING);

const totals = byCustomer.process(CustomerTotals).uid('totals');
totals
  .map((total) => ({ what: 'total', ...total }))
  .uid('name-totals')
  .union(
    totals
      .getSideOutput(largeOrders)
      .map((order) => ({ what: 'large', ...order }))
      .uid('name-large') as never,
    totals
      .getSideOutput(finalTotals)
      .map((total) => ({ what: 'final', ...total }))
      .uid('name-finals') as never,
  )
  .sinkTo(FileSink.forJsonLines(`${settings.directory}/out/records`))
  .uid('records');

const types = { accumulator: amountsType };
const tumbling = byCustomer
  .window(TumblingEventTimeWindows.of(TUMBLING_MS))
  .aggregate(addUp, NameWindow, types);
const sessions = byCustomer
  .window(EventTimeSessionWindows.withGap(SESSION_GAP_MS))
  .aggregate(addUp, NameWindow, types);
const joined = byCustomer
  .connect(payments.keyBy((payment) => payment.customer, Types.STRING))
  .process(JoinPayments);
tumbling
  .uid('tumbling')
  .map((window) => ({ what: 'tumbling', ...window }))
  .uid('name-tumbling')
  .union(
    sessions
      .uid('sessions')
      .map((window) => ({ what: 'session', ...window }))
      .uid('name-sessions'),
    joined
      .uid('join')
      .map((order) => ({ what: 'joined', ...order }))
      .uid('name-joined') as never,
  )
  .sinkTo(FileSink.forJsonLines(`${settings.directory}/out/windows`))
  .uid('windows');

await runToEnd('crash job');
