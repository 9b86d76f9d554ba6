import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runSeed } from './run-seed.ts';
import { runTwice } from './run-twice.ts';

it('a seed gives the same run each time, whatever ran before it', async () => {
  const first = await runSeed(11);
  await runSeed(12);
  const lines: string[] = [];
  const again = await runSeed(11, { onLine: ({ kind }) => void lines.push(kind) });
  const { coverage: _, ...rest } = first;
  const { coverage: __, ...restAgain } = again;
  assert.deepEqual(restAgain, rest);
  assert.equal(lines.filter((kind) => kind !== 'log').length, first.events);
});

it('seeds differ in what they draw and in what happens', async () => {
  const results = [];
  for (let seed = 1; seed <= 5; seed++) results.push(await runTwice(seed));
  assert.equal(new Set(results.map(({ traceHash }) => traceHash)).size, 5);
  assert.equal(new Set(results.map(({ features }) => JSON.stringify(features))).size, 5);
  for (const { seed, finding } of results)
    assert.equal(finding, undefined, `seed ${seed}: ${finding?.message}`);
});

it('a workload that does not exist is refused', async () => {
  await assert.rejects(
    runSeed(1, { workload: 'nothing' }),
    /there is no workload nothing; there are keyed-counts/,
  );
});
