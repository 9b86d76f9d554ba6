/** The crash suite for joins: the process is killed, or a task fails; and the same results on every host. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { crashTests, inline, workers } from './crash-tests.ts';

describe('window joins, co-groups and interval joins', () => {
  crashTests({
    module: 'join-job.ts',
    claim: 'have the same results',
    hosts: [inline(3), workers(2), workers(3)],
    seed: 81,
    check(expected) {
      const counts = [...expected.values()].map((lines) => lines.length);
      assert.ok(counts.length === 3 && counts.every((count) => count > 500), `${counts} results`);
    },
  });
});
