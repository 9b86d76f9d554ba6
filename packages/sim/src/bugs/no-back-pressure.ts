/** A task goes on although its outputs have no room: what it emits piles up beside the rings. */
import { Task } from '../../../engine/src/runtime/task.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

type DrainOutputs = (this: unknown) => boolean;

export const noBackPressure: Bug = {
  name: 'no-back-pressure',
  description: 'tasks go on although their outputs have no room',
  seedsMax: 20,
  kinds: ['memory'],
  workload: 'slow-sink',
  plant: () =>
    replaceMethod<DrainOutputs>(
      Task,
      'drainOutputs',
      (original) =>
        function (this: unknown) {
          original.call(this);
          return true;
        },
    ),
};
