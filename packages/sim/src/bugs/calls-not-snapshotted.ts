/** Asynchronous calls that are under way at a barrier are not in the snapshot: their records are lost in a failure. */
import { AsyncWaitOperator } from '../../../engine/src/operators/async/async-wait-operator.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

interface Insides {
  readonly elements: { clear(): void };
}

type SnapshotState = (this: Insides, checkpointId: number) => void;

export const callsNotSnapshotted: Bug = {
  name: 'calls-not-snapshotted',
  description: 'asynchronous calls under way are not in snapshots',
  seedsMax: 30,
  kinds: ['results'],
  workload: 'async-calls',
  focus: { strikes: ['task-failure', 'thread-loss', 'process-kill'] },
  plant: () =>
    replaceMethod<SnapshotState>(
      AsyncWaitOperator,
      'snapshotState',
      (original) =>
        function (this: Insides, checkpointId) {
          original.call(this, checkpointId);
          this.elements.clear();
        },
    ),
};
