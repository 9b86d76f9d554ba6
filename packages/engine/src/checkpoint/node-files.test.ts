/** The storage on a real file system: what the manual platform cannot show. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { silentLogger } from '../base/index.ts';
import { createNodePlatform } from '../platform/node/index.ts';
import { stateBytes, writeCheckpoint, writeState } from '../testing/snapshot-writing.ts';
import { FileCheckpointStorage } from './file-storage.ts';
import { findLatestSnapshot } from './latest-snapshot.ts';
import { openStateInput, openVerifiedSnapshot } from './snapshot-reader.ts';

const root = mkdtempSync(join(tmpdir(), 'millrace-storage-'));
after(() => rmSync(root, { recursive: true, force: true }));

const JOB = { jobId: 'job', jobName: 'totals', lineageId: 'l1' };

test('a savepoint on a real disk is claimed by one job at a time, and goes with its locks and its directory', async (t) => {
  const platform = createNodePlatform({ logger: silentLogger });
  const storageOf = async (jobId: string): Promise<FileCheckpointStorage> => {
    const storage = new FileCheckpointStorage(platform, {
      directory: join(root, 'claims'),
      inlineThresholdBytes: 0,
    });
    await storage.open({ ...JOB, jobId });
    return storage;
  };
  const owner = await storageOf('owner');
  const cwd = process.cwd();
  t.after(() => process.chdir(cwd));
  process.chdir(root);
  const location = { ...(await owner.beginSavepoint('savepoints')), checkpointId: 4 };
  const snapshot = await owner.complete(location, await writeState(platform, location, JOB));
  await owner.close();
  const [first, second] = [await storageOf('first'), await storageOf('second')];
  await first.adopt(snapshot, true);
  await assert.rejects(second.adopt(snapshot, true), { code: 'CHECKPOINT_DIRECTORY_IN_USE' });
  await first.close();
  process.chdir(cwd);
  const again = await storageOf('first');
  const [claimed] = await again.listCompleted();
  assert.equal(claimed?.checkpointId, 4, 'it is found from another working directory');
  assert.equal(await again.delete(claimed), true);
  assert.deepEqual(readdirSync(join(root, 'savepoints')), []);
  await again.close();
  await second.close();
  assert.deepEqual(readdirSync(join(root, 'claims')), []);
});

test('checkpoints are written, found, damaged, passed over and deleted on a real disk', async () => {
  const platform = createNodePlatform({ logger: silentLogger });
  const directory = pathToFileURL(join(root, 'cp')).href;
  const storage = new FileCheckpointStorage(platform, { directory, inlineThresholdBytes: 0 });
  await storage.open(JOB);
  for (const id of [1, 2]) await writeCheckpoint(platform, storage, id, JOB);
  const { snapshot } = await findLatestSnapshot(platform, directory, 'totals', 'stop');
  assert.equal(snapshot?.directory, `${directory}/job/chk-2`);
  const stream = snapshot.manifest.operators[0]!.subtasks[1]!.keyed[0]!.stream;
  const input = openStateInput(platform, snapshot.directory, stream);
  assert.deepEqual(await input.read(0, input.lengthBytes), stateBytes(2, 1));

  truncateSync(join(root, 'cp/job/chk-2', snapshot.manifest.files[0]!.path), 5);
  await assert.rejects(
    openVerifiedSnapshot(platform, snapshot.directory),
    /it has 5 bytes instead of 300.*chk-1/,
  );
  const fallback = await findLatestSnapshot(platform, directory, 'totals', 'fallback');
  assert.equal(fallback.snapshot?.checkpointId, 1);

  for (const each of await storage.listCompleted()) await storage.delete(each);
  await storage.close();
  assert.deepEqual(readdirSync(join(root, 'cp')), []);
});
