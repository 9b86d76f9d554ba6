/** What the record of a job says after a kill, a power failure or an error at any step: never what is not there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasCode, MillraceError } from '../base/index.ts';
import { createManualPlatform, type ManualPlatform } from '../testing/manual-platform.ts';
import { writeCheckpoint, writeState } from '../testing/snapshot-writing.ts';
import type { CheckpointLocation, CompletedSnapshot } from './checkpoint-storage.ts';
import { FileCheckpointStorage } from './file-storage.ts';
import { findLatestSnapshot } from './latest-snapshot.ts';

const JOB = { jobId: 'job', jobName: 'totals', lineageId: 'l1' };
const SUCCESSOR = { jobId: 'next', jobName: 'totals', lineageId: 'l2' };

async function opened(platform: ManualPlatform, owner = JOB): Promise<FileCheckpointStorage> {
  const storage = new FileCheckpointStorage(platform, { directory: '/cp', inlineThresholdBytes: 0 });
  await storage.open(owner);
  return storage;
}

const latestOf = async (platform: ManualPlatform): Promise<number | undefined> =>
  (await findLatestSnapshot(platform, '/cp', 'totals', 'stop')).snapshot?.checkpointId;

/** A savepoint whose data is written. */
async function begun(platform: ManualPlatform, storage: FileCheckpointStorage, checkpointId: number) {
  const location: CheckpointLocation = { ...(await storage.beginSavepoint('/sp')), checkpointId };
  const manifest = { ...(await writeState(platform, location, JOB)), kind: 'savepoint' as const };
  return { location, stop: () => storage.complete(location, manifest, true) };
}

/** Renames of the record fail, with or without effect. */
function refusingRecords(platform: ManualPlatform, effect: 'after' | 'before'): { end(): void } {
  const { files } = platform;
  const original = files.rename.bind(files);
  files.rename = async (from, to) => {
    const isRecord = to.endsWith('/_job');
    if (!isRecord || effect === 'after') await original(from, to);
    if (isRecord) throw new MillraceError('FILE_SYSTEM_ERROR', 'EIO, or so it seems');
  };
  return {
    end: () => {
      files.rename = original;
    },
  };
}

const isResolved = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );

test('a power failure at any step of a stop with a savepoint leaves that or the checkpoint before', async () => {
  for (const keep of ['synced', 'some'] as const) {
    for (let step = 1, stopped = false; !stopped; step++) {
      const platform = createManualPlatform({ seed: step });
      const storage = await opened(platform);
      await writeCheckpoint(platform, storage, 1, JOB);
      const { stop } = await begun(platform, storage, 2);
      platform.files.crashAt(step);
      stopped = await isResolved(stop());
      platform.files.crash({ keep });
      const latest = await latestOf(platform);
      assert.ok(stopped ? latest === 2 : latest === 1 || latest === 2, `step ${step}: ${latest}`);
      assert.ok(!stopped || step > 10, `only ${step} steps`);
    }
  }
});

test('a stop that fails at any step does not tell, or leaves nothing; then it is removed, whatever happens meanwhile', async () => {
  for (let step = 1, stopped = false; !stopped; step++) {
    for (let crashStep = 1, discarded = false; !discarded && !stopped; crashStep++) {
      const platform = createManualPlatform({ seed: crashStep });
      const storage = await opened(platform);
      await writeCheckpoint(platform, storage, 1, JOB);
      const { location, stop } = await begun(platform, storage, 2);
      platform.files.failAt(step, 'EIO');
      const error = await stop().then(
        () => undefined,
        (reason: MillraceError) => reason,
      );
      stopped = error === undefined;
      if (error === undefined) break;
      assert.ok(hasCode(error, 'CHECKPOINT_STORE_FAILED'));
      if (error.details['outcome'] === 'absent') assert.equal(await latestOf(platform), 1, `step ${step}`);
      platform.files.clearFaults();
      platform.files.crashAt(crashStep);
      discarded = await storage.discard(location);
      platform.files.crash({ keep: 'some' });
      const latest = await latestOf(platform);
      assert.ok(latest === 1 || (latest === 2 && !discarded), `step ${step}, then ${crashStep}: ${latest}`);
    }
    assert.ok(!stopped || step > 10, `only ${step} steps`);
  }
});

test('a savepoint that the record may name is not removed before, also if a second one failed since', async () => {
  const platform = createManualPlatform();
  const storage = await opened(platform);
  await writeCheckpoint(platform, storage, 1, JOB);
  const first = await begun(platform, storage, 2);
  const late = refusingRecords(platform, 'after');
  await assert.rejects(first.stop(), { code: 'CHECKPOINT_STORE_FAILED' });
  late.end();
  const never = refusingRecords(platform, 'before');
  const second = await begun(platform, storage, 3);
  await assert.rejects(second.stop(), { code: 'CHECKPOINT_STORE_FAILED' });
  assert.equal(await storage.discard(second.location), false);
  assert.equal(await storage.discard(first.location), false);
  assert.equal(await latestOf(platform), 2);
  never.end();
  await storage.retryDeletes();
  assert.equal(await latestOf(platform), 1);
  assert.equal((await platform.files.list('/sp')).length, 0);
});

test('a claimed snapshot is not removed before the record names it no more', async () => {
  const platform = createManualPlatform();
  const owner = await opened(platform);
  const { stop } = await begun(platform, owner, 2);
  const claimed: CompletedSnapshot = await stop();
  await owner.close();
  const storage = await opened(platform, SUCCESSOR);
  await storage.adopt(claimed, true);
  const refusing = refusingRecords(platform, 'before');
  assert.equal(await storage.delete(claimed), false);
  await storage.retryDeletes();
  assert.equal(await latestOf(platform), 2);
  refusing.end();
  assert.equal(await storage.delete(claimed), true);
  assert.deepEqual(await platform.files.list('/sp'), []);
  assert.doesNotMatch(String(await platform.files.readAll('/cp/next/_job')), /goesOnFrom/);
});
