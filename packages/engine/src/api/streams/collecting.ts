/**
 * Brings the records of a stream back to the program that made the job: what `executeAndCollect` and `collectAsync` do.
 *
 *     stream ─► CollectSink ─deliver─► the environment ─by channel─► ResultReceiver
 *
 * In a worker thread, which loads the program again to have its functions, the job never starts and nothing comes.
 */
import { MillraceError } from '../../base/index.ts';
import { CollectedResults, CollectSink, type ResultBatch, ResultDelivery } from '../../connectors/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import type { ResultReceiver } from '../job-builder.ts';
import type { JobClient } from '../job-executor.ts';
import { type EndedStream, endIn, sinkOperator } from './data-stream-sink.ts';

/** Ends `stream` in a collect sink whose records go to `receiver`, and answers with that. */
export function collectInto<T, R extends ResultReceiver>(
  stream: EndedStream & { getType(): TypeInformation<T> | undefined },
  receiver: R,
): R {
  const channelId = `collect-${stream.job.graph.nodes.length}`;
  endIn(stream, 'Collect', sinkOperator(new CollectSink<T>(channelId, { type: stream.getType() })));
  stream.job.collect(channelId, receiver);
  return receiver;
}

/** All records of a job that ends, or the first `limit`: then the job is cancelled. */
export class CollectedList<T> implements ResultReceiver {
  readonly #results = new CollectedResults<T>();
  readonly #limit: number;
  readonly #reached = Promise.withResolvers<'reached'>();
  #client: Promise<JobClient> | undefined;

  /** Throws INVALID_ARGUMENT unless the limit, if there is one, is a whole number of at least 1. */
  constructor(limit = Number.POSITIVE_INFINITY) {
    if (!(limit >= 1) || (limit !== Number.POSITIVE_INFINITY && !Number.isSafeInteger(limit))) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `executeAndCollect: the limit must be a whole number of at least 1, found ${String(limit)}`,
      );
    }
    this.#limit = limit;
  }

  accept(batches: readonly unknown[]): void {
    this.#results.accept(batches as readonly ResultBatch<T>[]);
    if (this.#results.values.length >= this.#limit) this.#reached.resolve('reached');
  }

  follow(client: Promise<JobClient>): void {
    this.#client = client;
  }

  /** After the job was started. Rejects with what it failed of. */
  async values(): Promise<T[]> {
    const client = await this.#client!;
    const ended = client.getJobExecutionResult();
    // In this order: in a worker thread both are settled, and the job was cancelled because the limit was reached.
    if ((await Promise.race([this.#reached.promise, ended])) === 'reached') {
      ended.catch(() => {});
      await client.cancel();
    }
    return this.#results.values.slice(0, this.#limit);
  }
}

/** Most records that wait to be asked for. */
const WAITING_MAX = 1_000_000;
/** Once so many were given out, and they are most of the list, their places are given back. */
const GIVEN_MIN = 1000;

/**
 * The records as they come, for `for await`. Ends with the job; throws what the job failed of. Leaving the loop cancels the
 * job. Records that were not asked for wait in memory, a million at most.
 *
 * Guarantee: exactly-once with checkpoints, as long as the program runs; without them a job that is restarted gives its
 * records again, and so does a program that goes on from a snapshot those since the checkpoint before.
 */
export class CollectedStream<T> implements ResultReceiver, AsyncIterableIterator<T, undefined> {
  readonly #delivery = new ResultDelivery<T>();
  #waiting: T[] = [];
  #position = 0;
  #client: Promise<JobClient> | undefined;
  #end: { readonly error: unknown } | undefined;
  #news: PromiseWithResolvers<void> | undefined;

  [Symbol.asyncIterator](): this {
    return this;
  }

  accept(batches: readonly unknown[]): void {
    if (this.#end !== undefined) return;
    const { records, isRestart } = this.#delivery.accept(batches as readonly ResultBatch<T>[]);
    if (isRestart) this.#forget();
    for (const record of records) this.#waiting.push(record);
    if (this.#waiting.length - this.#position > WAITING_MAX) {
      const message = `collectAsync: more than ${WAITING_MAX} records wait to be asked for; write them to a sink instead`;
      this.#finish(new MillraceError('SINK_WRITE_FAILED', message));
      void this.#cancel();
    }
    this.#tell();
  }

  follow(client: Promise<JobClient>): void {
    this.#client = client;
    client
      .then((started) => started.getJobExecutionResult())
      .then(
        () => this.#finish(undefined),
        (error: unknown) => this.#finish(error),
      );
  }

  /** Rejects with INVALID_ARGUMENT before the job was started. */
  async next(): Promise<IteratorResult<T, undefined>> {
    if (this.#client === undefined) {
      const message = 'collectAsync: the records come when the job runs; call executeAsync() before the loop';
      throw new MillraceError('INVALID_ARGUMENT', message);
    }
    while (this.#position === this.#waiting.length) {
      if (this.#end !== undefined) return this.#ended(this.#end.error);
      this.#news ??= Promise.withResolvers<void>();
      await this.#news.promise;
    }
    const value = this.#waiting[this.#position++]!;
    if (this.#position === this.#waiting.length) this.#forget();
    else if (this.#position >= GIVEN_MIN && this.#position * 2 >= this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#position);
      this.#position = 0;
    }
    return { done: false, value };
  }

  /** Cancels the job, if it runs. */
  async return(): Promise<IteratorResult<T, undefined>> {
    this.#forget();
    this.#finish(undefined);
    await this.#cancel();
    return { done: true, value: undefined };
  }

  #forget(): void {
    this.#waiting = [];
    this.#position = 0;
  }

  #ended(error: unknown): IteratorResult<T, undefined> {
    this.#end = { error: undefined };
    if (error !== undefined) throw error;
    return { done: true, value: undefined };
  }

  #finish(error: unknown): void {
    this.#end ??= { error };
    this.#tell();
  }

  #tell(): void {
    this.#news?.resolve();
    this.#news = undefined;
  }

  /** A job that has ended, or never started, is not cancelled. */
  async #cancel(): Promise<void> {
    try {
      await (await this.#client)?.cancel();
    } catch {
      // Its error is that of the job, which whoever started it is told.
    }
  }
}
