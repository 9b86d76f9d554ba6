/** A checkpoint directory that cannot be written, is full, or belongs to another job that runs. */
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { createManualPlatform } from '../../src/testing/manual-platform.ts';
import { Gate } from '../gated-source.ts';
import { assertRefused } from '../refusal.ts';
import {
  checkpointAndCancel,
  checkpointsIn,
  environmentIn,
  environmentOn,
  noting,
  temporaryFolder,
  untilStatus,
} from '../small-job.ts';
import { type Counted, countLetters, countsOf, letters, sorted } from '../totals-job.ts';

describe('a checkpoint directory', () => {
  it('that cannot be written is refused before the first record, naming it and its option', async (t) => {
    const folder = temporaryFolder(t);
    writeFileSync(checkpointsIn(folder), 'a file is in the way');
    let records = 0;
    const env = environmentIn(folder);
    countLetters(env, letters(10))
      .map(noting(() => records++))
      .print();
    const directory = new RegExp(checkpointsIn(folder));
    await assertRefused(
      env.execute('blocked'),
      'CHECKPOINT_DIRECTORY_NOT_WRITABLE',
      directory,
      /execution\.checkpointing\.dir/,
    );
    assert.equal(records, 0);
  });

  it('that is full fails the checkpoint and not the job, if failures are tolerated; nothing of it stays', async () => {
    const platform = createManualPlatform();
    const { files } = platform;
    const gate = new Gate(50);
    const env = environmentOn(platform, { 'execution.checkpointing.tolerable-failed-checkpoints': 5 });
    const values = letters(100);
    const results: Counted[] = [];
    countLetters(env, values, gate)
      .map(noting((counted) => results.push(counted)))
      .print();
    const client = await env.executeAsync('full');
    await untilStatus(client, 'RUNNING');
    const before = files.allFiles();
    files.limitBytes(1);
    await assertRefused(client.triggerCheckpoint(), 'CHECKPOINT_FAILED', /ENOSPC/);
    assert.equal(client.getJobStatus(), 'RUNNING');
    await platform.settle();
    assert.deepEqual(files.allFiles(), before);
    files.clearFaults();
    const summary = await client.triggerCheckpoint();
    assert.ok(summary.checkpointId >= 2);
    gate.open();
    await client.getJobExecutionResult();
    assert.deepEqual(sorted(results), sorted(countsOf(values)));
  });

  it('that is full fails the job if failures are not tolerated, with the reason', async () => {
    const platform = createManualPlatform();
    const env = environmentOn(platform);
    countLetters(env, letters(100), new Gate(50)).print();
    const client = await env.executeAsync('full');
    await untilStatus(client, 'RUNNING');
    platform.files.limitBytes(1);
    const result = client.getJobExecutionResult();
    result.catch(() => {});
    await assertRefused(client.triggerCheckpoint(), 'CHECKPOINT_FAILED', /ENOSPC/);
    await assertRefused(result, 'CHECKPOINT_FAILURES_EXCEEDED', /ENOSPC/);
  });

  it('of a job that runs is not taken by a second one, which is told who holds it', async (t) => {
    const folder = temporaryFolder(t);
    const gate = new Gate(50);
    const values = letters(100);
    const first = environmentIn(folder);
    const results: Counted[] = [];
    countLetters(first, values, gate)
      .map(noting((counted) => results.push(counted)))
      .print();
    const client = await first.executeAsync('letters');
    await untilStatus(client, 'RUNNING');
    const { path } = await client.triggerCheckpoint();
    const second = environmentIn(folder, { restore: { path: 'latest' } });
    countLetters(second, values).print();
    const holder = new RegExp(`${process.pid}`);
    await assertRefused(
      second.execute('letters'),
      'CHECKPOINT_DIRECTORY_IN_USE',
      new RegExp(checkpointsIn(folder)),
      holder,
    );
    assert.ok(readdirSync(path!).includes('_metadata'));
    gate.open();
    await client.getJobExecutionResult();
    assert.deepEqual(sorted(results), sorted(countsOf(values)));
  });

  it('may be shared by jobs of different names, each with its own checkpoints', async (t) => {
    const folder = temporaryFolder(t);
    const start = async (name: string) => {
      const env = environmentIn(folder);
      countLetters(env, letters(20), new Gate(10)).print();
      return env.executeAsync(name);
    };
    const [one, other] = [await start('one'), await start('other')];
    const path = await checkpointAndCancel(one);
    await checkpointAndCancel(other);
    const env = environmentIn(folder, { restore: { path: 'latest' } });
    const results = await countLetters(env, letters(20)).executeAndCollect('one');
    assert.deepEqual(sorted(results), sorted(countsOf(letters(20)).slice(10)));
    assert.ok(path.includes('chk-'));
  });
});

describe('a checkpoint directory that cannot be reached any more', () => {
  const unreachable = async (values: Record<string, unknown>) => {
    const platform = createManualPlatform();
    const env = environmentOn(platform, values);
    countLetters(env, letters(100), new Gate(50)).print();
    const client = await env.executeAsync('unreachable');
    await untilStatus(client, 'RUNNING');
    // It goes away when the manifest has got its name and that is not durable yet: nobody knows whether it is there.
    const { rename } = platform.files;
    platform.files.rename = async (from, to) => {
      await rename.call(platform.files, from, to);
      platform.files.crashAt(1);
    };
    const result = client.getJobExecutionResult();
    result.catch(() => {});
    await assertRefused(client.triggerCheckpoint(), 'CHECKPOINT_FAILED');
    return { client, result };
  };

  it('lets the job fail at once if it does not restart', async () => {
    const { client, result } = await unreachable({});
    await assertRefused(result, 'CHECKPOINT_FAILURES_EXCEEDED');
    assert.equal(client.getJobStatus(), 'FAILED');
  });

  it('does not keep a job that would restart from being cancelled', async () => {
    const { client, result } = await unreachable({ 'restart-strategy.type': 'fixed-delay' });
    await client.cancel();
    await assertRefused(result, 'JOB_CANCELED');
  });
});
