import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MillraceError } from '../base/index.ts';
import { createManualPlatform, type ManualPlatform } from '../testing/manual-platform.ts';
import { checkSnapshotFiles } from '../testing/snapshot-files.ts';
import { writeCheckpoint, writeState } from '../testing/snapshot-writing.ts';
import type { CompletedSnapshot } from './checkpoint-storage.ts';
import { FileCheckpointStorage } from './file-storage.ts';
import { findLatestSnapshot } from './latest-snapshot.ts';
import { MemoryCheckpointStorage } from './memory-storage.ts';

const A = { jobId: 'aa', jobName: 'totals', lineageId: 'la' };
const B = { jobId: 'bb', jobName: 'totals', lineageId: 'lb' };
const C = { jobId: 'cc', jobName: 'other', lineageId: 'lc' };

async function opened(platform: ManualPlatform, job = A): Promise<FileCheckpointStorage> {
  const storage = new FileCheckpointStorage(platform, { directory: '/cp', inlineThresholdBytes: 0 });
  await storage.open(job);
  return storage;
}

/** A savepoint of job A in /sp. */
async function savepoint(platform: ManualPlatform, checkpointId = 4): Promise<CompletedSnapshot> {
  const storage = await opened(platform);
  const location = { ...(await storage.beginSavepoint('/sp')), checkpointId };
  const manifest = { ...(await writeState(platform, location, A)), kind: 'savepoint' as const };
  const snapshot = await storage.complete(location, manifest);
  await storage.close();
  return snapshot;
}

const ids = async (storage: FileCheckpointStorage): Promise<number[]> =>
  (await storage.listCompleted()).map(({ checkpointId }) => checkpointId);

const below = (platform: ManualPlatform, directory: string): string[] =>
  platform.files.allFiles().filter((file) => file.startsWith(`${directory}/`));

test('a claimed savepoint is one of the checkpoints of the job, also after its process was killed', async () => {
  const platform = createManualPlatform();
  const claimed = await savepoint(platform);
  const storage = await opened(platform, B);
  await storage.adopt(claimed, true);
  assert.deepEqual(await ids(storage), [4]);
  await writeCheckpoint(platform, storage, 5, B);
  assert.deepEqual(await ids(storage), [4, 5]);
  platform.files.killProcess();
  const again = await opened(platform, B);
  assert.deepEqual(await ids(again), [4, 5]);
  assert.equal(await again.delete(claimed), true);
  assert.deepEqual(below(platform, '/sp'), []);
  assert.equal(await platform.files.stat('/sp/' + claimed.directory!.slice(4)), undefined);
  assert.ok((await platform.files.stat('/sp'))?.isDirectory, 'the directory above is not its own');
  assert.deepEqual(await ids(again), [5]);
  platform.files.killProcess();
  assert.deepEqual(await ids(await opened(platform, B)), [5]);
});

test('a snapshot that is not claimed is read and left as it is', async () => {
  const platform = createManualPlatform();
  const snapshot = await savepoint(platform);
  const before = below(platform, '/sp');
  const storage = await opened(platform, B);
  await storage.adopt(snapshot, false);
  assert.deepEqual(await ids(storage), []);
  await writeCheckpoint(platform, storage, 5, B);
  await storage.close();
  assert.deepEqual(below(platform, '/sp'), before);
});

test('of a claimed snapshot only what its manifest names is removed: what lies beside it stays', async () => {
  const platform = createManualPlatform();
  const claimed = await savepoint(platform);
  platform.files.put(`${claimed.directory}/notes.txt`, Buffer.from('mine'));
  await platform.files.makeDirectory(`${claimed.directory}/photos`);
  platform.files.put(`${claimed.directory}/photos/one`, Buffer.from('mine'));
  const storage = await opened(platform, B);
  await storage.adopt(claimed, true);
  assert.equal(await storage.delete(claimed), true);
  assert.deepEqual(below(platform, '/sp'), [
    `${claimed.directory}/notes.txt`,
    `${claimed.directory}/photos/one`,
  ]);
});

test('two jobs that run cannot claim the same; after the first is gone, the second may', async () => {
  const platform = createManualPlatform();
  const claimed = await savepoint(platform);
  const first = await opened(platform, B);
  await first.adopt(claimed, true);
  const second = await opened(platform, C);
  await assert.rejects(second.adopt(claimed, true), (error: MillraceError) => {
    assert.equal(error.code, 'CHECKPOINT_DIRECTORY_IN_USE');
    assert.match(error.message, /cannot be claimed: .* is used by .*one owner.*NO_CLAIM/);
    return true;
  });
  await first.close();
  await second.adopt(claimed, true);
  assert.deepEqual(await ids(second), [4]);
  await second.close();
  assert.deepEqual(await ids(await opened(platform, B)), [], 'it is no longer of the first');
  assert.deepEqual(await ids(await opened(platform, C)), [4]);
});

