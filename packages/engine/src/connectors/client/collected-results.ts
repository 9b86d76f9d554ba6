/**
 * The client's side of CollectSink: takes up batches as they are delivered and drops what it has already. Pure.
 *
 * Called by the API with what `SinkContext.deliver` was given on the sink's channel.
 *
 * I1  A key is taken once: a commit repeated after a failure adds nothing.
 * I2  Uncommitted batches of an attempt replace those of earlier attempts: without checkpoints the job began again.
 */
import type { ResultBatch } from './collect-sink.ts';

export class CollectedResults<T> {
  readonly #keys = new Set<string>();
  #values: T[] = [];
  #attempt = 0;

  /** Takes up delivered batches; returns the records that are new. */
  accept(batches: readonly ResultBatch<T>[]): T[] {
    const added: T[] = [];
    for (const { key, uncommittedAttempt: attempt, values } of batches) {
      if (attempt !== undefined && attempt < this.#attempt) continue;
      if (attempt !== undefined && attempt > this.#attempt) {
        this.#attempt = attempt;
        this.#values = [];
        added.length = 0;
      }
      if (this.#keys.has(key)) continue;
      this.#keys.add(key);
      for (const value of values) {
        this.#values.push(value);
        added.push(value);
      }
    }
    return added;
  }

  /** All records so far, in the order of their arrival. */
  get values(): readonly T[] {
    return this.#values;
  }
}
