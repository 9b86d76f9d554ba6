/** What was written for a checkpoint that was given up stays on the disk for ever. */
import { CheckpointDriver } from '../../../engine/src/coordinator/checkpoint-driver.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

interface Insides {
  readonly pending: Map<number, unknown>;
  handle(event: { readonly type: 'discarded'; readonly checkpointId: number }): void;
}

type RemoveFiles = (this: Insides, checkpointId: number) => Promise<void>;

export const abortedFilesStay: Bug = {
  name: 'aborted-files-stay',
  description: 'files of aborted checkpoints are not removed',
  seedsMax: 100,
  kinds: ['files'],
  workload: 'keyed-counts',
  focus: {
    strikes: ['task-failure', 'thread-loss', 'thread-stall'],
    settings: { 'execution.checkpointing.interval': 10, 'execution.checkpointing.data-inline-threshold': 0 },
  },
  plant: () =>
    replaceMethod<RemoveFiles>(
      CheckpointDriver,
      'removeFiles',
      () =>
        async function (this: Insides, checkpointId) {
          this.pending.delete(checkpointId);
          this.handle({ type: 'discarded', checkpointId });
        },
    ),
};
