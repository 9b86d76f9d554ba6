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

it('the benchmark nexmark finds the results of all queries, inline and in workers', () => {
  assert.equal(bench('nexmark').length, 1 + 16 * 2);
});

it('the benchmark cold-start finds the result of its job, with and without workers', () => {
  assert.equal(bench('cold-start').length, 1 + 2);
});

it('the benchmark latency counts each record once, at each buffer time-out, with and without checkpoints', () => {
  assert.equal(bench('latency').length, 1 + 4);
});

it('the benchmark recovery finds the counts of before, after a kill and after a failure', () => {
  assert.equal(bench('recovery').length, 1 + 2);
});

it('the benchmark memory finds the state that it should, with both types of keys', () => {
  assert.equal(bench('memory').length, 1 + 4);
});
