/**
 * Some thousand runs of the simulator, and the search for the bugs on purpose, as `npm run sim` does them: in processes of
 * their own, because the hooks of the test runner make promises three times as slow.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'node:test';
import { BUGS } from '../src/index.ts';

const MAIN = join(import.meta.dirname, '../../../scripts/sim/main.ts');
const DEADLINE_MS = 280_000;

function sim(...options: readonly string[]): { readonly output: string; readonly status: number | null } {
  const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--conditions=millrace-source', MAIN, ...options],
    { env, encoding: 'utf8', timeout: DEADLINE_MS },
  );
  return { output: stdout + stderr, status };
}

it('nothing is found in two thousand bad days', () => {
  const { output, status } = sim('--seeds', '1..2000', '--jobs', '2');
  const found = output.indexOf('FOUND');
  assert.equal(status, 0, found < 0 ? output : output.slice(found));
  // What never happens proves nothing.
  for (const strike of [
    'task-failure',
    'thread-loss',
    'process-kill',
    'power-failure',
    'disk-error',
    'double-start',
  ])
    assert.match(output, new RegExp(`strikes \\(${strike}\\)`));
});

it('every bug on purpose is found', () => {
  const { output, status } = sim('--bugs', '--jobs', '2');
  assert.equal(status, 0, output);
  for (const { name } of BUGS) assert.match(output, new RegExp(`^${name} +\\d+ `, 'm'));
});

it('wrong arguments are refused with the usage', () => {
  for (const wrong of [
    ['--seeds', '5'],
    ['--jobs', '0'],
    ['--seed', 'x'],
    ['--workload', 'nothing'],
    ['--minutes', '-1'],
  ]) {
    const { output, status } = sim(...wrong);
    assert.equal(status, 2, wrong.join(' '));
    assert.match(output, /npm run sim/);
  }
});
