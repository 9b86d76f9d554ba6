/**
 * Memory of a job that counts by key, in a process of its own, with the packages as users get them: while its state grows, when all
 * keys are there and are updated in another order, and while a checkpoint is written. Prints the figures as JSON, and fails if
 * the state has not exactly the keys that it should have.
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
import { type CountInput, firstRoundOrder, keyTypeOf } from './count-records.ts';
import { discardingSink } from './other-jobs.ts';

export interface MemorySettings extends CountInput {
  readonly host: 'inline' | 'workers';
  readonly parallelism: number;
}

/** Bytes. */
export interface MemoryFigures {
  /** Resident when the package is loaded. */
  readonly loaded: number;
  /** Rows that are in use. */
  readonly rows: number;
  /** Pages of rows, as far as they are filled: what a checkpoint is. */
  readonly pages: number;
  /** What finds the rows, and room in pages; known if all is in one thread. */
  readonly tables?: number;
  /** Growth of the process until all keys were there. */
  readonly growth: number;
  /** Of the process until then. */
  readonly peakBefore: number;
  /** And until a checkpoint was complete. */
  readonly peak: number;
}

type Key = string | number;

class Count extends KeyedProcessFunction<Key, Key, number> {
  private count!: ValueState<number>;
  override open(context: RuntimeContext): void {
    this.count = context.getState(new ValueStateDescriptor('count', Types.LONG));
  }
  override processElement(_: Key, _context: KeyedProcessContext<Key>, out: Collector<number>): void {
    const count = (this.count.value() ?? 0) + 1;
    this.count.update(count);
    out.collect(count);
  }
}

async function startJob(settings: MemorySettings, directory: string): Promise<JobClient> {
  const { keys, keyKind, host, parallelism } = settings;
  const env = StreamExecutionEnvironment.getExecutionEnvironment();
  env.configure({ host, parallelism });
  // The checkpoint is asked for; none comes by itself.
  env.enableCheckpointing(24 * 3600 * 1000);
  env.setStateBackend(new FsStateBackend(`file://${directory}`));
  const orderOf = firstRoundOrder(keys);
  const numberOf = (n: number): number => 10_000_000 + (n < keys ? n : orderOf(n % keys));
  const type = keyTypeOf(keyKind);
  env
    .fromSequence(0, 2 ** 40)
    .map((n): Key => (keyKind === 'string' ? `key-${numberOf(n)}` : numberOf(n)))
    .returns(type)
    .keyBy((key) => key, type)
    .process(Count)
    .returns(Types.LONG)
    .sinkTo(discardingSink());
  return env.executeAsync('memory');
}

function sumOf(client: JobClient, value: 'stateEntries' | 'stateSizeBytes'): number {
  return client.metrics().tasks.reduce((sum, { values }) => sum + (values[value] ?? 0), 0);
}

/** Since the start of the process. */
function peakBytes(): number {
  return process.resourceUsage().maxRSS * 1024;
}

async function measure(settings: MemorySettings, directory: string): Promise<MemoryFigures> {
  const { keys, host } = settings;
  const before = process.memoryUsage();
  const client = await startJob(settings, directory);
  await client.untilRunning();
  client.getJobExecutionResult().catch(() => {});
  while (sumOf(client, 'stateEntries') < keys) {
    await delay(20);
    if (client.getJobStatus() !== 'RUNNING') await client.getJobExecutionResult();
  }
  const full = process.memoryUsage();
  const peakBefore = peakBytes();
  const { stateSizeBytes: pages } = await client.triggerCheckpoint();
  const peak = peakBytes();
  const rows = sumOf(client, 'stateSizeBytes');
  const entries = sumOf(client, 'stateEntries');
  await client.cancel();
  if (entries !== keys) throw new Error(`the state has ${entries} keys, not ${keys}`);
  return {
    ...{ loaded: before.rss, rows, pages },
    ...(host === 'inline' && { tables: full.arrayBuffers - before.arrayBuffers - pages }),
    ...{ growth: full.rss - before.rss, peakBefore, peak },
  };
}

const settings: MemorySettings = JSON.parse(process.argv[2]!);
console.log(JSON.stringify(await measure(settings, process.argv[3]!)));
