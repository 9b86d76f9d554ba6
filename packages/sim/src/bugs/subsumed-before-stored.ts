/** The last checkpoint is deleted when all tasks have acknowledged the next, which is not durable yet and may never be. */
import { CheckpointCoordinator } from '../../../engine/src/checkpoint/checkpoint-coordinator.ts';
import type { CheckpointAction } from '../../../engine/src/checkpoint/checkpoint-event.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

interface Insides {
  readonly restorePoint: { readonly retainedIds: readonly number[] };
  readonly actions: CheckpointAction[];
}

type StoreNext = (this: Insides) => void;

export const subsumedBeforeStored: Bug = {
  name: 'subsumed-before-stored',
  description: 'older checkpoints are deleted before the newer one is stored',
  seedsMax: 400,
  kinds: ['results', 'unexpected-error'],
  workload: 'keyed-counts',
  focus: { strikes: ['process-kill', 'disk-error', 'disk-late-error'] },
  plant: () =>
    replaceMethod<StoreNext>(
      CheckpointCoordinator,
      'storeNext',
      (original) =>
        function (this: Insides) {
          const before = this.actions.length;
          original.call(this);
          if (!this.actions.slice(before).some(({ type }) => type === 'store')) return;
          for (const checkpointId of this.restorePoint.retainedIds)
            this.actions.push({ type: 'subsume', checkpointId });
        },
    ),
};
