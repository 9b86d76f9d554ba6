/** Jobs of two parts that share nothing: one fails, the other is not disturbed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MillraceError } from '../base/index.ts';
import { type CheckpointStorage, createCheckpointStorage } from '../checkpoint/index.ts';
import {
  type BuildJob,
  type ManualJob,
  type ManualJobOptions,
  planJob,
  runToEnd,
  runUntil,
  startManualJob,
} from '../testing/manual-job.ts';
import { createManualPlatform, type ManualPlatform } from '../testing/manual-platform.ts';
import { PacedSource } from '../testing/paced-source.ts';
import { SimulatedSlots, type SlotMessage } from '../testing/simulated-slots.ts';
import { TransactionLog } from '../testing/transaction-log-sink.ts';
import { Types } from '../types/index.ts';

const WATERMARKS = { toSpec: () => undefined } as never;
const LEFT = [0, 1].map((partition) => Array.from({ length: 40 }, (_, i) => partition * 100 + i));
const RIGHT = LEFT.map((partition) => partition.map((value) => value + 1000));

interface Part {
  readonly name: string;
  /** What its map saw, with the attempt in which it did. */
  readonly seen: { readonly value: number; readonly attempt: number }[];
  readonly log: TransactionLog<number>;
  /** Throws if the record is to fail. */
  failAt: (value: number, attempt: number) => void;
}

interface Setup {
  readonly platform: ManualPlatform;
  readonly slots: SimulatedSlots;
  readonly left: Part;
  readonly right: Part;
  readonly job: ManualJob;
  /** Called when the manifest of a snapshot is to be written, and when it was. */
  storage: { storing(): void; stored(): void };
}

async function start(configure: BuildJob = () => {}, options: ManualJobOptions = {}): Promise<Setup> {
  const platform = createManualPlatform();
  const part = (name: string): Part => ({ name, seen: [], log: new TransactionLog(), failAt: () => {} });
  const [left, right] = [part('left'), part('right')];
  const plan = planJob((env) => {
    env.configure({ parallelism: 2, checkpointing: { interval: 10, timeout: 500, dir: '/checkpoints' } });
    configure(env);
    addPart(env, left, LEFT);
    addPart(env, right, RIGHT);
  });
  const slots = new SimulatedSlots(platform, 2);
  const setup = { platform, slots, left, right, storage: { storing: () => {}, stored: () => {} } };
  const real = createCheckpointStorage(platform, plan.settings.checkpoint.storage);
  const storage: CheckpointStorage = Object.assign(Object.create(real) as CheckpointStorage, {
    complete: async (...parameters: Parameters<CheckpointStorage['complete']>) => {
      setup.storage.storing();
      const snapshot = await real.complete.apply(storage, parameters);
      setup.storage.stored();
      return snapshot;
    },
  });
  const job = await startManualJob(plan, platform, {
    slots,
    storage,
    restart: { kind: 'fixed-delay', attempts: 3, delayMs: 20 },
    ...options,
  });
  return Object.assign(setup, { job });
}

function addPart(env: Parameters<BuildJob>[0], part: Part, partitions: readonly number[][]): void {
  const { seen, log } = part;
  env
    .fromSource(
      new PacedSource(partitions, { recordsPerPoll: 1, pauseMs: 4 }),
      WATERMARKS,
      part.name,
      Types.INT,
    )
    .keyBy((value) => value % 4, Types.INT)
    .process(() => {
      let attempt = 0;
      return {
        open: (context: { getAttemptNumber(): number }) => void (attempt = context.getAttemptNumber()),
        processElement(value: number, _: unknown, out: { collect(value: number): void }) {
          seen.push({ value, attempt });
          part.failAt(value, attempt);
          out.collect(value);
        },
      } as never;
    })
    .sinkTo(log.sink() as never);
}

const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);
const all = (partitions: readonly number[][]): number[] => sorted(partitions.flat());

/** It ran once from the beginning to the end. */
function assertUndisturbed(part: Part, partitions: readonly number[][]): void {
  assert.deepEqual(sorted(part.seen.map(({ value }) => value)), all(partitions));
  assert.deepEqual([...new Set(part.seen.map(({ attempt }) => attempt))], [0]);
  assertExact(part, partitions);
}

function assertExact({ log }: Part, partitions: readonly number[][]): void {
  assert.deepEqual(sorted(log.committed()), all(partitions));
  assert.deepEqual(log.undecided(), []);
}

