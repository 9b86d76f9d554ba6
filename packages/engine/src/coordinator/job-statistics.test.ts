/** What a job tells of itself: checkpoints that were slow or failed, recoveries, failures. Whole jobs in virtual time. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MillraceError } from '../base/index.ts';
import {
  type CheckpointStorage,
  createCheckpointStorage,
  openVerifiedSnapshot,
} from '../checkpoint/index.ts';
import { CollectSink } from '../connectors/index.ts';
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
import { PacedSource } from '../testing/paced-source.ts';
import { SimulatedSlots } from '../testing/simulated-slots.ts';
import { Types } from '../types/index.ts';

interface Setup {
  readonly platform: ManualPlatform;
  readonly slots: SimulatedSlots;
  readonly plan: JobPlan;
}

/** Two records every 4 ms; a checkpoint each `interval` ms; fails at what `isBad` says. */
function setUp(
  options: {
    readonly interval?: number;
    readonly timeout?: number;
    readonly records?: number;
    readonly isBad?: (value: number) => boolean;
  } = {},
): Setup {
  const { interval = 100, timeout = 500, records = 200, isBad = () => false } = options;
  const platform = createManualPlatform();
  const numbers = Array.from({ length: records }, (_, i) => i);
  const plan = planJob((env) => {
    env.configure({
      parallelism: 2,
      checkpointing: { interval, timeout, dir: '/checkpoints', tolerableFailures: 100 },
    });
    env
      .fromSource(
        new PacedSource([numbers], { recordsPerPoll: 2, pauseMs: 4 }),
        { toSpec: () => undefined } as never,
        'numbers',
        Types.INT,
      )
      .uid('numbers')
      .setParallelism(1)
      .keyBy((value) => value % 5, Types.INT)
      .reduce((a, b) => {
        if (isBad(b)) throw new Error(`cannot bear ${b}`);
        return a + b;
      })
      .uid('sums')
      .sinkTo(new CollectSink('nobody'))
      .uid('sink');
  });
  return { platform, slots: new SimulatedSlots(platform, 2), plan };
}

function start(setup: Setup, options: ManualJobOptions = {}): Promise<ManualJob> {
  return startManualJob(setup.plan, setup.platform, {
    slots: setup.slots,
    restart: { kind: 'fixed-delay', attempts: 3, delayMs: 50 },
    ...options,
  });
}

const warnings = ({ platform }: Setup): string[] =>
  platform.logged.filter(({ level }) => level === 'warn').map(({ message }) => message);

