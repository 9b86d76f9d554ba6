import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MillraceError } from '../base/index.ts';
import { createManualPlatform, type ManualPlatform } from '../testing/manual-platform.ts';
import { stateBytes, writeCheckpoint, writeState } from '../testing/snapshot-writing.ts';
import { FileCheckpointStorage } from './file-storage.ts';
import { findLatestSnapshot } from './latest-snapshot.ts';
import { MemoryCheckpointStorage } from './memory-storage.ts';
import { openSnapshot, openStateInput, openVerifiedSnapshot } from './snapshot-reader.ts';
import { createCheckpointStorage } from './storage-selection.ts';

const JOB = { jobId: 'cca7bc1061d61cf15238e92312c2fc20', jobName: 'totals', lineageId: 'l1' };
const DIRECTORY = 'file:///cp';
const chk = (n: number): string => `${DIRECTORY}/${JOB.jobId}/chk-${n}`;
const path = (n: number, name: string): string => `/cp/${JOB.jobId}/chk-${n}/${name}`;

async function opened(platform: ManualPlatform, job = JOB): Promise<FileCheckpointStorage> {
  const storage = new FileCheckpointStorage(platform, { directory: DIRECTORY, inlineThresholdBytes: 0 });
  await storage.open(job);
  return storage;
}

async function assertRestorable(platform: ManualPlatform, directory: string): Promise<number> {
  const { manifest } = await openVerifiedSnapshot(platform, directory);
  const operator = manifest.operators[0]!;
  for (const [subtask, state] of operator.subtasks.entries()) {
    const input = openStateInput(platform, directory, state.keyed[0]!.stream);
    assert.deepEqual(await input.read(0, input.lengthBytes), stateBytes(manifest.checkpointId, subtask));
  }
  return manifest.checkpointId;
}

/** What is to be deleted and matches stays until the end. */
function refusingDeletes(platform: ManualPlatform, matches: RegExp): { end(): void } {
  const { files } = platform;
  const original = files.delete.bind(files);
  files.delete = async (path) => {
    if (matches.test(path)) throw new MillraceError('FILE_SYSTEM_ERROR', `${path} is busy`);
    return original(path);
  };
  return {
    end: () => {
      files.delete = original;
    },
  };
}

/** The data file that a subtask of checkpoint n wrote. */
function dataFile(platform: ManualPlatform, n: number): string {
  return platform.files.allFiles().find((file) => file.startsWith(path(n, '0-0-')))!;
}

test('a completed checkpoint is listed and restored, by its directory and by its metadata', async () => {
  const platform = createManualPlatform();
  const storage = await opened(platform);
  const snapshot = await writeCheckpoint(platform, storage, 3, JOB);
  assert.equal(snapshot.directory, chk(3));
  assert.equal(await assertRestorable(platform, chk(3)), 3);
  assert.equal((await openSnapshot(platform, `${chk(3)}/_metadata`)).directory, chk(3));
  assert.equal((await openSnapshot(platform, path(3, ''))).checkpointId, 3);
  assert.deepEqual(
    (await storage.listCompleted()).map(({ checkpointId }) => checkpointId),
    [3],
  );
});

test('a snapshot can be moved as a folder', async () => {
  const platform = createManualPlatform();
  await writeCheckpoint(platform, await opened(platform), 3, JOB);
  await platform.files.makeDirectory('/elsewhere');
  await platform.files.rename(path(3, '').slice(0, -1), '/elsewhere/mine');
  assert.equal(await assertRestorable(platform, '/elsewhere/mine'), 3);
});

test('a savepoint goes to its target under a random name, also with checkpoints in memory', async () => {
  const platform = createManualPlatform();
  const memory = new MemoryCheckpointStorage(platform, 1000);
  await memory.open(JOB);
  for (const storage of [await opened(platform), memory]) {
    const location = { ...(await storage.beginSavepoint('file:///sp')), checkpointId: 4 };
    const snapshot = await storage.complete(location, await writeState(platform, location, JOB));
    assert.match(snapshot.directory ?? '', /^file:\/\/\/sp\/savepoint-cca7bc-[0-9a-f]{12}$/);
    assert.equal(await assertRestorable(platform, snapshot.directory!), 4);
  }
});

