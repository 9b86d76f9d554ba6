/** A job of worker threads and real files is stopped again and again, and goes on from what it was stopped with. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { temporaryFolder } from './small-job.ts';

const JOB = join(import.meta.dirname, 'stopped-job.ts');

function run(folder: string, how: string, streams: 'output' | 'both' = 'output'): string[] {
  const result = spawnSync(process.execPath, ['--conditions=millrace-source', JOB, folder, how], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.equal(result.status, 0, `${how}: ${result.stdout}${result.stderr}`);
  const text = streams === 'both' ? result.stderr + result.stdout : result.stdout;
  return text.trimEnd().split('\n');
}

/** How many numbers were counted; each key from 1 on without a gap or a repetition. */
function counted(folder: string): number {
  const counts = new Map<number, number[]>();
  for (const entry of readdirSync(join(folder, 'counts'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name.startsWith('.')) continue;
    for (const line of readFileSync(join(entry.parentPath, entry.name), 'utf8').trimEnd().split('\n')) {
      const { key, count } = JSON.parse(line) as { key: number; count: number };
      const values = counts.get(key);
      if (values === undefined) counts.set(key, [count]);
      else values.push(count);
    }
  }
  let total = 0;
  for (const [key, values] of counts) {
    values.sort((a, b) => a - b);
    assert.deepEqual(
      values,
      values.map((_, i) => i + 1),
      `key ${key}`,
    );
    total += values.length;
  }
  return total;
}

it('a job that is stopped with a checkpoint, then with a savepoint, goes on each time where it stopped', (t) => {
  const folder = temporaryFolder(t);
  const totals: number[] = [];
  for (const how of ['checkpoint', 'savepoint', 'checkpoint']) {
    const lines = run(folder, how);
    const place = how === 'savepoint' ? /\/savepoints\/savepoint-/ : /\/checkpoints\/[0-9a-f]+\/chk-\d+$/;
    assert.match(lines.find((line) => place.test(line)) ?? lines.join('\n'), place);
    assert.match(lines.at(-1)!, /^FINISHED/);
    totals.push(counted(folder));
  }
  assert.ok(totals[0]! > 0 && totals[1]! > totals[0]! && totals[2]! > totals[1]!, `${totals}`);
});

it('a bounded run ends after so many records of its source, and is over when it is started again', (t) => {
  const folder = temporaryFolder(t);
  const lines = run(folder, 'bounded');
  assert.match(lines.at(-1)!, /^FINISHED .*"done":5000,"total":1000001,"unit":"records"/);
  assert.equal(counted(folder), 5000);
  assert.match(
    run(folder, 'bounded', 'both').join('\n'),
    /Nothing was left to read: job 'stopped' was at its end/,
  );
  assert.equal(counted(folder), 5000);
});