async function finish({ platform, job }: Setup): Promise<void> {
  const report = await runToEnd(platform, job);
  assert.equal(report.status, 'FINISHED', report.error?.stack);
}

const boom = (): never => {
  throw new Error('boom');
};
const isRight = ({ region }: SlotMessage): boolean => region === 1;

describe('a part of a job that fails', () => {
  it('restarts alone, twice, from the newest checkpoint, and the other one is not disturbed', async () => {
    const setup = await start();
    setup.left.failAt = (value, attempt) => void (value === 20 && attempt < 2 && boom());
    await finish(setup);
    assertUndisturbed(setup.right, RIGHT);
    assertExact(setup.left, LEFT);
    assert.deepEqual([...new Set(setup.left.seen.map(({ attempt }) => attempt))], [0, 1, 2]);
    assert.equal(setup.job.master.statistics.numRestarts, 2);
    assert.deepEqual(setup.job.statuses, [
      'CREATED',
      'RUNNING',
      'RESTARTING',
      'RUNNING',
      'RESTARTING',
      'RUNNING',
      'FINISHED',
    ]);
    const warnings = setup.platform.logged.filter(({ message }) => /starts again/.test(message));
    assert.equal(warnings.length, 2);
    assert.match(
      warnings[1]!.message,
      /^Of job 'job' the part of 'left' failed and starts again from checkpoint \d+ in 20 ms \(restart 2 of 3\); the rest goes on: .*processing the record 20 \(key 0\)\. The same record failed 2 times in a row/,
    );
    assert.ok(
      setup.left.seen.filter(({ attempt }) => attempt === 2).length < all(LEFT).length,
      'it restored nothing',
    );
  });

  it('leaves the other one processing while it waits to restart, without checkpoints until it is back', async () => {
    const setup = await start(undefined, { restart: { kind: 'fixed-delay', attempts: 1, delayMs: 60 } });
    setup.left.failAt = (value, attempt) => void (value === 5 && attempt === 0 && boom());
    await runUntil(setup.platform, () => setup.job.master.getStatus() === 'RESTARTING');
    const before = setup.right.seen.length;
    const messages = setup.slots.sent.length;
    await runUntil(setup.platform, () => setup.job.master.getStatus() === 'RUNNING');
    assert.ok(setup.right.seen.length > before + 10, `${setup.right.seen.length - before} records`);
    const meanwhile = setup.slots.sent.slice(messages).filter(isRight);
    assert.deepEqual(
      meanwhile.filter(({ message }) => message.type === 'trigger'),
      [],
    );
    await finish(setup);
    assertUndisturbed(setup.right, RIGHT);
    assertExact(setup.left, LEFT);
  });

  it('may fail again while another one is restarting, and both come back', async () => {
    const setup = await start();
    setup.left.failAt = (value, attempt) => void (value === 10 && attempt < 1 && boom());
    setup.right.failAt = (value, attempt) => void (value === 1012 && attempt < 1 && boom());
    await finish(setup);
    assertExact(setup.left, LEFT);
    assertExact(setup.right, RIGHT);
    assert.equal(setup.job.master.statistics.numRestarts, 2);
  });

  it('ends the whole job when the restart strategy says so', async () => {
    const setup = await start();
    setup.left.failAt = (value) => void (value === 20 && boom());
    const report = await runToEnd(setup.platform, setup.job);
    assert.equal(report.status, 'FAILED');
    assert.match(
      report.error!.message,
      /threw Error: boom\. It was processing the record 20 \(key 0\)\. The same record failed 4 times in a row.* given up after 3 restarts within .*: Recovery is suppressed by FixedDelay/,
    );
    assert.deepEqual([...new Set(setup.right.seen.map(({ attempt }) => attempt))], [0]);
    const alive = setup.slots.terminated.filter((name) => name.endsWith('of 1'));
    assert.deepEqual(alive.sort(), ['0.0 of 1', '0.1 of 1']);
  });

  it('takes all with it under the strategy full', async () => {
    const setup = await start((env) =>
      env.getConfiguration().set('jobmanager.execution.failover-strategy', 'full'),
    );
    setup.left.failAt = (value, attempt) => void (value === 20 && attempt < 1 && boom());
    await finish(setup);
    assertExact(setup.left, LEFT);
    assertExact(setup.right, RIGHT);
    assert.deepEqual([...new Set(setup.right.seen.map(({ attempt }) => attempt))], [0, 1]);
    assert.deepEqual([...new Set(setup.slots.sent.map(({ region }) => region))], [0]);
  });

  it('that loses a thread restarts alone too', async () => {
    const setup = await start();
    await runUntil(setup.platform, () => setup.left.seen.length > 20);
    setup.slots.lose(1, new Error('the thread is gone'));
    await finish(setup);
    assertUndisturbed(setup.right, RIGHT);
    assertExact(setup.left, LEFT);
  });

  it('takes all with it before the first record', async () => {
    const setup = await start();
    const isFirst = ({ attempt, region }: SlotMessage): boolean => attempt === 0 && region === 0;
    // Its first acknowledgement does not arrive, so checkpoint 0 is not complete when it is lost.
    setup.slots.drops = (sent) => isFirst(sent) && sent.message.type === 'acknowledge';
    await runUntil(setup.platform, () => setup.slots.sent.some(({ message }) => message.type === 'trigger'));
    setup.slots.lose(0, new Error('the thread is gone'));
    await finish(setup);
    assertExact(setup.left, LEFT);
    assert.deepEqual([...new Set(setup.right.seen.map(({ attempt }) => attempt))], [1]);
    assertExact(setup.right, RIGHT);
  });

  it('that has ended goes on answering barriers, and the last checkpoint comes when all have', async () => {
    const setup = await start((env) => {
      addPart(env, { ...setupPart(), name: 'short' }, [[1]]);
    });
    setup.left.failAt = (value, attempt) => void (value === 30 && attempt < 1 && boom());
    await finish(setup);
    assertExact(setup.left, LEFT);
    assertUndisturbed(setup.right, RIGHT);
    const types = setup.slots.sent.filter(({ region }) => region === 0).map(({ message }) => message.type);
    assert.ok(types.lastIndexOf('acknowledge') > types.lastIndexOf('end-of-data'), types.join());
  });
});

