/** The crash suite for state with time-to-live: the process is killed, or a task fails; and the same results on every host. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { ORDERS } from './crash-run.ts';
import { crashTests } from './crash-tests.ts';

describe('state with time-to-live', () => {
  crashTests({
    module: 'ttl-job.ts',
    claim: 'is exact',
    hosts: [],
    seed: 91,
    check(expected) {
      const remembered = expected.get('remember')!.map((line) => JSON.parse(line) as { ids: number[] });
      assert.equal(remembered.length, ORDERS);
      assert.ok(Math.max(...remembered.map(({ ids }) => ids.length)) > 15);
      const forgotten = expected.get('forget')!.map((line) => JSON.parse(line) as { agree: boolean });
      assert.equal(forgotten.filter(({ agree }) => agree).length, ORDERS);
    },
  });
});
