/** Savepoints through the client of a job: where they go, what they start, what is refused. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { hasCode } from '@millrace/engine';
import { Gate } from './gated-source.ts';
import { environmentIn, temporaryFolder, until, untilStatus } from './small-job.ts';
import { type Counted, countLetters, countsOf, letters, sorted } from './totals-job.ts';

const VALUES = letters(60);

it('a savepoint is taken while the job goes on, and starts another job from its path', async (t) => {
  const folder = temporaryFolder(t);
  const gate = new Gate(30);
  const env = environmentIn(folder, { checkpointing: { savepointDir: join(folder, 'savepoints') } });
  const first: Counted[] = [];
  countLetters(env, VALUES, gate).addSink((counted) => {
    first.push(counted);
  });
  const client = await env.executeAsync('letters');
  await until(() => first.length === 30, 'the gate is not reached');
  const byDefault = await client.triggerSavepoint();
  assert.ok(byDefault.startsWith(join(folder, 'savepoints', 'savepoint-')), byDefault);
  const named = await client.triggerSavepoint(join(folder, 'named'));
  assert.ok(named.startsWith(join(folder, 'named', 'savepoint-')), named);
  gate.open();
  await client.getJobExecutionResult();
  assert.deepEqual(sorted(first), sorted(countsOf(VALUES)));

  const second: Counted[] = [];
  const again = environmentIn(folder, { restore: { path: named } });
  countLetters(again, VALUES).addSink((counted) => {
    second.push(counted);
  });
  await again.execute('letters');
  assert.deepEqual(sorted(second), sorted(countsOf(VALUES).slice(30)));
});

it('a savepoint without a directory, or with something else in its place, is refused with advice', async (t) => {
  const gate = new Gate(5);
  const env = environmentIn(temporaryFolder(t));
  countLetters(env, VALUES, gate).addSink(() => {});
  const client = await env.executeAsync('letters');
  await untilStatus(client, 'RUNNING');
  await assert.rejects(
    client.triggerSavepoint(),
    (error) =>
      hasCode(error, 'CONFIG_INVALID') && /execution\.checkpointing\.savepoint-dir/.test(String(error)),
  );
  await assert.rejects(
    client.stopWithSavepoint(false as never, '/savepoints' as never),
    (error) => hasCode(error, 'INVALID_ARGUMENT') && /directory is a text.*found false/.test(String(error)),
  );
  assert.equal(client.getJobStatus(), 'RUNNING');
  await client.cancel();
  await assert.rejects(client.stop(), (error) => hasCode(error, 'JOB_NOT_RUNNING'));
});
