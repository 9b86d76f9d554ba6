/** The crash suite for windows that keep more than their contents; and the same results on every host. */
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

const MODULE = 'window-job.ts';
const KILLS_PER_RUN = 6;
const inline = (parallelism: number): Deployment => ({ host: 'inline', parallelism });
const workers = (parallelism: number): Deployment => ({ host: 'workers', parallelism });

describe('sessions with early results, count windows, global windows and windows of a whole stream', () => {
  let expected: Results;

  before(async () => {
    expected = await undisturbedResults(inline(1), MODULE);
    const counts = [...expected.values()].map((lines) => lines.length);
    assert.ok(counts.length === 3 && counts.every((count) => count > 100), `${counts} results`);
    const early = expected.get('sessions')!.filter((line) => !line.includes('"firings":1,'));
    assert.ok(early.length > 50, `${early.length} sessions had early results`);
  });

  for (const deployment of [inline(3), workers(2), workers(3)]) {
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
    [91, 'in one thread', [inline(1)]],
    [92, 'in two worker threads', [workers(2)]],
    [93, 'with another parallelism and host in each life', [inline(3), workers(2), inline(1), workers(4)]],
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
