/**
 * Rows of one named state: allocated in pages of their key group, freed, and found by hash and identity.
 *
 * The states put meaning into rows; snapshots and the restore see pages. This file knows size, kind and identity only.
 * Where room comes from, in this order: the free list of the size class; the page being filled; a larger free row, split;
 * a new page. A freed row is joined with the free row behind it; a page whose last row is freed goes back to the store,
 * so that a state which shrinks also shrinks on disk.
 *
 * Invariants:
 * I1 The rows of a page tile it from PAGE_HEAD_UNITS to pageUsed.
 * I2 A free row is in the list of the largest size class that is within it; so a row of a list serves its class.
 * I3 A row's bytes are written only after its page was touched; `allocate` has done it for the new row.
 * I4 Addresses are held by: the table, the cached row of a state, chain links within the key group, the timer heap. Who
 *    moves a row changes all of them.
 */
import type { KeyedStateKind } from '../handles.ts';
import { KeyGroupRows } from './key-group-rows.ts';
import { PAGE_HEAD_UNITS, type PageSizes, PageStore, UNIT_BYTES } from './page-store.ts';
import { NOTHING_PREFETCHED, type PrefetchedRows } from './prefetched-rows.ts';
import { KIND_FREE, KIND_MASK, ROW_WORD_1, ROW_WORD_2, rowWord, UNITS_MASK, unitsOf } from './row-format.ts';
import { CLASS_UNITS, classFor, classWithin, MIN_ROW_UNITS } from './size-class.ts';
import {
  addSlot,
  EMPTY_TABLE,
  grownTable,
  removeSlot,
  replaceSlot,
  reservedTable,
  shrunkTable,
} from './slot-table.ts';

export class RowStore extends PageStore {
  readonly kind: KeyedStateKind;
  /** The table of each key group, counted from the first of the backend. */
  readonly tables: Int32Array[];
  /** The rest of each key group; undefined as long as it has no rows. */
  private readonly groups: (KeyGroupRows | undefined)[];
  /** Entries as users count them: (key, namespace), of a map (key, user key); of timers the live ones. */
  entries = 0;
  /** Units of all rows that are not free. */
  liveUnits = 0;
  /** How many rows were ever freed: who remembers addresses sees by it whether they are still right. */
  freedRows = 0;
  /** The rows of the next records, found ahead. */
  prefetched: PrefetchedRows = NOTHING_PREFETCHED;
  /** Bytes of the largest row for anything of unknown size: at most half a page. */
  readonly inlineBytesMax: number;
  /** Bytes of the largest row at all, for pieces of external values. */
  readonly pieceBytesMax: number;

  constructor(kind: KeyedStateKind, groupCount: number, sizes: PageSizes) {
    super(sizes);
    this.kind = kind;
    this.tables = new Array<Int32Array>(groupCount).fill(EMPTY_TABLE);
    this.groups = new Array<KeyGroupRows | undefined>(groupCount).fill(undefined);
    this.inlineBytesMax = CLASS_UNITS[classWithin(this.pageUnits >> 1)]! * UNIT_BYTES;
    this.pieceBytesMax = CLASS_UNITS[classWithin(this.pageUnits - PAGE_HEAD_UNITS)]! * UNIT_BYTES;
  }

  /** Puts a row into the table of its key group. */
  addToTable(group: number, hash: number, row: number): void {
    const rows = this.rowsOf(group);
    const table = grownTable(this.tables[group]!, rows.count++);
    this.tables[group] = table;
    addSlot(table, hash, row);
  }

  removeFromTable(group: number, hash: number, row: number): void {
    const table = this.tables[group]!;
    removeSlot(table, hash, row);
    this.tables[group] = shrunkTable(table, --this.rowsOf(group).count);
  }

  /** Puts `row` into the place of `oldRow`. */
  replaceInTable(group: number, hash: number, oldRow: number, row: number): void {
    replaceSlot(this.tables[group]!, hash, oldRow, row);
  }

  /** Makes room in the table for `entries` at once; for a restore. */
  reserveTable(group: number, entries: number): void {
    this.tables[group] = reservedTable(this.tables[group]!, entries);
  }

  /** Entries in the table of a key group. */
  entriesOf(group: number): number {
    return this.groups[group]?.count ?? 0;
  }

  /**
   * The row that was found ahead for the record at this position of its batch; 0 if none is known. It may be the row of
   * another key.
   */
  rowAhead(position: number): number {
    const { prefetched } = this;
    if (position < 0 || position >= prefetched.count || prefetched.freedRows !== this.freedRows) return 0;
    return prefetched.rows[position]!;
  }

