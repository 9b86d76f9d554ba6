/** The crash suite for watched directories and hybrid sources: the process is killed while files appear and grow. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Deployment, type Results, runWithKills, undisturbedResults } from './crash-run.ts';

const MODULE = 'watched-job.ts';
const KILLS_PER_RUN = 6;
const inline = (parallelism: number): Deployment => ({ host: 'inline', parallelism });
const workers = (parallelism: number): Deployment => ({ host: 'workers', parallelism });

describe('watched directories, also behind files that are read once', () => {
  let expected: Results;

  before(async () => {
    expected = await undisturbedResults(inline(1), MODULE);
    assert.deepEqual([...expected.keys()], ['feed', 'logs']);
    assert.equal(expected.get('logs')!.length, 600);
    assert.ok(expected.get('feed')!.length > 1000);
  });

  for (const [seed, what, deployments] of [
    [201, 'in one thread', [inline(1)]],
    [202, 'in two worker threads', [workers(2)]],
    [203, 'with another parallelism and host in each life', [inline(3), workers(2), inline(1), workers(4)]],
  ] as const) {
    it(`give each line once when the process is killed ${what} (seed ${seed})`, async () => {
      const { kills } = await runWithKills(seed, KILLS_PER_RUN, deployments, expected, MODULE);
      assert.ok(kills > 0, 'no kill hit the job');
    });
  }
});