test('savepoints have hashes that every version reads, checkpoints a checksum that costs less', async () => {
  const platform = createManualPlatform();
  const storage = await opened(platform);
  const checkpoint = await writeCheckpoint(platform, storage, 1, JOB);
  assert.ok(checkpoint.manifest.files.length > 0);
  assert.ok(checkpoint.manifest.files.every(({ crc32 }) => crc32 !== undefined));
  const location = { ...(await storage.beginSavepoint('file:///sp')), checkpointId: 2 };
  const savepoint = await storage.complete(location, await writeState(platform, location, JOB));
  assert.ok(savepoint.manifest.files.length > 0);
  assert.ok(savepoint.manifest.files.every(({ sha256 }) => sha256 !== undefined));
  const metadata = platform.files.allFiles().find((file) => /^\/sp\/.*_metadata$/.test(file));
  assert.match(Buffer.from(await platform.files.readAll(metadata!)).toString(), /"version": 1,/);
});

test('checkpoints in memory are complete while the process lives', async () => {
  const platform = createManualPlatform();
  const storage = createCheckpointStorage(platform, { kind: 'jobmanager', maxStateSizeBytes: 1000 });
  await storage.open(JOB);
  const snapshot = await writeCheckpoint(platform, storage, 1, JOB);
  const { stream } = snapshot.manifest.operators[0]!.subtasks[1]!.keyed[0]!;
  const input = openStateInput(platform, undefined, stream);
  assert.deepEqual(await input.read(0, 1000), stateBytes(1, 1));
  await writeCheckpoint(platform, storage, 2, JOB);
  await storage.delete(snapshot);
  assert.deepEqual(
    (await storage.listCompleted()).map(({ checkpointId }) => checkpointId),
    [2],
  );
  assert.deepEqual(platform.files.allFiles(), []);
});

test('a directory in use is refused, and free again after close or kill', async () => {
  const platform = createManualPlatform();
  const first = await opened(platform);
  await assert.rejects(opened(platform), { code: 'CHECKPOINT_DIRECTORY_IN_USE' });
  await opened(platform, { ...JOB, jobId: 'other' });
  await first.close();
  await opened(platform);
  platform.files.killProcess();
  await opened(platform);
});

test('a directory that cannot be written is refused at the start with the reason', async () => {
  for (let n = 1; n <= 7; n++) {
    const platform = createManualPlatform();
    platform.files.failAt(n, 'EACCES');
    await assert.rejects(
      opened(platform),
      (error: MillraceError) => {
        assert.equal(error.code, 'CHECKPOINT_DIRECTORY_NOT_WRITABLE');
        assert.match(
          error.message,
          /file:\/\/\/cp \(execution\.checkpointing\.dir\) cannot be used: .*give its user the right/,
        );
        return true;
      },
      `operation ${n}`,
    );
    await opened(platform);
  }
});

test('an unknown scheme is refused before anything starts', () => {
  const settings = { kind: 'filesystem', uri: 's3://bucket/cp', inlineThresholdBytes: 0 } as const;
  assert.throws(() => createCheckpointStorage(createManualPlatform(), settings), {
    code: 'FILE_SYSTEM_SCHEME_UNKNOWN',
  });
});

test('unfinished attempts of a killed process are removed when the job opens its directory again', async () => {
  const platform = createManualPlatform();
  const storage = await opened(platform);
  await writeCheckpoint(platform, storage, 1, JOB);
  await writeState(platform, await storage.begin(2), JOB);
  platform.files.killProcess();
  await opened(platform);
  assert.deepEqual(
    platform.files.allFiles().filter((file) => file.includes('chk-2')),
    [],
  );
  assert.equal(await assertRestorable(platform, chk(1)), 1);
});

