/** Who owns the snapshot that a job starts from: what becomes of it, and of the results, in each claim mode. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JobClient, StreamExecutionEnvironment } from '@millrace/engine';
import type { Platform } from '../src/platform/index.ts';
import { createManualPlatform, type ManualPlatform } from '../src/testing/manual-platform.ts';
import { mortalPlatform } from '../src/testing/mortal-platform.ts';
import { checkSnapshotFiles } from '../src/testing/snapshot-files.ts';
import { TransactionLog } from '../src/testing/transaction-log-sink.ts';
import { Gate } from './gated-source.ts';
import { assertRefused } from './refusal.ts';
import { environmentOn, noting, until, untilGone, untilStatus } from './small-job.ts';
import { type Counted, countLetters, countsOf, letters, sorted } from './totals-job.ts';

const VALUES = letters(60);

type Settings = Readonly<Record<string, unknown>>;

const from = (path: string, mode: 'CLAIM' | 'NO_CLAIM'): Settings => ({
  'execution.state-recovery.path': path,
  'execution.state-recovery.claim-mode': mode,
});
const LATEST = { 'execution.state-recovery.path': 'latest' };

/** A job that runs, and waits at its gate. */
interface Running {
  readonly client: JobClient;
  readonly results: Counted[];
  /** Lets records through until so many have come. */
  until(records: number): Promise<void>;
  checkpoint(): Promise<string>;
}

async function start(platform: Platform, settings: Settings, alreadyRead = 0): Promise<Running> {
  const env: StreamExecutionEnvironment = environmentOn(platform, {
    'execution.checkpointing.data-inline-threshold': 0,
    ...settings,
  });
  const gate = new Gate(alreadyRead);
  const results: Counted[] = [];
  countLetters(env, VALUES, gate)
    .map(noting((counted) => results.push(counted)))
    .uid('seen')
    .print();
  const client = await env.executeAsync('letters');
  client.getJobExecutionResult().catch(() => {});
  await untilStatus(client, 'RUNNING');
  return {
    client,
    results,
    until: async (records) => {
      gate.open(records);
      const wanted = records - alreadyRead;
      await until(() => results.length === wanted, `${results.length} of ${wanted} came through`);
    },
    checkpoint: async () => (await client.triggerCheckpoint()).path!,
  };
}

/** A savepoint with 20 records in it, of a job that was then cancelled with its own checkpoints. */
async function savepointOf(platform: ManualPlatform): Promise<string> {
  const job = await start(platform, {
    'execution.checkpointing.externalized-checkpoint-retention': 'DELETE_ON_CANCELLATION',
  });
  await job.until(20);
  const path = await job.client.triggerSavepoint('/savepoints');
  await job.client.cancel();
  return path;
}

/** Lets the job run to its end; what is counted since its start. */
async function finish({ client, results }: Running, gateTo: (records: number) => Promise<void>) {
  await gateTo(VALUES.length);
  await client.getJobExecutionResult();
  return sorted(results);
}

const rest = (records: number): Counted[] => sorted(countsOf(VALUES).slice(records));

const snapshotsOf = async (platform: Platform): Promise<readonly string[]> => {
  const { snapshots, ...problems } = await checkSnapshotFiles(platform, '/');
  assert.deepEqual(problems, { unreferenced: [], missing: [], damaged: [] });
  return snapshots;
};

