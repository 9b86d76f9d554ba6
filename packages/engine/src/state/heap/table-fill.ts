/**
 * Fills the table of a key group with all its rows at once; for a restore. Row by row the table, which is larger than the
 * processor's caches, would be written all over; so the rows are first put in the rough order of their buckets.
 *
 *     add, add, … ─► hashes, rows as they came ─► the same by the top bits of their buckets ─► table, front to back
 *
 * One TableFill serves all key groups of a stream and keeps room for the largest: 16 bytes a row.
 */
import { addSlot, bucketIndex, EMPTY_TABLE } from './slot-table.ts';

/** How many parts of a table are told apart. With more, what is written at a time falls out of the fastest cache. */
const PARTS_LOG2 = 10;
const PARTS = 1 << PARTS_LOG2;
/** The table for fewer rows, up to 512 KB, stays in the cache: they go into it as they come. */
const ROWS_MIN = 48 * 1024;

export class TableFill {
  private table = EMPTY_TABLE;
  private isOrdered = false;
  private count = 0;
  private hashes = new Int32Array(0);
  private rows = new Int32Array(0);
  private orderedHashes = new Int32Array(0);
  private orderedRows = new Int32Array(0);
  private readonly ends = new Int32Array(PARTS);

  /** Begins with a table that has room for `rowCount` rows, which come by `add`. */
  begin(table: Int32Array, rowCount: number): void {
    this.table = table;
    this.count = 0;
    this.isOrdered = rowCount >= ROWS_MIN;
    if (!this.isOrdered || rowCount <= this.rows.length) return;
    this.hashes = new Int32Array(rowCount);
    this.rows = new Int32Array(rowCount);
    this.orderedHashes = new Int32Array(rowCount);
    this.orderedRows = new Int32Array(rowCount);
  }

  /** Takes a row that is not in the table yet. */
  add(hash: number, row: number): void {
    if (!this.isOrdered) return addSlot(this.table, hash, row);
    this.hashes[this.count] = hash;
    this.rows[this.count++] = row;
  }

  /** All rows came, and are in the table now. */
  finish(): void {
    if (!this.isOrdered) return;
    const { table, count, orderedHashes, orderedRows } = this;
    this.order(table.length);
    for (let i = 0; i < count; i++) addSlot(table, orderedHashes[i]!, orderedRows[i]!);
  }

  private order(tableLength: number): void {
    const { hashes, rows, orderedHashes, orderedRows, ends, count } = this;
    const shift = 31 - Math.clz32(tableLength) - PARTS_LOG2;
    ends.fill(0);
    for (let i = 0; i < count; i++) ends[bucketIndex(hashes[i]!, tableLength) >>> shift]!++;
    for (let part = 1; part < PARTS; part++) ends[part]! += ends[part - 1]!;
    // From the back, so that what came first stays first.
    for (let i = count - 1; i >= 0; i--) {
      const hash = hashes[i]!;
      const at = --ends[bucketIndex(hash, tableLength) >>> shift]!;
      orderedHashes[at] = hash;
      orderedRows[at] = rows[i]!;
    }
  }
}
