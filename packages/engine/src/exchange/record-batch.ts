/**
 * Records as objects: three parallel columns. One batch serves a whole thread on the way from its input gates to its
 * operators; a gate fills it, the caller processes and clears it before the next turn. Others are what lent records wait in.
 */

/** How many records are decoded at a time unless the caller says otherwise: enough for the prefetch of keyed state. */
const CAPACITY = 256;

export class RecordBatch {
  readonly capacity: number;
  readonly values: unknown[];
  readonly timestamps: Float64Array;
  /** Key hashes; meaningless for records of an edge that is not hashed. */
  readonly hashes: Int32Array;
  /** Records in the batch, from index 0 on. */
  count = 0;
  /** How many there are to be at most: the capacity, or fewer. */
  limit: number;

  constructor(capacity = CAPACITY) {
    this.capacity = capacity;
    this.limit = capacity;
    this.values = new Array(capacity).fill(undefined);
    this.timestamps = new Float64Array(capacity);
    this.hashes = new Int32Array(capacity);
  }

  /** Adds a record; there must be room. */
  add(value: unknown, timestampMs: number, hash: number): void {
    const at = this.count++;
    this.values[at] = value;
    this.timestamps[at] = timestampMs;
    this.hashes[at] = hash;
  }

  /** Moves records from index `first` on to `batch`, which is empty, as far as it has room. Answers how many. */
  moveTo(batch: RecordBatch, first: number): number {
    const { values, timestamps, hashes } = this;
    const count = Math.min(this.count - first, batch.capacity);
    for (let i = 0; i < count; i++) {
      const from = first + i;
      batch.values[i] = values[from];
      batch.timestamps[i] = timestamps[from]!;
      batch.hashes[i] = hashes[from]!;
      values[from] = undefined;
    }
    batch.count = count;
    return count;
  }

  /** Empties the batch and lets go of the values, so that they do not live until the next records come. */
  clear(): void {
    for (let i = 0; i < this.count; i++) this.values[i] = undefined;
    this.count = 0;
  }
}
