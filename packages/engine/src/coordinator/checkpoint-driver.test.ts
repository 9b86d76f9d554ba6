/** What the driver keeps, and what it may remove. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CheckpointSettings, CompletedSnapshot } from '../checkpoint/index.ts';
import { createManualPlatform } from '../testing/manual-platform.ts';
import { CheckpointDriver } from './checkpoint-driver.ts';

const SETTINGS: CheckpointSettings = {
  intervalMs: 1000,
  mode: 'EXACTLY_ONCE',
  timeoutMs: 1000,
  minPauseMs: 0,
  maxConcurrent: 1,
  tolerableFailures: 0,
  retention: 'DELETE_ON_CANCELLATION',
  retainedCount: 1,
  storage: { kind: 'jobmanager', maxStateSizeBytes: 1000 },
  asyncSnapshots: true,
};

function snapshot(checkpointId: number): CompletedSnapshot {
  return {
    checkpointId,
    kind: 'checkpoint',
    directory: `/checkpoints/job/chk-${checkpointId}`,
  } as CompletedSnapshot;
}

function driver(): CheckpointDriver {
  return new CheckpointDriver({
    platform: createManualPlatform(),
    settings: SETTINGS,
    storage: undefined as never,
    identity: undefined as never,
    tasks: { isOpen: false, trigger: assert.fail, notifyComplete: () => {}, notifyAborted: () => {} },
    failJob: assert.fail,
    statistics: {
      checkpointTriggered: () => {},
      checkpointAcknowledged: () => {},
      checkpointDeclined: () => {},
      checkpointCompleted: () => assert.fail(),
      checkpointFailed: () => assert.fail(),
      checkpointRefused: () => {},
      checkpointDiscarded: () => {},
    },
  });
}

describe('the checkpoint driver', () => {
  it('counts the checkpoints of its job as its own, and the one that it was restored from among them', () => {
    const checkpoints = driver();
    // The list is read from the directory, the other one was opened before: they are two objects.
    checkpoints.restored([snapshot(3), snapshot(4)], snapshot(4));
    assert.deepEqual(
      checkpoints.retained().map(({ checkpointId }) => checkpointId),
      [3, 4],
    );
  });

  it('does not count a snapshot of another job as its own, though it may restore it again', () => {
    const checkpoints = driver();
    checkpoints.restored([], snapshot(7));
    assert.deepEqual(checkpoints.retained(), []);
    assert.equal(checkpoints.snapshotOf(7)?.checkpointId, 7);
  });
});
