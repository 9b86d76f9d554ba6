/**
 * Makes page images of a snapshot part of a row store: checks that they are sound, corrects links, rebuilds the tables.
 *
 * The restore has put the images into fresh pages; this runs once per key group, over all pages of one state in it. It
 * knows the format of rows but no types. What it lets pass cannot make later code read wildly or run for ever, whatever
 * the bytes were; values that make no sense remain possible.
 *
 * Invariants:
 * I1 Rows tile each page and have room for what their kind says.
 * I2 Each link leads to the start of a row of the right kind in the same key group. Each row is led to by at most one
 *    forward link, and heads by none: so a chain from a head ends.
 * I3 Backward links, ends and counts of chains agree with the forward links.
 */
import { check, corrupt } from './heap-stream.ts';
import { headInt } from './map-rows.ts';
import { PAGE_HEAD_UNITS } from './page-store.ts';
import {
  ENTRY_IDENTITY,
  EXTERNAL_IDENTITY,
  EXTERNAL_VALUE,
  identityOffsetOf,
  KIND_DEAD,
  KIND_ENTRY,
  KIND_FREE,
  KIND_LIST_CHUNK,
  KIND_MAP_ENTRY,
  KIND_MASK,
  KIND_PIECE,
  LIST_FIRST,
  LIST_HEAD_BYTES,
  LIST_LAST,
  LIST_USED,
  MAP_COUNT,
  MAP_ENTRY_NEXT,
  MAP_ENTRY_PREVIOUS,
  MAP_FIRST,
  MAP_HEAD_BYTES,
  MAP_LAST,
  REFERENCE_BYTES,
  ROW_WORD_1,
  ROW_WORD_2,
  unitsOf,
  valueOffsetOf,
} from './row-format.ts';
import type { RowStore } from './row-store.ts';
import { MIN_ROW_UNITS } from './size-class.ts';
import { LAST_ACCESS_BYTES } from './state-ttl.ts';
import type { TableFill } from './table-fill.ts';

const PAYLOAD = ENTRY_IDENTITY;

/** Of an ENTRY with identity and value in place nothing but its kind remains. */
const PLAIN_MASK = KIND_MASK | EXTERNAL_VALUE | EXTERNAL_IDENTITY;

/** In the marks of a page, beside the kind of the row that starts there: a forward link leads to it. */
const LINKED = 1;

export class PageAdoption {
  private readonly store: RowStore;
  private readonly group: number;
  private readonly pages: readonly number[];
  /** Number of each page in this store, by its number in the snapshot. */
  private readonly newPages: ReadonlyMap<number, number>;
  /** By page: the kind of row that starts at each unit, in place; made only if there are rows that links lead to. */
  private readonly marks = new Map<number, Uint16Array>();
  private hasLinks = false;
  /** Bytes that each value has at least: its last access. */
  private readonly valueBytesMin: number;
  /** The value of an ENTRY is just that, and not the head of something, or a timer. */
  private readonly isPlain: boolean;
  private readonly tableFill: TableFill;
  /** Entries of maps that are there, less those that are in the chain of a head. */
  private looseMapEntries = 0;

  /**
   * `pages` are the fresh pages of the key group, in which the images are; `newPages` has them and maybe others. `hasTtl`:
   * each value begins with its last access.
   */
  constructor(
    store: RowStore,
    group: number,
    pages: readonly number[],
    newPages: ReadonlyMap<number, number>,
    hasTtl: boolean,
    tableFill: TableFill,
  ) {
    this.valueBytesMin = hasTtl ? LAST_ACCESS_BYTES : 0;
    this.isPlain = store.kind !== 'list' && store.kind !== 'map' && store.kind !== 'timers';
    this.tableFill = tableFill;
    this.store = store;
    this.group = group;
    this.pages = pages;
    this.newPages = newPages;
  }

