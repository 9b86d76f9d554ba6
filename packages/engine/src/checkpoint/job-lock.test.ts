import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MillraceError } from '../base/index.ts';
import { createManualPlatform, type ManualPlatform } from '../testing/manual-platform.ts';
import { writeCheckpoint } from '../testing/snapshot-writing.ts';
import { FileCheckpointStorage } from './file-storage.ts';
import { lockJob } from './job-lock.ts';

const JOB = { jobId: 'aa', jobName: 'order totals', lineageId: 'la' };
const OTHER = { jobId: 'bb', jobName: 'order/totals', lineageId: 'lb' };

async function opened(platform: ManualPlatform, owner = JOB): Promise<FileCheckpointStorage> {
  const storage = new FileCheckpointStorage(platform, { directory: 'file:///cp', inlineThresholdBytes: 0 });
  await storage.open(owner);
  return storage;
}

const lock = (platform: ManualPlatform, jobName = JOB.jobName) => lockJob(platform, 'file:///cp', jobName);

function runsAlready(error: MillraceError): boolean {
  assert.equal(error.code, 'CHECKPOINT_DIRECTORY_IN_USE');
  assert.match(
    error.message,
    /^Job 'order totals' is running already, with its checkpoints in file:\/\/\/cp: \/cp\/\S+ is used by .* another name or another directory\.$/,
  );
  return true;
}

test('of two that find no execution of the job one has it, until it lets it go', async () => {
  const platform = createManualPlatform();
  const first = await lock(platform);
  await assert.rejects(lock(platform), runsAlready);
  await first.release();
  const second = await lock(platform);
  const taken = await second.take('cc');
  await second.release();
  await assert.rejects(lock(platform), runsAlready);
  await taken.release();
  await (await lock(platform)).release();
});

test('jobs with other names, however alike, are other jobs', async () => {
  const platform = createManualPlatform();
  await lock(platform);
  for (const name of ['order_totals', 'order/totals', '', '../order totals', 'x'.repeat(500)])
    await lock(platform, name);
  const names = (await platform.files.list('/cp/_running')).map(({ name }) => name);
  assert.equal(names.length, 6);
  for (const name of names) assert.match(name, /^[A-Za-z0-9_-]{1,80}$/);
});

test('a job that was started without asking for the latest is running, too', async () => {
  const platform = createManualPlatform();
  const running = await opened(platform);
  await assert.rejects(lock(platform), runsAlready);
  await running.close();
  const { executions } = await lock(platform);
  assert.equal(executions.size, 0, 'its directory went with it');
});

test('all executions of the job are locked, and no others; what goes on is handed to its storage without a gap', async () => {
  const platform = createManualPlatform();
  const ids = ['aa', 'ab', 'ac'];
  for (const jobId of ids) {
    const owner = { ...JOB, jobId };
    const storage = await opened(platform, owner);
    await writeCheckpoint(platform, storage, 1, owner);
    await storage.close();
  }
  const other = await opened(platform, OTHER);
  await writeCheckpoint(platform, other, 1, OTHER);
  platform.files.lose('/cp/ac/_job');
  const job = await lock(platform);
  assert.deepEqual([...job.executions].sort(), ids);
  for (const id of ids) await assert.rejects(platform.files.lockDirectory(`/cp/${id}`));
  const taken = await job.take('ab');
  for (const id of ['aa', 'ac']) await (await platform.files.lockDirectory(`/cp/${id}`)).release();
  const storage = new FileCheckpointStorage(platform, { directory: '/cp', inlineThresholdBytes: 0 });
  await storage.open({ ...JOB, jobId: 'ab' }, taken);
  await assert.rejects(lock(platform), runsAlready);
  await storage.close();
  await (await lock(platform)).release();
});

test('a lock that fails at any step leaves nothing locked, and says that the directory cannot be written', async () => {
  for (let step = 1, failed = true; failed; step++) {
    const platform = createManualPlatform();
    const owner = await opened(platform);
    await writeCheckpoint(platform, owner, 1, JOB);
    await owner.close();
    platform.files.failAt(step, 'EROFS');
    failed = await lock(platform)
      .then((job) => job.take('new'))
      .then(
        () => false,
        (error: MillraceError) => {
          assert.equal(error.code, 'CHECKPOINT_DIRECTORY_NOT_WRITABLE');
          return true;
        },
      );
    platform.files.clearFaults();
    if (failed) await (await lock(platform)).take('new');
    assert.ok(failed || step > 6, `only ${step} steps`);
  }
});

test('a storage that cannot be opened gives the lock back that it was given', async () => {
  const platform = createManualPlatform();
  const taken = await (await lock(platform)).take('aa');
  const storage = new FileCheckpointStorage(platform, { directory: '/cp', inlineThresholdBytes: 0 });
  platform.files.failAt(1, 'EIO');
  await assert.rejects(storage.open(JOB, taken), { code: 'CHECKPOINT_DIRECTORY_NOT_WRITABLE' });
  await (await lock(platform)).release();
});

test('an execution that goes while it is looked at is none', async () => {
  const platform = createManualPlatform();
  const owner = await opened(platform);
  await writeCheckpoint(platform, owner, 1, JOB);
  const original = platform.files.lockDirectory.bind(platform.files);
  platform.files.lockDirectory = async (path) => {
    if (path === '/cp/aa') await platform.files.delete('/cp/aa');
    return original(path);
  };
  const { executions } = await lock(platform);
  assert.equal(executions.size, 0);
});
