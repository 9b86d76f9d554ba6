/**
 * The crash suite, second part: the process goes on, but a task fails at seeded records, during checkpoints and while it
 * recovers: by an exception, by process.exit() in a worker thread, and by a worker thread that runs out of memory.
 */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { CrashAction, CrashPlace, CrashPoint } from './crash-point.ts';
import { ORDERS, type Results, runWithCrashPoints, seededRandom, undisturbedResults } from './crash-run.ts';

const PLACES: readonly CrashPlace[] = ['record', 'record', 'snapshot', 'complete', 'open'];
const POINTS_PER_RUN = 10;

/** Points that leave the job time for some checkpoints, so that it gets on. */
function seededPoints(seed: number, count: number, actions: readonly CrashAction[]): CrashPoint[] {
  const random = seededRandom(seed);
  const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  return Array.from({ length: count }, () => ({
    place: oneOf(PLACES),
    action: oneOf(actions),
    afterRecords: Math.floor((random() * ORDERS) / POINTS_PER_RUN),
  }));
}

describe('a job that fails from inside', () => {
  let expected: Results;
  let failures = 0;
  let planned = 0;

  async function run(
    host: 'inline' | 'workers',
    parallelism: number,
    points: readonly CrashPoint[],
  ): Promise<void> {
    const { restarts } = await runWithCrashPoints({ host, parallelism }, points, expected);
    assert.ok(restarts > 0 && restarts <= points.length, `${restarts} restarts for ${points.length} points`);
    failures += restarts;
    planned += points.length;
  }

  before(async () => {
    expected = await undisturbedResults();
  });

  for (const [seed, parallelism] of [
    [51, 1],
    [52, 2],
    [53, 4],
    [54, 3],
  ] as const) {
    it(`by exceptions in its one thread restarts in place and ends with the same results (seed ${seed})`, async () => {
      await run('inline', parallelism, seededPoints(seed, POINTS_PER_RUN, ['throw']));
    });
  }

  for (const [seed, parallelism] of [
    [61, 1],
    [62, 2],
    [63, 2],
    [64, 3],
  ] as const) {
    it(`by exceptions and ended threads among ${parallelism} ends with the same results (seed ${seed})`, async () => {
      await run('workers', parallelism, seededPoints(seed, POINTS_PER_RUN, ['exit', 'exit', 'throw']));
    });
  }

  it('by threads that run out of memory ends with the same results', async () => {
    await run('workers', 2, seededPoints(71, 3, ['memory']));
  });

  it('failed at most of the points that were planned', () => {
    // Some lie behind the end: no checkpoint comes after so many records any more.
    assert.ok(failures > planned * 0.6, `${failures} failures of ${planned} that were planned`);
  });
});
