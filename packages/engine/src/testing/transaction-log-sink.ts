/**
 * A sink with transactions in the test's memory: what readers of a database would see, and every call in order. The store
 * outlives jobs. Nothing that a dead process does reaches it.
 */
import type { Committer, Sink, SinkContext, SinkWriter } from '../runtime/index.ts';

interface Transaction<T> {
  readonly id: string;
  readonly lineageId: string;
  readonly subtask: number;
  readonly values: T[];
  /** undefined: not prepared yet. */
  checkpointId: number | undefined;
  state: 'begun' | 'prepared' | 'committed' | 'aborted';
}

export class TransactionLog<T> {
  readonly transactions = new Map<string, Transaction<T>>();
  /** `begin 0`, `prepare 0 for 1`, `commit 0`, `abort 1`, … */
  readonly calls: string[] = [];
  /** Asked before each call takes effect; may throw, or return a promise for `commit`. */
  interfere: (call: string) => void | Promise<void> = () => {};

  /** What readers see. */
  committed(): T[] {
    return [...this.transactions.values()].flatMap(({ state, values }) =>
      state === 'committed' ? values : [],
    );
  }

  /** Transactions that are neither committed nor aborted. */
  undecided(): string[] {
    return [...this.transactions.values()].flatMap(({ id, state }) =>
      state === 'begun' || state === 'prepared' ? [id] : [],
    );
  }

  /** A sink of one process, which is asked whether it lives before each call. */
  sink(isAlive: () => boolean = () => true): Sink<T, string> {
    const never = (): Promise<never> => new Promise(() => {});
    return {
      guarantee: 'exactly-once',
      createWriter: (context) => this.writer(context, isAlive),
      createCommitter: (context): Committer<string> => ({
        commit: async (ids) => {
          for (const id of ids) {
            if (!isAlive()) return never();
            await this.interfere(`commit ${id}`);
            if (!isAlive()) return never();
            this.decide('commit', id);
          }
        },
        abortLeftovers: async () => {
          if (!isAlive()) return never();
          for (const transaction of this.transactions.values()) {
            const { lineageId, subtask, state, id, checkpointId = Number.POSITIVE_INFINITY } = transaction;
            const isMine =
              subtask === context.subtaskIndex ||
              (context.subtaskIndex === 0 && subtask >= context.parallelism);
            if (lineageId !== context.lineageId || !isMine) continue;
            // What the restored checkpoint holds may have gone to another subtask, which commits it.
            if (checkpointId <= (context.restoredCheckpointId ?? -1)) continue;
            if (state === 'begun' || state === 'prepared') this.decide('abort', id);
          }
        },
        async close() {},
      }),
    };
  }

  private decide(what: 'commit' | 'abort', id: string): void {
    const transaction = this.transactions.get(id)!;
    this.calls.push(`${what} ${id}`);
    if (what === 'commit' && transaction.state === 'aborted')
      throw new Error(`transaction ${id} was aborted`);
    if (what === 'abort' && transaction.state === 'committed')
      throw new Error(`transaction ${id} was committed`);
    transaction.state = what === 'commit' ? 'committed' : 'aborted';
  }

  private writer(
    { lineageId, subtaskIndex }: SinkContext,
    isAlive: () => boolean,
  ): SinkWriter<T, string, never> {
    let current: Transaction<T> | undefined;
    return {
      write: (value) => {
        if (!isAlive()) return;
        current ??= this.begin(lineageId, subtaskIndex);
        current.values.push(value);
      },
      prepareCommit: (checkpointId) => {
        if (current === undefined || !isAlive()) return [];
        const { id } = current;
        void this.interfere(`prepare ${id}`);
        this.calls.push(`prepare ${id} for ${checkpointId}`);
        current.state = 'prepared';
        current.checkpointId = checkpointId;
        current = undefined;
        return [id];
      },
      async close() {},
    };
  }

  private begin(lineageId: string, subtask: number): Transaction<T> {
    const id = String(this.transactions.size);
    const transaction: Transaction<T> = {
      id,
      lineageId,
      subtask,
      values: [],
      checkpointId: undefined,
      state: 'begun',
    };
    this.transactions.set(id, transaction);
    this.calls.push(`begin ${id}`);
    return transaction;
  }
}
