/**
 * Where the values of several namespaces of one key lie, remembered from one record to the next: overlapping windows put each
 * record of a key into the same namespaces as the record before it, and look for none of them again.
 *
 *   slot of a key:   key | hash | tag | rows freed so far | row of namespace 0, 1, 2, ...
 *
 * A key has one slot, by its hash; another key with the same slot displaces it. The tag is the caller's name for the
 * namespaces (the start of the newest window). Made by the states of one value (entry-state-code.ts).
 *
 * Invariants:
 * I1 Rows of a slot are right as long as no row of the store was freed since they were found: a row that is moved or
 *    removed is freed.
 */
import type { CurrentRow } from './current-row.ts';
import type { KeyContext } from './key-context.ts';
import type { RowStore } from './row-store.ts';
import { GOLDEN } from './slot-table.ts';

const SLOTS_LOG = 11;
const SLOTS = 1 << SLOTS_LOG;
/** Of a slot that says nothing: there never are so few rows freed. */
const NOTHING = -1;

export class RememberedRows {
  /** Rows of each slot. */
  width = 0;
  rows = new Int32Array(0);
  private readonly context: KeyContext;
  private readonly store: RowStore;
  private readonly keys: unknown[] = new Array<unknown>(SLOTS).fill(undefined);
  private readonly hashes = new Int32Array(SLOTS);
  private readonly tags = new Float64Array(SLOTS);
  private readonly freed = new Float64Array(SLOTS).fill(NOTHING);

  constructor(current: CurrentRow<never>) {
    this.context = current.context;
    this.store = current.store;
  }

  /** Where in `rows` those of the current key begin, `width` of them; -1 if they are not known under this tag. */
  find(tag: number): number {
    const { key, hash } = this.context;
    const slot = slotOf(hash);
    if (this.freed[slot] !== this.store.freedRows || this.tags[slot] !== tag) return -1;
    return this.hashes[slot] === hash && this.keys[slot] === key ? slot * this.width : -1;
  }

  /** Notes the row of namespace `index` of `width` of the current key. They come in order; the last one makes them known. */
  note(tag: number, index: number, width: number, row: number): void {
    if (width !== this.width) this.reset(width);
    const { key, hash } = this.context;
    const slot = slotOf(hash);
    this.rows[slot * width + index] = row;
    // An object may change and be another key. The rows before were not freed since: nothing but this row was changed.
    const isLast = index === width - 1 && typeof key !== 'object';
    this.freed[slot] = isLast ? this.store.freedRows : NOTHING;
    if (!isLast) return;
    this.keys[slot] = key;
    this.hashes[slot] = hash;
    this.tags[slot] = tag;
  }

  private reset(width: number): void {
    this.width = width;
    this.rows = new Int32Array(SLOTS * width);
    this.freed.fill(NOTHING);
  }
}

function slotOf(hash: number): number {
  return Math.imul(hash, GOLDEN) >>> (32 - SLOTS_LOG);
}
