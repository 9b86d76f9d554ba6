/** Whole executions on the manual platform: how they begin, fail, start again, are cancelled and end. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MillraceError } from '../base/index.ts';
import type { CheckpointStorage, CompletedSnapshot } from '../checkpoint/index.ts';
import { createCheckpointStorage } from '../checkpoint/index.ts';
import { KeyedProcessFunction } from '../operators/index.ts';
import { ValueStateDescriptor } from '../state/index.ts';
import {
  type JobPlan,
  type ManualJob,
  type ManualJobOptions,
  planJob,
  runToEnd,
  runUntil,
  startManualJob,
} from '../testing/manual-job.ts';
import { createManualPlatform, type ManualPlatform } from '../testing/manual-platform.ts';
import { PacedSource, type PacedSourceOptions, type PartitionSplit } from '../testing/paced-source.ts';
import type { SlotMessage } from '../testing/simulated-slots.ts';
import { SimulatedSlots } from '../testing/simulated-slots.ts';
import { TransactionLog } from '../testing/transaction-log-sink.ts';
import { createSerializer, decodeFromBytes, Types } from '../types/index.ts';

const PARTITIONS = [0, 1, 2, 3].map((partition) => Array.from({ length: 10 }, (_, i) => partition * 100 + i));

/** Counts the records of each key; fails when it is told to. */
class Count extends KeyedProcessFunction<number, number, string> {
  readonly failWhen: (value: number, attempt: number) => boolean;
  private attempt = 0;
  private count!: { value(): number | undefined; update(value: number): void };

  constructor(failWhen: (value: number, attempt: number) => boolean = () => false) {
    super();
    this.failWhen = failWhen;
  }

  override open(context: {
    getAttemptNumber(): number;
    getState(descriptor: ValueStateDescriptor<number>): {
      value(): number | undefined;
      update(value: number): void;
    };
  }): void {
    this.attempt = context.getAttemptNumber();
    this.count = context.getState(new ValueStateDescriptor('count', Types.INT));
  }

  processElement(value: number, _: unknown, out: { collect(value: string): void }): void {
    if (this.failWhen(value, this.attempt)) throw new Error(`cannot bear ${value}`);
    const count = (this.count.value() ?? 0) + 1;
    this.count.update(count);
    out.collect(`${value % 5}:${count}`);
  }
}

const EXPECTED = [0, 1, 2, 3, 4]
  .flatMap((key) => Array.from({ length: 8 }, (_, i) => `${key}:${i + 1}`))
  .sort();

interface Setup {
  readonly platform: ManualPlatform;
  readonly slots: SimulatedSlots;
  readonly log: TransactionLog<string>;
  readonly plan: JobPlan;
}

function setUp(
  options: {
    readonly source?: PacedSourceOptions<number>;
    readonly failWhen?: (value: number, attempt: number) => boolean;
    readonly retention?: 'RETAIN_ON_CANCELLATION' | 'DELETE_ON_CANCELLATION';
    readonly slotCount?: number;
    readonly checkpoints?: boolean;
  } = {},
): Setup {
  const platform = createManualPlatform();
  const log = new TransactionLog<string>();
  const plan = planJob((env) => {
    env.configure({ parallelism: 3 });
    if (options.checkpoints !== false) {
      env.configure({
        checkpointing: { interval: 10, timeout: 500, dir: '/checkpoints', tolerableFailures: 1 },
      });
    }
    if (options.retention !== undefined) {
      env
        .getConfiguration()
        .set('execution.checkpointing.externalized-checkpoint-retention', options.retention);
    }
    env
      .fromSource(
        new PacedSource(PARTITIONS, { recordsPerPoll: 2, pauseMs: 4, ...options.source }),
        { toSpec: () => undefined } as never,
        'numbers',
        Types.INT,
      )
      .keyBy((value) => value % 5, Types.INT)
      .process(new Count(options.failWhen))
      .sinkTo(log.sink());
  });
  return { platform, slots: new SimulatedSlots(platform, options.slotCount ?? 3), log, plan };
}

