/**
 * The client's side of CollectSink: takes up batches as they are delivered and drops what it has already. Pure.
 *
 * Called by the API with what `SinkContext.deliver` was given on the sink's channel.
 *
 * I1  A key is taken once: a commit repeated after a failure adds nothing. Only the last checkpoints can be committed again,
 *     so KEYS_MAX keys are remembered.
 * I2  Uncommitted batches of an attempt replace those of earlier attempts: without checkpoints the job began again.
 */
import type { ResultBatch } from './collect-sink.ts';

const KEYS_MAX = 100_000;

/** What a delivery brought. */
export interface NewResults<T> {
  readonly records: readonly T[];
  /** True: the job began again, and records of earlier deliveries are void (I2). */
  readonly isRestart: boolean;
}

/** Tells new batches from old ones. */
export class ResultDelivery<T> {
  readonly #keys = new Set<string>();
  #attempt = 0;

  accept(batches: readonly ResultBatch<T>[]): NewResults<T> {
    let isRestart = false;
    let records: T[] = [];
    for (const { key, uncommittedAttempt: attempt, values } of batches) {
      if (attempt !== undefined && attempt < this.#attempt) continue;
      if (attempt !== undefined && attempt > this.#attempt) {
        this.#attempt = attempt;
        isRestart = true;
        records = [];
      }
      if (this.#isKnown(key)) continue;
      for (const value of values) records.push(value);
    }
    return { records, isRestart };
  }

  #isKnown(key: string): boolean {
    if (this.#keys.has(key)) return true;
    if (this.#keys.size >= KEYS_MAX) {
      const [oldest] = this.#keys;
      this.#keys.delete(oldest!);
    }
    this.#keys.add(key);
    return false;
  }
}

/** All results so far. */
export class CollectedResults<T> {
  readonly #delivery = new ResultDelivery<T>();
  #values: T[] = [];

  accept(batches: readonly ResultBatch<T>[]): void {
    const { records, isRestart } = this.#delivery.accept(batches);
    if (isRestart) this.#values = [];
    for (const record of records) this.#values.push(record);
  }

  /** In the order of their arrival. */
  get values(): readonly T[] {
    return this.#values;
  }
}
