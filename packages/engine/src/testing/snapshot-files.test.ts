import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCheckpointStorage } from '../checkpoint/index.ts';
import { createManualPlatform, type ManualPlatform } from './manual-platform.ts';
import { checkSnapshotFiles } from './snapshot-files.ts';
import { writeCheckpoint, writeState } from './snapshot-writing.ts';

const JOB = { jobId: 'a1', jobName: 'job', lineageId: 'l' };

async function twoCheckpoints(platform: ManualPlatform) {
  const settings = { kind: 'filesystem', uri: '/cp', inlineThresholdBytes: 0 } as const;
  const storage = createCheckpointStorage(platform, settings);
  await storage.open(JOB);
  for (const id of [1, 2]) await writeCheckpoint(platform, storage, id, JOB);
  return storage;
}

const stateFile = (platform: ManualPlatform): string =>
  platform.files.allFiles().find((file) => file.startsWith('/cp/a1/chk-2/0-'))!;

test('a directory in order has snapshots and nothing to complain of', async () => {
  const platform = createManualPlatform();
  const storage = await twoCheckpoints(platform);
  const location = { ...(await storage.beginSavepoint('/cp/savepoints')), checkpointId: 3 };
  await storage.complete(location, await writeState(platform, location, JOB));
  const { snapshots, ...rest } = await checkSnapshotFiles(platform, 'file:///cp');
  assert.deepEqual(snapshots.slice(0, 2), ['/cp/a1/chk-1', '/cp/a1/chk-2']);
  assert.match(snapshots[2]!, /^\/cp\/savepoints\/savepoint-/);
  assert.deepEqual(rest, { unreferenced: [], missing: [], damaged: [] });
  await storage.close();
  assert.deepEqual((await checkSnapshotFiles(platform, '/nowhere')).snapshots, []);
});

test('files that no manifest names, and places of snapshots that were never filled, are left over', async () => {
  const platform = createManualPlatform();
  const storage = await twoCheckpoints(platform);
  await writeState(platform, await storage.begin(3), JOB);
  await storage.begin(4);
  platform.files.put('/cp/a1/chk-2/stray', Buffer.from('x'));
  const { unreferenced } = await checkSnapshotFiles(platform, '/cp');
  assert.deepEqual(
    unreferenced.map((file) => file.replace(/-[0-9a-f]{16}$/, '')),
    ['/cp/a1/chk-2/stray', '/cp/a1/chk-3/0-0', '/cp/a1/chk-3/0-1', '/cp/a1/chk-4/'],
  );
});

test('a file that a manifest names and that is gone is missing, one that has changed is damaged', async () => {
  const platform = createManualPlatform();
  await twoCheckpoints(platform);
  const file = stateFile(platform);
  platform.files.damage(file, (bytes) => bytes.reverse());
  platform.files.damage('/cp/a1/chk-1/_metadata', () => new Uint8Array(0));
  const { damaged, missing, unreferenced } = await checkSnapshotFiles(platform, '/cp');
  assert.match(damaged.find((each) => each.startsWith(file))!, /its checksum differs/);
  assert.match(damaged.find((each) => each.startsWith('/cp/a1/chk-1/_metadata'))!, /damaged/);
  assert.deepEqual(missing, []);
  assert.equal(unreferenced.length, 2, 'what the torn manifest named is named by none');
  platform.files.lose(file);
  assert.deepEqual((await checkSnapshotFiles(platform, '/cp')).missing, [file]);
});
