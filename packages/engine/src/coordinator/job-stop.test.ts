/** Stopping a job: with and without a savepoint, suspended and drained, what fails on the way, what it goes on from. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../base/index.ts';
import {
  type CheckpointStorage,
  type CompletedSnapshot,
  createCheckpointStorage,
  findLatestSnapshot,
} from '../checkpoint/index.ts';
import { KeyedProcessFunction, type OnTimerContext, type RuntimeContext } from '../operators/index.ts';
import { type ValueState, ValueStateDescriptor } from '../state/index.ts';
import {
  type JobPlan,
  type ManualJobOptions,
  planJob,
  runToEnd,
  runUntil,
  startManualJob,
} from '../testing/manual-job.ts';
import { createManualPlatform, type ManualPlatform } from '../testing/manual-platform.ts';
import { PacedSource } from '../testing/paced-source.ts';
import { SimulatedSlots } from '../testing/simulated-slots.ts';
import { TransactionLog } from '../testing/transaction-log-sink.ts';
import { Types } from '../types/index.ts';

const PARTITIONS = [0, 1, 2].map((partition) => Array.from({ length: 40 }, (_, i) => partition * 100 + i));
const KEYS = 5;

/** Counts the records of each key; at the end of event time tells the total. Its first attempt fails at `failAt`. */
class Count extends KeyedProcessFunction<number, number, string> {
  readonly failAt: number | undefined;
  private isFirst = true;
  private count!: ValueState<number>;

  constructor(failAt?: number) {
    super();
    this.failAt = failAt;
  }

  override open(context: RuntimeContext): void {
    this.isFirst = context.getAttemptNumber() === 0;
    this.count = context.getState(new ValueStateDescriptor('count', Types.INT));
  }

  processElement(
    value: number,
    context: { timerService(): { registerEventTimeTimer(timestampMs: number): void } },
    out: { collect(value: string): void },
  ): void {
    if (this.isFirst && value === this.failAt) throw new Error(`cannot bear ${value}`);
    const count = (this.count.value() ?? 0) + 1;
    this.count.update(count);
    context.timerService().registerEventTimeTimer(1_000_000);
    out.collect(`${value % KEYS}:${count}`);
  }

  override onTimer(_: number, context: OnTimerContext<number>, out: { collect(value: string): void }): void {
    out.collect(`total ${context.getCurrentKey()}:${this.count.value()}`);
  }
}

interface Setup {
  readonly platform: ManualPlatform;
  readonly log: TransactionLog<string>;
  readonly plan: JobPlan;
}

function setUp(options: { readonly checkpoints?: boolean; readonly failAt?: number } = {}): Setup {
  const platform = createManualPlatform();
  const log = new TransactionLog<string>();
  const plan = planJob((env) => {
    env.configure({ parallelism: 2 });
    if (options.checkpoints !== false)
      env.configure({
        checkpointing: { interval: 10, timeout: 500, dir: '/checkpoints', tolerableFailures: 1 },
      });
    env
      .fromSource(
        new PacedSource(PARTITIONS, { recordsPerPoll: 1, pauseMs: 4 }),
        { toSpec: () => undefined } as never,
        'numbers',
        Types.INT,
      )
      .uid('numbers')
      .keyBy((value) => value % KEYS, Types.INT)
      .process(new Count(options.failAt))
      .uid('count')
      .sinkTo(log.sink())
      .uid('log');
  }, 'counts');
  return { platform, log, plan };
}

function start({ plan, platform }: Setup, options: ManualJobOptions = {}) {
  return startManualJob(plan, platform, {
    slots: new SimulatedSlots(platform, 2),
    restart: { kind: 'fixed-delay', attempts: 3, delayMs: 5 },
    ...options,
  });
}

/** As many results as `counts` says for each key, in any order. */
function upTo(counts: readonly number[]): string[] {
  return counts.flatMap((count, key) => Array.from({ length: count }, (_, i) => `${key}:${i + 1}`)).sort();
}

function countsOf(results: readonly string[]): number[] {
  const counts = new Array<number>(KEYS).fill(0);
  for (const result of results) if (!result.startsWith('total')) counts[Number(result[0])]!++;
  return counts;
}

const ALL = upTo([24, 24, 24, 24, 24]);

/** Lets the job run until half of the results are committed. */
async function runHalf(setup: Setup): Promise<void> {
  await runUntil(setup.platform, () => setup.log.committed().length > 40);
}

