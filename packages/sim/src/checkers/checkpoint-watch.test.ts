import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { CheckpointingStatistics } from '@millrace/engine';
import { Coverage } from '../world/coverage.ts';
import { CheckpointWatch } from './checkpoint-watch.ts';

interface Taken {
  readonly id: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The problem of a job with these checkpoints, oldest first. */
function problemOf(taken: readonly Taken[], failed = 0): string | undefined {
  const watch = new CheckpointWatch(20, new Coverage());
  watch.look({
    counts: { restored: 0, failed },
    history: taken.toReversed().map(({ id, fromMs, toMs }) => ({
      id,
      status: 'COMPLETED',
      checkpoint_type: 'CHECKPOINT',
      is_savepoint: false,
      persisted_data: 0,
      trigger_timestamp: fromMs,
      latest_ack_timestamp: toMs,
    })),
  } as unknown as CheckpointingStatistics);
  return watch.problem;
}

const LAST: Taken = { id: 9, fromMs: 1000, toMs: 1001 };

it('a pause counts from the end of a checkpoint', () => {
  const first = { id: 1, fromMs: 0, toMs: 30 };
  assert.equal(problemOf([first, { id: 2, fromMs: 50, toMs: 51 }, LAST]), undefined);
  assert.match(problemOf([first, { id: 2, fromMs: 30, toMs: 51 }, LAST]) ?? '', /0 ms after the end of 1/);
});

it('what a job ends with, and what comes after a failure, waits for no pause', () => {
  const early = [
    { id: 1, fromMs: 0, toMs: 30 },
    { id: 2, fromMs: 31, toMs: 40 },
  ];
  assert.equal(problemOf(early), undefined);
  assert.equal(problemOf([...early, LAST], 1), undefined);
});
