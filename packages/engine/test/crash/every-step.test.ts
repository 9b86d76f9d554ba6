/**
 * The crash suite, third part: moments one after the other instead of at random. A small job is killed before its operations
 * on files; also with a power failure, which takes what was not synced, or some of it. `every: 1` goes through them all.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { SweepPlan, SweepReport } from './every-step-sweep.ts';

const SWEEP = join(import.meta.dirname, 'every-step-sweep.ts');
const DEADLINE_MS = 120_000;

function run(plan: SweepPlan): SweepReport {
  const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--conditions=millrace-source', SWEEP, JSON.stringify(plan)],
    { env, encoding: 'utf8', timeout: DEADLINE_MS },
  );
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout) as SweepReport;
}

describe('a job that is killed before its operations on files', () => {
  for (const [what, plan, killsMin] of [
    ['the process is killed before every second one', { fails: 'process', first: 1, every: 2 }, 200],
    [
      'the power fails before every fifth, and takes all that was not synced',
      { fails: 'power', first: 2, every: 5 },
      60,
    ],
    [
      'the power fails before every fifth, and takes some of that',
      { fails: 'power-partly', first: 4, every: 5 },
      60,
    ],
  ] as const) {
    it(`ends with the results of an undisturbed run, when ${what}`, () => {
      const { lines, kills, findings } = run(plan);
      assert.deepEqual(findings, []);
      assert.ok(lines > 60, `${lines} results`);
      assert.ok(kills >= killsMin, `${kills} kills`);
    });
  }
});
