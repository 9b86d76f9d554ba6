/** Barriers are not aligned: what comes after one on a fast channel counts in the snapshot, and again after a failure. */
import { ExecutionAttempt } from '../../../engine/src/coordinator/execution-attempt.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

type Deployment = (...parameters: unknown[]) => object;

export const noAlignment: Bug = {
  name: 'no-alignment',
  description: 'tasks go on with channels whose barrier has arrived while they wait for the others',
  seedsMax: 100,
  kinds: ['results'],
  workload: 'slow-sink',
  focus: {
    strikes: ['task-failure', 'process-kill', 'thread-loss'],
    settings: { 'execution.checkpointing.interval': 10, 'execution.checkpointing.unaligned.enabled': false },
  },
  plant: () =>
    replaceMethod<Deployment>(
      ExecutionAttempt,
      'deployment',
      (original) =>
        function (this: unknown, ...parameters) {
          return { ...original.apply(this, parameters), mode: 'AT_LEAST_ONCE', alignedTimeoutMs: undefined };
        },
    ),
};