describe('a claimed savepoint', () => {
  it('counts among the retained ones and goes with its turn, with its directory and nothing more', async () => {
    const platform = createManualPlatform();
    const other = await savepointOf(platform);
    const savepoint = await savepointOf(platform);
    const job = await start(
      platform,
      { ...from(savepoint, 'CLAIM'), 'execution.checkpointing.num-retained': 2 },
      20,
    );
    const first = await job.checkpoint();
    assert.deepEqual(await snapshotsOf(platform), [first, other, savepoint].sort());
    await job.until(30);
    const second = await job.checkpoint();
    await untilGone(platform, savepoint);
    assert.deepEqual(await snapshotsOf(platform), [first, second, other].sort());
    assert.deepEqual(await finish(job, job.until), rest(20));
    assert.deepEqual(await snapshotsOf(platform), [other]);
  });

  it('goes at the end as the retention says', async () => {
    for (const [retention, isKept] of [
      ['DELETE_ON_CANCELLATION', false],
      ['RETAIN_ON_CANCELLATION', true],
    ] as const) {
      const platform = createManualPlatform();
      const savepoint = await savepointOf(platform);
      const job = await start(platform, {
        ...from(savepoint, 'CLAIM'),
        'execution.checkpointing.externalized-checkpoint-retention': retention,
      });
      await job.client.cancel();
      assert.deepEqual(await snapshotsOf(platform), isKept ? [savepoint] : []);
    }
  });

  it('is what the job goes on from when it fails before its first checkpoint', async () => {
    const platform = createManualPlatform();
    const savepoint = await savepointOf(platform);
    const env = environmentOn(platform, {
      ...from(savepoint, 'CLAIM'),
      'restart-strategy.type': 'fixed-delay',
      'restart-strategy.fixed-delay.delay': 0,
    });
    let failures = 0;
    const running = countLetters(env, VALUES)
      .map((counted) => {
        if (failures++ === 0) throw new Error('once');
        return counted;
      })
      .uid('seen')
      .executeAndCollect('letters');
    let results: Counted[] | undefined;
    running.then((all) => (results = all)).catch(() => {});
    await until(() => {
      platform.advance(10);
      return results !== undefined;
    }, 'it does not end');
    assert.deepEqual(sorted(results!), rest(20));
  });

  it('is found again by latest after a kill, before and after the first own checkpoint', async () => {
    for (const checkpoints of [0, 1]) {
      const platform = createManualPlatform();
      const savepoint = await savepointOf(platform);
      const settings = { 'execution.checkpointing.num-retained': 2 };
      const first = mortalPlatform(platform);
      const job = await start(first, { ...from(savepoint, 'CLAIM'), ...settings }, 20);
      await job.until(30);
      if (checkpoints > 0) await job.checkpoint();
      first.kill();
      platform.files.killProcess();
      const again = await start(platform, { ...LATEST, ...settings }, checkpoints > 0 ? 30 : 20);
      await again.until(40);
      assert.deepEqual(sorted(again.results), sorted(countsOf(VALUES).slice(checkpoints > 0 ? 30 : 20, 40)));
      const own = await again.checkpoint();
      if (checkpoints === 0) {
        assert.ok((await snapshotsOf(platform)).includes(savepoint), 'it is still one of two');
        await again.checkpoint();
      }
      await untilGone(platform, savepoint);
      assert.ok((await snapshotsOf(platform)).includes(own));
      await again.client.cancel();
    }
  });

  it('that is gone is looked for in vain, and it is said where it went', async () => {
    const platform = createManualPlatform();
    const savepoint = await savepointOf(platform);
    const settings = from(savepoint, 'CLAIM');
    const process = mortalPlatform(platform);
    const job = await start(process, settings, 20);
    await job.checkpoint();
    await untilGone(platform, savepoint);
    process.kill();
    platform.files.killProcess();
    await assertRefused(
      start(platform, settings, 20),
      'SNAPSHOT_NOT_FOUND',
      /CLAIM.*deleted.*start from latest/,
    );
  });

  it('belongs to one job at a time', async () => {
    const platform = createManualPlatform();
    const savepoint = await savepointOf(platform);
    const job = await start(platform, from(savepoint, 'CLAIM'), 20);
    await assertRefused(
      start(platform, from(savepoint, 'CLAIM'), 20),
      'CHECKPOINT_DIRECTORY_IN_USE',
      /cannot be claimed.*NO_CLAIM/,
    );
    const reader = await start(platform, from(savepoint, 'NO_CLAIM'), 20);
    await reader.client.cancel();
    await job.client.cancel();
  });

  it('starts checkpoints in memory as well', async () => {
    const platform = createManualPlatform();
    const savepoint = await savepointOf(platform);
    const memory = { 'execution.checkpointing.storage': 'jobmanager' };
    const job = await start(platform, { ...from(savepoint, 'CLAIM'), ...memory }, 20);
    await job.client.triggerCheckpoint();
    await untilGone(platform, savepoint);
    assert.deepEqual(await finish(job, job.until), rest(20));
  });
});

