/** What of a job's checkpoints is on the disk after its end: each end with each retention, as the table of retention.ts has it. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { ExternalizedCheckpointRetention, hasCode, type JobClient } from '@millrace/engine';
import { createNodePlatform } from '../src/platform/node/index.ts';
import { checkSnapshotFiles } from '../src/testing/snapshot-files.ts';
import { Gate } from './gated-source.ts';
import { checkpointsIn, environmentIn, temporaryFolder, until, untilStatus } from './small-job.ts';
import { countLetters, countsOf, letters, sorted } from './totals-job.ts';

type Retention = ExternalizedCheckpointRetention;
type End = 'FINISHED' | 'CANCELED' | 'FAILED' | 'SUSPENDED';

const { NO_EXTERNALIZED_CHECKPOINTS, DELETE_ON_CANCELLATION, RETAIN_ON_CANCELLATION } =
  ExternalizedCheckpointRetention;
const RETENTIONS = [NO_EXTERNALIZED_CHECKPOINTS, DELETE_ON_CANCELLATION, RETAIN_ON_CANCELLATION];

const VALUES = letters(60);

/** A job at its 30th record, with three checkpoints taken and two retained. */
async function runningJob(
  folder: string,
  retention: Retention | undefined,
  path?: 'latest',
  preferCheckpoint = false,
): Promise<{ client: JobClient; gate: Gate; fail(): void }> {
  const env = environmentIn(folder, {
    checkpointing: { numRetained: 2, retention: retention as Retention },
    ...(path !== undefined && { restore: { path } }),
  });
  env.getCheckpointConfig().setPreferCheckpointForRecovery(preferCheckpoint);
  const gate = new Gate(10);
  let seen = 0;
  let fails = false;
  countLetters(env, VALUES, gate).addSink(() => {
    seen++;
    if (fails) throw new Error('enough');
  });
  const client = await env.executeAsync('letters');
  client.getJobExecutionResult().catch(() => {});
  await untilStatus(client, 'RUNNING');
  for (const records of [10, 20, 30]) {
    gate.open(records);
    await until(() => seen === records, `${seen} of ${records} records came through`);
    await client.triggerCheckpoint();
  }
  return { client, gate, fail: () => (fails = true) };
}

async function endAs(
  end: End,
  { client, gate, fail }: Awaited<ReturnType<typeof runningJob>>,
): Promise<void> {
  if (end === 'CANCELED') await client.cancel();
  else if (end === 'SUSPENDED') await client.suspend();
  else {
    if (end === 'FAILED') fail();
    gate.open();
    await client
      .getJobExecutionResult()
      .catch((error: unknown) => assert.equal(end, 'FAILED', String(error)));
  }
  assert.equal(client.getJobStatus(), end);
}

/** Names of the checkpoints that are left; what is left is whole and nothing else is. */
async function left(folder: string): Promise<string[]> {
  const directory = checkpointsIn(folder);
  const { snapshots, ...rest } = await checkSnapshotFiles(createNodePlatform(), directory);
  assert.deepEqual(rest, { unreferenced: [], missing: [], damaged: [] });
  if (snapshots.length === 0 && existsSync(directory)) assert.deepEqual(readdirSync(directory), []);
  return snapshots.map((path) => basename(path));
}

/** Rows: the ends; columns: the retentions. */
const TABLE: Readonly<Record<End, readonly (readonly string[])[]>> = {
  FINISHED: [[], [], []],
  CANCELED: [[], [], ['chk-2', 'chk-3']],
  FAILED: [[], ['chk-2', 'chk-3'], ['chk-2', 'chk-3']],
  SUSPENDED: [
    ['chk-2', 'chk-3'],
    ['chk-2', 'chk-3'],
    ['chk-2', 'chk-3'],
  ],
};

describe('of two retained checkpoints', () => {
  for (const [end, row] of Object.entries(TABLE) as [End, (typeof TABLE)[End]][]) {
    for (const [column, expected] of row.entries()) {
      const retention = RETENTIONS[column]!;
      const what = expected.length === 0 ? 'none is' : 'both are';
      it(`${what} left by a job that is ${end} with ${retention}`, async (t) => {
        const folder = temporaryFolder(t);
        await endAs(end, await runningJob(folder, retention));
        assert.deepEqual(await left(folder), expected);
      });
    }
  }

  it('both are left by a job that failed and none by one that was cancelled, if nothing is said', async (t) => {
    for (const end of ['FAILED', 'CANCELED'] as const) {
      const folder = temporaryFolder(t);
      await endAs(end, await runningJob(folder, undefined));
      assert.deepEqual(await left(folder), end === 'FAILED' ? ['chk-2', 'chk-3'] : []);
    }
  });

  it('the newest is left by a job that starts from latest and finishes or fails, whatever is said', async (t) => {
    for (const end of ['FINISHED', 'FAILED'] as const) {
      const folder = temporaryFolder(t);
      await endAs(end, await runningJob(folder, NO_EXTERNALIZED_CHECKPOINTS, 'latest'));
      const [newest, ...others] = await left(folder);
      assert.deepEqual(others, []);
      assert.match(newest!, end === 'FAILED' ? /^chk-3$/ : /^chk-[4-9]$/);
    }
  });

  it('the newest is left by a job that is stopped; with a savepoint none is, unless checkpoints are preferred', async (t) => {
    const folders = [temporaryFolder(t), temporaryFolder(t), temporaryFolder(t)] as const;
    const stopped = await runningJob(folders[0], RETAIN_ON_CANCELLATION);
    assert.equal(basename((await stopped.client.stop()).path!), 'chk-4');
    assert.deepEqual(await left(folders[0]), ['chk-4']);
    for (const prefer of [false, true]) {
      const folder = folders[prefer ? 1 : 2];
      const { client } = await runningJob(folder, RETAIN_ON_CANCELLATION, undefined, prefer);
      const savepoint = await client.stopWithSavepoint(join(folder, 'savepoints'));
      assert.deepEqual(
        (await checkSnapshotFiles(createNodePlatform(), checkpointsIn(folder))).snapshots.map((path) =>
          basename(path),
        ),
        prefer ? ['chk-3'] : [],
      );
      assert.ok(existsSync(join(savepoint, '_metadata')));
    }
  });
});

describe('a job that was suspended', () => {
  it('goes on from its newest checkpoint when it is started again', async (t) => {
    const folder = temporaryFolder(t);
    const { client } = await runningJob(folder, NO_EXTERNALIZED_CHECKPOINTS);
    await client.suspend();
    await client.suspend();
    await assert.rejects(client.getJobExecutionResult(), (error) => hasCode(error, 'JOB_SUSPENDED'));
    await assert.rejects(client.stop(), (error) => hasCode(error, 'JOB_NOT_RUNNING'));
    const env = environmentIn(folder, { restore: { path: 'latest' } });
    const results = await countLetters(env, VALUES).executeAndCollect('letters');
    assert.deepEqual(sorted(results), sorted(countsOf(VALUES).slice(30)));
  });

  it('is not cancelled by what comes later, nor is a cancelled one suspended', async (t) => {
    const suspended = await runningJob(temporaryFolder(t), undefined);
    await Promise.all([suspended.client.suspend(), suspended.client.cancel()]);
    assert.equal(suspended.client.getJobStatus(), 'SUSPENDED');
    const cancelled = await runningJob(temporaryFolder(t), undefined);
    await Promise.all([cancelled.client.cancel(), cancelled.client.suspend()]);
    assert.equal(cancelled.client.getJobStatus(), 'CANCELED');
  });
});
