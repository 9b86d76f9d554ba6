/**
 * Whole jobs whose sink takes nothing any more: every ring and list before it is full, and a checkpoint is complete all the
 * same. What was in flight is restored at any parallelism, each record once and in order.
 */
import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import {
  type Collector,
  type DataStream,
  type ExecutionOptions,
  type JobClient,
  type JobExecutionResult,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type RuntimeContext,
  type StreamExecutionEnvironment,
  Types,
  type ValueState,
  ValueStateDescriptor,
  WatermarkStrategy,
} from '@millrace/engine';
import type { Sink, SinkWriter } from '@millrace/engine/connector';
import { Gate, GatedSource } from './gated-source.ts';
import { checkpointAndCancel, environmentIn, temporaryFolder, until, untilStatus } from './small-job.ts';

/** The n-th record of its key. All of a key come from one partition. */
interface Numbered {
  readonly key: string;
  readonly n: number;
  readonly text: string;
}

const NUMBERED = Types.ROW({ key: Types.STRING, n: Types.LONG, text: Types.STRING });
const SHORT_PARTITIONS = 32;
const KEYS = 5;
/** Small rings: they hold a small part of the records. A few records need several segments. */
const SMALL_RINGS = {
  configuration: { 'millrace.exchange.segment-size': '128 b', 'millrace.exchange.segments-per-channel': 4 },
};

/** Three partitions of `records` records each, and as many short ones as no run gives all away. */
function numbered(records: number): Numbered[][] {
  return [records, records, records, ...new Array<number>(SHORT_PARTITIONS).fill(1)].map(
    (length, partition) =>
      Array.from({ length }, (_, i) => ({
        key: `${partition}${String.fromCharCode(97 + (i % KEYS))}`,
        n: Math.floor(i / KEYS),
        text: i % 50 === 0 ? 'long '.repeat(60) : 'short',
      })),
  );
}

const namesOf = (records: readonly Numbered[]): string[] => records.map(({ key, n }) => `${key}${n}`).sort();

/** Lets each record pass once, and in order. */
class InOrder extends KeyedProcessFunction<string, Numbered, Numbered> {
  private next!: ValueState<number>;

  override open(context: RuntimeContext): void {
    this.next = context.getState(new ValueStateDescriptor('next', Types.LONG, 0));
  }

  override processElement(record: Numbered, _: KeyedProcessContext<string>, out: Collector<Numbered>): void {
    const next = this.next.value()!;
    if (record.n !== next) throw new Error(`${record.key}: ${record.n} came when ${next} was next`);
    this.next.update(next + 1);
    out.collect(record);
  }
}

/** A sink that takes so many records and then waits; what it took stays. */
class StoppedSink implements Sink<Numbered, never, never> {
  readonly guarantee = 'none';
  readonly taken: Numbered[] = [];
  readonly #limit: number;
  readonly #never = new Promise<void>(() => {});

  constructor(limit: number) {
    this.#limit = limit;
  }

  createWriter(): SinkWriter<Numbered, never, never> {
    return {
      write: (value) => void this.taken.push(value),
      busy: () => (this.taken.length < this.#limit ? undefined : this.#never),
      prepareCommit: () => [],
      close() {},
    };
  }
}

/** A sink that takes a batch and then needs its time. */
class SlowSink implements Sink<Numbered, never, never> {
  readonly guarantee = 'none';
  readonly taken: Numbered[] = [];

  createWriter(): SinkWriter<Numbered, never, never> {
    let pause: Promise<void> | undefined;
    return {
      write: (value) => {
        this.taken.push(value);
        pause ??= new Promise((resolve) => {
          setTimeout(() => {
            pause = undefined;
            resolve();
          }, 10);
        });
      },
      busy: () => pause,
      prepareCommit: () => [],
      close() {},
    };
  }
}

/** What comes before the operator that looks at the order. `gate`: how much of each short partition may come. */
type Front = (
  env: StreamExecutionEnvironment,
  records: readonly (readonly Numbered[])[],
  gate: Gate,
) => DataStream<Numbered>;

function sourceOf(
  env: StreamExecutionEnvironment,
  records: readonly (readonly Numbered[])[],
  name: string,
  gate?: Gate,
): DataStream<Numbered> {
  return env
    .fromSource(new GatedSource(records, gate), WatermarkStrategy.noWatermarks(), name, NUMBERED)
    .uid(name);
}

const plain: Front = (env, records) => sourceOf(env, records, 'records');

/**
 * Two inputs, of which one can be overtaken and the other one cannot; and a union of two edges behind them. What cannot be
 * overtaken brings its records at the end only: a sink that takes nothing would hold the barrier behind them back for ever.
 */
const mixed: Front = (env, records, gate) => {
  const left = sourceOf(env, records.slice(0, 2), 'left').partitionCustom(
    (key: string, receivers) => key.charCodeAt(1) % receivers,
    'key',
  );
  const right = sourceOf(env, records.slice(3), 'right', gate).forward();
  const both = left.connect(right).map(
    (record) => record,
    (record) => record,
    NUMBERED,
  );
  return both.uid('both').union(sourceOf(env, records.slice(2, 3), 'third'));
};

interface Run {
  readonly parallelism: number;
  readonly limit?: number;
  readonly gate?: number;
  readonly restore?: string;
  readonly checkpointing?: ExecutionOptions['checkpointing'];
}

class Jobs {
  readonly records: readonly (readonly Numbered[])[];
  /** What sinks have taken before the checkpoints that others were restored from. */
  readonly taken: Numbered[] = [];
  readonly #folder: string;