function start(setup: Setup, options: ManualJobOptions = {}): Promise<ManualJob> {
  return startManualJob(setup.plan, setup.platform, {
    slots: setup.slots,
    restart: { kind: 'fixed-delay', attempts: 3, delayMs: 5 },
    ...options,
  });
}

async function finish(setup: Setup, job: ManualJob): Promise<void> {
  const report = await runToEnd(setup.platform, job);
  assert.equal(report.status, 'FINISHED', report.error?.stack);
  assert.deepEqual(setup.log.committed().sort(), EXPECTED);
  assert.deepEqual(setup.log.undecided(), []);
}

const now = (setup: Setup): number => setup.platform.clock.monotonicMs();
const isOfType = (type: string) => (sent: SlotMessage) => sent.message.type === type;

describe('a job', () => {
  it('runs to its end in several slots and commits everything', async () => {
    const setup = setUp();
    const job = await start(setup);
    await finish(setup, job);
    assert.deepEqual(job.statuses, ['CREATED', 'RUNNING', 'FINISHED']);
    assert.ok(job.master.statistics.numberOfCompletedCheckpoints > 3);
  });

  it('commits everything at its end without checkpoints', async () => {
    const setup = setUp({ checkpoints: false });
    await finish(setup, await start(setup));
    assert.deepEqual(setup.slots.sent.filter(isOfType('trigger')), []);
  });

  it('completes checkpoint 0 before any source may emit', async () => {
    const setup = setUp();
    const job = await start(setup);
    await runUntil(setup.platform, () => job.master.getStatus() === 'RUNNING');
    const types = setup.slots.sent.map(({ message }) => message.type);
    const started = types.indexOf('start');
    const first = setup.slots.sent.find(isOfType('trigger'))!.message as { checkpointId: number };
    assert.equal(first.checkpointId, 0);
    assert.ok(types.lastIndexOf('acknowledge') < started);
    assert.ok(types.indexOf('complete') < started);
    await finish(setup, job);
  });

  it('does not begin when checkpoint 0 fails, and says so', async () => {
    const setup = setUp();
    const job = await start(setup, { restart: { kind: 'none' } });
    setup.platform.files.limitBytes(0);
    const report = await runToEnd(setup.platform, job);
    assert.equal(report.status, 'FAILED');
    assert.match(report.error!.message, /The checkpoint before the first record failed/);
    assert.deepEqual(setup.log.calls, []);
  });
});

describe('a job of several sources', () => {
  const watermarks = { toSpec: () => undefined } as never;

  it('goes on with checkpoints when one of them has ended, and ends with all', async () => {
    const platform = createManualPlatform();
    const log = new TransactionLog<number>();
    const plan = planJob((env) => {
      env.configure({ parallelism: 2, checkpointing: { interval: 10 } });
      const short = env.fromSource(new PacedSource([[1], [2]]), watermarks, 'short', Types.INT);
      const long = env.fromSource(
        new PacedSource([PARTITIONS[1]!], { recordsPerPoll: 1, pauseMs: 9 }),
        watermarks,
        'long',
        Types.INT,
      );
      short.union(long).rebalance().sinkTo(log.sink());
    });
    const slots = new SimulatedSlots(platform, 2);
    const job = await startManualJob(plan, platform, { slots });
    assert.equal((await runToEnd(platform, job)).status, 'FINISHED');
    const types = slots.sent
      .map(({ message }) => message.type)
      .filter((type) => /end-of-data|^completed/.test(type));
    const firstEnd = types.indexOf('end-of-data');
    const lastEnd = types.lastIndexOf('end-of-data');
    assert.ok(types.slice(firstEnd, lastEnd).filter((type) => type === 'completed').length > 6, types.join());
    assert.equal(types.at(-1), 'completed');
    assert.deepEqual(
      log.committed().sort((a, b) => a - b),
      [1, 2, ...PARTITIONS[1]!],
    );
  });
});

