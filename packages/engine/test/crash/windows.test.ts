/** The crash suite for windows that keep more than their contents; and the same results on every host. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { crashTests, inline, workers } from './crash-tests.ts';

describe('sessions with early results, count windows, global windows and windows of a whole stream', () => {
  crashTests({
    module: 'window-job.ts',
    claim: 'have the same results',
    hosts: [inline(3), workers(2), workers(3)],
    seed: 91,
    check(expected) {
      const counts = [...expected.values()].map((lines) => lines.length);
      assert.ok(counts.length === 3 && counts.every((count) => count > 100), `${counts} results`);
      const early = expected.get('sessions')!.filter((line) => !line.includes('"firings":1,'));
      assert.ok(early.length > 50, `${early.length} sessions had early results`);
    },
  });
});