describe('a snapshot that is not claimed', () => {
  it('is never touched, and not needed once the job has a checkpoint, which stands alone', async () => {
    const platform = createManualPlatform();
    const savepoint = await savepointOf(platform);
    const before = platform.files.allFiles().filter((file) => file.startsWith(savepoint));
    const process = mortalPlatform(platform);
    const job = await start(process, from(savepoint, 'NO_CLAIM'), 20);
    await job.until(30);
    const subsumed = await job.checkpoint();
    await job.until(40);
    const own = await job.checkpoint();
    await untilGone(platform, subsumed);
    assert.deepEqual(
      platform.files.allFiles().filter((file) => file.startsWith(savepoint)),
      before,
    );
    platform.files.lose('/savepoints');
    process.kill();
    platform.files.killProcess();
    assert.deepEqual(await snapshotsOf(platform), [own]);
    const again = await start(platform, LATEST, 40);
    assert.deepEqual(await finish(again, again.until), rest(40));
  });

  it('may be the checkpoint of a job that goes on, and starts as many jobs as you like', async () => {
    const platform = createManualPlatform();
    const owner = await start(platform, { 'execution.checkpointing.num-retained': 5 });
    await owner.until(20);
    const checkpoint = await owner.checkpoint();
    await assertRefused(
      start(platform, from(checkpoint, 'CLAIM'), 20),
      'CHECKPOINT_DIRECTORY_IN_USE',
      /belongs to job 'letters'/,
    );
    const readers = [
      await start(platform, from(checkpoint, 'NO_CLAIM'), 20),
      await start(platform, from(checkpoint, 'NO_CLAIM'), 20),
    ];
    for (const reader of readers) assert.deepEqual(await finish(reader, reader.until), rest(20));
    assert.deepEqual(await finish(owner, owner.until), rest(0));
  });
});

describe('the savepoint that a job was stopped with', () => {
  it("is the job's own from now on if it is claimed by latest", async () => {
    const platform = createManualPlatform();
    const first = await start(platform, {});
    await first.until(20);
    const savepoint = await first.client.stopWithSavepoint('/savepoints');
    const settings = { ...LATEST, 'execution.state-recovery.claim-mode': 'CLAIM' };
    const job = await start(platform, settings, 20);
    await job.until(30);
    await job.checkpoint();
    await untilGone(platform, savepoint);
    assert.deepEqual(await finish(job, job.until), rest(20));
  });

  it('is forgotten if the job that has claimed it is cancelled with what it has', async () => {
    const platform = createManualPlatform();
    const first = await start(platform, {});
    await first.until(20);
    const savepoint = await first.client.stopWithSavepoint('/savepoints');
    const job = await start(platform, {
      ...LATEST,
      'execution.state-recovery.claim-mode': 'CLAIM',
      'execution.checkpointing.externalized-checkpoint-retention': 'DELETE_ON_CANCELLATION',
    });
    await job.client.cancel();
    await untilGone(platform, savepoint);
    const anew = await start(platform, LATEST);
    assert.deepEqual(await finish(anew, anew.until), rest(0));
  });

  it('may be deleted by its owner once the job that went on from it has a checkpoint', async () => {
    const platform = createManualPlatform();
    const first = await start(platform, {});
    await first.until(20);
    const savepoint = await first.client.stopWithSavepoint('/savepoints');
    const process = mortalPlatform(platform);
    const job = await start(process, LATEST, 20);
    await job.until(30);
    await job.checkpoint();
    platform.files.lose(savepoint);
    process.kill();
    platform.files.killProcess();
    const again = await start(platform, LATEST, 30);
    assert.deepEqual(await finish(again, again.until), rest(30));
  });
});

describe('a claimed checkpoint of an earlier job', () => {
  it('is all that changes hands: the others stay where they are', async () => {
    const platform = createManualPlatform();
    const owner = await start(platform, { 'execution.checkpointing.num-retained': 3 });
    const paths: string[] = [];
    for (const records of [10, 20, 30]) {
      await owner.until(records);
      paths.push(await owner.checkpoint());
    }
    await owner.client.cancel();
    const job = await start(platform, from(paths[1]!, 'CLAIM'), 20);
    await job.until(25);
    const own = await job.checkpoint();
    await untilGone(platform, paths[1]!);
    assert.deepEqual(await snapshotsOf(platform), [paths[0], paths[2], own].sort());
    await job.client.cancel();
  });
});

