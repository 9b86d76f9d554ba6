/** Several jobs in one module: worker threads run through the calls before theirs, and get the same answers. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'node:test';

it('a job in worker threads sees what the jobs before it in its module answered', () => {
  const script = join(import.meta.dirname, 'two-jobs.ts');
  const { stdout, stderr } = spawnSync(process.execPath, ['--conditions=millrace-source', script], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  const lines = stdout.trimEnd().split('\n');
  const expected = [0.25, 0.5, 0.75, 1].map((share) => `${share} 3 true 7`);
  assert.deepEqual(JSON.parse(lines.at(-1) ?? 'null'), expected, stdout + stderr);
});