test('a delete that fails only warns and is tried again', async () => {
  const platform = createManualPlatform();
  const storage = await opened(platform);
  const snapshot = await writeCheckpoint(platform, storage, 1, JOB);
  platform.files.failAt(2, 'EBUSY');
  assert.equal(await storage.delete(snapshot), false);
  assert.match(platform.logged.at(-1)?.message ?? '', /not deleted yet, this is tried again: .*EBUSY/);
  await storage.retryDeletes();
  assert.equal(await platform.files.stat(path(1, '').slice(0, -1)), undefined);
  assert.equal(await storage.delete(snapshot), true, 'deleting again is no error');
});

test('a late removal of an unfinished attempt never takes the checkpoint of the same number with it', async () => {
  const platform = createManualPlatform();
  await writeState(platform, await (await opened(platform)).begin(2), JOB);
  platform.files.killProcess();
  const storage = new FileCheckpointStorage(platform, { directory: DIRECTORY, inlineThresholdBytes: 0 });
  const busy = refusingDeletes(platform, /\/chk-2/);
  await storage.open(JOB);
  assert.match(platform.logged.at(-1)?.message ?? '', /not deleted yet/);
  await assert.rejects(storage.begin(2), {
    code: 'FILE_SYSTEM_ERROR',
    message: /chk-2 is to be removed first/,
  });
  busy.end();
  await writeCheckpoint(platform, storage, 2, JOB);
  await storage.retryDeletes();
  assert.equal(await assertRestorable(platform, chk(2)), 2);
});

test("the job's directory goes with its last checkpoint, and stays with one", async () => {
  const platform = createManualPlatform();
  const storage = await opened(platform);
  const snapshot = await writeCheckpoint(platform, storage, 1, JOB);
  await storage.close();
  assert.ok(platform.files.allFiles().length > 0);
  const again = await opened(platform);
  await again.delete(snapshot);
  await again.close();
  assert.deepEqual(await platform.files.list('/cp'), []);
});

test('a state file that somebody deletes before the manifest is written fails the checkpoint, not the restore', async () => {
  const platform = createManualPlatform();
  const storage = await opened(platform);
  const location = await storage.begin(1);
  const manifest = await writeState(platform, location, JOB);
  platform.files.lose(dataFile(platform, 1));
  await assert.rejects(storage.complete(location, manifest), (error: MillraceError) => {
    assert.equal(error.code, 'CHECKPOINT_STORE_FAILED');
    assert.equal(error.details['outcome'], 'absent');
    return /has disappeared/.test(error.message);
  });
});

test('a wrong path says what is there instead', async () => {
  const platform = createManualPlatform();
  const storage = await opened(platform);
  await writeCheckpoint(platform, storage, 1, JOB);
  await writeState(platform, await storage.begin(2), JOB);
  const cases: [string, RegExp][] = [
    [
      'file:///nowhere',
      /Cannot find checkpoint or savepoint file\/directory 'file:\/\/\/nowhere' on file system 'file' \(looked for \/nowhere\)\./,
    ],
    [
      `${DIRECTORY}/${JOB.jobId}`,
      /Cannot find meta data file '_metadata'.*It holds checkpoints: give one of them, such as .*chk-2/,
    ],
    ['file:///', /Cannot find meta data file/],
    ['lastest', /Did you mean 'latest'\?/],
    [chk(2), /This checkpoint was never completed/],
    [`file://${dataFile(platform, 1)}`, /is a file, but no _metadata/],
  ];
  for (const [wrong, message] of cases) {
    await assert.rejects(openSnapshot(platform, wrong), (error: MillraceError) => {
      assert.match(error.message, message);
      return error.code === 'SNAPSHOT_NOT_FOUND';
    });
  }
});

