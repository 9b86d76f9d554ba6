/** Off by one: the last key group of each subtask is not restored, and its keys begin anew. */
import { PageAdoption } from '../../../engine/src/state/heap/page-adoption.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

interface Insides {
  readonly group: number;
  readonly store: { readonly tables: readonly unknown[] };
}

type Run = (this: Insides) => void;

export const lastKeyGroupLeftOut: Bug = {
  name: 'last-key-group-left-out',
  description: 'the last key group of a subtask is not restored',
  seedsMax: 100,
  kinds: ['results', 'hang'],
  workload: 'keyed-counts',
  focus: { strikes: ['task-failure', 'thread-loss', 'process-kill'] },
  plant: () =>
    replaceMethod<Run>(
      PageAdoption,
      'run',
      (original) =>
        function (this: Insides) {
          if (this.group < this.store.tables.length - 1) original.call(this);
        },
    ),
};
