import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runSeed } from '../scenarios/run-seed.ts';
import { KEPT_SEEDS } from './kept-seeds.ts';

for (const { seed, workload, about } of KEPT_SEEDS)
  it(`seed ${seed} of ${workload}: ${about}`, async () => {
    const { finding } = await runSeed(seed, { workload });
    assert.equal(finding, undefined);
  });
