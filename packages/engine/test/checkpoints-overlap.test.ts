/**
 * Several checkpoints and savepoints at a time in a whole job, in virtual time, and what a backlog does to them. The rules:
 * checkpoint/checkpoint-requests.ts, checkpoint/checkpoint-trigger.ts.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HybridSource } from '@millrace/engine';
import { Gate, GatedSource } from './gated-source.ts';
import { PacedJob } from './paced-job.ts';
import { assertRefused } from './refusal.ts';

const overlapping = (more = {}): Record<string, unknown> => ({
  'execution.checkpointing.min-pause': 0,
  'execution.checkpointing.max-concurrent-checkpoints': 3,
  ...more,
});
const timesOf = (job: PacedJob): number[] => job.starts.map(([, ms]) => ms);

describe('checkpoints of which several may be under way', () => {
  it('begin while others are being written, and each is completed in its turn', async () => {
    const durations = { 1: 2400, 2: 2400, 3: 2400, 4: 2400 };
    const job = await new PacedJob().start({ settings: overlapping(), durations });
    await job.pass(4200);
    assert.deepEqual(timesOf(job), [0, 1000, 2000, 3000, 4000]);
    await job.pass(2500);
    assert.deepEqual(job.completed, [0, 1, 2, 3, 4, 5, 6].slice(0, job.completed.length));
    assert.ok(job.completed.length > 4);
    await job.end();
  });

  it('end with the job’s restart, and those after it begin anew', async () => {
    const durations = { 1: 2400, 2: 2400 };
    const job = await new PacedJob().start({ settings: overlapping(), durations, failsAt: 3 });
    await job.pass(6000);
    assert.equal(job.client.metrics().job['numRestarts'], 1);
    const ids = job.starts.map(([id]) => id);
    assert.deepEqual(ids, [...new Set(ids)], 'an id is never used again');
    assert.ok(ids.at(-1)! > 4);
    await job.end();
  });
});

describe('a savepoint', () => {
  it('begins while a checkpoint is under way, whatever the limit', async () => {
    const job = await new PacedJob().start({ durations: { 1: 2000 } });
    await job.pass(1200);
    const savepoint = job.client.triggerSavepoint('/savepoints');
    await job.pass(2000);
    assert.match(await savepoint, /^\/savepoints\/savepoint-/);
    assert.deepEqual(job.starts.slice(0, 3), [
      [0, 0],
      [1, 1000],
      [2, 1200],
    ]);
    assert.deepEqual(job.completed, [0, 1], 'a savepoint commits nothing');
    await job.end();
  });

  it('that takes long holds back the periodic checkpoints until it is given up', async () => {
    const job = await new PacedJob().start({ durations: { 1: 60_000 } });
    const refused = assertRefused(job.client.triggerSavepoint('/savepoints'), 'CHECKPOINT_FAILED', /expired/);
    await job.pass(5600);
    await refused;
    assert.deepEqual(timesOf(job), [0, 0, 5500]);
    assert.equal(job.client.getJobStatus(), 'RUNNING');
    await job.end();
  });
});

describe('checkpoints while a hybrid source reads its first source', () => {
  it('are as rare as set, and then as frequent as usual', async () => {
    const gate = new Gate(0);
    const source = HybridSource.builder(new GatedSource<number>([[1]], gate))
      .addSource(new GatedSource<number>([[2]], new Gate(0)))
      .build();
    const settings = overlapping({ 'execution.checkpointing.interval-during-backlog': 3000 });
    const job = await new PacedJob().start({ settings, source });
    await job.pass(7000);
    assert.deepEqual(timesOf(job), [0, 3000, 6000]);
    gate.open();
    await job.pass(2200);
    assert.deepEqual(timesOf(job).slice(3), [8000, 9000]);
    await job.end();
  });

  it('are none if the interval is 0, but for those by hand', async () => {
    const gate = new Gate(0);
    const source = HybridSource.builder(new GatedSource<number>([[1]], gate))
      .addSource(new GatedSource<number>([[2]], new Gate(0)))
      .build();
    const settings = overlapping({ 'execution.checkpointing.interval-during-backlog': 0 });
    const job = await new PacedJob().start({ settings, source });
    await job.pass(5000);
    const asked = job.client.triggerCheckpoint();
    await job.pass(100);
    assert.equal((await asked).checkpointId, 1);
    assert.equal(job.starts.length, 2);
    gate.open();
    await job.pass(1200);
    assert.equal(job.starts.length, 3);
    await job.end();
  });
});

describe('a job without periodic checkpoints', () => {
  it('takes those that are asked for, and begins with the newest after a failure', async () => {
    const settings = { 'execution.checkpointing.interval': 0 };
    const job = await new PacedJob().start({ settings, failsAt: 2 });
    for (const id of [0, 1]) {
      const asked = job.client.triggerCheckpoint();
      await job.pass(50);
      const { checkpointId, path } = await asked;
      assert.equal(checkpointId, id);
      assert.match(path!, new RegExp(`/chk-${id}$`));
    }
    const failing = assertRefused(job.client.triggerCheckpoint(), 'CHECKPOINT_FAILED', /Task has failed/);
    await job.pass(200);
    assert.deepEqual((await failing).details, { failure: 'task-failed' });
    assert.ok(
      job.platform.logged.some(({ message }) => /starts again from checkpoint 1/.test(message)),
      JSON.stringify(job.platform.logged),
    );
    await job.end();
  });
});