/** Settles a promise while time is moved. */
async function settle<T>(platform: ManualPlatform, promise: Promise<T>): Promise<T> {
  let settled = false;
  const done = (): void => {
    settled = true;
  };
  promise.then(done, done);
  await runUntil(platform, () => settled);
  return promise;
}

async function goOn(setup: Setup, snapshot: CompletedSnapshot, storage?: CheckpointStorage): Promise<void> {
  const job = await start(setup, { initial: snapshot, jobId: 'c'.repeat(32), ...(storage && { storage }) });
  const report = await runToEnd(setup.platform, job);
  assert.equal(report.status, 'FINISHED', report.error?.stack);
  const results = setup.log.committed().filter((result) => !result.startsWith('total'));
  assert.deepEqual(results.sort(), ALL);
  assert.deepEqual(setup.log.undecided(), []);
}

describe('a job that is stopped', () => {
  it('commits what it read, fires no timer, and goes on from its last checkpoint without a gap', async () => {
    const setup = setUp();
    const job = await start(setup);
    await runHalf(setup);
    const snapshot = await settle(
      setup.platform,
      job.master.stop({ drain: false, savepointDirectory: undefined }),
    );
    assert.equal(job.report()?.status, 'FINISHED');
    const results = setup.log.committed().sort();
    assert.ok(results.length < ALL.length, 'it was stopped too late to show anything');
    assert.deepEqual(results, upTo(countsOf(results)));
    assert.deepEqual(setup.log.undecided(), []);
    assert.equal(snapshot?.kind, 'checkpoint');
    await goOn(setup, snapshot!);
  });

  it('with a savepoint deletes its checkpoints, and the savepoint is what latest means', async () => {
    const setup = setUp();
    const job = await start(setup);
    await runHalf(setup);
    const snapshot = await settle(
      setup.platform,
      job.master.stop({ drain: false, savepointDirectory: '/savepoints' }),
    );
    assert.equal(snapshot?.kind, 'savepoint');
    assert.match(snapshot!.directory!, /^\/savepoints\/savepoint-aaaaaa-/);
    const latest = await findLatestSnapshot(setup.platform, '/checkpoints', 'counts', 'stop');
    assert.equal(latest.snapshot?.directory, snapshot!.directory);
    await goOn(setup, snapshot!);
  });

  it('is not begun anew by latest when the savepoint is gone', async () => {
    const setup = setUp();
    const job = await start(setup);
    await runHalf(setup);
    const { directory } = (await settle(
      setup.platform,
      job.master.stop({ drain: false, savepointDirectory: '/savepoints' }),
    ))!;
    await setup.platform.fileSystem(directory!).files.delete(directory!);
    await assert.rejects(
      findLatestSnapshot(setup.platform, '/checkpoints', 'counts', 'stop'),
      (error) =>
        hasCode(error, 'SNAPSHOT_CORRUPT') && /stopped with is not there any more/.test(String(error)),
    );
  });

  it('fires all timers when it is drained, and is not kept', async () => {
    const setup = setUp();
    const job = await start(setup);
    await runHalf(setup);
    const snapshot = await settle(
      setup.platform,
      job.master.stop({ drain: true, savepointDirectory: undefined }),
    );
    assert.equal(snapshot, undefined);
    const results = setup.log.committed();
    const counts = countsOf(results);
    assert.ok(counts.reduce((a, b) => a + b) < ALL.length);
    const totals = results.filter((result) => result.startsWith('total')).sort();
    assert.deepEqual(
      totals,
      counts.map((count, key) => `total ${key}:${count}`),
    );
  });

  it('is drained into a savepoint', async () => {
    const setup = setUp();
    const job = await start(setup);
    await runHalf(setup);
    const snapshot = await settle(
      setup.platform,
      job.master.stop({ drain: true, savepointDirectory: '/savepoints' }),
    );
    assert.equal(snapshot?.kind, 'savepoint');
    assert.equal(setup.log.committed().filter((result) => result.startsWith('total')).length, KEYS);
    assert.deepEqual(setup.log.undecided(), []);
  });

  it('is drained without checkpoints too', async () => {
    const setup = setUp({ checkpoints: false });
    const job = await start(setup);
    await runUntil(setup.platform, () => job.statuses.includes('RUNNING'));
    for (let i = 0; i < 20; i++) await runUntil(setup.platform, () => true);
    setup.platform.advance(50);
    await settle(setup.platform, job.master.stop({ drain: true, savepointDirectory: undefined }));
    assert.equal(job.report()?.status, 'FINISHED');
    const counts = countsOf(setup.log.committed());
    assert.ok(counts.reduce((a, b) => a + b) < ALL.length);
  });

  it('goes on when the savepoint cannot be written, and says so', async () => {
    const setup = setUp();
    const job = await start(setup);
    await runHalf(setup);
    await setup.platform
      .fileSystem('/')
      .files.create('/savepoints')
      .then((file) => file.close());
    await assert.rejects(
      settle(setup.platform, job.master.stop({ drain: false, savepointDirectory: '/savepoints' })),
      (error) => hasCode(error, 'STOP_FAILED'),
    );
    assert.equal(job.master.getStatus(), 'RUNNING');
    const report = await runToEnd(setup.platform, job);
    assert.equal(report.status, 'FINISHED');
    const results = setup.log.committed().filter((result) => !result.startsWith('total'));
    assert.deepEqual(results.sort(), ALL);
  });

  it('starts again from its last checkpoint when the savepoint after draining cannot be written', async () => {
    const setup = setUp();
    const job = await start(setup);
    await runHalf(setup);
    await setup.platform
      .fileSystem('/')
      .files.create('/savepoints')
      .then((file) => file.close());
    await assert.rejects(
      settle(setup.platform, job.master.stop({ drain: true, savepointDirectory: '/savepoints' })),
      (error) => hasCode(error, 'STOP_FAILED'),
    );
    const report = await runToEnd(setup.platform, job);
    assert.equal(report.status, 'FINISHED', report.error?.stack);
    assert.equal(job.master.statistics.numRestarts, 1);
    const results = setup.log.committed().filter((result) => !result.startsWith('total'));
    assert.deepEqual(results.sort(), ALL);
  });

  it('answers a second stop, a cancellation meanwhile, and a stop after the end', async () => {
    const setup = setUp();
    const job = await start(setup);
    await runHalf(setup);
    const first = job.master.stop({ drain: false, savepointDirectory: undefined });
    await assert.rejects(
      job.master.stop({ drain: true, savepointDirectory: undefined }),
      (error) => hasCode(error, 'JOB_NOT_RUNNING') && /is ending already/.test(String(error)),
    );
    job.master.cancel();
    await assert.rejects(settle(setup.platform, first), (error) => hasCode(error, 'STOP_FAILED'));
    assert.equal(job.report()?.status, 'CANCELED');
    await assert.rejects(
      job.master.stop({ drain: false, savepointDirectory: undefined }),
      (error) => hasCode(error, 'JOB_NOT_RUNNING') && /it is CANCELED/.test(String(error)),
    );
  });

  it('goes on after all if a thread is lost before all is committed, and keeps no more checkpoints than usual', async () => {
    const setup = setUp();
    const { platform } = setup;
    const slots = new SimulatedSlots(platform, 2);
    const job = await start(setup, { slots });
    await runHalf(setup);
    const snapshots = (): string[] =>
      platform.files
        .allFiles()
        .filter((path) => path.startsWith('/checkpoints/') && path.endsWith('/_metadata'));
    slots.drops = ({ message }) => message.type === 'complete';
    const stop = job.master.stop({ drain: false, savepointDirectory: undefined });
    const refused = assert.rejects(stop, (error) => hasCode(error, 'STOP_FAILED'));
    const isComplete = ({ message }: { message: { type: string; kind?: string } }): boolean =>
      message.type === 'trigger' && message.kind === 'savepoint-suspend';
    await runUntil(
      platform,
      () => slots.sent.some(isComplete) && slots.sent.at(-1)!.message.type === 'complete',
    );
    const [stoppedWith] = snapshots();
    slots.drops = () => false;
    slots.lose(0, new Error('the thread is gone'));
    await refused;
    const { checkpoints } = job.master.statistics;
    const before = checkpoints.counts.completed;
    await runUntil(platform, () => checkpoints.counts.completed > before + 1);
    assert.deepEqual([snapshots().length, snapshots().includes(stoppedWith!)], [1, false]);
    const report = await runToEnd(platform, job);
    assert.equal(report.status, 'FINISHED', report.error?.stack);
    const results = setup.log.committed().filter((result) => !result.startsWith('total'));
    assert.deepEqual(results.sort(), ALL);
  });

  it('is refused the savepoint, and ends well, if its data ends before that is complete', async () => {
    for (const checkpoints of [true, false]) {
      const setup = setUp({ checkpoints });
      const slots = new SimulatedSlots(setup.platform, 2);
      const job = await start(setup, { slots });
      await settle(setup.platform, job.master.untilRunning());
      // The triggers of the savepoint are lost: it never completes, and the data comes to its end.
      slots.drops = ({ message }) => message.type === 'trigger' && message.kind === 'savepoint-suspend';
      const stop = job.master.stop({ drain: false, savepointDirectory: '/savepoints' });
      await assert.rejects(settle(setup.platform, stop), (error) => hasCode(error, 'STOP_FAILED'));
      const report = await runToEnd(setup.platform, job);
      assert.equal(report.status, 'FINISHED', report.error?.stack);
      const results = setup.log.committed().filter((result) => !result.startsWith('total'));
      assert.deepEqual(results.sort(), ALL);
    }
  });

  it('waits until it runs, and says why if it never does', async () => {
    const setup = setUp();
    const job = await start(setup);
    assert.equal(job.master.getStatus(), 'CREATED');
    await settle(setup.platform, job.master.stop({ drain: false, savepointDirectory: undefined }));
    assert.equal(job.report()?.status, 'FINISHED');

    const failing = setUp({ failAt: 0 });
    const other = await start(failing, { restart: { kind: 'none' } });
    await settle(failing.platform, other.master.untilRunning());
    await runToEnd(failing.platform, other);
    await assert.rejects(other.master.untilRunning(), (error) => hasCode(error, 'JOB_NOT_RUNNING'));
  });

  it('survives a kill right after: a stop that was answered is committed', async () => {
    const setup = setUp();
    const job = await start(setup);
    await runHalf(setup);
    const snapshot = await settle(
      setup.platform,
      job.master.stop({ drain: false, savepointDirectory: '/savepoints' }),
    );
    const storage = createCheckpointStorage(setup.platform, setup.plan.settings.checkpoint.storage);
    await goOn(setup, snapshot!, storage);
  });
});

