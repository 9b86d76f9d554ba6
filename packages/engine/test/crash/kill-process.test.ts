/**
 * The crash suite, first part: the whole process is killed with SIGKILL at seeded moments, while the job runs, takes
 * checkpoints and recovers, and is started again from its latest checkpoint, also wider, narrower and on the other host.
 */
import assert from 'node:assert/strict';
import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { runCrashJob } from './child-job.ts';
import { CrashSite, type Deployment, type Results, runWithKills, undisturbedResults } from './crash-run.ts';
import { differences } from './judge.ts';

const KILLS_PER_RUN = 10;
/** Of all kills at least so many must hit a job that is running, or the suite proves little. */
const RUNNING_SHARE_MIN = 0.5;

interface Group {
  readonly what: string;
  readonly seeds: readonly number[];
  readonly deployments: readonly Deployment[];
}

const GROUPS: readonly Group[] = [
  { what: 'in one thread', seeds: [11, 12], deployments: [{ host: 'inline', parallelism: 1 }] },
  {
    what: 'in one thread, three subtasks',
    seeds: [21, 22],
    deployments: [{ host: 'inline', parallelism: 3 }],
  },
  { what: 'in two worker threads', seeds: [31, 32], deployments: [{ host: 'workers', parallelism: 2 }] },
  {
    what: 'with another parallelism and host in each life',
    seeds: [41, 42, 43, 44],
    deployments: [
      { host: 'inline', parallelism: 1 },
      { host: 'workers', parallelism: 3 },
      { host: 'inline', parallelism: 2 },
      { host: 'workers', parallelism: 4 },
    ],
  },
];

describe('a job whose process is killed', () => {
  let expected: Results;
  let kills = 0;
  let killsWhileRunning = 0;

  before(async () => {
    expected = await undisturbedResults();
  });

  for (const { what, seeds, deployments } of GROUPS) {
    for (const seed of seeds) {
      it(`${what}, ends with the results of an undisturbed run (seed ${seed})`, async () => {
        const report = await runWithKills(seed, KILLS_PER_RUN, deployments, expected);
        kills += report.kills;
        killsWhileRunning += report.killsWhileRunning;
      });
    }
  }

  it('was hit while it ran by most kills, and by about as many as were planned', () => {
    const planned = GROUPS.reduce((sum, { seeds }) => sum + seeds.length * KILLS_PER_RUN, 0);
    assert.ok(kills > planned * 0.75, `${kills} of ${planned} kills hit a process`);
    assert.ok(
      killsWhileRunning > kills * RUNNING_SHARE_MIN,
      `${killsWhileRunning} of ${kills} hit a running job`,
    );
  });

  it('would not get away with a result that is there twice, or missing', async () => {
    const site = new CrashSite();
    try {
      await runCrashJob(site.settings({ host: 'inline', parallelism: 1 }, [], 0));
      site.judge(expected, 'before anything is planted');
      const folder = join(site.directory, 'out', 'windows');
      const part = readdirSync(folder).find((name) => name.startsWith('part-'))!;
      copyFileSync(join(folder, part), join(folder, `${part}-again`));
      assert.throws(() => site.judge(expected, 'planted'), /2 instead of 1 times/);
      const short = new Map([...expected].map(([name, lines]) => [name, lines.slice(1)]));
      assert.equal(differences(expected, short).length, expected.size);
    } finally {
      site.remove();
    }
  });
});