  readonly #front: Front;

  constructor(t: TestContext, records: number, front: Front = plain) {
    this.#folder = temporaryFolder(t);
    this.#front = front;
    this.records = numbered(records);
  }

  /** Runs until the sink stops and nothing moves any more, takes a checkpoint and ends. The path of the checkpoint. */
  async untilStuck(run: Run): Promise<string> {
    const sink = new StoppedSink(run.limit!);
    const client = await this.#environment(run, sink).executeAsync('job');
    await isStuck(client, sink);
    const before = sink.taken.length;
    const path = await checkpointAndCancel(client);
    assert.equal(sink.taken.length, before, 'the sink was stuck all the time');
    this.taken.push(...sink.taken);
    return path;
  }

  async toTheEnd(run: Run): Promise<void> {
    const sink = new StoppedSink(Number.POSITIVE_INFINITY);
    await this.#environment(run, sink).execute('job');
    this.taken.push(...sink.taken);
  }

  async slowly(checkpointing: ExecutionOptions['checkpointing']): Promise<JobExecutionResult> {
    const sink = new SlowSink();
    const result = await this.#environment({ parallelism: 2, checkpointing }, sink).execute('job');
    this.taken.push(...sink.taken);
    return result;
  }

  /** Sources → hash → InOrder → rebalance → sink. At parallelism 1 all of it is one chain if it can be. */
  #environment({ parallelism, restore, checkpointing, gate }: Run, sink: Sink<Numbered, never, never>) {
    const env = environmentIn(this.#folder, {
      parallelism,
      maxParallelism: 16,
      checkpointing: { unaligned: true, ...checkpointing },
      ...(restore !== undefined && { restore: { path: restore } }),
      ...SMALL_RINGS,
    });
    this.#front(env, this.records, new Gate(gate ?? Number.POSITIVE_INFINITY))
      .keyBy(({ key }) => key, Types.STRING)
      .process(InOrder, NUMBERED)
      .uid('in order')
      .rebalance()
      .sinkTo(sink)
      .uid('sink');
    return env;
  }
}

/** Waits until nothing moves any more. */
async function isStuck(client: JobClient, sink: StoppedSink): Promise<void> {
  await untilStatus(client, 'RUNNING');
  await until(() => sink.taken.length > 0, 'nothing arrives');
  for (let before = -1; before !== sink.taken.length; ) {
    before = sink.taken.length;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

for (const before of [1, 2, 3, 4]) {
  it(`a checkpoint at parallelism ${before} overtakes what is stuck, and is restored at 1 to 4`, async (t) => {
    const jobs = new Jobs(t, 1000);
    const restore = await jobs.untilStuck({ parallelism: before, limit: 10 });
    const stuck = jobs.taken.splice(0);
    assert.ok(stuck.length < 1000, `${stuck.length} records arrived`);
    for (const parallelism of [1, 2, 3, 4]) {
      await jobs.toTheEnd({ parallelism, restore });
      const all = [...stuck, ...jobs.taken.splice(0)];
      assert.deepEqual(namesOf(all), namesOf(jobs.records.flat()), `at parallelism ${parallelism}`);
    }
  });
}

for (const [name, front, seed] of [
  ['one exchange after the other', plain, 7],
  ['inputs of every kind', mixed, 8],
] as const) {
  it(`checkpoints of ${name} follow each other before restored records are processed, at any parallelism`, async (t) => {
    const random = seededRandom(seed);
    for (let round = 0; round < 5; round++) {
      const jobs = new Jobs(t, 1000, front);
      let restore: string | undefined;
      const path: number[] = [];
      for (let cycle = 0; cycle < 6; cycle++) {
        const parallelism = 1 + random(4);
        const checkpointing = { alignedTimeout: random(2) === 0 ? '0 ms' : '30 ms' } as const;
        const limit = 1 + random(60);
        const run = { parallelism, limit, gate: 0, checkpointing };
        restore = await jobs.untilStuck({ ...run, ...(restore !== undefined && { restore }) });
        path.push(parallelism);
      }
      await jobs.toTheEnd({ parallelism: 1 + random(4), ...(restore !== undefined && { restore }) });
      assert.deepEqual(namesOf(jobs.taken), namesOf(jobs.records.flat()), `${path}`);
    }
  });
}

function seededRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 8) % below;
  };
}

it('before a slow sink aligned checkpoints time out and the job goes on; those that overtake are complete', async (t) => {
  const settings = { interval: '20 ms', timeout: '60 ms', tolerableFailures: 1000 };
  const aligned = new Jobs(t, 250);
  const timedOut = await aligned.slowly({ ...settings, unaligned: false });
  assert.deepEqual(namesOf(aligned.taken), namesOf(aligned.records.flat()));
  const overtaking = new Jobs(t, 250);
  const complete = await overtaking.slowly({
    ...settings,
    timeout: '2 s',
    unaligned: true,
    alignedTimeout: '10 ms',
  });
  assert.deepEqual(namesOf(overtaking.taken), namesOf(overtaking.records.flat()));
  assert.ok(timedOut.failedCheckpoints >= 3, `${timedOut.failedCheckpoints} timed out`);
  const { completedCheckpoints, failedCheckpoints } = complete;
  assert.ok(completedCheckpoints >= 8, `${completedCheckpoints} are complete`);
  assert.equal(failedCheckpoints, 0);
});
