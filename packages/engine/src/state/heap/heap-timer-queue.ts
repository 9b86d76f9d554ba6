/**
 * Timers of one kind of an operator: rows in a store, so that registering twice is seen and snapshots hold them, and
 * heaps of the rows by time.
 *
 * A timer is an ENTRY without value whose identity is key, namespace and timestamp. Deleting only marks it DEAD: its
 * place in the heap goes when it comes to the top, or with a compaction when half of the heap is dead; each compaction
 * is paid for by as many deletions. Registering a dead timer again revives it. A timer that is moved to a later time
 * keeps its row, which says the new time, and its place in the heap: it gets another one when it comes to the top. So a
 * session that grows with each record costs the heap nothing.
 *
 * Invariants:
 * I1 The heaps have exactly the rows of the store, live and dead, each once; `size` counts the live ones.
 * I2 Timers of equal timestamp come in the order of (key group, slot hash, identity bytes), a function of key and
 *    namespace.
 * I3 The timestamp of a row in the heap is that of the row, or an earlier one if the timer was moved.
 */
import { MillraceError } from '../../base/index.ts';
import type { ByteView, KeySerializer } from '../../types/index.ts';
import type { TimerQueue } from '../backend.ts';
import { compareBytes, copyBytes, hashBytes } from './bytes.ts';
import { findEntry } from './entry-lookup.ts';
import { ByteRun, insertEntry, readIdentity, removeEntry } from './entry-rows.ts';
import type { KeyContext } from './key-context.ts';
import { KIND_DEAD, KIND_ENTRY, KIND_MASK, ROW_WORD_1, ROW_WORD_2, valueOffsetOf } from './row-format.ts';
import type { RowStore } from './row-store.ts';
import { Scratch } from './scratch.ts';
import { TimerGroups } from './timer-groups.ts';

/** What nextTimestamp() says when there is no timer: later than any. */
const NEVER = Number.MAX_SAFE_INTEGER + 1;
const TIMESTAMP_BYTES = 8;
/** In a heap below this size dead timers are left where they are. */
const COMPACT_SIZE_MIN = 64;

export class HeapTimerQueue<N> implements TimerQueue<N> {
  polledTimestamp = 0;
  readonly lastRestoredTimestamp: number;
  private readonly context: KeyContext;
  private readonly store: RowStore;
  private readonly namespaceSerializer: KeySerializer<N>;
  private readonly heaps: TimerGroups;
  private dead = 0;
  /** True if a timer was moved since there were none. */
  private hasMoved = false;
  private namespace: N | undefined = undefined;
  /** Namespace and timestamp, encoded. */
  private readonly suffix = new Scratch();
  private suffixLength = 0;
  private hash = 0;
  private readonly run = new ByteRun();
  private readonly otherRun = new ByteRun();

  /** Takes over the timers that the store has. */
  constructor(context: KeyContext, store: RowStore, namespaceSerializer: KeySerializer<N>) {
    this.context = context;
    this.store = store;
    this.namespaceSerializer = namespaceSerializer;
    this.heaps = new TimerGroups(store.tables.length, (a, b) => this.compareRows(a, b));
    let last = Number.NEGATIVE_INFINITY;
    store.forEachRow((row, word) => {
      const kind = word & KIND_MASK;
      if (kind !== KIND_ENTRY && kind !== KIND_DEAD) return;
      readIdentity(store, row, this.run);
      const { view, at, length } = this.run;
      const timestamp = view.dv.getFloat64(at + length - TIMESTAMP_BYTES, true);
      if (kind === KIND_ENTRY && timestamp > last) last = timestamp;
      const group = store.groupOf(row);
      this.heaps.append(group, timestamp, store.getInt(row, ROW_WORD_2), row);
      if (kind === KIND_DEAD) this.countDead(group, 1);
    });
    this.heaps.heapify();
    this.lastRestoredTimestamp = last;
  }

  get size(): number {
    return this.heaps.size - this.dead;
  }

  get polledNamespace(): N {
    return this.namespace as N;
  }

  register(timestampMs: number, namespace: N): boolean {
    const { context, store } = this;
    const row = this.find(timestampMs, namespace);
    if (row !== 0) {
      const word = store.wordOf(row);
      if ((word & KIND_MASK) === KIND_ENTRY) return false;
      store.setInt(row, 0, (word & ~KIND_MASK) | KIND_ENTRY);
      this.countDead(context.group, -1);
    } else {
      const identityLength = context.encodeWith(this.suffix.view, this.suffixLength);
      const { encoded, group, hash } = context;
      const added = insertEntry(
        store,
        group,
        KIND_ENTRY,
        hash,
        this.hash,
        encoded,
        identityLength,
        encoded,
        0,
      );
      this.heaps.push(group, timestampMs + 0, this.hash, added);
    }
    store.entries++;
    return true;
  }