const DAMAGES: readonly [string, (platform: ManualPlatform) => string][] = [
  [
    'a manifest cut to nothing',
    (platform) => damage(platform, path(3, '_metadata'), () => new Uint8Array(0)),
  ],
  [
    'a manifest cut short',
    (platform) => damage(platform, path(3, '_metadata'), (bytes) => bytes.slice(0, -10)),
  ],
  [
    'a data file cut by 10 bytes',
    (platform) => damage(platform, dataFile(platform, 3), (bytes) => bytes.slice(0, -10)),
  ],
  ['a flipped bit in a data file', (platform) => damage(platform, dataFile(platform, 3), flipped)],
  ['a flipped bit in the manifest', (platform) => damage(platform, path(3, '_metadata'), flipped)],
  [
    'a deleted data file',
    (platform) => {
      const file = dataFile(platform, 3);
      platform.files.lose(file);
      return file;
    },
  ],
];

function damage(platform: ManualPlatform, file: string, change: (bytes: Uint8Array) => Uint8Array): string {
  platform.files.damage(file, change);
  return file;
}

function flipped(bytes: Uint8Array): Uint8Array {
  bytes[bytes.length >> 1]! ^= 4;
  return bytes;
}

for (const [name, doDamage] of DAMAGES) {
  test(`${name} stops the start, naming the file and the newest intact checkpoint; with permission that one is used`, async () => {
    const platform = createManualPlatform();
    const storage = await opened(platform);
    for (const id of [1, 2, 3]) {
      await writeCheckpoint(platform, storage, id, JOB);
      platform.advance(10_000);
    }
    const file = doDamage(platform);
    const namesBoth = (error: MillraceError): boolean => {
      assert.equal(error.code, 'SNAPSHOT_CORRUPT');
      assert.ok(error.message.includes(file), error.message);
      assert.ok(error.message.includes(chk(2)), error.message);
      return true;
    };
    await assert.rejects(findLatestSnapshot(platform, DIRECTORY, 'totals', 'stop'), namesBoth);
    await assert.rejects(openVerifiedSnapshot(platform, chk(3)), namesBoth);
    const { snapshot, explanation } = await findLatestSnapshot(platform, DIRECTORY, 'totals', 'fallback');
    assert.equal(snapshot?.checkpointId, 2);
    assert.match(
      explanation.join('\n'),
      /instead of the newest, .*chk-3, which is damaged: at least 10 s of input more/,
    );
  });
}

test('the latest is looked for over all executions of the job, and other jobs are left alone', async () => {
  const platform = createManualPlatform();
  const first = await opened(platform);
  await writeCheckpoint(platform, first, 8, JOB);
  platform.advance(1000);
  const second = { ...JOB, jobId: 'dd' };
  await writeCheckpoint(platform, await opened(platform, second), 9, second);
  platform.advance(1000);
  const other = { jobId: 'ee', jobName: 'other', lineageId: 'l2' };
  await writeCheckpoint(platform, await opened(platform, other), 50, other);
  platform.files.damage('/cp/ee/chk-50/_metadata', () => new Uint8Array(0));
  const { snapshot } = await findLatestSnapshot(platform, DIRECTORY, 'totals', 'stop');
  assert.equal(snapshot?.directory, `${DIRECTORY}/dd/chk-9`);
  const none = await findLatestSnapshot(platform, DIRECTORY, 'nobody', 'stop');
  assert.equal(none.snapshot, undefined);
  assert.equal(none.execution, undefined);
  assert.match(
    none.explanation.join(),
    /no complete checkpoint was found.*looked for "nobody" in file:\/\/\/cp/,
  );
  const warnings = platform.logged.filter(({ level }) => level === 'warn').map(({ message }) => message);
  assert.match(
    warnings.at(-1)!,
    /file:\/\/\/cp has no checkpoint of job "nobody", which begins anew, but of "totals", "other"/,
  );
});

