/**
 * Fills the table of a key group with all its rows at once; for a restore. Row by row the table, which is larger than the
 * processor's caches, would be written all over; so the rows are first put in the rough order of their buckets.
 *
 *     add, add, … ─► hashes, rows as they came ─► the same by the top bits of their buckets ─► table, front to back
 *
 * One TableFill serves all key groups of a stream and keeps room for the largest: 16 bytes a row of one key group.
 */
import { addSlot, bucketIndex } from './slot-table.ts';

/** How many parts of a table are told apart. With more, what is written at a time falls out of the fastest cache. */
const PARTS_LOG2 = 10;
const PARTS = 1 << PARTS_LOG2;
/** The table for fewer rows, up to 512 KB, stays in the cache: they go into it as they come. */
const ROWS_MIN = 48 * 1024;

export class TableFill {
  /** How many rows came. */
  count = 0;
  private hashes = new Int32Array(0);
  private rows = new Int32Array(0);
  private orderedHashes = new Int32Array(0);
  private orderedRows = new Int32Array(0);
  private readonly ends = new Int32Array(PARTS);

  /** Begins with a key group of at most so many rows. */
  begin(rowsMax: number): void {
    this.count = 0;
    if (rowsMax <= this.rows.length) return;
    this.hashes = new Int32Array(rowsMax);
    this.rows = new Int32Array(rowsMax);
  }

  add(hash: number, row: number): void {
    this.hashes[this.count] = hash;
    this.rows[this.count++] = row;
  }

  /** Adds the rows to `table`, which has room for them and none of them yet. */
  fill(table: Int32Array): void {
    const isOrdered = this.count >= ROWS_MIN;
    if (isOrdered) this.order(table.length);
    const hashes = isOrdered ? this.orderedHashes : this.hashes;
    const rows = isOrdered ? this.orderedRows : this.rows;
    for (let i = 0; i < this.count; i++) addSlot(table, hashes[i]!, rows[i]!);
  }

  private order(tableLength: number): void {
    if (this.orderedRows.length < this.count) {
      this.orderedHashes = new Int32Array(this.count);
      this.orderedRows = new Int32Array(this.count);
    }
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