  /** Key group of the page of `row`, counted from the first. */
  groupOf(row: number): number {
    return this.pageGroup[row >>> this.pageShift]!;
  }

  /** Word 0 of a row. */
  wordOf(row: number): number {
    return this.words[row >>> this.chunkShift]![(row & this.chunkMask) << 1]!;
  }

  /** Reads an i32 of a row at byte `offset`. */
  getInt(row: number, offset: number): number {
    return this.viewOf(row).dv.getInt32(this.offsetOf(row) + offset, true);
  }

  /** Writes an i32 of a row at byte `offset`; touches its page. */
  setInt(row: number, offset: number, value: number): void {
    this.touch(row);
    this.viewOf(row).dv.setInt32(this.offsetOf(row) + offset, value, true);
  }

  /**
   * Allocates a row of at least `bytes` (at most pieceBytesMax) and writes its word 0. The rest of it is undefined; its
   * page is touched.
   */
  allocate(group: number, bytes: number, kind: number, valueOffset: number): number {
    const rows = this.rowsOf(group);
    const sizeClass = classFor((bytes + 7) >> 3);
    let units = CLASS_UNITS[sizeClass]!;
    let row = rows.freeHeads[sizeClass]!;
    if (row !== 0) {
      units = unitsOf(this.wordOf(row));
      this.unlinkFree(rows, row, sizeClass);
      this.touch(row);
    } else if (rows.fillEnd - rows.fillAt >= units) {
      row = this.fill(rows, units);
    } else {
      row = this.takeLarger(rows, sizeClass, units);
      if (row === 0) {
        this.beginPage(group, rows);
        row = this.fill(rows, units);
      } else {
        units = unitsOf(this.wordOf(row));
      }
    }
    this.pageLive[row >>> this.pageShift]!++;
    this.liveUnits += units;
    this.viewOf(row).dv.setInt32(this.offsetOf(row), rowWord(units, kind, valueOffset), true);
    return row;
  }

  /** Frees a row that nothing refers to any more. */
  free(row: number): void {
    this.freedRows++;
    const page = row >>> this.pageShift;
    const rows = this.rowsOf(this.pageGroup[page]!);
    this.touch(row);
    let units = unitsOf(this.wordOf(row));
    this.liveUnits -= units;
    if (--this.pageLive[page]! === 0) {
      this.reclaimPage(rows, page, row);
      return;
    }
    const behind = row + units;
    if (behind < (page << this.pageShift) + this.pageUsed[page]!) {
      const word = this.wordOf(behind);
      const joined = units + unitsOf(word);
      if ((word & KIND_MASK) === KIND_FREE && joined <= UNITS_MASK) {
        this.unlinkFree(rows, behind, classWithin(unitsOf(word)));
        units = joined;
      }
    }
    if (row + units === rows.fillAt) {
      rows.fillAt = row;
      this.setPageUsed(page, row - (page << this.pageShift));
    } else {
      this.linkFree(rows, row, units);
    }
  }

  /** Calls `visit` with each row that is not free, page by page. Rows must not change meanwhile. */
  forEachRow(visit: (row: number, word: number) => void): void {
    for (let page = 0; page < this.pageLimit; page++) {
      const start = page << this.pageShift;
      const end = start + this.pageUsed[page]!;
      for (let row = start + PAGE_HEAD_UNITS; row < end; ) {
        const word = this.wordOf(row);
        if ((word & KIND_MASK) !== KIND_FREE) visit(row, word);
        row += unitsOf(word);
      }
    }
  }

  /** Puts a free row that came with a restored page into the lists. */
  adoptFree(row: number, units: number): void {
    this.linkFree(this.rowsOf(this.groupOf(row)), row, units);
  }

  /** Counts the rows of a restored page: all but the free ones, those in the table, those that users count. */
  adoptCounts(
    page: number,
    counts: { live: number; liveUnits: number; inTable: number; entries: number },
  ): void {
    this.pageLive[page]! += counts.live;
    this.liveUnits += counts.liveUnits;
    this.rowsOf(this.pageGroup[page]!).count += counts.inTable;
    this.entries += counts.entries;
  }

  /** Makes a restored page the one that is filled next in its key group. */
  continuePage(page: number): void {
    const rows = this.rowsOf(this.pageGroup[page]!);
    rows.fillAt = (page << this.pageShift) + this.pageUsed[page]!;
    rows.fillEnd = (page + 1) << this.pageShift;
  }

  private rowsOf(group: number): KeyGroupRows {
    const rows = this.groups[group];
    if (rows !== undefined) return rows;
    const created = new KeyGroupRows();
    this.groups[group] = created;
    return created;
  }

