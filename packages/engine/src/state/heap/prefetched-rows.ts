/**
 * The rows of the next records of a batch, as they were found ahead (prefetch.ts): the look-up of a record whose row is known
 * here compares the key and is done. One of each store that is prefetched.
 *
 * Invariants:
 * I1 While no row of the store was freed since, each of `rows` that is not 0 is the address of a row. Whose row it is, nobody
 *    promises: two keys may have one hash, and records may come in another order. Who takes one compares the key.
 */

/** Records of a batch beyond are not looked up ahead. */
export const BATCH_MAX = 512;

export class PrefetchedRows {
  /** By the position of the record in the batch; 0: there was no row. */
  readonly rows = new Int32Array(BATCH_MAX);
  /** How many there are. */
  count = 0;
  /** Rows that the store had ever freed when these were found. */
  freedRows = 0;
}

/** Of a store that is not prefetched. Never written. */
export const NOTHING_PREFETCHED = new PrefetchedRows();
