/**
 * A checkpoint goes on when a region fails that had acknowledged it: what the earlier attempt has answered counts, although
 * the region goes back to the checkpoint before.
 */
import { CheckpointCoordinator } from '../../../engine/src/checkpoint/checkpoint-coordinator.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

type Suspend = (failure: string, message: string) => void;

export const regionFailureIgnored: Bug = {
  name: 'region-failure-ignored',
  description: 'acknowledgements of a region that has failed since count',
  seedsMax: 500,
  kinds: ['results', 'unexpected-error'],
  workload: 'regions',
  focus: {
    strikes: ['task-failure', 'thread-loss', 'process-kill'],
    settings: { 'jobmanager.execution.failover-strategy': 'region', 'execution.checkpointing.interval': 10 },
  },
  plant: () =>
    replaceMethod<Suspend>(
      CheckpointCoordinator,
      'suspend',
      (original) =>
        function (this: unknown, failure, message) {
          if (failure !== 'region-failover') original.call(this, failure, message);
        },
    ),
};
