import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keptAtEnd, retainNewest } from './retention.ts';

const RETENTIONS = [
  'NO_EXTERNALIZED_CHECKPOINTS',
  'DELETE_ON_CANCELLATION',
  'RETAIN_ON_CANCELLATION',
] as const;

test('the newest are kept, whatever the order in which they completed', () => {
  assert.deepEqual(retainNewest([3, 1, 2], 2), { kept: [2, 3], subsumed: [1] });
  assert.deepEqual(retainNewest([3], 5), { kept: [3], subsumed: [] });
  assert.deepEqual(retainNewest([3, 4], 0), { kept: [4], subsumed: [3] });
});

test('what stays at the end depends on the end, the retention, and whether the job is gone on with', () => {
  const table = (goesOn: boolean) =>
    Object.fromEntries(
      (['FINISHED', 'CANCELED', 'FAILED', 'SUSPENDED'] as const).map((end) => [
        end,
        RETENTIONS.map((retention) => keptAtEnd(end, retention, goesOn)),
      ]),
    );
  assert.deepEqual(table(false), {
    FINISHED: ['none', 'none', 'none'],
    CANCELED: ['none', 'none', 'all'],
    FAILED: ['none', 'all', 'all'],
    SUSPENDED: ['all', 'all', 'all'],
  });
  assert.deepEqual(table(true), {
    FINISHED: ['newest', 'newest', 'newest'],
    CANCELED: ['none', 'none', 'all'],
    FAILED: ['newest', 'all', 'all'],
    SUSPENDED: ['all', 'all', 'all'],
  });
});
