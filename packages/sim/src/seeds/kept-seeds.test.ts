import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Focus, runSeed } from '../scenarios/run-seed.ts';
import { KEPT_SEEDS } from './kept-seeds.ts';

for (const { seed, workload, about } of KEPT_SEEDS)
  it(`seed ${seed} of ${workload}: ${about}`, async () => {
    const { finding } = await runSeed(seed, { workload });
    assert.equal(finding, undefined);
  });

/** Under back-pressure the barriers of one checkpoint come far apart: what fails between two of them is seen twice. */
const AT_LEAST_ONCE: Focus = {
  mode: 'at-least-once',
  strikes: ['task-failure', 'process-kill', 'thread-loss'],
  settings: {
    'execution.checkpointing.unaligned.enabled': false,
    'execution.checkpointing.interval': 10,
    'millrace.exchange.segment-size': 128,
  },
};
const SEEDS_MAX = 100;

it(`at least once is not exactly once: of ${SEEDS_MAX} runs one shows a result twice`, async () => {
  let isSeenTwice = false;
  for (let seed = 1; seed <= SEEDS_MAX && !isSeenTwice; seed++) {
    const { finding, coverage } = await runSeed(seed, { workload: 'slow-sink', focus: AT_LEAST_ONCE });
    assert.equal(finding, undefined);
    isSeenTwice = coverage['at least once: not each result once'] !== undefined;
  }
  assert.ok(isSeenTwice);
});