describe('a recovery', () => {
  it('says from which checkpoint, how many records are emitted again, and how long it took', async () => {
    let isFirst = true;
    const setup = setUp({
      isBad: (value) => {
        if (value !== 79 || !isFirst) return false;
        isFirst = false;
        return true;
      },
    });
    const job = await start(setup);
    await runUntil(setup.platform, () => job.statuses.at(-1) === 'RESTARTING');
    const { statistics } = job.master;
    const taken = statistics.checkpoints.overview().latest.completed!;
    const before = statistics.checkpoints.answerOf(taken.id, { vertexIndex: 0, subtaskIndex: 0 })!;
    const count = 80 - before.metrics.sourceRecords!;
    assert.ok(taken.id === 1 && count > 0 && count < 80, `${count} records after checkpoint ${taken.id}`);
    assert.match(statistics.explainRecovery(), /It does not run yet\.$/);
    await runToEnd(setup.platform, job);
    const text = statistics.explainRecovery();
    assert.match(
      text,
      /^Job 'job' failed: .*cannot bear 79.* It went back to the newest that was complete, checkpoint 1 /,
    );
    assert.match(text, new RegExp(` Its sources emit ${count} records again\\. `));
    assert.match(
      text,
      / It ran again after \d+ ms, of which the restart strategy waited 50 ms, with [\d.]+ kB of state\.$/,
    );
    const line = setup.platform.logged.find(({ message }) => message.startsWith("Job 'job' runs again. "));
    assert.ok(text.endsWith(line!.message.replace("Job 'job' runs again. ", '')));
    const { counts, latest } = statistics.checkpoints.overview();
    assert.equal(counts.restored, 1);
    assert.equal(latest.restored?.id, 1);
    assert.match(latest.restored?.external_path ?? '', /chk-1$/);
    assert.equal(latest.restored?.is_savepoint, false);
  });

  it('counts from the checkpoint, also if an attempt before got further', async () => {
    const failures = [140, 120, 120];
    const setup = setUp({
      interval: 200,
      isBad: (value) => {
        if (value !== failures[0]) return false;
        failures.shift();
        return true;
      },
    });
    const job = await start(setup);
    const counts: string[] = [];
    await runUntil(setup.platform, () => {
      const text = job.master.statistics.explainRecovery();
      const [found] = /\d+ records again/.exec(text) ?? [];
      if (found !== undefined && counts.at(-1) !== `${found} ${failures.length}`)
        counts.push(`${found} ${failures.length}`);
      return job.report() !== undefined;
    });
    assert.equal(failures.length, 0);
    const records = counts.map((each) => Number.parseInt(each, 10));
    assert.deepEqual(records.length, 3, counts.join());
    assert.deepEqual(new Set(records).size, 1, counts.join());
  });

  it('says that at least so many are emitted again if a thread was lost with its numbers', async () => {
    const setup = setUp({ records: 600 });
    const job = await start(setup);
    const lose = async (isTime: () => boolean): Promise<string> => {
      await runUntil(setup.platform, isTime);
      setup.slots.lose(0, new MillraceError('SLOT_LOST', 'the thread is gone'));
      await runUntil(setup.platform, () => job.statuses.at(-1) === 'RESTARTING');
      return job.master.statistics.explainRecovery();
    };
    const early = await lose(() => job.master.statistics.numberOfCompletedCheckpoints > 2);
    assert.match(early, / they emit again; how many records that are is not known\. /);
    await runUntil(setup.platform, () => job.statuses.at(-1) === 'RUNNING');
    const late = await lose(() => job.master.metrics().some(({ numRecordsIn }) => numRecordsIn > 100));
    assert.match(late, / Its sources emit at least \d+ records again\. /);
    await runToEnd(setup.platform, job);
  });

  it('of a start says why it was started from there', async () => {
    const first = setUp();
    const job = await start(first);
    await runUntil(first.platform, () => job.master.statistics.numberOfCompletedCheckpoints > 1);
    const answer = job.master.requestCheckpoint('savepoint', '/savepoints');
    await runUntil(
      first.platform,
      () => job.master.statistics.checkpoints.overview().latest.savepoint !== null,
    );
    assert.equal((await answer).type, 'completed');
    assert.match(
      job.master.statistics.explainRecovery(),
      /^Job 'job' began at its beginning\. It ran after \d+ ms\.$/,
    );
    const { latest } = job.master.statistics.checkpoints.overview();
    assert.match(latest.savepoint!.external_path!, /^\/savepoints\/savepoint-/);
    assert.equal(latest.savepoint!.checkpoint_type, 'SAVEPOINT');
    job.master.cancel();
    await runToEnd(first.platform, job);

    const second = setUp();
    const snapshot = await openVerifiedSnapshot(first.platform, latest.savepoint!.external_path!);
    const again = await start(second, { initial: snapshot, initialReasons: ['it was asked for'] });
    await runToEnd(second.platform, again);
    assert.match(
      again.master.statistics.explainRecovery(),
      /^Job 'job' was started from savepoint \d+ \(\/savepoints\/savepoint-.*\) of 2024-.*\n {2}it was asked for$/,
    );
    const { restored } = again.master.statistics.checkpoints.overview().latest;
    assert.equal(restored?.is_savepoint, true);
    assert.equal(restored?.external_path, latest.savepoint!.external_path);
  });
});

