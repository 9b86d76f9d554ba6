/** Checkpoints that are asked for by hand begin at once, however many are under way. */
import { CheckpointRequests } from '../../../engine/src/checkpoint/checkpoint-requests.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

interface Insides {
  readonly waiting: unknown[];
}

type NextRequest = (this: Insides) => unknown;

export const concurrencyUnlimited: Bug = {
  name: 'concurrency-unlimited',
  description: 'checkpoints by hand do not wait while as many as allowed are under way',
  seedsMax: 40,
  kinds: ['checkpoint'],
  workload: 'keyed-counts',
  focus: { strikes: [], settings: { 'execution.checkpointing.interval': 10 } },
  plant: () =>
    replaceMethod<NextRequest>(
      CheckpointRequests,
      'nextRequest',
      () =>
        function (this: Insides) {
          return this.waiting.shift();
        },
    ),
};