test('a checkpoint of a job that runs cannot be claimed; of one that does not it can, and is lost to it', async () => {
  const platform = createManualPlatform();
  const owner = await opened(platform);
  const old = await writeCheckpoint(platform, owner, 1, A);
  await writeCheckpoint(platform, owner, 2, A);
  const storage = await opened(platform, B);
  await assert.rejects(storage.adopt(old, true), {
    code: 'CHECKPOINT_DIRECTORY_IN_USE',
    message: /belongs to job 'totals' \(aa\) and cannot be claimed/,
  });
  await storage.adopt(old, false);
  assert.deepEqual(await ids(storage), []);
  await owner.close();
  await storage.adopt(old, true);
  assert.deepEqual(await ids(storage), [1]);
  const again = await opened(platform);
  assert.deepEqual(await ids(again), [2]);
  assert.equal(await storage.delete(old), true);
  assert.deepEqual(below(platform, '/cp/aa/chk-1'), []);
  assert.deepEqual(await ids(again), [2]);
});

test('a claim that fails at any step leaves the snapshot to be claimed by another, and no lock', async () => {
  for (let step = 1, failed = true; failed; step++) {
    const platform = createManualPlatform();
    const owner = await opened(platform);
    const snapshot = await writeCheckpoint(platform, owner, 1, A);
    await owner.close();
    const storage = await opened(platform, B);
    platform.files.failAt(step, 'EROFS');
    failed = await storage.adopt(snapshot, true).then(
      () => false,
      () => true,
    );
    platform.files.clearFaults();
    await storage.close();
    const other = await opened(platform, C);
    await other.adopt(snapshot, true);
    assert.deepEqual(await ids(other), [1]);
    assert.ok(failed || step > 10, `only ${step} steps`);
  }
});

test('a power failure at any step of a claim or of its removal loses nothing that is named as there', async () => {
  for (let step = 1, crashed = true; crashed; step++) {
    const platform = createManualPlatform({ seed: step });
    const snapshot = await savepoint(platform);
    const storage = await opened(platform, B);
    const steps = platform.files.operations.length;
    platform.files.crashAt(step);
    const work = async (): Promise<void> => {
      await storage.adopt(snapshot, true);
      await writeCheckpoint(platform, storage, 5, B);
      if (!(await storage.delete(snapshot))) throw new Error('the power has failed');
    };
    crashed = await work().then(
      () => false,
      () => true,
    );
    platform.files.crash({ keep: 'some' });
    const { missing, damaged } = await checkSnapshotFiles(platform, '/');
    assert.deepEqual([missing, damaged], [[], []], `step ${step}`);
    const again = await opened(platform, B);
    const left = await ids(again);
    assert.ok(left.every((id) => id === 4 || id === 5));
    for (const each of await again.listCompleted()) assert.equal(await again.delete(each), true);
    assert.ok(crashed || platform.files.operations.length - steps > 20);
  }
});

test('what a job was started from is what latest means until it has a checkpoint of its own', async () => {
  for (const claim of [false, true]) {
    const platform = createManualPlatform();
    const owner = await opened(platform);
    await writeCheckpoint(platform, owner, 1, A);
    await owner.close();
    const snapshot = await savepoint(platform);
    platform.advance(1000);
    const newer = await opened(platform);
    await writeCheckpoint(platform, newer, 9, A);
    await newer.close();
    platform.advance(1000);
    const storage = await opened(platform, B);
    await storage.adopt(snapshot, claim);
    platform.files.killProcess();
    const first = await findLatestSnapshot(platform, '/cp', 'totals', 'stop');
    assert.equal(first.snapshot?.directory, snapshot.directory);
    assert.deepEqual(first.execution, { jobId: 'bb', lineageId: 'lb' });
    assert.equal(first.highestCheckpointId, 4);
    const again = await opened(platform, B);
    await writeCheckpoint(platform, again, 5, B);
    platform.files.killProcess();
    if (!claim) platform.files.lose('/sp');
    const second = await findLatestSnapshot(platform, '/cp', 'totals', 'stop');
    assert.equal(second.snapshot?.directory, '/cp/bb/chk-5');
  }
});

test('a snapshot that the job was started from and that is gone stops the start', async () => {
  const platform = createManualPlatform();
  const snapshot = await savepoint(platform);
  const storage = await opened(platform, B);
  await storage.adopt(snapshot, false);
  platform.files.killProcess();
  platform.files.lose('/sp');
  await assert.rejects(findLatestSnapshot(platform, '/cp', 'totals', 'stop'), {
    code: 'SNAPSHOT_CORRUPT',
    message: /the snapshot that it was started from is not there any more/,
  });
});

const refusesToGoOn = (platform: ManualPlatform, message: RegExp): Promise<void> =>
  assert.rejects(findLatestSnapshot(platform, '/cp', 'totals', 'stop'), {
    code: 'SNAPSHOT_CLAIMED',
    message,
  });

