/**
 * Unaligned checkpoints under crashes: small rings that are full most of the time, large records in several pieces, timers
 * and windows whose watermarks are in flight.
 *
 *     orders ─┬─ by customer ─► totals ──────┬── in turn ─► brake ─► records/
 *             │                   └ side ────┘
 *             ├─ by customer ─► windows ─────┬── in turn ─► brake ─► windows/
 *             └─ by customer ─► join ────────┘
 *     payments ── by customer ────┘
 */
import { Configuration, FileSink, TumblingEventTimeWindows, Types } from '@millrace/engine';
import { env, orders, payments, runToEnd, settings } from './crash-job-frame.ts';
import { addUp, amountsType, CustomerTotals, finalTotals, JoinPayments, NameWindow } from './functions.ts';

/** For each record; about 3,000 come. */
const BRAKE_MS = 0.3;
const ALIGNED_TIMEOUT_MS = 2;

env.configure(
  Configuration.from({
    'millrace.exchange.segment-size': '128 b',
    'millrace.exchange.segments-per-channel': 4,
  }),
);
env.getCheckpointConfig().enableUnalignedCheckpoints();
env.getCheckpointConfig().setAlignedCheckpointTimeout(ALIGNED_TIMEOUT_MS);

const word = new Int32Array(new SharedArrayBuffer(4));

/** Holds back what comes before it. */
function brake(value: object): object {
  if (settings.runMs > 0) Atomics.wait(word, 0, 0, BRAKE_MS);
  return value;
}

const byCustomer = orders.keyBy((order) => order.customer, Types.STRING);

const totals = byCustomer.process(CustomerTotals).uid('totals');
totals
  .map((total): object => ({ what: 'total', ...total }))
  .uid('name-totals')
  .union(
    totals
      .getSideOutput(finalTotals)
      .map((total): object => ({ what: 'final', ...total }))
      .uid('name-finals'),
  )
  .rebalance()
  .map(brake)
  .uid('brake-records')
  .sinkTo(FileSink.forJsonLines<object>(`${settings.directory}/out/records`))
  .uid('records');

const windows = byCustomer
  .window(TumblingEventTimeWindows.of(500))
  .aggregate(addUp, NameWindow, { accumulator: amountsType })
  .uid('windows')
  .map((window): object => ({ what: 'window', ...window }))
  .uid('name-windows');
byCustomer
  .connect(payments.keyBy((payment) => payment.customer, Types.STRING))
  .process(JoinPayments)
  .uid('join')
  .map((order): object => ({ what: 'joined', ...order }))
  .uid('name-joined')
  .union(windows)
  .rebalance()
  .map(brake)
  .uid('brake-windows')
  .sinkTo(FileSink.forJsonLines<object>(`${settings.directory}/out/windows`))
  .uid('windows-sink');

await runToEnd('unaligned');
