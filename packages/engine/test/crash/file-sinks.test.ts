/**
 * The crash suite for file sinks: the process is killed, or a task fails, while files of many buckets are open, and the next
 * life, also wider and narrower, goes on with them. Judged by the directory: each record once, in its bucket, nothing hidden.
 */
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
import { orderOf } from './orders.ts';

const MODULE = 'file-sink-job.ts';
const KILLS_PER_RUN = 8;
const inline = (parallelism: number): Deployment => ({ host: 'inline', parallelism });
const workers = (parallelism: number): Deployment => ({ host: 'workers', parallelism });

/** What must be there, by folder. */
function expectedResults(): Results {
  const folders = new Map<string, string[]>();
  const add = (folder: string, line: object): void => {
    const lines = folders.get(folder) ?? [];
    folders.set(folder, lines);
    lines.push(JSON.stringify(line));
  };
  for (let id = 0; id < ORDERS; id++) {
    const order = orderOf(id);
    add(`second-${new Date(order.at).toISOString().slice(14, 19).replace(':', '-')}`, order);
    add('all', { id });
    add(order.category, order);
  }
  return new Map(
    [...folders].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, lines]) => [name, lines.sort()]),
  );
}

describe('file sinks', () => {
  const expected = expectedResults();

  before(async () => {
    assert.deepEqual(await undisturbedResults(inline(1), MODULE), expected);
  });

  for (const [seed, what, deployments] of [
    [201, 'in one thread', [inline(1)]],
    [202, 'in two worker threads', [workers(2)]],
    [203, 'with another parallelism and host in each life', [inline(3), workers(2), inline(1), workers(4)]],
    [204, 'with another parallelism in each life', [inline(4), inline(1), inline(2)]],
  ] as const) {
    it(`have each record once in its bucket when the process is killed ${what} (seed ${seed})`, async () => {
      const { kills } = await runWithKills(seed, KILLS_PER_RUN, deployments, expected, MODULE);
      assert.ok(kills > 0, 'no kill hit the job');
    });
  }

  it('have each record once in its bucket when tasks fail', async () => {
    const places = ['record', 'snapshot', 'complete', 'record', 'open'] as const;
    const points = places.map((place): CrashPoint => ({ place, action: 'throw', afterRecords: ORDERS / 10 }));
    for (const deployment of [inline(2), workers(2)]) {
      const { restarts } = await runWithCrashPoints(deployment, points, expected, MODULE);
      assert.ok(restarts > 0);
    }
  });
});