  /** Throws SNAPSHOT_CORRUPT; the store is then of no use any more. */
  run(): void {
    const { store, group, pages, tableFill } = this;
    const units = pages.reduce((sum, page) => sum + store.pageUsed[page]!, 0);
    tableFill.begin(Math.ceil(units / MIN_ROW_UNITS));
    for (const page of pages) this.adoptPage(page);
    if (this.hasLinks) {
      for (const page of pages) this.markPage(page);
      for (const page of pages) this.correctPage(page);
    }
    store.reserveTable(group, tableFill.count);
    tableFill.fill(store.tables[group]!);
    if (this.hasLinks) for (const page of pages) this.checkChains(page);
    check(this.looseMapEntries === 0, 'entries of a map that are not in its chain');
    this.chooseFillPage();
  }

  /**
   * Checks each row by itself (I1), and puts it into free lists and counts, or among those for the table. Much of the time of a
   * restore is spent here: each row is looked at once, and counts are kept until the page is done.
   */
  private adoptPage(page: number): void {
    const { store, isPlain, valueBytesMin, tableFill } = this;
    const countsAll = store.kind !== 'map';
    let live = 0;
    let liveUnits = 0;
    let inTable = 0;
    let entries = 0;
    const start = page << store.pageShift;
    const end = start + store.pageUsed[page]!;
    const words = store.words[start >>> store.chunkShift]!;
    for (let row = start + PAGE_HEAD_UNITS; row < end; ) {
      const at = (row & store.chunkMask) << 1;
      const word = words[at]!;
      const units = unitsOf(word);
      // Asked of each row: the text is made only for the one that is wrong.
      if (units < MIN_ROW_UNITS || units > end - row)
        check(false, `a row of ${units} units where ${end - row} are left`);
      const valueAt = valueOffsetOf(word);
      // What nearly every row is, and all that would be asked of it.
      const isSound =
        isPlain &&
        (word & PLAIN_MASK) === KIND_ENTRY &&
        valueAt >= ENTRY_IDENTITY &&
        valueAt + valueBytesMin <= units << 3;
      const kind = word & KIND_MASK;
      if (kind === KIND_FREE) {
        store.adoptFree(row, units);
      } else {
        live++;
        liveUnits += units;
        if (isSound || this.checkRow(page, row, word)) {
          inTable++;
          tableFill.add(words[at + (ROW_WORD_2 >> 2)]!, row);
          if (kind !== KIND_DEAD && (countsAll || kind === KIND_MAP_ENTRY)) entries++;
        }
      }
      row += units;
    }
    store.adoptCounts(page, { live, liveUnits, inTable, entries });
  }

  /** Of a row that is not free; true if it goes into the table. */
  private checkRow(page: number, row: number, word: number): boolean {
    switch (word & KIND_MASK) {
      case KIND_ENTRY:
      case KIND_DEAD:
      case KIND_MAP_ENTRY:
        this.checkEntry(row, word);
        return true;
      case KIND_LIST_CHUNK:
      case KIND_PIECE:
        this.hasLinks = true;
        this.checkPayload(row, word);
        return false;
      default:
        throw corrupt(`a row of unknown kind in page ${page} of state kind ${this.store.kind}`);
    }
  }

  private checkEntry(row: number, word: number): void {
    const { store } = this;
    const bytes = unitsOf(word) << 3;
    const kind = word & KIND_MASK;
    const identityAt = identityOffsetOf(word);
    const valueAt = valueOffsetOf(word);
    check(kind !== KIND_MAP_ENTRY || store.kind === 'map', 'an entry of a map in a state that is no map');
    check(kind !== KIND_DEAD || store.kind === 'timers', 'a deleted timer in a state that is no timer');
    check(valueAt >= identityAt && valueAt <= bytes, 'a value outside of its row');
    check(word >= 0 || valueAt === identityAt + REFERENCE_BYTES, 'a reference that is cut');
    let valueBytes = this.valueBytesMin;
    if ((word & EXTERNAL_VALUE) !== 0) valueBytes = REFERENCE_BYTES;
    else if (kind === KIND_ENTRY && store.kind === 'list') valueBytes = LIST_HEAD_BYTES;
    else if (kind === KIND_ENTRY && store.kind === 'map') valueBytes = MAP_HEAD_BYTES;
    check(valueAt + valueBytes <= bytes, 'a value that is cut');
    const isHead = kind === KIND_ENTRY && (store.kind === 'list' || store.kind === 'map');
    check(!isHead || (word & EXTERNAL_VALUE) === 0, 'the head of a list or map that is external');
    if (isHead && store.kind === 'list') {
      const used = store.getInt(row, valueAt + LIST_USED);
      check(used >= 0 && valueAt + LIST_HEAD_BYTES + used <= bytes, 'a list that is longer than its row');
      check(used === 0 || used >= this.valueBytesMin, 'an element without last access');
    }
    if (store.kind === 'timers') {
      const identityBytes = word < 0 ? store.getInt(row, identityAt + 4) : valueAt - identityAt;
      check(identityBytes >= 8, 'a timer without timestamp');
    }
    if (kind === KIND_MAP_ENTRY) this.looseMapEntries++;
    if (word < 0 || (word & EXTERNAL_VALUE) !== 0 || store.kind === 'map') this.hasLinks = true;
  }

