/** The crash suite for state with time-to-live: the process is killed, or a task fails; and the same results on every host. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { CrashPoint } from './crash-point.ts';
import {
  type Deployment,
  ORDERS,
  type Results,
  runWithCrashPoints,
  runWithKills,
  undisturbedResults,
} from './crash-run.ts';

const MODULE = 'ttl-job.ts';
const KILLS_PER_RUN = 6;
const inline = (parallelism: number): Deployment => ({ host: 'inline', parallelism });
const workers = (parallelism: number): Deployment => ({ host: 'workers', parallelism });

describe('state with time-to-live', () => {
  let expected: Results;

  before(async () => {
    expected = await undisturbedResults(inline(1), MODULE);
    const remembered = expected.get('remember')!.map((line) => JSON.parse(line) as { ids: number[] });
    assert.equal(remembered.length, ORDERS);
    assert.ok(Math.max(...remembered.map(({ ids }) => ids.length)) > 15);
    const forgotten = expected.get('forget')!.map((line) => JSON.parse(line) as { agree: boolean });
    assert.equal(forgotten.filter(({ agree }) => agree).length, ORDERS);
  });

  for (const [seed, what, deployments] of [
    [91, 'in one thread', [inline(1)]],
    [92, 'in two worker threads', [workers(2)]],
    [93, 'with another parallelism and host in each life', [inline(3), workers(2), inline(1), workers(4)]],
  ] as const) {
    it(`is exact when the process is killed ${what} (seed ${seed})`, async () => {
      const { kills } = await runWithKills(seed, KILLS_PER_RUN, deployments, expected, MODULE);
      assert.ok(kills > 0, 'no kill hit the job');
    });
  }

  it('is exact when tasks fail', async () => {
    const places = ['record', 'snapshot', 'record', 'complete', 'open'] as const;
    const points = places.map((place): CrashPoint => ({ place, action: 'throw', afterRecords: ORDERS / 10 }));
    for (const deployment of [inline(2), workers(2)]) {
      const { restarts } = await runWithCrashPoints(deployment, points, expected, MODULE);
      assert.ok(restarts > 0);
    }
  });
});
