/** A task that has ended takes no turns any more, not even to pass a barrier on: no checkpoint completes, nor does the job. */
import { Task } from '../../../engine/src/runtime/task.ts';
import { replaceMethod, undoAll } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

interface Insides {
  readonly isFinished: boolean;
}

type Turn = (this: Insides, nowMs: number, monotonicMs: number) => boolean;
type HasWork = (this: Insides) => boolean;

export const finishedTasksSilent: Bug = {
  name: 'finished-tasks-silent',
  description: 'tasks that have ended do not take part in checkpoints',
  seedsMax: 5,
  kinds: ['hang'],
  workload: 'keyed-counts',
  plant: () =>
    undoAll(
      replaceMethod<Turn>(
        Task,
        'turn',
        (original) =>
          function (this: Insides, nowMs, monotonicMs) {
            return !this.isFinished && original.call(this, nowMs, monotonicMs);
          },
      ),
      replaceMethod<HasWork>(
        Task,
        'hasWork',
        (original) =>
          function (this: Insides) {
            return !this.isFinished && original.call(this);
          },
      ),
    ),
};
