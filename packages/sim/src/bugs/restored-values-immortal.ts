/** Time-to-live is forgotten at a restore: values that come from a snapshot never expire, and are read for ever. */
import { StateRegistry } from '../../../engine/src/state/heap/state-registry.ts';
import { StateTtl } from '../../../engine/src/state/heap/state-ttl.ts';
import { replaceMethod, undoAll } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

interface RestoredState {
  readonly parts: readonly { readonly store: object }[];
}

type Adopt = (this: unknown, states: readonly RestoredState[]) => void;
type IsExpired = (this: unknown, store: object, row: number) => boolean;

export const restoredValuesImmortal: Bug = {
  name: 'restored-values-immortal',
  description: 'values of a restored state are read after their time-to-live',
  seedsMax: 60,
  kinds: ['results'],
  workload: 'time-to-live',
  focus: { strikes: ['task-failure', 'thread-loss', 'process-kill'] },
  plant: () => {
    const restored = new WeakSet<object>();
    return undoAll(
      replaceMethod<Adopt>(
        StateRegistry,
        'adopt',
        (original) =>
          function (this: unknown, states) {
            for (const { store } of states.flatMap(({ parts }) => parts)) restored.add(store);
            original.call(this, states);
          },
      ),
      replaceMethod<IsExpired>(
        StateTtl,
        'isExpired',
        (original) =>
          function (this: unknown, store, row) {
            return !restored.has(store) && original.call(this, store, row);
          },
      ),
    );
  },
};
