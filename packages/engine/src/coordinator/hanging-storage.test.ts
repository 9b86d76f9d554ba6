/** Jobs whose storage, or whose savepoint's directory, does not answer: they go on, and lose nothing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CheckpointStorage, createCheckpointStorage } from '../checkpoint/index.ts';
import {
  type ManualJob,
  type ManualJobOptions,
  planJob,
  runToEnd,
  runUntil,
  startManualJob,
} from '../testing/manual-job.ts';
import { createManualPlatform } from '../testing/manual-platform.ts';
import { PacedSource } from '../testing/paced-source.ts';
import { SimulatedSlots } from '../testing/simulated-slots.ts';
import { TransactionLog } from '../testing/transaction-log-sink.ts';
import { Types } from '../types/index.ts';

const VALUES = Array.from({ length: 100 }, (_, i) => i);
const TIMEOUT_MS = 40;

async function start(interfere: (storage: CheckpointStorage) => void, options: ManualJobOptions = {}) {
  const platform = createManualPlatform();
  const slots = new SimulatedSlots(platform, 2);
  const log = new TransactionLog<string>();
  const plan = planJob((env) => {
    const checkpointing = { interval: 10, timeout: TIMEOUT_MS, dir: '/checkpoints', tolerableFailures: 1 };
    env.configure({ parallelism: 2, checkpointing });
    env
      .fromSource(
        new PacedSource([VALUES], { recordsPerPoll: 1, pauseMs: 4 }),
        { toSpec: () => undefined } as never,
        'numbers',
        Types.INT,
      )
      .map(String)
      .sinkTo(log.sink());
  });
  const storage = createCheckpointStorage(platform, plan.settings.checkpoint.storage);
  interfere(storage);
  const restart = { kind: 'fixed-delay', attempts: 3, delayMs: 5 } as const;
  const job = await startManualJob(plan, platform, { slots, storage, restart, ...options });
  await runUntil(platform, () => log.committed().length > 3);
  const finish = async (): Promise<void> => {
    const report = await runToEnd(platform, job, 2000);
    assert.equal(report.status, 'FINISHED', report.error?.stack);
    assert.deepEqual(log.committed().sort(), VALUES.map(String).sort());
    assert.deepEqual(log.undecided(), []);
  };
  return { platform, slots, job, finish };
}

const completed = (job: ManualJob): number => job.master.statistics.checkpoints.counts.completed;

/** The manifest of one checkpoint is on its way for ever, or has been written and nobody hears of it. */
function hangAtStore(storage: CheckpointStorage, isWritten: boolean): { begun: boolean } {
  const state = { begun: false };
  const complete = storage.complete.bind(storage);
  storage.complete = async (...parameters) => {
    const [location] = parameters;
    if (location.checkpointId !== 5) return complete(...parameters);
    if (isWritten) await complete(...parameters);
    state.begun = true;
    return new Promise(() => {});
  };
  return state;
}

describe('a job whose storage does not answer for a checkpoint', () => {
  for (const isWritten of [false, true]) {
    const how = isWritten ? 'which it has written' : 'which it has not written';
    it(`takes more after the time-out, ${how}`, async () => {
      let hang = { begun: false };
      const { platform, job, finish } = await start((storage) => {
        hang = hangAtStore(storage, isWritten);
      });
      await runUntil(platform, () => hang.begun);
      const before = completed(job);
      await runUntil(platform, () => completed(job) > before + 1, { limitMs: 2 * TIMEOUT_MS });
      assert.equal(job.master.statistics.numRestarts, 0);
      assert.ok(!platform.files.allFiles().some((path) => path.includes('/chk-5/')));
      await finish();
    });

    it(`restarts after the time-out from the one before, ${how}`, async () => {
      let hang = { begun: false };
      const { platform, job, slots, finish } = await start((storage) => {
        hang = hangAtStore(storage, isWritten);
      });
      await runUntil(platform, () => hang.begun);
      slots.lose(1, new Error('the thread is gone'));
      await runUntil(platform, () => job.statuses.includes('RESTARTING'), { limitMs: 2 * TIMEOUT_MS });
      assert.equal(job.master.statistics.checkpoints.overview().latest.restored?.id, 4);
      await finish();
    });
  }
});

describe('a job whose savepoint is to go to a place that does not answer', () => {
  it('takes its checkpoints all the same, and tells whoever asked', async () => {
    const { platform, job, finish } = await start((storage) => {
      storage.beginSavepoint = () => new Promise(() => {});
    });
    const savepoint = job.master.requestCheckpoint('savepoint', '/hangs');
    const before = completed(job);
    await runUntil(platform, () => completed(job) > before + 2, { limitMs: TIMEOUT_MS });
    await runUntil(platform, () => false, { limitMs: TIMEOUT_MS }).catch(() => {});
    const answer = await savepoint;
    assert.ok(answer.type === 'failed' && answer.failure === 'expired');
    assert.match(answer.message, /^\/hangs did not answer within 40 ms/);
    assert.equal(job.master.statistics.numRestarts, 0);
    await finish();
  });
});
