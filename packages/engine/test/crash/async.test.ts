/** The crash suite for asynchronous functions: the process is killed, or a task fails, while calls are in flight. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { ORDERS } from './crash-run.ts';
import { crashTests, inline, workers } from './crash-tests.ts';

describe('asynchronous functions', () => {
  crashTests({
    module: 'async-job.ts',
    claim: 'have the same results',
    hosts: [inline(3), workers(2)],
    seed: 101,
    check(expected) {
      assert.equal(expected.get('looked-up')!.length, ORDERS);
      const windows = expected.get('windows')!.map((line) => JSON.parse(line) as { count: number });
      assert.equal(
        windows.reduce((sum, { count }) => sum + count, 0),
        2 * ORDERS,
        'no result was late',
      );
    },
  });
});