  private checkPayload(row: number, word: number): void {
    const { store } = this;
    const isPiece = (word & KIND_MASK) === KIND_PIECE;
    const used = store.getInt(row, ROW_WORD_2);
    check(isPiece || store.kind === 'list', 'a chunk of a list in a state that is no list');
    check(used >= 0 && PAYLOAD + used <= unitsOf(word) << 3, 'a chunk that is longer than its row');
    check(isPiece || used >= this.valueBytesMin, 'an element without last access');
    check((word & EXTERNAL_VALUE) === 0 || (!isPiece && used === REFERENCE_BYTES), 'a reference that is cut');
  }

  private markPage(page: number): void {
    const marks = new Uint16Array(this.store.pageUnits);
    const start = page << this.store.pageShift;
    this.eachRow(page, (row, word) => {
      marks[row - start] = word & KIND_MASK;
    });
    this.marks.set(page, marks);
  }

  private correctPage(page: number): void {
    this.eachRow(page, (row, word) => {
      if ((word & KIND_MASK) !== KIND_FREE) this.correctLinks(row, word);
    });
  }

  private correctLinks(row: number, word: number): void {
    const { kind } = this.store;
    const rowKind = word & KIND_MASK;
    const valueAt = valueOffsetOf(word);
    switch (rowKind) {
      case KIND_PIECE:
        this.correct(row, ROW_WORD_1, KIND_PIECE, true);
        return;
      case KIND_LIST_CHUNK:
        this.correct(row, ROW_WORD_1, KIND_LIST_CHUNK, true);
        if ((word & EXTERNAL_VALUE) !== 0) this.correct(row, PAYLOAD, KIND_PIECE, true);
        return;
      case KIND_MAP_ENTRY:
        this.correct(row, ROW_WORD_1, KIND_ENTRY, false);
        this.correct(row, MAP_ENTRY_NEXT, KIND_MAP_ENTRY, true);
        this.correct(row, MAP_ENTRY_PREVIOUS, KIND_MAP_ENTRY, false);
        break;
      default:
        if (kind === 'list') {
          this.correct(row, valueAt + LIST_FIRST, KIND_LIST_CHUNK, true);
          this.correct(row, valueAt + LIST_LAST, KIND_LIST_CHUNK, false);
        } else if (kind === 'map') {
          this.correct(row, valueAt + MAP_FIRST, KIND_MAP_ENTRY, true);
          this.correct(row, valueAt + MAP_LAST, KIND_MAP_ENTRY, false);
        }
    }
    if (word < 0) this.correct(row, identityOffsetOf(word), KIND_PIECE, true);
    if ((word & EXTERNAL_VALUE) !== 0) this.correct(row, valueAt, KIND_PIECE, true);
  }

  /** Replaces the link at byte `offset` of `row`, if there is one, by where its row is now (I2). */
  private correct(row: number, offset: number, kind: number, isForward: boolean): void {
    const { store } = this;
    const old = store.getInt(row, offset);
    if (old === 0) return;
    const page = this.newPages.get(old >>> store.pageShift);
    const unit = old & (store.pageUnits - 1);
    const marks = page === undefined ? undefined : this.marks.get(page);
    check(old > 0 && page !== undefined && marks !== undefined, 'a link that leads out of its key group');
    const mark = marks[unit]!;
    check((mark & KIND_MASK) === kind, 'a link that leads to a row of another kind');
    if (isForward) {
      check((mark & LINKED) === 0, 'two links that lead to one row');
      marks[unit] = mark | LINKED;
    }
    store.setInt(row, offset, (page << store.pageShift) | unit);
  }

