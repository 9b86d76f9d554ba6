/**
 * The tests that the crash suites of most kinds of jobs consist of: the same results on every host, through kills of the
 * process, and through failures of tasks. Called within a `describe`; the seeds make the kills repeatable.
 */
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
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

const KILLS_PER_RUN = 6;

export const inline = (parallelism: number): Deployment => ({ host: 'inline', parallelism });
export const workers = (parallelism: number): Deployment => ({ host: 'workers', parallelism });

export interface CrashedJob {
  /** Module of the job. */
  readonly module: string;
  /** What the tests show; their names begin with it. */
  readonly claim: string;
  /** The undisturbed runs that must agree with that of one inline subtask. */
  readonly hosts: readonly Deployment[];
  /** Seed of the first run with kills; the next runs have the numbers after it. */
  readonly seed: number;
  /** Makes sure that the undisturbed results are worth comparing with. */
  check(results: Results): void;
}

export function crashTests({ module, claim, hosts, seed, check }: CrashedJob): void {
  let expected: Results;

  before(async () => {
    expected = await undisturbedResults(inline(1), module);
    check(expected);
  });

  for (const deployment of hosts) {
    const { host, parallelism } = deployment;
    it(`${claim} on the host ${host} at parallelism ${parallelism}`, async () => {
      const site = new CrashSite(module);
      try {
        const end = await runCrashJob(site.settings(deployment, [], 0));
        assert.ok(finish(end) !== undefined, end.errors);
        site.judge(expected, JSON.stringify(deployment));
      } finally {
        site.remove();
      }
    });
  }

  for (const [index, [what, deployments]] of (
    [
      ['in one thread', [inline(1)]],
      ['in two worker threads', [workers(2)]],
      ['with another parallelism and host in each life', [inline(3), workers(2), inline(1), workers(4)]],
    ] as const
  ).entries()) {
    it(`${claim} when the process is killed ${what} (seed ${seed + index})`, async () => {
      const { kills } = await runWithKills(seed + index, KILLS_PER_RUN, deployments, expected, module);
      assert.ok(kills > 0, 'no kill hit the job');
    });
  }

  it(`${claim} when tasks fail`, async () => {
    const places = ['record', 'snapshot', 'record', 'complete', 'open'] as const;
    const points = places.map((place): CrashPoint => ({ place, action: 'throw', afterRecords: ORDERS / 10 }));
    for (const deployment of [inline(2), workers(2)]) {
      const { restarts } = await runWithCrashPoints(deployment, points, expected, module);
      assert.ok(restarts > 0);
    }
  });
}