const setupPart = (): Part => ({ name: '', seen: [], log: new TransactionLog(), failAt: () => {} });

describe('what concerns the whole job', () => {
  it('restarts all: too many failed checkpoints', async () => {
    const setup = await start((env) => env.configure({ checkpointing: { tolerableFailures: 0 } }));
    await runUntil(setup.platform, () => setup.left.seen.length > 10);
    setup.slots.drops = ({ message, attempt }) => attempt === 0 && message.type === 'acknowledge';
    await runUntil(setup.platform, () => setup.job.statuses.includes('RESTARTING'));
    await finish(setup);
    assertExact(setup.left, LEFT);
    assertExact(setup.right, RIGHT);
    assert.ok(setup.left.seen.some(({ attempt }) => attempt === 1));
    assert.ok(setup.right.seen.some(({ attempt }) => attempt === 1));
  });

  it('ends all: a cancellation while a part waits to restart', async () => {
    const setup = await start(undefined, { restart: { kind: 'fixed-delay', attempts: 1, delayMs: 10_000 } });
    setup.left.failAt = (value) => void (value === 5 && boom());
    await runUntil(setup.platform, () => setup.job.master.getStatus() === 'RESTARTING');
    const startedMs = setup.platform.clock.monotonicMs();
    setup.job.master.cancel();
    const report = await runToEnd(setup.platform, setup.job);
    assert.equal(report.status, 'CANCELED');
    assert.ok(setup.platform.clock.monotonicMs() - startedMs < 1000);
    assert.equal(setup.slots.terminated.length, 4);
  });

  it('ends all: the time of the job runs out while a part waits to restart', async () => {
    const setup = await start(undefined, {
      restart: { kind: 'fixed-delay', attempts: 1, delayMs: 60 },
      maxDurationMs: 80,
    });
    setup.left.failAt = (value, attempt) => void (value === 8 && attempt === 0 && boom());
    await finish(setup);
    assert.equal(setup.job.master.statistics.numRestarts, 1);
    for (const { log, seen } of [setup.left, setup.right]) {
      const committed = log.committed();
      assert.ok(committed.length < 80 && committed.length > 0, String(committed.length));
      assert.deepEqual(sorted(committed), sorted([...new Set(seen.map(({ value }) => value))]));
    }
  });
});

