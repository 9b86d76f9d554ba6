/**
 * A sink that a test looks into: exactly-once, by transactions in memory. It lies outside the job, like a database: what
 * is committed stays, what a killed job had not committed is gone.
 */
import type { Committer, Sink, SinkContext, SinkWriter } from '../../runtime/index.ts';

/** Records of one subtask between two barriers. */
interface Transaction<T> {
  readonly id: string;
  readonly lineageId: string;
  readonly subtask: number;
  readonly values: T[];
}

interface Entry<T> extends Transaction<T> {
  state: 'open' | 'committed' | 'aborted';
}

/** Collects the records of a stream. The same object may stand behind one job after the other, as a table does. */
export class TestSink<T> implements Sink<T, Transaction<T>, never> {
  readonly guarantee = 'exactly-once';
  readonly #transactions = new Map<string, Entry<T>>();

  /** Everything that was written, committed or not, in the order of arrival at each subtask. */
  get values(): T[] {
    return this.#valuesOf(({ state }) => state !== 'aborted');
  }

  /** What a reader with READ COMMITTED sees: what completed checkpoints, or the end of the job, made final. */
  get committed(): T[] {
    return this.#valuesOf(({ state }) => state === 'committed');
  }

  createWriter({ lineageId, subtaskIndex: subtask }: SinkContext): SinkWriter<T, Transaction<T>, never> {
    let current: Transaction<T> | undefined;
    return {
      write: (value) => {
        current ??= this.#begin(lineageId, subtask);
        current.values.push(value);
      },
      prepareCommit() {
        const prepared = current === undefined ? [] : [current];
        current = undefined;
        return prepared;
      },
      close() {},
    };
  }

  createCommitter({ lineageId, subtaskIndex, parallelism }: SinkContext): Committer<Transaction<T>> {
    return {
      // What another sink had prepared when the snapshot was taken is this sink's now.
      commit: async (transactions) => {
        for (const { id, ...rest } of transactions) {
          const known = this.#transactions.get(id);
          if (known === undefined) this.#transactions.set(id, { id, ...rest, state: 'committed' });
          else known.state = 'committed';
        }
      },
      abortLeftovers: async () => {
        for (const transaction of this.#transactions.values()) {
          const { subtask, state } = transaction;
          const isMine = subtask === subtaskIndex || (subtaskIndex === 0 && subtask >= parallelism);
          if (transaction.lineageId === lineageId && isMine && state === 'open')
            transaction.state = 'aborted';
        }
      },
      async close() {},
    };
  }

  #begin(lineageId: string, subtask: number): Transaction<T> {
    const id = `${lineageId}/${subtask}/${this.#transactions.size}`;
    const entry: Entry<T> = { id, lineageId, subtask, values: [], state: 'open' };
    this.#transactions.set(id, entry);
    return entry;
  }

  #valuesOf(isWanted: (transaction: Entry<T>) => boolean): T[] {
    return [...this.#transactions.values()].flatMap((each) => (isWanted(each) ? each.values : []));
  }
}
