import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runSeed } from '../scenarios/run-seed.ts';
import { AT_LEAST_ONCE, KEPT_SEEDS } from './kept-seeds.ts';

for (const { seed, workload, about } of KEPT_SEEDS)
  it(`seed ${seed} of ${workload}: ${about}`, async () => {
    const { finding } = await runSeed(seed, { workload });
    assert.equal(finding, undefined);
  });

it('at least once is not exactly once: of these runs one shows a result twice', async () => {
  let notOnce = 0;
  for (const [seed, workload] of AT_LEAST_ONCE) {
    const { finding, coverage } = await runSeed(seed, { workload });
    assert.equal(finding, undefined);
    notOnce += coverage['at least once: not each result once'] ?? 0;
  }
  assert.ok(notOnce > 0);
});
