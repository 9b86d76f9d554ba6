/**
 * What the jobs of the crash suite have in common: each is a module that runs as a process of its own, reads the same two
 * sources, and tells its parent what it is doing in lines on the standard output (JobNews).
 *
 *     orders ──► crash points ─► …
 *     payments (files) ──► paced ─► …
 */
import { writeSync } from 'node:fs';
import {
  Configuration,
  type DataStream,
  FileSource,
  FsStateBackend,
  GeneratorSource,
  type JobClient,
  RestartStrategies,
  StreamExecutionEnvironment,
  WatermarkStrategy,
} from '@millrace/engine';
import { CrashingPassage, type CrashPoint } from './crash-point.ts';
import { DISORDER_MS, type Order, orderOf, orderType, type Payment, paymentType } from './orders.ts';

/** What a job is given, as JSON in CRASH_JOB. */
export interface CrashJobSettings {
  /** The module of the job, in this folder. */
  readonly module: string;
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
  | { readonly type: 'failed'; readonly message: string }
  | {
      readonly type: 'checkpoint';
      readonly id: number;
      readonly failure: string | undefined;
      readonly durationMs: number;
      readonly inFlightBytes: number;
    };

const STATUS_POLL_MS = 3;

export const settings = JSON.parse(process.env['CRASH_JOB']!) as CrashJobSettings;

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

export const env = StreamExecutionEnvironment.getExecutionEnvironment(
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
export const orders: DataStream<Order> = env
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

export const payments: DataStream<Payment> = env
  .fromSource(
    FileSource.forJsonLines(`${settings.directory}/payments`, paymentType, { splitSizeBytes: 1024 }),
    WatermarkStrategy.forMonotonousTimestamps<Payment>().withTimestampAssigner((payment) => payment.at),
    'payments',
  )
  .uid('payments')
  .map(paced(), paymentType)
  .uid('paced');

/** Runs the job that was written in `env`, to its end. `onStart` is told of the job when it was started. */
export async function runToEnd(jobName: string, onStart?: (client: JobClient) => void): Promise<void> {
  const client = await env.executeAsync(jobName);
  onStart?.(client);
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
}
