/** A checkpoint holds what the enumerator had at the one before: splits that were given out since are in it twice. */
import { SourceCoordinator } from '../../../engine/src/coordinator/source-coordinator.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

type Snapshot = (this: object) => Uint8Array;

export const splitsOfLastTime: Bug = {
  name: 'splits-of-last-time',
  description: 'of enumerators a checkpoint holds the state of the checkpoint before',
  seedsMax: 10,
  kinds: ['splits'],
  workload: 'keyed-counts',
  plant: () => {
    const last = new WeakMap<object, Uint8Array>();
    return replaceMethod<Snapshot>(
      SourceCoordinator,
      'snapshot',
      (original) =>
        function (this: object) {
          const now = original.call(this);
          const before = last.get(this) ?? now;
          last.set(this, now);
          return before;
        },
    );
  },
};
