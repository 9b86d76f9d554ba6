/** Copy-on-write is forgotten where map entries are removed: a snapshot that is being written loses them. */
import { HeapMapState } from '../../../engine/src/state/heap/heap-map-state.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

interface Insides {
  readonly store: { touch(address: number): void };
}

type Remove = (this: Insides, key: unknown) => void;

export const deletesNotCopied: Bug = {
  name: 'deletes-not-copied',
  description: 'pages are not copied for a snapshot before an entry of a map is removed from them',
  seedsMax: 300,
  kinds: ['results', 'unexpected-error', 'state'],
  workload: 'iterated-state',
  focus: {
    strikes: ['task-failure', 'process-kill', 'thread-loss', 'thread-stall'],
    settings: { 'execution.checkpointing.interval': 10, 'execution.checkpointing.min-pause': 0 },
  },
  plant: () =>
    replaceMethod<Remove>(
      HeapMapState,
      'remove',
      (original) =>
        function (this: Insides, key) {
          const { store } = this;
          const { touch } = store;
          store.touch = () => {};
          try {
            original.call(this, key);
          } finally {
            store.touch = touch;
          }
        },
    ),
};
