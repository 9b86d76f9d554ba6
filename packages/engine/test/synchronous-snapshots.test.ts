/**
 * Whether a job goes on while its snapshot is written: it does (asynchronous, the default), or waits until it is written
 * (synchronous), but never for ever, however slow, broken or full the disk is.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FsStateBackend, type JobClient, MemoryStateBackend, type StateBackend } from '@millrace/engine';
import { createManualPlatform, type ManualPlatform } from '../src/testing/manual-platform.ts';
import { checkSnapshotFiles } from '../src/testing/snapshot-files.ts';
import { Gate } from './gated-source.ts';
import { type SlowDisk, slowDisk, stateWrites } from './slow-disk.ts';
import { environmentOn, noting, until, untilQuiet, untilStatus } from './small-job.ts';
import { countLetters, letters } from './totals-job.ts';

const VALUES = letters(100);
const SYNCHRONOUS = new FsStateBackend('/checkpoints', 0, false);
const ASYNCHRONOUS = new FsStateBackend('/checkpoints', 0, true);

interface Running {
  readonly memory: ManualPlatform;
  readonly disk: SlowDisk;
  readonly gate: Gate;
  readonly client: JobClient;
  readonly seen: () => number;
}

/** A job with ten records done, whose next snapshots find a disk that does not answer. */
async function start(
  backend: StateBackend,
  values: Readonly<Record<string, unknown>> = {},
): Promise<Running> {
  const memory = createManualPlatform();
  const disk = slowDisk(memory, stateWrites());
  const env = environmentOn(disk.platform, {
    'execution.checkpointing.tolerable-failed-checkpoints': 5,
    'execution.checkpointing.timeout': '10 s',
    ...values,
  });
  env.setStateBackend(backend);
  const gate = new Gate(10);
  let seen = 0;
  countLetters(env, VALUES, gate)
    .map(noting(() => seen++))
    .uid('seen')
    .print();
  const client = await env.executeAsync('letters');
  client.getJobExecutionResult().catch(() => {});
  await untilStatus(client, 'RUNNING');
  await until(() => seen === 10, 'the first records do not come through');
  return { memory, disk, gate, client, seen: () => seen };
}

/** Long enough for a job that goes on to have gone on. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
}

/** Begins a checkpoint and lets records come; how many come while it is written. */
async function recordsWhileWriting(job: Running): Promise<number> {
  const { disk, gate, client, seen } = job;
  const checkpoint = client.triggerCheckpoint();
  await until(() => disk.held().length > 0, 'no file is written');
  gate.open(50);
  await turns();
  const count = seen() - 10;
  disk.release();
  await checkpoint;
  await until(() => seen() === 50, 'the job does not go on');
  gate.open();
  await client.getJobExecutionResult();
  assert.equal(seen(), VALUES.length);
  return count;
}

/** The job goes on although the checkpoint has failed, and takes the next one. */
async function goesOn({ memory, gate, client, seen }: Running): Promise<void> {
  gate.open(50);
  await until(() => seen() === 50, 'the job does not go on');
  await client.triggerCheckpoint();
  await untilQuiet(memory);
  const { missing, unreferenced } = await checkSnapshotFiles(memory, '/checkpoints');
  assert.deepEqual([missing, unreferenced], [[], []]);
  gate.open();
  await client.getJobExecutionResult();
  assert.equal(seen(), VALUES.length);
}

describe('while its snapshot is written, a job', () => {
  it('goes on if snapshots are asynchronous', async () => {
    assert.equal(await recordsWhileWriting(await start(ASYNCHRONOUS)), 40);
    assert.equal(await recordsWhileWriting(await start(new FsStateBackend('/checkpoints', 0))), 40);
  });

  it('waits if snapshots are synchronous, by the constructor or by the key', async () => {
    assert.equal(await recordsWhileWriting(await start(SYNCHRONOUS)), 0);
    const byKey = new FsStateBackend('/checkpoints', 0);
    assert.equal(await recordsWhileWriting(await start(byKey, { 'state.backend.async': false })), 0);
  });

  it('waits for nothing if the snapshot stays in memory', async () => {
    const job = await start(new MemoryStateBackend(false));
    job.gate.open(50);
    await job.client.triggerCheckpoint();
    await until(() => job.seen() === 50, 'the job does not go on');
    await job.client.cancel();
  });
});

describe('a synchronous snapshot', () => {
  it('on a disk that fails fails, and the job goes on', async () => {
    const job = await start(SYNCHRONOUS);
    const checkpoint = job.client.triggerCheckpoint();
    await until(() => job.disk.held().length > 0, 'no file is written');
    job.disk.release(undefined, new Error('EIO: the disk is broken'));
    await assert.rejects(checkpoint, /the disk is broken/);
    await until(() => job.seen() === 10, 'records came twice');
    job.gate.open(50);
    await until(() => job.seen() === 50, 'the job does not go on');
    await job.client.cancel();
  });

  it('on a disk that does not answer is given up in time, and the job goes on', async () => {
    const job = await start(SYNCHRONOUS);
    const checkpoint = job.client.triggerCheckpoint();
    await until(() => job.disk.held().length > 0, 'no file is written');
    job.gate.open(50);
    await turns();
    assert.equal(job.seen(), 10);
    job.memory.advance(10_001);
    await assert.rejects(checkpoint, /expired/);
    await until(() => job.seen() === 50, 'the job does not go on');
    job.disk.release();
    await goesOn(job);
  });

  it('on a full disk fails, and the job goes on', async () => {
    const job = await start(SYNCHRONOUS);
    job.disk.release();
    job.memory.files.limitBytes(1);
    await assert.rejects(job.client.triggerCheckpoint(), /ENOSPC/);
    job.memory.files.clearFaults();
    await goesOn(job);
  });

  it('that is being written ends with its job', async () => {
    for (const end of ['cancel', 'suspend'] as const) {
      const job = await start(SYNCHRONOUS);
      const checkpoint = job.client.triggerCheckpoint();
      await until(() => job.disk.held().length > 0, 'no file is written');
      const ended = job.client[end]();
      await assert.rejects(checkpoint);
      job.disk.release();
      await ended;
    }
  });
});
