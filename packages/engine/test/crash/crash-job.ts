/**
 * The job of the crash suite, run as a process of its own: two sources, keyed state of three kinds, timers, two kinds of
 * windows, a join, side outputs, exactly-once files.
 *
 *     orders ──► crash points ─┬─ by customer ─► totals ──────┬─► records/
 *                              │                   └ side ────┘
 *                              ├─ by customer ─► tumbling, session windows ─┬─► windows/
 *                              └─ by customer ─► join ──────────────────────┘
 *     payments (files) ──► paced ─┘
 *
 * It tells its parent what it is doing in lines on the standard output (JobNews).
 */
import { writeSync } from 'node:fs';
import {
  Configuration,
  type DataStream,
  EventTimeSessionWindows,
  FileSink,
  FileSource,
  FsStateBackend,
  GeneratorSource,
  RestartStrategies,
  StreamExecutionEnvironment,
  TumblingEventTimeWindows,
  Types,
  WatermarkStrategy,
} from '@millrace/engine';
import { CrashingPassage, type CrashPoint } from './crash-point.ts';
import {
  addUp,
  amountsType,
  CustomerTotals,
  finalTotals,
  JoinPayments,
  largeOrders,
  NameWindow,
} from './functions.ts';
import { DISORDER_MS, type Order, orderOf, orderType, type Payment, paymentType } from './orders.ts';

/** What the job is given, as JSON in CRASH_JOB. */
export interface CrashJobSettings {
  /** Holds `payments/`; gets `out/` and `checkpoints/`. */
  readonly directory: string;
  readonly orderCount: number;
  readonly paymentCount: number;
  readonly host: 'inline' | 'workers';
  readonly parallelism: number;
  /** About how long a run takes; 0: as fast as possible. */
  readonly runMs: number;
  readonly checkpointIntervalMs: number;
  readonly crashPoints: readonly CrashPoint[];
}

/** What the job says of itself. */
export type JobNews =
  | { readonly type: 'status'; readonly status: string }
  | {
      readonly type: 'finished';
      readonly restarts: number;
      readonly checkpoints: number;
      readonly failures: number;
    }
  | { readonly type: 'failed'; readonly message: string };

const STATUS_POLL_MS = 3;
const TUMBLING_MS = 1000;
const SESSION_GAP_MS = 250;

const settings = JSON.parse(process.env['CRASH_JOB']!) as CrashJobSettings;

function tell(news: JobNews): void {
  writeSync(1, `${JSON.stringify(news)}\n`);
}

/** Holds the thread up, so that the files take as long as the orders. */
function paced<T>(): (value: T) => T {
  const { runMs, parallelism, paymentCount, host } = settings;
  const threads = host === 'workers' ? parallelism : 1;
  const eachMs = (runMs * threads) / paymentCount;
  const word = new Int32Array(new SharedArrayBuffer(4));
  let owedMs = 0;
  return (value) => {
    owedMs += eachMs;
    if (owedMs >= 2) {
      Atomics.wait(word, 0, 0, owedMs);
      owedMs = 0;
    }
    return value;
  };
}

const env = StreamExecutionEnvironment.getExecutionEnvironment(
  Configuration.from({
    'millrace.host': settings.host,
    'execution.state-recovery.path': 'latest',
    'pipeline.auto-watermark-interval': '10 ms',
    'execution.buffer-timeout.interval': '5 ms',
  }),
);
env.setParallelism(settings.parallelism);
env.setMaxParallelism(64);
env.enableCheckpointing(settings.checkpointIntervalMs);
env.getCheckpointConfig().setTolerableCheckpointFailureNumber(1000);
env.setStateBackend(new FsStateBackend(`file://${settings.directory}/checkpoints`, 1024));
env.setRestartStrategy(RestartStrategies.fixedDelayRestart(1000, 1));

const { orderCount, runMs } = settings;
const recordsPerSecond = runMs === 0 ? undefined : (orderCount * 1000) / runMs;
const orders: DataStream<Order> = env
  .fromSource(
    new GeneratorSource(orderOf, { count: orderCount, type: orderType, recordsPerSecond }),
    WatermarkStrategy.forBoundedOutOfOrderness<Order>(DISORDER_MS).withTimestampAssigner((order) => order.at),
    'orders',
  )
  .setParallelism(1)
  .uid('orders')
  .process(() => new CrashingPassage<Order>(settings.crashPoints), orderType)
  .setParallelism(1)
  .uid('crash-points');

const payments = env
  .fromSource(
    FileSource.forJsonLines(`${settings.directory}/payments`, paymentType, { splitSizeBytes: 1024 }),
    WatermarkStrategy.forMonotonousTimestamps<Payment>().withTimestampAssigner((payment) => payment.at),
    'payments',
  )
  .uid('payments')
  .map(paced(), paymentType)
  .uid('paced');

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

const client = await env.executeAsync('crash job');
let status: string | undefined;
const watch = (): void => {
  const now = client.getJobStatus();
  if (now !== status) tell({ type: 'status', status: now });
  status = now;
};
watch();
const timer = setInterval(watch, STATUS_POLL_MS);
try {
  const { restarts, completedCheckpoints, failedCheckpoints } = await client.getJobExecutionResult();
  tell({ type: 'finished', restarts, checkpoints: completedCheckpoints, failures: failedCheckpoints });
} catch (error) {
  tell({ type: 'failed', message: String(error) });
  process.exitCode = 1;
} finally {
  clearInterval(timer);
}
