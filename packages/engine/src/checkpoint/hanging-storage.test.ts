/**
 * A snapshot whose completion hangs and is given up: at each of its file operations. Once it is discarded nobody finds it,
 * whatever the operation does later.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WritableFile } from '../platform/index.ts';
import { createManualPlatform, type ManualPlatform } from '../testing/manual-platform.ts';
import { writeCheckpoint, writeState } from '../testing/snapshot-writing.ts';
import { FileCheckpointStorage } from './file-storage.ts';
import { findLatestSnapshot } from './latest-snapshot.ts';

const JOB = { jobId: 'job', jobName: 'totals', lineageId: 'l1' };

interface Hang {
  /** The operation, once it was begun. */
  operation: string | undefined;
  /** It takes effect, and is answered. */
  end(): void;
}

/** The `n`-th operation from now on has no effect until `end`. */
function hangAt(platform: ManualPlatform, n: number): Hang {
  const { files } = platform;
  const ended = Promise.withResolvers<void>();
  const hang: Hang = { operation: undefined, end: ended.resolve };
  let count = 0;
  const held = <T, K extends keyof T & string>(target: T, name: K): void => {
    const run = target[name] as (...parameters: unknown[]) => Promise<unknown>;
    const replaced = async (...parameters: unknown[]): Promise<unknown> => {
      if (++count === n) {
        hang.operation = `${name} ${parameters.filter((each) => typeof each === 'string').join(' ')}`;
        await ended.promise;
      }
      return run.apply(target, parameters);
    };
    target[name] = replaced as T[K];
  };
  for (const name of ['list', 'stat', 'rename', 'delete', 'syncDirectory', 'readAll'] as const)
    held(files, name);
  const create = files.create.bind(files);
  files.create = async (path) => {
    const file: WritableFile = await create(path);
    for (const name of ['write', 'sync', 'close'] as const) held(file, name);
    return file;
  };
  held(files, 'create');
  return hang;
}

/** Lets all go on that can. */
async function settle(platform: ManualPlatform): Promise<void> {
  for (let i = 0; i < 5; i++) await platform.settle();
}

const latestOf = async (platform: ManualPlatform): Promise<number | undefined> =>
  (await findLatestSnapshot(platform, '/cp', 'totals', 'stop')).snapshot?.checkpointId;

/** What the job goes on from if the snapshot is given up. */
type Before = 'own checkpoint' | 'snapshot of another job';

async function storageWith(platform: ManualPlatform, before: Before): Promise<FileCheckpointStorage> {
  const storage = new FileCheckpointStorage(platform, { directory: '/cp', inlineThresholdBytes: 0 });
  await storage.open(JOB);
  if (before === 'own checkpoint') {
    await writeCheckpoint(platform, storage, 1, JOB);
    return storage;
  }
  const other = { ...JOB, jobId: 'other' };
  const otherStorage = new FileCheckpointStorage(platform, { directory: '/other', inlineThresholdBytes: 0 });
  await otherStorage.open(other);
  await storage.adopt(await writeCheckpoint(platform, otherStorage, 1, other), false);
  await otherStorage.close();
  return storage;
}

/** Completion hangs at its `step`-th operation. False if it has fewer. */
async function giveUpAt(step: number, kind: 'checkpoint' | 'savepoint', before: Before): Promise<boolean> {
  const platform = createManualPlatform();
  const storage = await storageWith(platform, before);
  const location =
    kind === 'checkpoint'
      ? await storage.begin(2)
      : { ...(await storage.beginSavepoint('/sp')), checkpointId: 2 };
  const manifest = { ...(await writeState(platform, location, JOB)), kind };
  const givenUp = new AbortController();
  const hang = hangAt(platform, step);
  const completing = storage.complete(location, manifest, kind === 'savepoint', givenUp.signal);
  const late = completing.catch(() => {});
  await settle(platform);
  if (hang.operation === undefined) return false;
  givenUp.abort();
  const discarding = storage.discard(location);
  let isDiscarded = false;
  void discarding.then(() => {
    isDiscarded = true;
  });
  await settle(platform);
  // Writes of the job's record wait for each other. Everything else may hang for ever.
  if (hang.operation.includes('/_job') || hang.operation.includes('/cp/job/.record')) hang.end();
  await settle(platform);
  const where = `${kind} after ${before}, ${hang.operation}`;
  if (isDiscarded) assert.equal(await latestOf(platform), 1, where);
  else assert.match(hang.operation, /^(?:write|sync|close|syncDirectory \/cp\/job$)/, 'of the record');
  hang.end();
  await late;
  assert.equal(await discarding, true, where);
  await settle(platform);
  assert.equal(await latestOf(platform), 1, where);
  const left = platform.files.allFiles().filter((path) => !/\/chk-1\/|^\/other\//.test(path));
  assert.deepEqual(
    left.filter((path) => !/\/(?:_job|_lock\.\d+)$/.test(path)),
    [],
    where,
  );
  if (before === 'snapshot of another job') {
    await storage.close();
    assert.equal(await latestOf(platform), 1, `${where}, then the job is stopped`);
    return true;
  }
  // The job goes on.
  await writeCheckpoint(platform, storage, 3, JOB);
  assert.equal(await latestOf(platform), 3);
  return true;
}

test('a manifest that gets its name after the checkpoint was given up is taken back, though discarding it hangs', async () => {
  const platform = createManualPlatform();
  const storage = await storageWith(platform, 'own checkpoint');
  const location = await storage.begin(2);
  const manifest = await writeState(platform, location, JOB);
  const renaming = Promise.withResolvers<void>();
  const { files } = platform;
  const rename = files.rename.bind(files);
  files.rename = (from, to) => renaming.promise.then(() => rename(from, to));
  const givenUp = new AbortController();
  const completing = assert.rejects(storage.complete(location, manifest, false, givenUp.signal));
  await settle(platform);
  givenUp.abort();
  files.list = () => new Promise(() => {});
  void storage.discard(location);
  await settle(platform);
  renaming.resolve();
  await completing;
  assert.deepEqual(
    files.allFiles().filter((path) => path.endsWith('/_metadata')),
    ['/cp/job/chk-1/_metadata'],
  );
});

for (const [kind, before, leastSteps] of [
  ['checkpoint', 'own checkpoint', 8],
  ['checkpoint', 'snapshot of another job', 13],
  ['savepoint', 'own checkpoint', 13],
  ['savepoint', 'snapshot of another job', 13],
] as const) {
  test(`a ${kind} that was given up while it was completed never becomes complete: before it, ${before}`, async () => {
    let step = 1;
    while (await giveUpAt(step, kind, before)) step++;
    assert.ok(step > leastSteps, `only ${step - 1} steps`);
  });
}