test('an execution that came to no checkpoint is found, so that its directory can be gone on with', async () => {
  const platform = createManualPlatform();
  const storage = await opened(platform);
  await storage.begin(0);
  platform.files.killProcess();
  const { snapshot, execution } = await findLatestSnapshot(platform, DIRECTORY, 'totals', 'stop');
  assert.equal(snapshot, undefined);
  assert.deepEqual(execution, { jobId: JOB.jobId, lineageId: JOB.lineageId });
  const successor = await opened(platform, { ...JOB, ...execution });
  assert.deepEqual(await successor.listCompleted(), []);
  assert.ok(!platform.files.allFiles().some((path) => path.includes('/chk-')));
  await writeCheckpoint(platform, successor, 0, JOB);
  const after = await findLatestSnapshot(platform, DIRECTORY, 'totals', 'stop');
  assert.equal(after.snapshot?.checkpointId, 0);
  assert.deepEqual(after.execution, execution);
  assert.equal(after.highestCheckpointId, 0);
});

test('an opening that fails at any of its steps gives the lock back', async () => {
  for (let step = 1, failed = true; failed; step++) {
    const platform = createManualPlatform();
    const before = await opened(platform);
    await before.begin(0);
    platform.files.killProcess();
    platform.files.failAt(step, 'EIO');
    failed = await opened(platform).then(
      () => false,
      () => true,
    );
    platform.files.clearFaults();
    if (failed) await opened(platform);
    assert.ok(failed || step > 5, `only ${step} steps`);
  }
});

test('the id of a savepoint is never given again, whenever the job is killed', async () => {
  const platform = createManualPlatform();
  const storage = await opened(platform);
  await writeCheckpoint(platform, storage, 4, JOB);
  const place = await storage.beginSavepoint('file:///sp');
  const location = { ...place, checkpointId: 5 };
  const manifest = { ...(await writeState(platform, location, JOB)), kind: 'savepoint' } as const;
  await storage.complete(location, manifest);
  const latest = await findLatestSnapshot(platform, DIRECTORY, 'totals', 'stop');
  assert.equal(latest.snapshot?.checkpointId, 4);
  assert.equal(latest.highestCheckpointId, 5);
  // The next process remembers it too.
  await storage.close();
  const next = await opened(platform);
  await writeCheckpoint(platform, next, 6, JOB);
  const place7 = await next.beginSavepoint('file:///sp');
  const location7 = { ...place7, checkpointId: 7 };
  await next.complete(location7, { ...(await writeState(platform, location7, JOB)), kind: 'savepoint' });
  assert.equal((await findLatestSnapshot(platform, DIRECTORY, 'totals', 'stop')).highestCheckpointId, 7);
});

test('a savepoint whose record fails after its effect is recorded no more before it is removed', async () => {
  const platform = createManualPlatform();
  const storage = await opened(platform);
  await writeCheckpoint(platform, storage, 1, JOB);
  const location = { ...(await storage.beginSavepoint('file:///sp')), checkpointId: 2 };
  const manifest = { ...(await writeState(platform, location, JOB)), kind: 'savepoint' } as const;
  const original = platform.files.rename.bind(platform.files);
  platform.files.rename = async (from, to) => {
    await original(from, to);
    if (to.endsWith('/_job')) throw new MillraceError('FILE_SYSTEM_ERROR', 'EIO, or so it seems');
  };
  await assert.rejects(storage.complete(location, manifest, true), /EIO/);
  const latest = async (): Promise<number | undefined> =>
    (await findLatestSnapshot(platform, DIRECTORY, 'totals', 'stop')).snapshot?.checkpointId;
  // Whenever the job is killed from now on, it finds what it goes on from.
  assert.equal(await latest(), 2);
  assert.equal(await storage.discard(location), false);
  assert.equal(await latest(), 1);
  platform.files.rename = original;
  await storage.retryDeletes();
  assert.equal(await latest(), 1);
  assert.deepEqual(
    platform.files.allFiles().filter((file) => file.startsWith('/sp/')),
    [],
  );
});