  delete(timestampMs: number, namespace: N): boolean {
    const { store } = this;
    const row = this.find(timestampMs, namespace);
    if (row === 0) return false;
    const word = store.wordOf(row);
    if ((word & KIND_MASK) === KIND_DEAD) return false;
    store.setInt(row, 0, (word & ~KIND_MASK) | KIND_DEAD);
    store.entries--;
    const { group } = this.context;
    this.countDead(group, 1);
    const { size, dead } = this.heaps.heapOf(group);
    if (dead * 2 > size && size >= COMPACT_SIZE_MIN) this.compact(group);
    return true;
  }

  move(fromMs: number, from: N, toMs: number, to: N): void {
    if (toMs > fromMs && this.rewrite(fromMs, from, toMs, to)) return;
    this.delete(fromMs, from);
    this.register(toMs, to);
  }

  nextTimestamp(): number {
    if (this.dead > 0 || this.hasMoved) this.settleFirst();
    return this.heaps.size === 0 ? NEVER : this.heaps.firstTimestamp;
  }

  poll(upToMs: number): boolean {
    if (this.nextTimestamp() > upToMs || this.heaps.size === 0) return false;
    const { context, store, heaps, run } = this;
    const row = heaps.firstRow;
    this.polledTimestamp = heaps.firstTimestamp;
    readIdentity(store, row, run);
    run.view.pos = run.at;
    const key = context.serializer.decode(run.view);
    this.namespace = this.namespaceSerializer.decode(run.view);
    const hash = store.getInt(row, ROW_WORD_1);
    heaps.pop();
    removeEntry(store, row);
    store.entries--;
    context.select(key, hash);
    return true;
  }

  /** The timer of the current key, live or dead; 0 if there is none. Leaves its suffix and hash. */
  private find(timestampMs: number, namespace: N): number {
    if (!Number.isSafeInteger(timestampMs)) throw badTimestamp(timestampMs);
    const { context, suffix } = this;
    context.requireKey();
    const namespaceLength = suffix.encode(this.namespaceSerializer, namespace);
    this.suffixLength = namespaceLength + TIMESTAMP_BYTES;
    suffix.reserve(this.suffixLength);
    const view: ByteView = suffix.view;
    // A sum with 0 turns -0 into 0: they are one timestamp.
    view.dv.setFloat64(namespaceLength, timestampMs + 0, true);
    this.hash = hashBytes(view, 0, this.suffixLength, context.hash);
    return findEntry(this.store, context, this.hash, view, this.suffixLength);
  }

  /**
   * Gives the row of a live timer of the current key another identity; false if there is none, or one with the new
   * identity, or if the row cannot hold it.
   */
  private rewrite(fromMs: number, from: N, toMs: number, to: N): boolean {
    const { context, store } = this;
    const row = this.find(fromMs, from);
    if (row === 0) return false;
    const word = store.wordOf(row);
    if (word < 0 || (word & KIND_MASK) !== KIND_ENTRY) return false;
    const { hash, suffixLength } = this;
    if (this.find(toMs, to) !== 0 || this.suffixLength !== suffixLength) return false;
    store.setInt(row, ROW_WORD_2, this.hash);
    const end = store.offsetOf(row) + valueOffsetOf(word);
    copyBytes(this.suffix.view, 0, store.viewOf(row), end - suffixLength, suffixLength);
    store.removeFromTable(context.group, hash, row);
    store.addToTable(context.group, this.hash, row);
    this.hasMoved = true;
    return true;
  }

  /** Makes the first timer of the heaps a live one with the timestamp that its row says. */
  private settleFirst(): void {
    const { heaps, store } = this;
    while (heaps.size > 0) {
      const row = heaps.firstRow;
      const word = store.wordOf(row);
      if ((word & KIND_MASK) === KIND_DEAD) {
        this.countDead(heaps.firstGroup, -1);
        heaps.pop();
        removeEntry(store, row);
        continue;
      }
      // A timer whose identity is external is never moved.
      if (!this.hasMoved || word < 0) return;
      const end = store.offsetOf(row) + valueOffsetOf(word);
      const timestamp = store.viewOf(row).dv.getFloat64(end - TIMESTAMP_BYTES, true);
      if (timestamp === heaps.firstTimestamp) return;
      heaps.postponeFirst(timestamp, store.getInt(row, ROW_WORD_2));
    }
    this.hasMoved = false;
  }

  /** `count` more timers of the key group are dead. */
  private countDead(group: number, count: number): void {
    this.dead += count;
    this.heaps.heapOf(group).dead += count;
  }

  private compact(group: number): void {
    const { store, heaps } = this;
    heaps.filter(group, (row) => {
      if ((store.wordOf(row) & KIND_MASK) === KIND_ENTRY) return true;
      removeEntry(store, row);
      return false;
    });
    this.countDead(group, -heaps.heapOf(group).dead);
  }

  private compareRows(a: number, b: number): number {
    const { run, otherRun } = this;
    readIdentity(this.store, a, run);
    readIdentity(this.store, b, otherRun);
    return compareBytes(run.view, run.at, run.length, otherRun.view, otherRun.at, otherRun.length);
  }
}

function badTimestamp(timestampMs: number): MillraceError {
  return new MillraceError(
    'TIMESTAMP_INVALID',
    `a timer's timestamp must be an integer number of milliseconds, not ${timestampMs}`,
  );
}
