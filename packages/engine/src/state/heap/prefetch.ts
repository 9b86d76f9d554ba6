/**
 * Loads what the next records will need into the processor's caches: first all buckets, then all rows.
 *
 * The loads of one pass do not depend on each other, so that their cache misses overlap; record by record they would
 * queue. How many overlap depends on how few instructions lie between two loads: that is why each pass does one thing.
 * The rows stay with the store, as a hint for the look-ups that follow. Called by the backend once a batch.
 */
import { keyGroupOf } from '../key-group.ts';
import { BATCH_MAX, NOTHING_PREFETCHED, PrefetchedRows } from './prefetched-rows.ts';
import type { RowStore } from './row-store.ts';
import { bucketIndex, EMPTY_TABLE } from './slot-table.ts';

/** A short row is used from its start to here; the two may lie in different cache lines. */
const ROW_USED_WORDS = 6;

export class Prefetch {
  /** Of each key the table of its key group, and where its bucket begins. */
  private readonly tables: Int32Array[] = new Array<Int32Array>(BATCH_MAX).fill(EMPTY_TABLE);
  private readonly indexes = new Int32Array(BATCH_MAX);
  private readonly maxParallelism: number;
  private readonly firstGroup: number;
  /** Means nothing; takes what was loaded, so that no load is optimised away. */
  private loaded = 0;

  constructor(maxParallelism: number, firstGroup: number) {
    this.maxParallelism = maxParallelism;
    this.firstGroup = firstGroup;
  }

  /** Finds and touches the rows of the first `count` keys with these hashes, which may be of any key group. */
  run(store: RowStore, hashes: Int32Array, count: number): void {
    const end = Math.min(count, hashes.length, BATCH_MAX);
    if (store.prefetched === NOTHING_PREFETCHED) store.prefetched = new PrefetchedRows();
    const { prefetched } = store;
    prefetched.count = end;
    prefetched.freedRows = store.freedRows;
    this.findBuckets(store, hashes, end);
    this.touchBuckets(end);
    this.findRows(hashes, end, prefetched.rows);
    this.touchRows(store, end);
  }

  private findBuckets(store: RowStore, hashes: Int32Array, end: number): void {
    const { maxParallelism, firstGroup, tables, indexes } = this;
    const groupCount = store.tables.length;
    for (let i = 0; i < end; i++) {
      const hash = hashes[i]!;
      const group = keyGroupOf(hash, maxParallelism) - firstGroup;
      const table = group >= 0 && group < groupCount ? store.tables[group]! : EMPTY_TABLE;
      tables[i] = table;
      indexes[i] = bucketIndex(hash, table.length);
    }
  }

  private touchBuckets(end: number): void {
    const { tables, indexes } = this;
    let sum = 0;
    for (let i = 0; i < end; i++) sum ^= tables[i]![indexes[i]!]!;
    this.loaded ^= sum;
  }

  private findRows(hashes: Int32Array, end: number, rows: Int32Array): void {
    const { tables, indexes } = this;
    for (let i = 0; i < end; i++) {
      const table = tables[i]!;
      const mask = table.length - 1;
      const hash = hashes[i]!;
      let index = indexes[i]!;
      while (table[index] !== hash && table[index + 1] !== 0) index = (index + 2) & mask;
      rows[i] = table[index + 1]!;
    }
  }

  private touchRows({ words, chunkShift, chunkMask, prefetched: { rows } }: RowStore, end: number): void {
    let sum = 0;
    for (let i = 0; i < end; i++) {
      const row = rows[i]!;
      const chunk = words[row >>> chunkShift]!;
      const at = (row & chunkMask) << 1;
      sum ^= chunk[at]! ^ chunk[at + ROW_USED_WORDS]!;
    }
    this.loaded ^= sum;
  }
}
