/** A committer that is asked to commit again what it has committed does so: results are there twice after a failure. */
import { TransactionLog } from '../../../engine/src/testing/transaction-log-sink.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

interface Insides {
  readonly transactions: ReadonlyMap<string, { readonly state: string; readonly values: unknown[] }>;
}

type Decide = (this: Insides, what: string, id: string) => void;

export const committerNotIdempotent: Bug = {
  name: 'committer-not-idempotent',
  description: 'to commit a transaction twice shows its results twice',
  seedsMax: 60,
  kinds: ['results'],
  workload: 'keyed-counts',
  focus: { strikes: ['task-failure', 'thread-loss', 'process-kill'] },
  plant: () =>
    replaceMethod<Decide>(
      TransactionLog,
      'decide',
      (original) =>
        function (this: Insides, what, id) {
          const { state, values } = this.transactions.get(id)!;
          if (what === 'commit' && state === 'committed') values.push(...values);
          original.call(this, what, id);
        },
    ),
};