describe('a stop during which a part fails', () => {
  const isSavepoint = ({ message }: SlotMessage): boolean =>
    message.type === 'trigger' && message.kind === 'savepoint-suspend';

  /** Stops the job in its midst; resolves to what the stop was refused with. */
  async function refusal(setup: Setup, drain = false): Promise<Error> {
    await runUntil(setup.platform, () => setup.right.seen.length > 10);
    let refused: Error | undefined;
    setup.job.master
      .stop({ drain, savepointDirectory: '/savepoints' })
      .catch((error: unknown) => (refused = error as Error));
    await runUntil(setup.platform, () => refused !== undefined);
    assert.equal((refused as MillraceError | undefined)?.code, 'STOP_FAILED');
    return refused!;
  }

  it('is refused, that part restarts, and the other one goes on where it stood', async () => {
    const setup = await start();
    // The barrier stays on its way to the part that fails.
    setup.slots.drops = (sent) => isSavepoint(sent) && sent.region === 0;
    setup.left.failAt = (_, attempt) =>
      void (attempt === 0 && setup.slots.sent.some((sent) => isSavepoint(sent)) && boom());
    await refusal(setup);
    await finish(setup);
    assertUndisturbed(setup.right, RIGHT);
    assertExact(setup.left, LEFT);
  });

  it('whose savepoint is complete by then is refused, and all restart from it', async () => {
    const setup = await start();
    let isTaken = false;
    setup.storage.stored = () => void (isTaken = setup.slots.sent.some(isSavepoint));
    setup.left.log.interfere = (call) => {
      if (!isTaken || !/^commit/.test(call)) return;
      isTaken = false;
      setup.storage.stored = () => {};
      boom();
    };
    assert.match(
      (await refusal(setup)).message,
      /could not be stopped as asked: .*boom.*\/savepoints\/.* is complete all the same/,
    );
    await finish(setup);
    assertExact(setup.left, LEFT);
    assertExact(setup.right, RIGHT);
    assert.deepEqual([...new Set(setup.right.seen.map(({ attempt }) => attempt))], [0, 1]);
  });

  it('is refused although its savepoint is just being stored, and all restart from it', async () => {
    const setup = await start();
    setup.storage.storing = () => {
      if (!setup.slots.sent.some(isSavepoint)) return;
      setup.storage.storing = () => {};
      setup.slots.lose(0, new Error('lost while the savepoint was stored'));
    };
    await refusal(setup);
    await finish(setup);
    assertExact(setup.left, LEFT);
    assertExact(setup.right, RIGHT);
    assert.deepEqual([...new Set(setup.right.seen.map(({ attempt }) => attempt))], [0, 1]);
  });

  it('and that drains is refused, and all restart: the sources of the other one had ended', async () => {
    const setup = await start();
    let isDrained = false;
    setup.left.failAt = (_, attempt) => void (isDrained && attempt === 0 && boom());
    setup.slots.drops = ({ message, region, attempt }) => {
      if (message.type !== 'drain') return false;
      isDrained = true;
      return region === 0 && attempt === 0;
    };
    await refusal(setup, true);
    await finish(setup);
    assertExact(setup.left, LEFT);
    assertExact(setup.right, RIGHT);
  });
});

describe('a crash of a part in a phase of a checkpoint', () => {
  const PHASES = ['trigger', 'acknowledge', 'complete', 'completed'] as const;

  /** Before the first record all restart. */
  const isFirst = (message: SlotMessage['message']): boolean =>
    'acknowledgement' in message
      ? message.acknowledgement.checkpointId === 0
      : 'checkpointId' in message && message.checkpointId === 0;

  for (const phase of PHASES) {
    for (const nth of [3, 6, 9]) {
      it(`(message ${nth} of kind "${phase}") loses and repeats nothing, and disturbs nobody`, async () => {
        const setup = await start();
        let count = 0;
        setup.slots.drops = ({ message, region, attempt }) => {
          if (region !== 0 || attempt !== 0 || message.type !== phase || isFirst(message)) return false;
          if (++count !== nth) return false;
          queueMicrotask(() => setup.slots.lose(nth % 2, new Error(`lost at ${phase}`)));
          return true;
        };
        await finish(setup);
        assertExact(setup.left, LEFT);
        assertUndisturbed(setup.right, RIGHT);
        assert.equal(setup.job.master.statistics.numRestarts, 1);
      });
    }
  }

  it('(its checkpoint is being stored) restores it from that one, and the other one commits it', async () => {
    const setup = await start();
    await runUntil(setup.platform, () => setup.right.seen.length > 20);
    let isLost = false;
    setup.storage.storing = () => {
      if (isLost) return;
      isLost = true;
      setup.slots.lose(0, new Error('lost while its checkpoint was stored'));
    };
    await finish(setup);
    assert.ok(isLost);
    assertExact(setup.left, LEFT);
    assertUndisturbed(setup.right, RIGHT);
  });
});
