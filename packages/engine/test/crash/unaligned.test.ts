/** The crash suite for unaligned checkpoints: what was in flight is restored, at another parallelism and on another host. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { crashTests, inline, workers } from './crash-tests.ts';

describe('totals, windows and joins with full rings and barriers that overtake', () => {
  crashTests({
    module: 'unaligned-job.ts',
    claim: 'have the same results',
    hosts: [inline(3), workers(2), workers(3)],
    seed: 131,
    check(expected) {
      const counts = [...expected.values()].map((lines) => lines.length);
      assert.ok(counts.length === 2 && counts.every((count) => count > 1000), `${counts} results`);
    },
  });
});
