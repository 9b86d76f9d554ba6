/** Failover by region in worker threads: each part has threads of its own. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { temporaryFolder } from './small-job.ts';

interface Noted {
  readonly value: number;
  readonly attempt: number;
}

function notedIn(folder: string): Noted[] {
  return readdirSync(folder)
    .filter((name) => name.startsWith('part-'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Noted)
    .sort((a, b) => a.value - b.value);
}

it('a part of a job that throws, and then loses its thread, restarts alone and repeats nothing', (t) => {
  const folder = temporaryFolder(t);
  const script = join(import.meta.dirname, 'two-regions-job.ts');
  const { stdout, stderr } = spawnSync(process.execPath, ['--conditions=millrace-source', script, folder], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.deepEqual(
    JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? 'null'),
    { restarts: 2, status: 'FINISHED' },
    stdout + stderr,
  );
  const numbers = Array.from({ length: 1200 }, (_, i) => i + 1);
  const [left, right] = [notedIn(join(folder, 'left')), notedIn(join(folder, 'right'))];
  assert.deepEqual(
    left.map(({ value }) => value),
    numbers,
  );
  assert.deepEqual(
    right.map(({ value }) => value),
    numbers,
  );
  assert.deepEqual([...new Set(right.map(({ attempt }) => attempt))], [0]);
  assert.deepEqual([...new Set(left.map(({ attempt }) => attempt))].sort(), [0, 1, 2]);
  assert.match(
    stderr,
    /Of job 'two regions' the part of 'left' failed and starts again from checkpoint \d+ in 30 ms/,
  );
  assert.match(
    stderr,
    /The thread of slot [01] of region 0 of job 'two regions' is gone: it ended with exit code 3/,
  );
});
