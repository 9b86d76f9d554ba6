/**
 * What a job under simulation finds around it: databases that outlive its processes, and places in its own functions where
 * something may go wrong. Made once a run; each process and thread builds the job with it.
 */
import type { Sink } from '@millrace/engine/connector';
import type { SimulatedThread, SimulatedWorld } from '../../../engine/src/testing/simulation/index.ts';
import { TransactionLog } from '../../../engine/src/testing/transaction-log-sink.ts';

/** Where user code can be when something happens to it. */
export type Place =
  | 'open'
  | 'record'
  | 'snapshot'
  | 'complete'
  | 'write'
  | 'prepare'
  | 'commit'
  | 'committed'
  | 'source';

export interface SiteOptions {
  /** Told of each place that user code comes to; may throw. */
  readonly onPlace?: (place: Place) => void;
  /** About how long a call of a database takes. */
  readonly databaseMs?: number;
  /** How long a record keeps the thread of the sink busy. */
  readonly slowSinkMs?: number;
}

export class Site {
  private readonly world: SimulatedWorld;
  private readonly options: SiteOptions;
  private readonly databases = new Map<string, TransactionLog<unknown>>();

  constructor(world: SimulatedWorld, options: SiteOptions = {}) {
    this.world = world;
    this.options = options;
  }

  /** The database of that name. */
  database<T>(name: string): TransactionLog<T> {
    let database = this.databases.get(name);
    if (database === undefined) {
      database = new TransactionLog<unknown>();
      this.databases.set(name, database);
      const delayCommit = (call: string): Promise<void> | undefined =>
        call.startsWith('commit') ? this.world.call(call, this.options.databaseMs ?? 1) : undefined;
      database.interfere = delayCommit;
    }
    return database as TransactionLog<T>;
  }

  /**
   * A transactional sink of that database, for the thread that builds the job now. A record keeps its thread busy for
   * `slowMs`; default: as drawn for all sinks.
   */
  sink<T>(name: string, slowMs = this.options.slowSinkMs ?? 0): Sink<T, string> {
    const inner = this.database<T>(name).sink(this.isAlive());
    return {
      ...inner,
      createWriter: async (context, restored) => {
        const writer = await inner.createWriter(context, restored);
        return {
          ...writer,
          write: (value, timestampMs) => {
            this.pass('write');
            this.world.currentThread?.work(slowMs);
            writer.write(value, timestampMs);
          },
          prepareCommit: (checkpointId, endOfInput) => {
            this.pass('prepare');
            return writer.prepareCommit(checkpointId, endOfInput);
          },
        };
      },
      createCommitter: (context) => {
        const committer = inner.createCommitter!(context);
        return {
          ...committer,
          commit: async (ids, checkpointId) => {
            this.pass('commit');
            await committer.commit(ids, checkpointId);
            this.pass('committed');
          },
        };
      },
    };
  }

  /**
   * The same as it was for checkpoint `checkpointId`, which has just been taken: what belongs to later ones, or to none yet, has
   * not been. Nothing is done to what runs with it.
   */
  asOf(checkpointId: number): Site {
    const { databaseMs, slowSinkMs } = this.options;
    const earlier = new Site(this.world, {
      ...(databaseMs !== undefined && { databaseMs }),
      ...(slowSinkMs !== undefined && { slowSinkMs }),
    });
    for (const [name, { transactions }] of this.databases) {
      const kept = earlier.database(name).transactions;
      for (const [id, transaction] of transactions) {
        const isLater = (transaction.checkpointId ?? Number.POSITIVE_INFINITY) > checkpointId;
        kept.set(id, isLater ? { ...transaction, values: [], state: 'aborted' } : { ...transaction });
      }
    }
    return earlier;
  }

  /** A call of another system by a function, from the thread that runs now: answered after about so long. */
  call(what: string, usualMs: number): Promise<void> {
    return this.world.call(what, usualMs);
  }

  /** User code is at that place now. May throw, and the thread or process may be dead afterwards. */
  pass(place: Place): void {
    this.options.onPlace?.(place);
  }

  /** Asks whether the thread that runs now is still there. */
  private isAlive(): () => boolean {
    const thread: SimulatedThread | undefined = this.world.currentThread;
    return () => thread?.isAlive ?? false;
  }
}
