/** A job that goes on from a checkpoint counts its own from 1 again: they overwrite the older ones, or look older. */
import { CheckpointCoordinator } from '../../../engine/src/checkpoint/checkpoint-coordinator.ts';
import type { CheckpointEvent } from '../../../engine/src/checkpoint/checkpoint-event.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

type Apply = (this: { nextId: number }, event: CheckpointEvent) => void;

export const idsBeginAnew: Bug = {
  name: 'ids-begin-anew',
  description: 'after a restore ids of checkpoints are given a second time',
  seedsMax: 60,
  kinds: ['checkpoint-id', 'unexpected-error', 'results'],
  workload: 'keyed-counts',
  focus: { strikes: ['process-kill', 'power-failure'] },
  plant: () =>
    replaceMethod<Apply>(
      CheckpointCoordinator,
      'apply',
      (original) =>
        function (this: { nextId: number }, event) {
          const { nextId } = this;
          original.call(this, event);
          if (event.type === 'restored' || event.type === 'idsTaken') this.nextId = nextId;
        },
    ),
};
