/** The storage on a real file system: what the manual platform cannot show. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { silentLogger } from '../base/index.ts';
import { createNodePlatform } from '../platform/node/index.ts';
import { stateBytes, writeCheckpoint } from '../testing/snapshot-writing.ts';
import { FileCheckpointStorage } from './file-storage.ts';
import { findLatestSnapshot } from './latest-snapshot.ts';
import { openStateInput, openVerifiedSnapshot } from './snapshot-reader.ts';

const root = mkdtempSync(join(tmpdir(), 'millrace-storage-'));
after(() => rmSync(root, { recursive: true, force: true }));

const JOB = { jobId: 'job', jobName: 'totals', lineageId: 'l1' };

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
