/** Timers are not part of a snapshot: those that were set before a failure never fire. */
import { StateRegistry } from '../../../engine/src/state/heap/state-registry.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

type SnapshotStates = (this: unknown) => { readonly metadata: { readonly kind: string } }[];

export const timersNotSnapshotted: Bug = {
  name: 'timers-not-snapshotted',
  description: 'timers are not in snapshots',
  seedsMax: 60,
  kinds: ['results', 'hang', 'state'],
  workload: 'timers',
  focus: { strikes: ['task-failure', 'thread-loss', 'process-kill'] },
  plant: () =>
    replaceMethod<SnapshotStates>(
      StateRegistry,
      'snapshotStates',
      (original) =>
        function (this: unknown) {
          return original.call(this).filter(({ metadata }) => metadata.kind !== 'timers');
        },
    ),
};