test('a checkpoint that another job has claimed stops the start of its job, which does not begin anew nor go on from an older one', async () => {
  const platform = createManualPlatform();
  const owner = await opened(platform);
  await writeCheckpoint(platform, owner, 6, A);
  const snapshot = await writeCheckpoint(platform, owner, 7, A);
  await owner.close();
  const storage = await opened(platform, C);
  await storage.adopt(snapshot, true);
  await refusesToGoOn(
    platform,
    /chk-7, is no longer its own: job 'other' \(cc\) has claimed it: it owns it\./,
  );
  // Nor after its storage was opened once more, nor when the other job has deleted it.
  await (await opened(platform)).close();
  assert.equal(await storage.delete(snapshot), true);
  await (await opened(platform)).close();
  await refusesToGoOn(platform, /chk-7, .*job 'other' \(cc\) .*, and has deleted it since\./);
  const { snapshot: older, explanation } = await findLatestSnapshot(platform, '/cp', 'totals', 'fallback');
  assert.equal(older?.checkpointId, 6);
  assert.match(explanation.join('\n'), /chk-7: job 'other' \(cc\) has claimed it.*\n.*chk-6: used/);
});

test('a claim of an older checkpoint keeps nobody from going on with the newest', async () => {
  const platform = createManualPlatform();
  const owner = await opened(platform);
  const older = await writeCheckpoint(platform, owner, 6, A);
  await writeCheckpoint(platform, owner, 7, A);
  await owner.close();
  await (await opened(platform, C)).adopt(older, true);
  const { snapshot, execution } = await findLatestSnapshot(platform, '/cp', 'totals', 'stop');
  assert.equal(snapshot?.checkpointId, 7);
  assert.equal(execution?.jobId, 'aa');
});

test("a claim that did not come about is forgotten: the checkpoint is still its job's", async () => {
  const platform = createManualPlatform();
  const owner = await opened(platform);
  const snapshot = await writeCheckpoint(platform, owner, 7, A);
  await owner.close();
  const storage = await opened(platform, C);
  const original = platform.files.rename.bind(platform.files);
  platform.files.rename = async (from, to) => {
    if (to.endsWith('/_claimed')) throw new Error('killed');
    return original.call(platform.files, from, to);
  };
  await assert.rejects(storage.adopt(snapshot, true), /killed/);
  platform.files.killProcess();
  assert.equal((await findLatestSnapshot(platform, '/cp', 'totals', 'stop')).snapshot?.checkpointId, 7);
  const again = await opened(platform);
  await writeCheckpoint(platform, again, 8, A);
  await again.delete(snapshot);
  await again.close();
  const { snapshot: latest, explanation } = await findLatestSnapshot(platform, '/cp', 'totals', 'stop');
  assert.equal(latest?.checkpointId, 8);
  assert.doesNotMatch(explanation.join('\n'), /claimed/);
});

test('a savepoint that the job was stopped with and that another job has claimed stops the start', async () => {
  const platform = createManualPlatform();
  const owner = await opened(platform);
  const location = { ...(await owner.beginSavepoint('/sp')), checkpointId: 4 };
  const manifest = { ...(await writeState(platform, location, A)), kind: 'savepoint' as const };
  const snapshot = await owner.complete(location, manifest, true);
  await owner.close();
  assert.equal((await findLatestSnapshot(platform, '/cp', 'totals', 'stop')).snapshot?.checkpointId, 4);
  const storage = await opened(platform, C);
  await storage.adopt(snapshot, true);
  await refusesToGoOn(
    platform,
    /\/sp\/savepoint-.*, is no longer its own: job 'other' \(cc\) has claimed it/,
  );
});

test('an older checkpoint that comes late does not hide the savepoint that the job was stopped with', async () => {
  const platform = createManualPlatform();
  const storage = await opened(platform);
  const older = await storage.begin(8);
  const manifest = await writeState(platform, older, A);
  const location = { ...(await storage.beginSavepoint('/sp')), checkpointId: 9 };
  const savepointManifest = { ...(await writeState(platform, location, A)), kind: 'savepoint' as const };
  const { directory } = await storage.complete(location, savepointManifest, true);
  await storage.complete(older, manifest);
  await storage.close();
  const { snapshot } = await findLatestSnapshot(platform, '/cp', 'totals', 'stop');
  assert.equal(snapshot?.directory, directory);
});

test('what was claimed is let go with its job: the record goes when the job is not gone on with', async () => {
  const platform = createManualPlatform();
  const snapshot = await savepoint(platform);
  for (const goesOn of [true, false]) {
    const storage = await opened(platform, B);
    await storage.adopt(snapshot, false);
    await storage.close(goesOn);
    assert.equal((await platform.files.stat('/cp/bb')) !== undefined, goesOn);
  }
});

test('checkpoints in memory can begin with a claimed savepoint, which is removed with its turn', async () => {
  const platform = createManualPlatform();
  const claimed = await savepoint(platform);
  const storage = new MemoryCheckpointStorage(platform, 10_000);
  await storage.open(B);
  await storage.adopt(claimed, true);
  const other = await opened(platform, C);
  await assert.rejects(other.adopt(claimed, true), { code: 'CHECKPOINT_DIRECTORY_IN_USE' });
  await writeCheckpoint(platform, storage, 5, B);
  assert.deepEqual(
    (await storage.listCompleted()).map(({ checkpointId }) => checkpointId),
    [4, 5],
  );
  await storage.delete(claimed);
  assert.deepEqual(below(platform, '/sp'), []);
  await storage.close();
});
