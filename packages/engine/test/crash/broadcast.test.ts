/** The crash suite for broadcast state and all exchanges: processes are killed, tasks fail, and the parallelism changes. */
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
import { orderOf, paymentsOf } from './orders.ts';

const MODULE = 'broadcast-job.ts';
const KILLS_PER_RUN = 6;
const inline = (parallelism: number): Deployment => ({ host: 'inline', parallelism });
const workers = (parallelism: number): Deployment => ({ host: 'workers', parallelism });

describe('broadcast state', () => {
  let expected: Results;

  before(async () => {
    expected = await undisturbedResults(inline(1), MODULE);
    assert.equal(expected.get('orders')!.length, ORDERS);
    const reports = expected
      .get('customers')!
      .map((line) => JSON.parse(line) as { orders: number; payments: number });
    const payments = Array.from({ length: ORDERS }, (_, id) => paymentsOf(orderOf(id)).length);
    const all = payments.reduce((sum, each) => sum + each, 0);
    assert.ok(reports.every((report) => report.payments === all));
    assert.equal(
      reports.reduce((sum, report) => sum + report.orders, 0),
      ORDERS,
    );
  });

  for (const deployment of [inline(3), workers(2), workers(4)]) {
    const { host, parallelism } = deployment;
    it(`is the same for all subtasks on the host ${host} at parallelism ${parallelism}`, async () => {
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
    it(`loses and repeats nothing when the process is killed ${what} (seed ${seed})`, async () => {
      const { kills } = await runWithKills(seed, KILLS_PER_RUN, deployments, expected, MODULE);
      assert.ok(kills > 0, 'no kill hit the job');
    });
  }

  it('loses and repeats nothing when tasks fail', async () => {
    const places = ['record', 'snapshot', 'record', 'complete', 'open'] as const;
    const points = places.map((place): CrashPoint => ({ place, action: 'throw', afterRecords: ORDERS / 10 }));
    for (const deployment of [inline(2), workers(2)]) {
      const { restarts } = await runWithCrashPoints(deployment, points, expected, MODULE);
      assert.ok(restarts > 0);
    }
  });
});
