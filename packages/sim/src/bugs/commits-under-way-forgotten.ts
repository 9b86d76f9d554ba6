/** A snapshot does not hold what is being committed while it is taken: if that commit is interrupted nobody makes up for it. */
import { CommittableLog } from '../../../engine/src/operators/committable-log.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

type Waiting = (this: unknown) => readonly { readonly isTaken: boolean }[];

export const commitsUnderWayForgotten: Bug = {
  name: 'commits-under-way-forgotten',
  description: 'committables are in no snapshot any more once their commit has begun',
  seedsMax: 400,
  kinds: ['results', 'savepoint'],
  workload: 'iterated-state',
  focus: {
    strikes: ['task-failure', 'process-kill', 'thread-loss'],
    settings: { 'execution.checkpointing.interval': 10, 'execution.checkpointing.min-pause': 0 },
  },
  plant: () =>
    replaceMethod<Waiting>(
      CommittableLog,
      'waiting',
      (original) =>
        function (this: unknown) {
          return original.call(this).filter(({ isTaken }) => !isTaken);
        },
    ),
};