describe('the failures of a job', () => {
  it('are told with the task, and are as many as the settings say', async () => {
    const setup = setUp({ isBad: (value) => value === 20 });
    const job = await start(setup, { statisticsLimits: { checkpoints: 2, exceptions: 3 } });
    await runToEnd(setup.platform, job);
    const { exceptionHistory } = job.master.statistics.exceptions.info();
    assert.equal(exceptionHistory.entries.length, 3);
    assert.equal(exceptionHistory.truncated, true);
    assert.match(exceptionHistory.entries[0]!.taskName!, /^Keyed Reduce -> Sink \(2\/2\)$/);
    assert.equal(exceptionHistory.entries[0]!.exceptionName, 'USER_FUNCTION_FAILED');
    assert.ok(job.master.statistics.checkpoints.overview().history.length <= 2);
  });
});

describe('a checkpoint', () => {
  it('that failed is told with those that hold it up', async () => {
    const setup = setUp();
    setup.slots.drops = ({ message }) =>
      message.type === 'acknowledge' &&
      message.acknowledgement.checkpointId === 1 &&
      message.acknowledgement.vertexIndex === 1;
    const job = await start(setup);
    await runUntil(setup.platform, () => job.master.statistics.numberOfFailedCheckpoints > 0, {
      limitMs: 3000,
    });
    const told = warnings(setup).find((message) => message.startsWith('Checkpoint 1 '));
    assert.match(
      told ?? '',
      /^Checkpoint 1 expired after 500 ms: 2 of 3 subtasks have not answered\. ".*" \(1\/2\) has not answered, though its barriers/,
    );
    assert.ok(job.master.statistics.explainCheckpoint(1).startsWith(`${told}\n\ntask `));
    job.master.cancel();
    await runToEnd(setup.platform, job);
  });

  it('that is slow is told of once a minute', async () => {
    const setup = setUp({ interval: 10, timeout: 100_000 });
    const real = createCheckpointStorage(setup.platform, setup.plan.settings.checkpoint.storage);
    const storage: CheckpointStorage = Object.assign(Object.create(real), {
      async complete(...parameters: Parameters<CheckpointStorage['complete']>) {
        await new Promise<void>((resolve) => setup.platform.timers.after(40, resolve));
        return real.complete(...parameters);
      },
    });
    const job = await start(setup, { storage });
    await runToEnd(setup.platform, job);
    const { completed } = job.master.statistics.checkpoints.counts;
    assert.ok(completed > 5, `${completed} checkpoints`);
    const slow = warnings(setup).filter((message) => message.includes('the interval, 10 ms'));
    assert.equal(slow.length, 1);
    assert.match(
      slow[0]!,
      /^Checkpoint 0 took \d+ ms; all subtasks had answered after \d+ ms, and \d+ ms went into writing its manifest\. That is longer than the interval, 10 ms\.$/,
    );
  });

  it('is not begun any more, and not told of, while the tasks of a cancelled job close', async () => {
    const setup = setUp({ interval: 10 });
    const job = await start(setup, { cancellationTimeoutMs: 200 });
    await runUntil(setup.platform, () => job.master.statistics.numberOfCompletedCheckpoints > 2);
    // The tasks hear of it late.
    setup.slots.drops = ({ message }) => message.type === 'cancel';
    job.master.cancel();
    const { total } = job.master.statistics.checkpoints.counts;
    setup.platform.advance(100);
    await runToEnd(setup.platform, job);
    assert.equal(job.statuses.at(-1), 'CANCELED');
    assert.ok(job.master.statistics.checkpoints.counts.total <= total + 1);
    assert.deepEqual(
      warnings(setup).filter((message) => message.startsWith('Checkpoint')),
      [],
    );
  });

  it('whose files are deleted is reported as discarded', async () => {
    const setup = setUp({ interval: 20 });
    const job = await start(setup);
    await runToEnd(setup.platform, job);
    const { history, counts } = job.master.statistics.checkpoints.overview();
    assert.ok(counts.completed > 5);
    assert.ok(
      history.every(({ discarded }) => discarded === true),
      'the job has finished: none is kept',
    );
    assert.equal(job.master.statistics.explainCheckpoint().split('\n').length, 6);
    assert.match(job.master.statistics.explainCheckpoint(9999), /has no checkpoint 9999/);
  });
});
