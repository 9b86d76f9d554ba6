/** A restart does not wait for a checkpoint that is being written: it begins from the one before, and then that one completes. */
import { CheckpointCoordinator } from '../../../engine/src/checkpoint/checkpoint-coordinator.ts';
import type { CheckpointAction } from '../../../engine/src/checkpoint/checkpoint-event.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

interface Insides {
  restorePending: boolean;
  readonly restorePoint: { readonly checkpointId: number | undefined };
  readonly actions: CheckpointAction[];
}

type SettleRestore = (this: Insides) => void;

export const restoreDuringStore: Bug = {
  name: 'restore-during-store',
  description: 'a job is restored from a checkpoint while a newer one is being stored',
  seedsMax: 900,
  kinds: ['results', 'unexpected-error'],
  workload: 'slow-sink',
  focus: {
    strikes: ['task-failure', 'thread-loss', 'disk-hang'],
    settings: { 'execution.checkpointing.data-inline-threshold': 0, 'execution.checkpointing.interval': 10 },
  },
  plant: () =>
    replaceMethod<SettleRestore>(
      CheckpointCoordinator,
      'settleRestore',
      () =>
        function (this: Insides) {
          if (!this.restorePending) return;
          this.restorePending = false;
          this.actions.push({ type: 'readyToRestore', checkpointId: this.restorePoint.checkpointId });
        },
    ),
};
