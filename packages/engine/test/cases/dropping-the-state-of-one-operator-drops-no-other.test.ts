/**
 * The state of one operator is given up on purpose, while another one was renamed by mistake. The permission for the one is
 * none for the other. (From a discussion on the issues list of Apache Flink.)
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type StreamExecutionEnvironment, Types } from '@millrace/engine';
import { createManualPlatform } from '../../src/testing/manual-platform.ts';
import { Gate } from '../gated-source.ts';
import { assertRefused } from '../refusal.ts';
import { checkpointAndCancel, environmentOn } from '../small-job.ts';
import { Count, countsOf, gatedLetters, letters, sorted } from '../totals-job.ts';

const VALUES = letters(60);

/** letters → count (first) → count of the letters that were counted (second). */
function job(env: StreamExecutionEnvironment, gate: Gate, first: string, second?: string) {
  const counted = gatedLetters(env, VALUES, gate)
    .keyBy((letter) => letter, Types.STRING)
    .process(Count)
    .name('first count')
    .uid(first);
  if (second === undefined) return counted;
  return counted
    .map(({ key }) => key, Types.STRING)
    .uid('keys')
    .keyBy((key) => key, Types.STRING)
    .process(Count)
    .name('second count')
    .uid(second);
}

describe('dropping state at a restore', () => {
  const savepoint = async () => {
    const platform = createManualPlatform();
    const env = environmentOn(platform);
    job(env, new Gate(30), 'c1', 'c2').print();
    const path = await checkpointAndCancel(await env.executeAsync('letters'));
    return { platform, path };
  };
  const restoreSettings = (path: string, others: Record<string, unknown>) => ({
    'execution.state-recovery.path': path,
    ...others,
  });
  const dropped = /dropped the state of "second count" \(uid "c2"\): 10 keys, \d+ bytes/;

  it('of one operator by name does not drop that of another without a home', async () => {
    const { platform, path } = await savepoint();
    const env = environmentOn(platform, restoreSettings(path, { 'millrace.restore.drop-state': 'c2' }));
    job(env, new Gate(60), 'c1x').print();
    await assertRefused(
      env.execute('letters'),
      'RESTORE_MISMATCH',
      /the state of 1 operator cannot be restored/,
      /"first count" \(uid "c1"\), 10 keys, \d+ bytes: no operator of the new job has its uid/,
      /give that operator \.uid\("c1"\)/,
      /Dropped: the state of "second count" \(uid "c2"\), 10 keys, \d+ bytes/,
    );
  });

  for (const [how, others] of [
    ['by name', { 'millrace.restore.drop-state': 'c2' }],
    ['by the permission for all', { 'execution.state-recovery.ignore-unclaimed-state': true }],
  ] as const) {
    it(`${how} starts the job and says what was dropped`, async () => {
      const { platform, path } = await savepoint();
      const env = environmentOn(platform, restoreSettings(path, others));
      const results = await job(env, new Gate(60), 'c1').executeAndCollect('letters');
      assert.deepEqual(sorted(results), sorted(countsOf(VALUES).slice(30)));
      const lines = platform.logged
        .map(({ message }) => message)
        .filter((message) => message.startsWith('dropped'));
      assert.equal(lines.length, 1, lines.join('\n'));
      assert.match(lines[0]!, dropped);
    });
  }

  it('of an operator that the snapshot does not have is refused', async () => {
    const { platform, path } = await savepoint();
    const env = environmentOn(platform, restoreSettings(path, { 'millrace.restore.drop-state': 'c3' }));
    job(env, new Gate(60), 'c1', 'c2').print();
    await assertRefused(env.execute('letters'), 'RESTORE_MISMATCH', /"c3"/, /no operator with that uid/);
  });
});