  /** Follows the chains that begin at heads of this page (I3). They end because of I2. */
  private checkChains(page: number): void {
    const { store } = this;
    this.eachRow(page, (row, word) => {
      const kind = word & KIND_MASK;
      const valueAt = valueOffsetOf(word);
      if (kind === KIND_LIST_CHUNK) {
        if ((word & EXTERNAL_VALUE) !== 0) this.checkPieces(row, PAYLOAD, this.valueBytesMin);
        return;
      }
      if (kind !== KIND_ENTRY && kind !== KIND_DEAD && kind !== KIND_MAP_ENTRY) return;
      if (word < 0) this.checkPieces(row, identityOffsetOf(word));
      if ((word & EXTERNAL_VALUE) !== 0) this.checkPieces(row, valueAt, this.valueBytesMin);
      else if (kind === KIND_ENTRY && store.kind === 'list') this.checkList(row, valueAt);
      else if (kind === KIND_ENTRY && store.kind === 'map') this.checkMap(row);
    });
  }

  /** `firstBytesMin`: what the first piece has at least. */
  private checkPieces(row: number, referenceAt: number, firstBytesMin = 0): void {
    const { store } = this;
    let bytes = 0;
    const first = store.getInt(row, referenceAt);
    const firstBytes = first === 0 ? 0 : store.getInt(first, ROW_WORD_2);
    check(firstBytes >= firstBytesMin, 'a value in pieces without last access');
    for (let piece = first; piece !== 0; piece = store.getInt(piece, ROW_WORD_1)) {
      bytes += store.getInt(piece, ROW_WORD_2);
    }
    check(
      bytes === store.getInt(row, referenceAt + 4),
      'external bytes that are fewer or more than their length',
    );
  }

  private checkList(row: number, valueAt: number): void {
    const { store } = this;
    let last = 0;
    for (let chunk = store.getInt(row, valueAt + LIST_FIRST); chunk !== 0; ) {
      last = chunk;
      chunk = store.getInt(chunk, ROW_WORD_1);
    }
    check(
      last === store.getInt(row, valueAt + LIST_LAST),
      'a list whose last chunk is not the end of its chain',
    );
  }

  private checkMap(head: number): void {
    const { store } = this;
    let last = 0;
    let count = 0;
    for (let row = headInt(store, head, MAP_FIRST); row !== 0; row = store.getInt(row, MAP_ENTRY_NEXT)) {
      check(store.getInt(row, ROW_WORD_1) === head, 'an entry of a map that belongs to another one');
      check(store.getInt(row, MAP_ENTRY_PREVIOUS) === last, 'an entry of a map whose links disagree');
      last = row;
      count++;
    }
    check(last === headInt(store, head, MAP_LAST), 'a map whose last entry is not the end of its chain');
    check(count > 0 && count === headInt(store, head, MAP_COUNT), 'a map with another number of entries');
    this.looseMapEntries -= count;
  }

  /** The page with the most room behind its rows is the one to go on filling. */
  private chooseFillPage(): void {
    const { store } = this;
    let chosen = -1;
    for (const page of this.pages) {
      if (chosen < 0 || store.pageUsed[page]! < store.pageUsed[chosen]!) chosen = page;
    }
    if (chosen >= 0 && store.pageUsed[chosen]! < store.pageUnits) store.continuePage(chosen);
  }

  /** Calls `visit` with each row of a page and its word 0. */
  private eachRow(page: number, visit: (row: number, word: number) => void): void {
    const { store } = this;
    const start = page << store.pageShift;
    const end = start + store.pageUsed[page]!;
    for (let row = start + PAGE_HEAD_UNITS; row < end; ) {
      const word = store.wordOf(row);
      visit(row, word);
      row += unitsOf(word);
    }
  }
}