describe('exactly-once results', () => {
  /** A job whose results go to a store with transactions. */
  async function storing(platform: Platform, log: TransactionLog<Counted>, settings: Settings, gate: Gate) {
    const env = environmentOn(platform, settings);
    countLetters(env, VALUES, gate).sinkTo(log.sink()).uid('log');
    const client = await env.executeAsync('letters');
    client.getJobExecutionResult().catch(() => {});
    await client.untilRunning();
    return client;
  }

  it('of a job that goes on are not touched by those that start from its savepoint, in the same store', async () => {
    const platform = createManualPlatform();
    const log = new TransactionLog<Counted>();
    const committedBy = (lineageId: string): Counted[] =>
      sorted(
        [...log.transactions.values()].flatMap(({ lineageId: of, state, values }) =>
          of === lineageId && state === 'committed' ? values : [],
        ),
      );
    const gate = new Gate(20);
    const owner = await storing(platform, log, {}, gate);
    const newest = () => [...log.transactions.values()].at(-1);
    await until(() => newest()?.values.length === 20, 'nothing is written');
    const savepoint = await owner.triggerSavepoint('/savepoints');
    gate.open(40);
    await until(
      () => newest()?.state === 'begun' && newest()?.values.length === 20,
      'nothing more is written',
    );
    const ownLineage = newest()!.lineageId;
    for (const mode of ['NO_CLAIM', 'CLAIM'] as const) {
      const branch = await storing(platform, log, from(savepoint, mode), new Gate(Number.POSITIVE_INFINITY));
      await branch.getJobExecutionResult();
      assert.notEqual(newest()!.lineageId, ownLineage);
      assert.deepEqual(committedBy(newest()!.lineageId), rest(20));
    }
    gate.open();
    await owner.getJobExecutionResult();
    assert.deepEqual(committedBy(ownLineage), rest(0));
    assert.deepEqual(log.undecided(), []);
  });

  it('have keys that are never used twice, whatever the job is started from', async () => {
    const platform = createManualPlatform();
    const keys: string[] = [];
    const note = async (path: string): Promise<string> => {
      const { lineageId, checkpointId } = JSON.parse(
        Buffer.from(platform.files.peek(`${path}/_metadata`)!).toString(),
      );
      keys.push(`${lineageId}/${checkpointId}`);
      return lineageId;
    };
    const owner = await start(platform, { 'execution.checkpointing.num-retained': 5 });
    await owner.until(10);
    const old = await owner.checkpoint();
    const lineage = await note(old);
    await owner.until(20);
    await note(await owner.checkpoint());
    await owner.client.cancel();
    for (const mode of ['NO_CLAIM', 'CLAIM'] as const) {
      const branch = await start(platform, from(old, mode), 10);
      await branch.until(30);
      assert.notEqual(await note(await branch.checkpoint()), lineage);
      await branch.client.cancel();
    }
    assert.equal(new Set(keys).size, keys.length);
  });

  it('have new keys after a damaged checkpoint was passed over', async () => {
    const platform = createManualPlatform();
    const owner = await start(platform, { 'execution.checkpointing.num-retained': 5 });
    const paths: string[] = [];
    for (const records of [10, 20, 30]) {
      await owner.until(records);
      paths.push(await owner.checkpoint());
    }
    await owner.client.cancel();
    platform.files.damage(`${paths[2]}/_metadata`, (bytes) => bytes.subarray(0, 10));
    const again = await start(platform, { ...LATEST, 'millrace.restore.fallback': 'newest-intact' }, 20);
    await again.until(25);
    const next = await again.checkpoint();
    const idOf = (path: string): number => Number(/chk-(\d+)$/.exec(path)![1]);
    assert.equal(idOf(next), idOf(paths[2]!) + 1);
    await again.client.cancel();
  });
});
