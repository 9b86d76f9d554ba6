/** The same job gives the same result in one thread and in worker threads, at parallelism 1 to 8. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { finish, runCrashJob } from './crash/child-job.ts';
import { CrashSite, type Deployment, type Results, undisturbedResults } from './crash/crash-run.ts';

const PARALLELISMS = [1, 2, 3, 4, 5, 6, 7, 8];

describe('the same job', () => {
  let expected: Results;

  before(async () => {
    expected = await undisturbedResults({ host: 'inline', parallelism: 1 });
    assert.ok([...expected.values()].every((lines) => lines.length > 500));
  });

  async function check(deployment: Deployment): Promise<void> {
    const site = new CrashSite();
    try {
      const end = await runCrashJob(site.settings(deployment, [], 0));
      assert.ok(finish(end) !== undefined, end.errors);
      site.judge(expected, JSON.stringify(deployment));
    } finally {
      site.remove();
    }
  }

  for (const host of ['inline', 'workers'] as const) {
    for (const parallelism of PARALLELISMS) {
      const where = host === 'inline' ? 'in one thread' : 'in worker threads';
      it(`has the same result ${where} at parallelism ${parallelism}`, () => check({ host, parallelism }));
    }
  }
});
