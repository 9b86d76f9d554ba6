/** The benchmarks run in small size, so that they cannot rot. Their figures mean nothing here; their results are checked. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'node:test';

const root = join(import.meta.dirname, '../../..');

function bench(name: string): string[] {
  const file = join(root, 'scripts/bench.ts');
  const child = spawnSync(process.execPath, ['--conditions=millrace-source', file, name, '--small'], {
    encoding: 'utf8',
  });
  assert.equal(child.status, 0, child.stderr);
  return child.stdout.trimEnd().split('\n');
}

it('the benchmark keyed-count counts right in all its forms', () => {
  assert.equal(bench('keyed-count').length, 1 + 5);
});

it('the benchmark snapshot finds the state that it should', () => {
  assert.equal(bench('snapshot').length, 1 + 1);
});

it('the benchmark checkpoints finds its results with and without them, and under back-pressure', () => {
  assert.equal(bench('checkpoints').length, 1 + 2 + 1 + 1 + 3);
});
