/** When barriers stop waiting their turn. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createManualPlatform } from '../testing/manual-platform.ts';
import { CheckpointBudgets } from './checkpoint-budgets.ts';

function fixture(alignedTimeoutMs: number | undefined) {
  const platform = createManualPlatform();
  const spent: number[] = [];
  const budgets = new CheckpointBudgets({
    clock: platform.clock,
    timers: platform.timers,
    alignedTimeoutMs,
    spent: (checkpointId) => spent.push(checkpointId),
  });
  const trigger = (checkpointId: number, kind: 'checkpoint' | 'savepoint' = 'checkpoint'): void =>
    budgets.trigger({ checkpointId, kind, timestampMs: 0 });
  return { platform, spent, budgets, trigger };
}

describe('the budgets of checkpoints', () => {
  it('are spent so long after the process heard of the checkpoint, whatever the wall clock does', () => {
    const { platform, spent, budgets, trigger } = fixture(500);
    platform.advance(100);
    trigger(1);
    platform.setWallMs(0);
    platform.advance(499);
    assert.deepEqual([spent, budgets.triggeredMs(1)], [[], 100]);
    platform.advance(1);
    assert.deepEqual(spent, [1]);
  });

  it('do not exist for savepoints, without a time-out and with none to wait for', () => {
    const some = fixture(500);
    some.trigger(1, 'savepoint');
    const never = fixture(undefined);
    never.trigger(1);
    const atOnce = fixture(0);
    atOnce.trigger(1);
    for (const { platform, spent } of [some, never, atOnce]) {
      assert.equal(platform.timerCount, 0);
      assert.deepEqual(spent, []);
    }
  });

  it('end with the checkpoint, with the process, and with much newer ones', () => {
    const { platform, budgets, trigger } = fixture(500);
    for (const id of [1, 2, 3]) trigger(id);
    budgets.end(1);
    assert.deepEqual([platform.timerCount, budgets.triggeredMs(1)], [2, undefined]);
    trigger(103);
    assert.deepEqual([platform.timerCount, budgets.triggeredMs(2)], [2, undefined]);
    budgets.close();
    assert.equal(platform.timerCount, 0);
  });
});