describe('a keyed operator that is chained behind an exchange', () => {
  it('has its records when no more come, without any watermark or checkpoint', async () => {
    const platform = createManualPlatform();
    const log = new TransactionLog<string>();
    const watermarks = { toSpec: () => undefined } as never;
    const plan = planJob((env) => {
      const numbers = (name: string, values: readonly number[]) =>
        env.fromSource(new PacedSource([values], { ends: false }), watermarks, name, Types.INT);
      numbers('left', [1, 6])
        .union(numbers('right', [2]))
        .map((value) => value)
        .returns(Types.INT)
        .keyBy((value) => value % 5, Types.INT)
        .process(new Count())
        .sinkTo(log.sink());
    });
    assert.equal(plan.graph.vertices.length, 3);
    const job = await startManualJob(plan, platform);
    await runUntil(platform, () => [...log.transactions.values()].some(({ values }) => values.length === 3), {
      limitMs: 100,
    });
    job.master.cancel();
    assert.equal((await runToEnd(platform, job)).status, 'CANCELED');
  });
});

describe('a job whose sink is slow', () => {
  it('waits without work in vain and goes on when the sink can', async () => {
    const platform = createManualPlatform();
    const log = new TransactionLog<number>();
    const values = Array.from({ length: 30_000 }, (_, i) => i);
    let busy: Promise<void> | undefined;
    let waits = 0;
    const plan = planJob((env) => {
      env.disableOperatorChaining();
      const sink = log.sink();
      const createWriter: typeof sink.createWriter = async (context, restored) => {
        const writer = await sink.createWriter(context, restored);
        let written = 0;
        return Object.assign(Object.create(writer) as typeof writer, {
          write(value: number, timestampMs: number) {
            if (++written % 10_000 === 0) {
              waits++;
              busy = new Promise((resolve) => {
                platform.timers.after(50, () => {
                  busy = undefined;
                  resolve();
                });
              });
            }
            writer.write(value, timestampMs);
          },
          busy: () => busy,
        });
      };
      env
        .fromSource(
          new PacedSource([values], { recordsPerPoll: 1000, pauseMs: 0 }),
          { toSpec: () => undefined } as never,
          'fast',
          Types.INT,
        )
        .sinkTo({ ...sink, createWriter });
    });
    const job = await startManualJob(plan, platform);
    const report = await runToEnd(platform, job);
    assert.equal(report.status, 'FINISHED', report.error?.stack);
    assert.equal(waits, 3);
    assert.deepEqual(log.committed(), values);
    assert.ok(platform.clock.monotonicMs() < 400, `${platform.clock.monotonicMs()} ms`);
  });
});

