/** The crash suite for asynchronous functions: the process is killed, or a task fails, while calls are in flight. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { finish, runCrashJob } from './child-job.ts';
import type { CrashPoint } from './crash-point.ts';
import {
  CrashSite,
  type Deployment,
  ORDERS,
  type Results,
  runWithCrashPoints,
  runWithKills,
  undisturbedResults,
} from './crash-run.ts';

const MODULE = 'async-job.ts';
const KILLS_PER_RUN = 6;
const inline = (parallelism: number): Deployment => ({ host: 'inline', parallelism });
const workers = (parallelism: number): Deployment => ({ host: 'workers', parallelism });

describe('asynchronous functions', () => {
  let expected: Results;

  before(async () => {
    expected = await undisturbedResults(inline(1), MODULE);
    assert.equal(expected.get('looked-up')!.length, ORDERS);
    const windows = expected.get('windows')!.map((line) => JSON.parse(line) as { count: number });
    assert.equal(
      windows.reduce((sum, { count }) => sum + count, 0),
      2 * ORDERS,
      'no result was late',
    );
  });

  for (const deployment of [inline(3), workers(2)]) {
    const { host, parallelism } = deployment;
    it(`have the same results on the host ${host} at parallelism ${parallelism}`, async () => {
      const site = new CrashSite(MODULE);
      try {
        const end = await runCrashJob(site.settings(deployment, [], 0));
        assert.ok(finish(end) !== undefined, end.errors);
        site.judge(expected, JSON.stringify(deployment));
      } finally {
        site.remove();
      }
    });
  }

  for (const [seed, what, deployments] of [
    [101, 'in one thread', [inline(1)]],
    [102, 'in two worker threads', [workers(2)]],
    [103, 'with another parallelism and host in each life', [inline(3), workers(2), inline(1), workers(4)]],
  ] as const) {
    it(`have the same results when the process is killed ${what} (seed ${seed})`, async () => {
      const { kills } = await runWithKills(seed, KILLS_PER_RUN, deployments, expected, MODULE);
      assert.ok(kills > 0, 'no kill hit the job');
    });
  }

  it('have the same results when tasks fail', async () => {
    const places = ['record', 'snapshot', 'record', 'complete', 'open'] as const;
    const points = places.map((place): CrashPoint => ({ place, action: 'throw', afterRecords: ORDERS / 10 }));
    for (const deployment of [inline(2), workers(2)]) {
      const { restarts } = await runWithCrashPoints(deployment, points, expected, MODULE);
      assert.ok(restarts > 0);
    }
  });
});
