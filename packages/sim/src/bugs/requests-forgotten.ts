/** When the job stops, those whose checkpoints wait to begin are not told that there will be none. */
import { CheckpointRequests } from '../../../engine/src/checkpoint/checkpoint-requests.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

interface Insides {
  waiting: unknown[];
}

type TakeAll = (this: Insides) => unknown[];

export const requestsForgotten: Bug = {
  name: 'requests-forgotten',
  description: 'requests that wait when the job stops are not answered',
  seedsMax: 100,
  kinds: ['hang', 'checkpoint'],
  workload: 'keyed-counts',
  focus: { strikes: ['task-failure', 'thread-loss'], settings: { 'restart-strategy.type': 'none' } },
  plant: () =>
    replaceMethod<TakeAll>(
      CheckpointRequests,
      'takeAll',
      (original) =>
        function (this: Insides) {
          this.waiting = [];
          return original.call(this);
        },
    ),
};