describe('a bounded run', () => {
  for (const failAt of [undefined, 12]) {
    const how = failAt === undefined ? 'without a failure' : 'with a restart on the way';
    it(`ends after so many records of each source, ${how}`, async () => {
      const setup = setUp({ failAt });
      const job = await start(setup, { maxRecords: 61 });
      const report = await runToEnd(setup.platform, job);
      assert.equal(report.status, 'FINISHED', report.error?.stack);
      assert.equal(job.master.statistics.numRestarts, failAt === undefined ? 0 : 1);
      const results = setup.log.committed();
      assert.equal(
        countsOf(results).reduce((a, b) => a + b),
        61,
      );
      assert.equal(results.filter((result) => result.startsWith('total')).length, KEYS);
    });
  }

  it('ends after so much time, with everything it read', async () => {
    const setup = setUp();
    const job = await start(setup, { maxDurationMs: 60 });
    const report = await runToEnd(setup.platform, job);
    assert.equal(report.status, 'FINISHED', report.error?.stack);
    const counts = countsOf(setup.log.committed());
    const read = counts.reduce((a, b) => a + b);
    assert.ok(read > 5 && read < 60, `${read} records`);
    assert.equal(setup.log.committed().length, read + KEYS);
  });

  it('ends after so much time although it was being stopped at that moment, which failed', async () => {
    const setup = setUp();
    const { platform, plan } = setup;
    const storage = createCheckpointStorage(platform, plan.settings.checkpoint.storage);
    const tried = Promise.withResolvers<never>();
    storage.beginSavepoint = () => tried.promise;
    const job = await start(setup, { maxDurationMs: 60, storage });
    await runUntil(platform, () => countsOf(setup.log.committed()).some((count) => count > 0));
    const stopped = job.master.stop({ drain: false, savepointDirectory: '/savepoints' });
    const startMs = platform.clock.monotonicMs();
    await runUntil(platform, () => platform.clock.monotonicMs() > startMs + 60);
    tried.reject(new Error('the disk is full'));
    await assert.rejects(settle(platform, stopped), (error) => hasCode(error, 'STOP_FAILED'));
    const report = await runToEnd(platform, job);
    assert.equal(report.status, 'FINISHED', report.error?.stack);
    assert.ok(setup.log.committed().length < ALL.length, 'it was not left to read everything');
  });
});
