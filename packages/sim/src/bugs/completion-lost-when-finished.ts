/** Tasks that have ended are not told of checkpoints any more: what their sinks wrote last is never committed. */
import { Task } from '../../../engine/src/runtime/task.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

type Notify = (this: { readonly isFinished: boolean }, checkpointId: number) => Promise<void>;

export const completionLostWhenFinished: Bug = {
  name: 'completion-lost-when-finished',
  description: 'finished tasks do not hear that a checkpoint completed',
  seedsMax: 20,
  kinds: ['results', 'hang'],
  workload: 'keyed-counts',
  plant: () =>
    replaceMethod<Notify>(
      Task,
      'notifyCheckpointComplete',
      (original) =>
        async function (this: { readonly isFinished: boolean }, checkpointId) {
          if (!this.isFinished) await original.call(this, checkpointId);
        },
    ),
};
