/**
 * Brings the records of a stream back to the job's client: CollectSink. For results that fit into memory, and for tests.
 *
 * Writers hand batches to `SinkContext.deliver` on a channel of this sink's; how they travel from there is the host's
 * business. At the client, CollectedResults takes them up.
 *
 * Guarantee: exactly-once within one run of the program, whose memory is where the results go. With checkpoints a batch is a committable: it is part of the checkpoint and delivered on its
 * commit, so the client never sees results of work that was undone. Without checkpoints batches are delivered as they
 * are written, and a job that begins again makes the client forget what it had (collected-results.ts).
 */
import { MillraceError } from '../../base/index.ts';
import type { Committer, Sink, SinkContext, SinkWriter } from '../../runtime/index.ts';
import type { TypeInformation } from '../../types/index.ts';

const DEFAULT_RECORDS_MAX = 1_000_000;
const BATCH_RECORDS = 1_000;

/** What is delivered: plain data if the records are. */
export interface ResultBatch<T = unknown> {
  /** The same key twice is the same batch: a commit that was repeated after a failure. */
  readonly key: string;
  /** Set for a batch that was delivered as it was written: the attempt of the job that wrote it. */
  readonly uncommittedAttempt: number | undefined;
  readonly values: readonly T[];
}

/** Options of CollectSink. */
export interface CollectSinkOptions<T> {
  /** Of the records: their committables are then encoded by it. */
  readonly type?: TypeInformation<T>;
  /** Most records of one subtask between two checkpoints; default a million. */
  readonly maxRecordsPerCheckpoint?: number;
}

/**
 * Hands results to the program that started the job; `executeAndCollect` and `collectAsync` of a stream are built on
 * it. Exactly-once as long as the program runs; one that goes on from a snapshot gets the records before it again that its
 * predecessor may not have seen.
 */
export class CollectSink<T> implements Sink<T, ResultBatch<T>, never> {
  readonly guarantee = 'exactly-once';
  readonly committableType: TypeInformation<ResultBatch<T>> | undefined;
  /** Unique in the job, and the same in every process that builds it. */
  readonly channelId: string;
  readonly #recordsMax: number;

  constructor(channelId: string, options: CollectSinkOptions<T> = {}) {
    this.channelId = channelId;
    this.#recordsMax = options.maxRecordsPerCheckpoint ?? DEFAULT_RECORDS_MAX;
    this.committableType = options.type === undefined ? undefined : batchType(options.type);
  }

  createWriter(context: SinkContext): SinkWriter<T, ResultBatch<T>, never> {
    return context.checkpointingEnabled
      ? new CommittedResults(context, this.#recordsMax)
      : new ImmediateResults(context, this.channelId);
  }

  createCommitter(context: SinkContext): Committer<ResultBatch<T>> {
    return {
      commit: async (batches) => context.deliver(this.channelId, batches),
      close: () => {},
    };
  }
}

function batchType<T>(type: TypeInformation<T>): TypeInformation<ResultBatch<T>> {
  return {
    description: {
      kind: 'pojo',
      name: 'ResultBatch',
      fields: [
        { name: 'key', type: { kind: 'string' } },
        { name: 'uncommittedAttempt', type: { kind: 'optional', value: { kind: 'long' } } },
        { name: 'values', type: { kind: 'list', element: type.description } },
      ],
    },
    classes: type.classes,
  };
}

/** With checkpoints: a batch for each. */
class CommittedResults<T> implements SinkWriter<T, ResultBatch<T>, never> {
  readonly #context: SinkContext;
  readonly #recordsMax: number;
  #values: T[] = [];

  constructor(context: SinkContext, recordsMax: number) {
    this.#context = context;
    this.#recordsMax = recordsMax;
  }

  write(value: T): void {
    if (this.#values.length >= this.#recordsMax) {
      throw new MillraceError(
        'SINK_WRITE_FAILED',
        `sink "${this.#context.sinkName}": more than ${this.#recordsMax} records to collect since the last checkpoint. ` +
          'Collecting is for small results: write to files instead, take checkpoints more often, or raise ' +
          'maxRecordsPerCheckpoint.',
        { details: { sink: this.#context.sinkName, recordsMax: this.#recordsMax } },
      );
    }
    this.#values.push(value);
  }

  prepareCommit(checkpointId: number): readonly ResultBatch<T>[] {
    if (this.#values.length === 0) return [];
    const values = this.#values;
    this.#values = [];
    const { lineageId, attemptNumber, subtaskIndex, restoredCheckpointId } = this.#context;
    const key = [lineageId, restoredCheckpointId ?? 'new', attemptNumber, checkpointId, subtaskIndex].join(
      '/',
    );
    return [{ key, uncommittedAttempt: undefined, values }];
  }

  close(): void {}
}

/** Without checkpoints: at once, in small batches. */
class ImmediateResults<T> implements SinkWriter<T, ResultBatch<T>, never> {
  readonly #context: SinkContext;
  readonly #channelId: string;
  #values: T[] = [];
  #batches = 0;

  constructor(context: SinkContext, channelId: string) {
    this.#context = context;
    this.#channelId = channelId;
  }

  write(value: T): void {
    this.#values.push(value);
    if (this.#values.length >= BATCH_RECORDS) this.#deliver();
  }

  /** Asked once a batch of input: what came is passed on, so that an endless job shows its results. */
  busy(): undefined {
    this.#deliver();
    return undefined;
  }

  prepareCommit(): readonly ResultBatch<T>[] {
    this.#deliver();
    return [];
  }

  close(): void {}

  #deliver(): void {
    if (this.#values.length === 0) return;
    const values = this.#values;
    this.#values = [];
    const { attemptNumber, subtaskIndex, lineageId } = this.#context;
    const key = [lineageId, attemptNumber, subtaskIndex, this.#batches++].join('/');
    this.#context.deliver(this.#channelId, [{ key, uncommittedAttempt: attemptNumber, values }]);
  }
}
