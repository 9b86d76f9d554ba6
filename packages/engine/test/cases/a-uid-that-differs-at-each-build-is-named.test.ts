/**
 * A library made a uid from a random value. A restore cannot find the state: the error shows both uids. A restart of the
 * same job, which is not built again, must still work. (From apache/iceberg#15687.) Across threads: bad-input/graph.test.ts.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RestartStrategies, type StreamExecutionEnvironment } from '@millrace/engine';
import { Gate } from '../gated-source.ts';
import { assertRefused } from '../refusal.ts';
import { checkpointAndCancel, environmentIn, temporaryFolder, untilStatus } from '../small-job.ts';
import { countLetters, countsOf, letters, sorted } from '../totals-job.ts';

const VALUES = letters(80);
let builds = 0;

/** As the library does it: another uid each time. */
function job(env: StreamExecutionEnvironment, gate: Gate) {
  return countLetters(env, VALUES, gate).uid(`committer-${builds++}`);
}

describe('a uid that differs at each build', () => {
  it('is refused at a restore, naming the operator and the two uids', async (t) => {
    const folder = temporaryFolder(t);
    const first = environmentIn(folder);
    job(first, new Gate(40)).print();
    const path = await checkpointAndCancel(await first.executeAsync('letters'));
    const second = environmentIn(folder, { restore: { path } });
    job(second, new Gate(80)).print();
    const [saved, now] = [builds - 2, builds - 1];
    await assertRefused(
      second.execute('letters'),
      'RESTORE_MISMATCH',
      /"count"/,
      new RegExp(`uid "committer-${saved}"`),
      new RegExp(`probably belongs to "count" of the new job, which has the uid "committer-${now}"`),
    );
  });

  it('does not hinder a restart of the job that runs', async (t) => {
    const folder = temporaryFolder(t);
    const env = environmentIn(folder, { restartStrategy: RestartStrategies.fixedDelayRestart(1, 0) });
    const gate = new Gate(40);
    let failed = false;
    const results: unknown[] = [];
    job(env, gate)
      .map((counted) => {
        if (gate.limit > 40 && !failed) {
          failed = true;
          throw new Error('on purpose');
        }
        results.push(counted);
        return counted;
      })
      .uid('handed on')
      .print();
    const client = await env.executeAsync('letters');
    await untilStatus(client, 'RUNNING');
    await client.triggerCheckpoint();
    results.length = 0;
    gate.open();
    const { restarts } = await client.getJobExecutionResult();
    assert.equal(restarts, 1);
    assert.deepEqual(sorted(results as never), sorted(countsOf(VALUES).slice(40)));
  });
});
