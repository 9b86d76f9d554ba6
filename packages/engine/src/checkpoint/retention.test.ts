import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepsCheckpoints, retainNewest } from './retention.ts';

test('the newest are kept, whatever the order in which they completed', () => {
  assert.deepEqual(retainNewest([3, 1, 2], 2), { kept: [2, 3], subsumed: [1] });
  assert.deepEqual(retainNewest([3], 5), { kept: [3], subsumed: [] });
  assert.deepEqual(retainNewest([3, 4], 0), { kept: [4], subsumed: [3] });
});

test('checkpoints stay after a failure and a suspension, go when the job is finished, and follow the setting on cancel', () => {
  const kept = (['FINISHED', 'CANCELED', 'FAILED', 'SUSPENDED'] as const).map((end) => [
    keepsCheckpoints(end, 'DELETE_ON_CANCELLATION'),
    keepsCheckpoints(end, 'RETAIN_ON_CANCELLATION'),
  ]);
  assert.deepEqual(kept, [
    [false, false],
    [false, true],
    [true, true],
    [true, true],
  ]);
});
