/** A sink that commits what a barrier closes at once, not when the checkpoint is complete: it is there again after a failure. */
import { SinkOperator } from '../../../engine/src/operators/sink-operator.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

interface Insides {
  readonly log: { take(checkpointId: number): unknown };
  commit(entries: unknown): Promise<void>;
}

type SnapshotState = (this: Insides, checkpointId: number) => Promise<unknown>;

export const commitBeforeCompletion: Bug = {
  name: 'commit-before-completion',
  description: 'sinks commit at the barrier, not after the checkpoint completed',
  seedsMax: 60,
  kinds: ['results', 'unexpected-error'],
  workload: 'keyed-counts',
  focus: { strikes: ['task-failure', 'thread-loss', 'process-kill'] },
  plant: () =>
    replaceMethod<SnapshotState>(
      SinkOperator,
      'snapshotState',
      (original) =>
        async function (this: Insides, checkpointId) {
          const parts = await original.call(this, checkpointId);
          await this.commit(this.log.take(checkpointId));
          return parts;
        },
    ),
};
