/**
 * Snapshots of a job whose keyed state has grown to its full size, in a process of its own: one number a key, inline,
 * parallelism 1. Prints the figures as JSON, and fails if the state has not exactly the keys that it should have.
 *
 * Everything runs in one thread, so the module can read how many records have entered at any moment. Each snapshot has
 * the time right before it as its comparison: the extra CPU of a snapshot is what was used while it ran, less what its
 * records would have used without.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Collector,
  FsStateBackend,
  type JobClient,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type RuntimeContext,
  StreamExecutionEnvironment,
  Types,
  type ValueState,
  ValueStateDescriptor,
} from '@millrace/engine';
import { cpuNanos } from './measure.ts';
import { discardingSink, runOtherJobs } from './other-jobs.ts';

export interface SnapshotSettings {
  readonly keys: number;
  readonly snapshots: number;
  /** How long the throughput is measured before each snapshot. */
  readonly comparisonMs: number;
}

/** One snapshot. */
export interface SnapshotFigures {
  /** The synchronous part: nothing is processed meanwhile. */
  readonly pauseMs: number;
  /** The asynchronous part in the task. */
  readonly asyncMs: number;
  /** From the trigger until the checkpoint was complete. */
  readonly durationMs: number;
  readonly bytes: number;
  /** All threads, beyond what the records needed. */
  readonly extraCpuMs: number;
  readonly recordsPerSecondBefore: number;
  readonly recordsPerSecondDuring: number;
  readonly cpuNanosPerRecordBefore: number;
}

export interface SnapshotRunFigures {
  readonly snapshots: readonly SnapshotFigures[];
  /** Bytes of rows a key. */
  readonly rowBytesPerKey: number;
  /** Growth of the process while the keys came, a key: rows, tables, free room. */
  readonly residentBytesPerKey: number;
}

/** Steps through the keys in four orders, so that keys do not come in the order in which their state was laid out. */
const ORDERS = 4;

class Total extends KeyedProcessFunction<number, number, number> {
  private total!: ValueState<number>;
  override open(context: RuntimeContext): void {
    this.total = context.getState(new ValueStateDescriptor('total', Types.LONG));
  }
  override processElement(_: number, _context: KeyedProcessContext<number>, out: Collector<number>): void {
    const total = (this.total.value() ?? 0) + 1;
    this.total.update(total);
    out.collect(total);
  }
}

function stridesOf(keys: number): number[] {
  const strides: number[] = [];
  for (let stride = Math.floor(keys * 0.618_034) | 1; strides.length < ORDERS; stride += 2) {
    if (greatestCommonDivisor(stride, keys) === 1) strides.push(stride);
  }
  return strides;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/** Records that have entered the job. */
let entered = 0;

async function startJob(keys: number, directory: string): Promise<JobClient> {
  const strides = stridesOf(keys);
  const env = StreamExecutionEnvironment.getExecutionEnvironment();
  env.configure({ host: 'inline' });
  // Snapshots are asked for; none comes by itself.
  env.enableCheckpointing(24 * 3600 * 1000);
  env.setStateBackend(new FsStateBackend(`file://${directory}`));
  env
    .fromSequence(0, 2 ** 40)
    .map((n) => {
      entered++;
      return ((n % keys) * strides[Math.floor(n / keys) % ORDERS]!) % keys;
    })
    .returns(Types.LONG)
    .keyBy((key) => key, Types.LONG)
    .process(Total)
    .returns(Types.LONG)
    .sinkTo(discardingSink());
  return env.executeAsync('snapshots');
}

interface Moment {
  readonly ms: number;
  readonly records: number;
  readonly cpuNanos: number;
}

const now = (): Moment => ({ ms: performance.now(), records: entered, cpuNanos: cpuNanos() });

const recordsPerSecond = (from: Moment, to: Moment): number =>
  ((to.records - from.records) / (to.ms - from.ms)) * 1000;

async function takeSnapshot(client: JobClient, comparisonMs: number): Promise<SnapshotFigures> {
  const before = now();
  await delay(comparisonMs);
  const start = now();
  const summary = await client.triggerCheckpoint();
  const end = now();
  const cpuNanosPerRecordBefore = (start.cpuNanos - before.cpuNanos) / (start.records - before.records);
  const forRecords = (end.records - start.records) * cpuNanosPerRecordBefore;
  return {
    pauseMs: summary.syncMs,
    asyncMs: summary.asyncMs,
    durationMs: end.ms - start.ms,
    bytes: summary.stateSizeBytes,
    extraCpuMs: (end.cpuNanos - start.cpuNanos - forRecords) / 1e6,
    recordsPerSecondBefore: recordsPerSecond(before, start),
    recordsPerSecondDuring: recordsPerSecond(start, end),
    cpuNanosPerRecordBefore,
  };
}

function stateOf(client: JobClient): { entries: number; sizeBytes: number } {
  let entries = 0;
  let sizeBytes = 0;
  for (const { values } of client.metrics().tasks) {
    entries += values['stateEntries'] ?? 0;
    sizeBytes += values['stateSizeBytes'] ?? 0;
  }
  return { entries, sizeBytes };
}

async function measure(settings: SnapshotSettings, directory: string): Promise<SnapshotRunFigures> {
  const { keys } = settings;
  const residentBefore = process.memoryUsage.rss();
  const client = await startJob(keys, directory);
  // The second round is still warming up: state grows no more, but code that inserts is still being replaced.
  while (entered < keys * 1.5 || stateOf(client).entries < keys) {
    await delay(20);
    if (client.getJobStatus() !== 'RUNNING' && entered > 0) await client.getJobExecutionResult();
  }
  const residentBytesPerKey = (process.memoryUsage.rss() - residentBefore) / keys;
  const snapshots: SnapshotFigures[] = [];
  for (let i = 0; i < settings.snapshots; i++) {
    snapshots.push(await takeSnapshot(client, settings.comparisonMs));
  }
  const { entries, sizeBytes } = stateOf(client);
  await client.cancel();
  if (entries !== keys) throw new Error(`the state has ${entries} keys, not ${keys}`);
  return { snapshots, rowBytesPerKey: sizeBytes / keys, residentBytesPerKey };
}

const settings = JSON.parse(process.argv[2]!) as SnapshotSettings;
await runOtherJobs();
console.log(JSON.stringify(await measure(settings, process.argv[3]!)));
