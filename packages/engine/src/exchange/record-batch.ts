/**
 * Decoded records on their way from an input gate to an operator: three parallel columns. One batch serves a whole
 * thread; the gate fills it, the caller processes and clears it before the next turn.
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

  constructor(capacity = CAPACITY) {
    this.capacity = capacity;
    this.values = new Array(capacity).fill(undefined);
    this.timestamps = new Float64Array(capacity);
    this.hashes = new Int32Array(capacity);
  }

  /** Empties the batch and lets go of the values, so that they do not live until the next records come. */
  clear(): void {
    for (let i = 0; i < this.count; i++) this.values[i] = undefined;
    this.count = 0;
  }
}