  /** Takes a row from the page being filled. */
  private fill(rows: KeyGroupRows, units: number): number {
    const row = rows.fillAt;
    const page = row >>> this.pageShift;
    this.touch(row);
    rows.fillAt = row + units;
    this.setPageUsed(page, rows.fillAt - (page << this.pageShift));
    return row;
  }

  /** Begins a page. What is left of the one before becomes a free row. */
  private beginPage(group: number, rows: KeyGroupRows): void {
    const left = rows.fillEnd - rows.fillAt;
    if (left >= MIN_ROW_UNITS) this.linkFree(rows, this.fill(rows, left), left);
    const page = this.allocatePage(group);
    rows.fillAt = (page << this.pageShift) + PAGE_HEAD_UNITS;
    rows.fillEnd = (page + 1) << this.pageShift;
  }

  /** Takes the smallest free row above the class, cut to `units` if the rest is a row; 0 if there is none. */
  private takeLarger(rows: KeyGroupRows, sizeClass: number, units: number): number {
    const found = firstClassAbove(rows, sizeClass);
    if (found < 0) return 0;
    const row = rows.freeHeads[found]!;
    const whole = unitsOf(this.wordOf(row));
    this.unlinkFree(rows, row, found);
    this.touch(row);
    const rest = whole - units;
    if (rest >= MIN_ROW_UNITS) {
      this.linkFree(rows, row + units, rest);
      this.viewOf(row).dv.setInt32(this.offsetOf(row), rowWord(units, KIND_FREE, 0), true);
    }
    return row;
  }

  private linkFree(rows: KeyGroupRows, row: number, units: number): void {
    const sizeClass = classWithin(units);
    const view = this.viewOf(row);
    const at = this.offsetOf(row);
    const head = rows.freeHeads[sizeClass]!;
    view.dv.setInt32(at, rowWord(units, KIND_FREE, 0), true);
    view.dv.setInt32(at + ROW_WORD_1, 0, true);
    view.dv.setInt32(at + ROW_WORD_2, head, true);
    if (head !== 0) this.viewOf(head).dv.setInt32(this.offsetOf(head) + ROW_WORD_1, row, true);
    rows.freeHeads[sizeClass] = row;
    if (sizeClass < 32) rows.freeLow |= 1 << sizeClass;
    else rows.freeHigh |= 1 << sizeClass;
  }

  private unlinkFree(rows: KeyGroupRows, row: number, sizeClass: number): void {
    const at = this.offsetOf(row);
    const previous = this.viewOf(row).dv.getInt32(at + ROW_WORD_1, true);
    const next = this.viewOf(row).dv.getInt32(at + ROW_WORD_2, true);
    if (next !== 0) this.viewOf(next).dv.setInt32(this.offsetOf(next) + ROW_WORD_1, previous, true);
    if (previous !== 0) {
      this.viewOf(previous).dv.setInt32(this.offsetOf(previous) + ROW_WORD_2, next, true);
      return;
    }
    rows.freeHeads[sizeClass] = next;
    if (next !== 0) return;
    if (sizeClass < 32) rows.freeLow &= ~(1 << sizeClass);
    else rows.freeHigh &= ~(1 << sizeClass);
  }

  /** All rows of the page are free or `last`: takes them out of the lists. The page being filled is kept, empty. */
  private reclaimPage(rows: KeyGroupRows, page: number, last: number): void {
    const start = page << this.pageShift;
    const end = start + this.pageUsed[page]!;
    for (let row = start + PAGE_HEAD_UNITS; row < end; ) {
      const units = unitsOf(this.wordOf(row));
      if (row !== last) this.unlinkFree(rows, row, classWithin(units));
      row += units;
    }
    if (rows.fillEnd === start + this.pageUnits) {
      rows.fillAt = start + PAGE_HEAD_UNITS;
      this.setPageUsed(page, PAGE_HEAD_UNITS);
    } else {
      this.freePage(page);
    }
  }
}

/** The smallest class above `sizeClass` with free rows; -1 if there is none. */
function firstClassAbove(rows: KeyGroupRows, sizeClass: number): number {
  const low = sizeClass < 31 ? rows.freeLow & (-2 << sizeClass) : 0;
  if (low !== 0) return 31 - Math.clz32(low & -low);
  const high = sizeClass < 32 ? rows.freeHigh : sizeClass < 63 ? rows.freeHigh & (-2 << (sizeClass - 32)) : 0;
  return high === 0 ? -1 : 63 - Math.clz32(high & -high);
}
