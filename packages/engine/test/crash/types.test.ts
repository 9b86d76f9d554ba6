/** The crash suite for types: every type through exchanges, state, snapshots and restores, on every host. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Deployment, ORDERS, type Results, runWithKills, undisturbedResults } from './crash-run.ts';

const MODULE = 'types-job.ts';
const KILLS_PER_RUN = 4;
const inline = (parallelism: number): Deployment => ({ host: 'inline', parallelism });
const workers = (parallelism: number): Deployment => ({ host: 'workers', parallelism });

describe('records of every type', () => {
  let expected: Results;

  before(async () => {
    expected = await undisturbedResults(inline(1), MODULE);
    const said = expected.get('types')!.map((line) => JSON.parse(line) as { agree: boolean; count: number });
    assert.equal(said.filter(({ agree }) => agree).length, ORDERS);
    assert.ok(Math.max(...said.map(({ count }) => count)) > 5, 'keys come again');
  });

  for (const [seed, what, deployments] of [
    [101, 'in two worker threads', [workers(2)]],
    [102, 'with another parallelism and host in each life', [workers(2), inline(3), workers(3), inline(1)]],
  ] as const) {
    it(`are what they were when the process is killed ${what} (seed ${seed})`, async () => {
      const { kills } = await runWithKills(seed, KILLS_PER_RUN, deployments, expected, MODULE);
      assert.ok(kills > 0, 'no kill hit the job');
    });
  }
});