describe('a job that fails', () => {
  it('starts again from its newest checkpoint, in fresh function objects', async () => {
    const setup = setUp({ failWhen: (value, attempt) => attempt === 0 && value === 207 });
    const job = await start(setup);
    await finish(setup, job);
    assert.deepEqual(job.statuses, ['CREATED', 'RUNNING', 'FAILING', 'RESTARTING', 'RUNNING', 'FINISHED']);
    assert.equal(job.master.statistics.numRestarts, 1);
    assert.match(
      setup.platform.logged.map(({ message }) => message).join('\n'),
      /starts again from checkpoint \d+ in 5 ms/,
    );
  });

  it('ends when its restart strategy has had enough, with the error of the user', async () => {
    const setup = setUp({ failWhen: (value) => value === 5 });
    const job = await start(setup, { restart: { kind: 'fixed-delay', attempts: 2, delayMs: 5 } });
    const report = await runToEnd(setup.platform, job);
    assert.equal(report.status, 'FAILED');
    assert.match(report.error!.message, /'Keyed.*cannot bear 5|cannot bear 5/);
    assert.equal(job.master.statistics.numRestarts, 2);
    assert.equal(job.master.statistics.exceptions.info().exceptionHistory.entries.length, 3);
    assert.equal(job.statuses.at(-1), 'FAILED');
  });

  it('is not started again for a mistake that no restart cures', async () => {
    const setup = setUp();
    const job = await start(setup);
    await runUntil(setup.platform, () => job.master.getStatus() === 'RUNNING');
    setup.slots.lose(0, new MillraceError('PLAN_NOT_STABLE', 'the plan differs'));
    const report = await runToEnd(setup.platform, job);
    assert.equal(report.status, 'FAILED');
    assert.equal(report.error!.message, 'the plan differs');
    assert.equal(job.master.statistics.numRestarts, 0);
  });

  it('begins anew at once when a slot is lost, without waiting for the dead one', async () => {
    const setup = setUp();
    const job = await start(setup);
    await runUntil(setup.platform, () => setup.log.committed().length > 0);
    const lostMs = now(setup);
    setup.slots.lose(1, new MillraceError('SLOT_LOST', 'the thread of slot 1 is gone'));
    await runUntil(setup.platform, () => job.statuses.filter((status) => status === 'RUNNING').length === 2);
    assert.ok(now(setup) - lostMs < 50, `${now(setup) - lostMs} ms`);
    await finish(setup, job);
  });

  it('ends the thread of a slot that does not close in time, and goes on', async () => {
    const setup = setUp({ failWhen: (value, attempt) => attempt === 0 && value === 207 });
    setup.slots.drops = ({ message, attempt, slot }) =>
      message.type === 'closed' && attempt === 0 && slot === 2;
    const job = await start(setup, { cancellationTimeoutMs: 300 });
    await finish(setup, job);
    assert.ok(now(setup) >= 300);
    assert.ok(setup.slots.terminated.includes('0.2'));
    assert.match(
      setup.platform.logged.map(({ message }) => message).join('\n'),
      /did not close within 300 ms/,
    );
  });

  it('does not listen to the attempt before', async () => {
    const setup = setUp({ failWhen: (value, attempt) => attempt === 0 && value === 7 });
    const job = await start(setup);
    await runUntil(setup.platform, () => job.statuses.filter((status) => status === 'RUNNING').length === 2);
    const ear = setup.slots.ears.get('0.0')!;
    const task = { vertex: 0, subtask: 0 };
    for (let i = 0; i < 20; i++) ear.onMessage({ type: 'end-of-data', task });
    ear.onMessage({ type: 'request-split', task });
    ear.onMessage({ type: 'closed' });
    ear.onMessage({ type: 'completed', checkpointId: 1 });
    ear.onMessage({
      type: 'failed',
      task,
      error: {
        code: undefined,
        name: 'Error',
        message: 'late',
        stack: undefined,
        details: {},
        cause: undefined,
      },
      element: undefined,
    });
    for (const checkpointId of [0, 1, 2, 3, 4, 5]) {
      ear.onMessage({
        type: 'decline',
        decline: {
          vertexIndex: 0,
          subtaskIndex: 0,
          attemptNumber: 0,
          checkpointId,
          reason: 'snapshot-failed',
          message: 'late',
        },
      });
    }
    ear.onLost(new Error('late'));
    await finish(setup, job);
    assert.equal(job.master.statistics.numRestarts, 1);
  });

  it('does not fail because a slot goes that has closed its tasks', async () => {
    const setup = setUp();
    const job = await start(setup);
    await runUntil(setup.platform, () => setup.slots.sent.some(isOfType('closed')));
    setup.slots.ears.get('0.0')!.onLost(new Error('exit code 0'));
    await finish(setup, job);
  });
});

describe('a cancellation', () => {
  async function cancelled(setup: Setup, job: ManualJob, withinMs: number): Promise<void> {
    const beganMs = now(setup);
    job.master.cancel();
    const report = await runToEnd(setup.platform, job);
    assert.equal(report.status, 'CANCELED', report.error?.stack);
    assert.deepEqual(job.statuses.slice(-2), ['CANCELLING', 'CANCELED']);
    assert.ok(now(setup) - beganMs <= withinMs, `took ${now(setup) - beganMs} ms`);
    // Those of the sources of this test.
    await setup.platform.advanceAndSettle(10);
    assert.equal(setup.platform.timerCount, 0, 'no timer is left');
  }

  it('ends a job whose enumerator does not start', async () => {
    const setup = setUp({ source: { interfere: () => new Promise<void>(() => {}) } });
    const job = await start(setup, { cancellationTimeoutMs: 40 });
    await runUntil(setup.platform, () => now(setup) > 20);
    assert.equal(job.master.getStatus(), 'CREATED');
    await cancelled(setup, job, 50);
  });

  it('ends a job that waits for checkpoint 0', async () => {
    const setup = setUp();
    setup.slots.drops = isOfType('acknowledge');
    const job = await start(setup);
    await runUntil(setup.platform, () => setup.slots.sent.some(isOfType('acknowledge')));
    assert.equal(job.master.getStatus(), 'CREATED');
    await cancelled(setup, job, 20);
  });

  it('ends a running job', async () => {
    const setup = setUp({ source: { ends: false } });
    const job = await start(setup);
    await runUntil(setup.platform, () => setup.log.committed().length > 10);
    await cancelled(setup, job, 20);
  });

  it('ends a job whose enumerator is busy for ever, while a checkpoint waits for it', async () => {
    let calls = 0;
    const interfere = (call: string) =>
      call === 'request' && ++calls > 3 ? new Promise<void>(() => {}) : undefined;
    const setup = setUp({ source: { interfere: interfere as never } });
    const job = await start(setup, { cancellationTimeoutMs: 40 });
    await runUntil(setup.platform, () => job.master.statistics.numberOfFailedCheckpoints > 0);
    await cancelled(setup, job, 50);
  });

  it('ends a job that waits to start again', async () => {
    const setup = setUp({ failWhen: (value) => value === 7 });
    const job = await start(setup, { restart: { kind: 'fixed-delay', attempts: 3, delayMs: 60_000 } });
    await runUntil(setup.platform, () => job.master.getStatus() === 'RESTARTING');
    await cancelled(setup, job, 5);
  });

  it('ends a job that is just failing', async () => {
    const setup = setUp({ failWhen: (value) => value === 7 });
    const job = await start(setup, {
      restart: { kind: 'fixed-delay', attempts: 3, delayMs: 60_000 },
      cancellationTimeoutMs: 30,
    });
    setup.slots.drops = isOfType('closed');
    await runUntil(setup.platform, () => job.master.getStatus() === 'FAILING');
    await cancelled(setup, job, 40);
  });

  it('ends a job whose operator does not open, once its time is over', async () => {
    const setup = setUp();
    const never = new Promise<void>(() => {});
    const graph = {
      ...setup.plan.graph,
      vertices: setup.plan.graph.vertices.map((vertex) => ({
        ...vertex,
        operators: vertex.operators.map((operator) => {
          const { create } = operator;
          if (create === undefined) return operator;
          return { ...operator, create: () => Object.assign(create(), { open: () => never }) };
        }),
      })),
    };
    const job = await startManualJob({ ...setup.plan, graph }, setup.platform, {
      slots: setup.slots,
      cancellationTimeoutMs: 40,
    });
    await runUntil(setup.platform, () => now(setup) > 20);
    await cancelled(setup, job, 50);
  });
});

describe('retained checkpoints', () => {
  const files = (setup: Setup) =>
    setup.platform.files.allFiles().filter((path) => path.endsWith('_metadata'));

  it('are removed when the job has finished', async () => {
    const setup = setUp({ retention: 'RETAIN_ON_CANCELLATION' });
    await finish(setup, await start(setup));
    assert.deepEqual(setup.platform.files.allFiles(), []);
  });

  for (const [retention, kept] of [
    ['DELETE_ON_CANCELLATION', 0],
    ['RETAIN_ON_CANCELLATION', 1],
  ] as const) {
    it(`are ${kept === 0 ? 'removed' : 'kept'} when the job was cancelled, with ${retention}`, async () => {
      const setup = setUp({ retention, source: { ends: false } });
      const job = await start(setup);
      await runUntil(setup.platform, () => setup.log.committed().length > 10);
      job.master.cancel();
      await runToEnd(setup.platform, job);
      assert.equal(files(setup).length, kept);
    });
  }

  it('are kept when the job failed', async () => {
    const setup = setUp({ failWhen: (value) => value === 7 });
    const job = await start(setup, { restart: { kind: 'none' } });
    assert.equal((await runToEnd(setup.platform, job)).status, 'FAILED');
    assert.equal(files(setup).length, 1);
  });
});

describe('an enumerator', () => {
  it('that cannot start fails the job', async () => {
    const setup = setUp({
      source: {
        interfere: (call) => {
          if (call === 'start') throw new Error('no such topic');
        },
      },
    });
    const job = await start(setup, { restart: { kind: 'none' } });
    const report = await runToEnd(setup.platform, job);
    assert.equal(report.status, 'FAILED');
    assert.match(report.error!.message, /no such topic/);
  });

  it('that fails in a call fails the attempt; the next one gets its splits again', async () => {
    let requests = 0;
    const setup = setUp({
      source: {
        interfere: (call) => {
          if (call === 'request' && ++requests === 4) throw new Error('broker away');
        },
      },
    });
    const job = await start(setup);
    await finish(setup, job);
    assert.equal(job.master.statistics.numRestarts, 1);
  });

  it('that cannot be snapshotted fails the checkpoint, and the job when that happens too often', async () => {
    let snapshots = 0;
    const setup = setUp({
      source: {
        interfere: (call) => {
          if (call === 'snapshot' && [3, 5, 6].includes(++snapshots)) throw new Error('not now');
        },
      },
    });
    const job = await start(setup);
    await finish(setup, job);
    assert.ok(job.master.statistics.numberOfFailedCheckpoints >= 3);
    assert.equal(job.master.statistics.numRestarts, 1);
  });

  it('has each split in one place in every checkpoint, also when assignments are under way', async () => {
    const setup = setUp();
    const { platform } = setup;
    const snapshots: CompletedSnapshot[] = [];
    const real = createCheckpointStorage(platform, { kind: 'jobmanager', maxStateSizeBytes: 1e6 });
    const storage: CheckpointStorage = Object.assign(Object.create(real) as CheckpointStorage, {
      complete: async (...parameters: Parameters<CheckpointStorage['complete']>) => {
        const snapshot = await real.complete(...parameters);
        snapshots.push(snapshot);
        return snapshot;
      },
    });
    const slow = (): Promise<void> => new Promise((resolve) => platform.timers.after(3, resolve));
    const source = setup.plan.graph.vertices[0]!.source!.source as unknown as PacedSource<number>;
    (source.options as { interfere?: unknown }).interfere = (call: string) =>
      call === 'request' ? slow() : undefined;
    const job = await start(setup, {
      storage,
      checkpoint: { ...setup.plan.settings.checkpoint, intervalMs: 1 },
    });
    await finish(setup, job);
    assert.ok(snapshots.length > 10);
    let inBoth = 0;
    for (const snapshot of snapshots) {
      const { pending, reading } = splitsOf(snapshot);
      if (pending.length > 0 && reading.length > 0) inBoth++;
      const all = [...pending, ...reading];
      assert.equal(new Set(all).size, all.length, `checkpoint ${snapshot.checkpointId}: ${all}`);
    }
    assert.ok(inBoth > 0);
  });
});

function splitsOf({ manifest }: CompletedSnapshot): { pending: string[]; reading: string[] } {
  const serializer = createSerializer<unknown>(undefined, 'test');
  const source = manifest.operators.find(({ coordinator }) => coordinator !== undefined)!;
  const pending = decodeFromBytes(serializer, source.coordinator!) as PartitionSplit[];
  const reading = source.subtasks.flatMap((state) =>
    (state?.operator ?? []).flatMap(({ offsets, stream }) => {
      assert.equal(stream.kind, 'inline');
      const bytes = (stream as { bytes: Uint8Array }).bytes;
      return offsets.map((offset, i) =>
        decodeFromBytes(serializer, bytes.subarray(offset, offsets[i + 1] ?? bytes.length)),
      ) as PartitionSplit[];
    }),
  );
  const name = ({ splitId }: PartitionSplit): string => splitId;
  return { pending: pending.map(name), reading: reading.map(name) };
}
