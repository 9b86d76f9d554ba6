/**
 * A sink with transactions in the memory of the test, which sees what readers would see and every call, and in which the
 * test lets things go wrong at a chosen call. The store outlives the job, as a database would.
 */
import type { Committer, Sink, SinkContext, SinkWriter } from '@millrace/engine/connector';

/** `begin`: made by a writer. `prepared`: handed out. `committed`: readers see it. `aborted`: gone. */
type TransactionState = 'begun' | 'prepared' | 'committed' | 'aborted';

interface Transaction<T> {
  readonly id: string;
  readonly subtask: number;
  readonly values: T[];
  state: TransactionState;
}

/** Asked before each call takes effect, and after; may throw. */
export type Interference = (
  call: 'prepare' | 'prepared' | 'commit' | 'committed',
  subtask: number,
  id: string,
) => void;

export class TransactionStore<T> {
  readonly transactions = new Map<string, Transaction<T>>();
  readonly log: string[] = [];
  interfere: Interference = () => {};
  #count = 0;

  /** What readers see. */
  committed(): T[] {
    return [...this.transactions.values()]
      .filter(({ state }) => state === 'committed')
      .flatMap(({ values }) => values);
  }

  /** Transactions that nobody has decided about. */
  open(): string[] {
    return [...this.transactions.values()]
      .filter(({ state }) => state === 'begun' || state === 'prepared')
      .map(({ id }) => id);
  }

  begin(lineage: string, subtask: number): Transaction<T> {
    const id = `${lineage}/${subtask}/${this.#count++}`;
    const transaction: Transaction<T> = { id, subtask, values: [], state: 'begun' };
    this.transactions.set(id, transaction);
    return transaction;
  }

  prepare(transaction: Transaction<T>): void {
    this.interfere('prepare', transaction.subtask, transaction.id);
    this.log.push(`prepare ${transaction.id}`);
    transaction.state = 'prepared';
    this.interfere('prepared', transaction.subtask, transaction.id);
  }

  commit(subtask: number, id: string): void {
    this.interfere('commit', subtask, id);
    const transaction = this.transactions.get(id);
    this.log.push(`commit ${id}`);
    if (transaction === undefined || transaction.state === 'aborted') {
      throw new Error(
        `transaction ${id} is gone (timed out?): its ${transaction?.values.length ?? 0} results are lost`,
      );
    }
    transaction.state = 'committed';
    this.interfere('committed', subtask, id);
  }

  abort(transaction: Transaction<T>): void {
    this.log.push(`abort ${transaction.id}`);
    transaction.state = 'aborted';
  }

  /** As the database does when nobody commits for too long. */
  timeOut(): void {
    for (const transaction of this.transactions.values())
      if (transaction.state === 'prepared') transaction.state = 'aborted';
  }
}

export class TransactionalSink<T> implements Sink<T, string, never> {
  readonly guarantee = 'exactly-once';
  readonly #store: TransactionStore<T>;

  constructor(store: TransactionStore<T>) {
    this.#store = store;
  }

  createWriter({ lineageId, subtaskIndex }: SinkContext): SinkWriter<T, string, never> {
    const store = this.#store;
    let transaction: Transaction<T> | undefined;
    return {
      write(value) {
        transaction ??= store.begin(lineageId, subtaskIndex);
        transaction.values.push(value);
      },
      prepareCommit() {
        const prepared = transaction;
        transaction = undefined;
        if (prepared === undefined) return [];
        store.prepare(prepared);
        return [prepared.id];
      },
      close() {},
    };
  }

  createCommitter({ lineageId, subtaskIndex, parallelism }: SinkContext): Committer<string> {
    const store = this.#store;
    return {
      async commit(ids) {
        for (const id of ids) store.commit(subtaskIndex, id);
      },
      /** Its own, and those of subtasks that are no more: what the restored checkpoint holds is committed by now. */
      async abortLeftovers() {
        for (const transaction of store.transactions.values()) {
          const isOurs = transaction.id.startsWith(`${lineageId}/`);
          const isMine =
            transaction.subtask === subtaskIndex ||
            (subtaskIndex === 0 && transaction.subtask >= parallelism);
          const isOpen = transaction.state === 'begun' || transaction.state === 'prepared';
          if (isOurs && isMine && isOpen) store.abort(transaction);
        }
      },
      close() {},
    };
  }
}
