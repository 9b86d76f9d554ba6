/**
 * The promise of the storage under power failures: at each file operation of a run that writes, subsumes and discards
 * checkpoints the power fails. What was reported complete, and not deleted since, is restorable; what was not reported is
 * chosen only if it is whole; and the newest choice is never older than the newest that was reported.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasCode } from '../base/index.ts';
import { createManualPlatform, type ManualPlatform } from '../testing/manual-platform.ts';
import { stateBytes, writeCheckpoint, writeState } from '../testing/snapshot-writing.ts';
import type { CompletedSnapshot } from './checkpoint-storage.ts';
import { FileCheckpointStorage } from './file-storage.ts';
import { findLatestSnapshot } from './latest-snapshot.ts';
import { openStateInput } from './snapshot-reader.ts';

const JOB = { jobId: 'job', jobName: 'totals', lineageId: 'l1' };

/** Three checkpoints with one retained, one that is given up, and the end of the job. Tells `reported` what completed, while it runs. */
async function run(platform: ManualPlatform, reported: Map<number, CompletedSnapshot>): Promise<void> {
  const storage = new FileCheckpointStorage(platform, { directory: '/cp', inlineThresholdBytes: 0 });
  await storage.open(JOB);
  for (const id of [1, 2, 3]) {
    const previous = reported.get(id - 1);
    reported.set(id, await writeCheckpoint(platform, storage, id, JOB));
    if (previous === undefined) continue;
    reported.delete(id - 1);
    await storage.delete(previous);
  }
  const location = await storage.begin(4);
  await writeState(platform, location, JOB);
  await storage.discard(location);
  // The job is finished: a deletion that was cut short must not leave a checkpoint that looks complete and is damaged.
  const last = reported.get(3)!;
  reported.delete(3);
  await storage.delete(last);
}

async function assertWhole(platform: ManualPlatform, snapshot: CompletedSnapshot): Promise<void> {
  const { checkpointId, manifest, directory } = snapshot;
  for (const [subtask, state] of manifest.operators[0]!.subtasks.entries()) {
    const input = openStateInput(platform, directory, state.keyed[0]!.stream);
    assert.deepEqual(await input.read(0, input.lengthBytes), stateBytes(checkpointId, subtask));
  }
}

async function operationsOfARun(): Promise<number> {
  const platform = createManualPlatform();
  await run(platform, new Map());
  return platform.files.operations.length;
}

async function crashAt(operation: number, keep: 'synced' | 'some', seed: number): Promise<void> {
  const platform = createManualPlatform({ seed });
  const reported = new Map<number, CompletedSnapshot>();
  platform.files.crashAt(operation);
  await run(platform, reported).catch((error: unknown) => {
    const isExpected = hasCode(error, 'FILE_SYSTEM_ERROR') || hasCode(error, 'CHECKPOINT_STORE_FAILED');
    assert.ok(isExpected || hasCode(error, 'CHECKPOINT_DIRECTORY_NOT_WRITABLE'), String(error));
  });
  platform.files.crash({ keep });
  const { snapshot } = await findLatestSnapshot(platform, '/cp', 'totals', 'stop');
  const newestReported = Math.max(0, ...reported.keys());
  assert.ok((snapshot?.checkpointId ?? 0) >= newestReported, `${newestReported} was reported and is lost`);
  if (snapshot !== undefined) await assertWhole(platform, snapshot);
  // The next process of the job goes on.
  const storage = new FileCheckpointStorage(platform, { directory: '/cp', inlineThresholdBytes: 0 });
  await storage.open(JOB);
  await writeCheckpoint(platform, storage, 9, JOB);
  const next = await findLatestSnapshot(platform, '/cp', 'totals', 'stop');
  assert.equal(next.snapshot?.checkpointId, 9);
}

test('a power failure at any operation loses nothing that was reported complete', async () => {
  const operations = await operationsOfARun();
  assert.ok(operations > 60, `${operations} operations`);
  for (let operation = 1; operation <= operations + 1; operation++) await crashAt(operation, 'synced', 1);
});

test('nor if a random part of what was not synced survives', async () => {
  const operations = await operationsOfARun();
  for (let seed = 1; seed <= 40; seed++) {
    for (let operation = 1; operation <= operations + 1; operation += 1 + (seed % 3))
      await crashAt(operation, 'some', seed);
  }
});

test('what the next process restores from, after a kill at any operation, survives a power failure', async () => {
  const operations = await operationsOfARun();
  for (let operation = 1; operation <= operations; operation++) {
    const platform = createManualPlatform();
    platform.files.crashAt(operation);
    await run(platform, new Map()).catch(() => {});
    platform.files.killProcess();
    const { snapshot } = await findLatestSnapshot(platform, '/cp', 'totals', 'stop');
    await new FileCheckpointStorage(platform, { directory: '/cp', inlineThresholdBytes: 0 }).open(JOB);
    platform.files.crash();
    const again = await findLatestSnapshot(platform, '/cp', 'totals', 'stop');
    assert.equal(again.snapshot?.checkpointId, snapshot?.checkpointId, `killed at operation ${operation}`);
    if (snapshot !== undefined) await assertWhole(platform, snapshot);
  }
});

test('any operation that fails, fails its checkpoint or is made up for: what is reported complete is whole', async () => {
  const operations = await operationsOfARun();
  for (let operation = 8; operation <= operations; operation++) {
    const platform = createManualPlatform();
    const storage = new FileCheckpointStorage(platform, { directory: '/cp', inlineThresholdBytes: 0 });
    await storage.open(JOB);
    const start = platform.files.operations.length;
    if (operation <= start) continue;
    platform.files.failAt(operation - start);
    let newest = 0;
    for (const id of [1, 2, 3]) {
      try {
        await writeCheckpoint(platform, storage, id, JOB);
        newest = id;
      } catch (error) {
        const outcome = hasCode(error, 'CHECKPOINT_STORE_FAILED')
          ? (error as { details: Record<string, unknown> }).details['outcome']
          : 'absent';
        assert.equal(outcome, 'absent', 'one failure is always taken back');
      }
    }
    platform.files.crash();
    const { snapshot } = await findLatestSnapshot(platform, '/cp', 'totals', 'stop');
    assert.equal(snapshot?.checkpointId, newest);
  }
});

test('if the manifest can neither be made durable nor be taken back, the outcome is unknown', async () => {
  const platform = createManualPlatform();
  const storage = new FileCheckpointStorage(platform, { directory: '/cp', inlineThresholdBytes: 0 });
  await storage.open(JOB);
  const location = await storage.begin(1);
  const manifest = await writeState(platform, location, JOB);
  const before = platform.files.operations.length;
  await storage.complete(location, manifest);
  const syncs = platform.files.operations.slice(before).map((each, index) => ({ each, index: index + 1 }));
  const directorySync = syncs.find(({ each }) => each.startsWith('syncDirectory'))!.index;
  const second = await storage.begin(2);
  const next = await writeState(platform, second, JOB);
  for (const n of [0, 1, 2, 3]) platform.files.failAt(directorySync + n);
  await assert.rejects(
    storage.complete(second, next),
    (error: Error & { details?: Record<string, unknown> }) => {
      assert.equal(error.details?.['outcome'], 'unknown');
      return true;
    },
  );
  platform.files.clearFaults();
  assert.equal(await storage.discard(second), true);
  platform.files.crash();
  assert.equal((await findLatestSnapshot(platform, '/cp', 'totals', 'stop')).snapshot?.checkpointId, 1);
});
