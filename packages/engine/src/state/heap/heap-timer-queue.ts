/**
 * Timers of one kind of an operator: rows in a store, so that registering twice is seen and snapshots hold them, and a
 * heap of the rows by time.
 *
 * A timer is an ENTRY without value whose identity is key, namespace and timestamp. Deleting only marks it DEAD: its
 * place in the heap goes when it comes to the top, or with a compaction when half of the heap is dead; each compaction
 * is paid for by as many deletions. Registering a dead timer again revives it.
 *
 * Invariants:
 * I1 The heap has exactly the rows of the store, live and dead, each once; `size` counts the live ones.
 * I2 Timers of equal timestamp come in the order of (slot hash, identity bytes), a function of key and namespace.
 */
import { MillraceError } from '../../base/index.ts';
import type { ByteView, KeySerializer } from '../../types/index.ts';
import type { TimerQueue } from '../backend.ts';
import { compareBytes, hashBytes } from './bytes.ts';
import { findEntry } from './entry-lookup.ts';
import { ByteRun, insertEntry, readIdentity, removeEntry } from './entry-rows.ts';
import type { KeyContext } from './key-context.ts';
import { KIND_DEAD, KIND_ENTRY, KIND_MASK, ROW_WORD_1, ROW_WORD_2 } from './row-format.ts';
import type { RowStore } from './row-store.ts';
import { Scratch } from './scratch.ts';
import { TimerHeap } from './timer-heap.ts';

/** What nextTimestamp() says when there is no timer: later than any. */
const NEVER = Number.MAX_SAFE_INTEGER + 1;
const TIMESTAMP_BYTES = 8;
/** Below this size dead timers are left where they are. */
const COMPACT_SIZE_MIN = 64;

export class HeapTimerQueue<N> implements TimerQueue<N> {
  polledTimestamp = 0;
  private readonly context: KeyContext;
  private readonly store: RowStore;
  private readonly namespaceSerializer: KeySerializer<N>;
  private readonly heap: TimerHeap;
  private dead = 0;
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
    this.heap = new TimerHeap((a, b) => this.compareRows(a, b));
    store.forEachRow((row, word) => {
      const kind = word & KIND_MASK;
      if (kind !== KIND_ENTRY && kind !== KIND_DEAD) return;
      readIdentity(store, row, this.run);
      const { view, at, length } = this.run;
      const timestamp = view.dv.getFloat64(at + length - TIMESTAMP_BYTES, true);
      this.heap.append(timestamp, store.getInt(row, ROW_WORD_2), row);
      if (kind === KIND_DEAD) this.dead++;
    });
    this.heap.heapify();
  }

  get size(): number {
    return this.heap.size - this.dead;
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
      this.dead--;
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
      this.heap.push(timestampMs + 0, this.hash, added);
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
    this.dead++;
    if (this.dead * 2 > this.heap.size && this.heap.size >= COMPACT_SIZE_MIN) this.compact();
    return true;
  }

  nextTimestamp(): number {
    this.dropDead();
    return this.heap.size === 0 ? NEVER : this.heap.firstTimestamp;
  }

  poll(upToMs: number): boolean {
    if (this.nextTimestamp() > upToMs || this.heap.size === 0) return false;
    const { context, store, heap, run } = this;
    const row = heap.firstRow;
    this.polledTimestamp = heap.firstTimestamp;
    readIdentity(store, row, run);
    run.view.pos = run.at;
    const key = context.serializer.decode(run.view);
    this.namespace = this.namespaceSerializer.decode(run.view);
    const hash = store.getInt(row, ROW_WORD_1);
    heap.pop();
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

  private dropDead(): void {
    const { heap, store } = this;
    while (this.dead > 0 && (store.wordOf(heap.firstRow) & KIND_MASK) === KIND_DEAD) {
      removeEntry(store, heap.firstRow);
      heap.pop();
      this.dead--;
    }
  }

  private compact(): void {
    const { store } = this;
    this.heap.filter((row) => {
      if ((store.wordOf(row) & KIND_MASK) === KIND_ENTRY) return true;
      removeEntry(store, row);
      return false;
    });
    this.dead = 0;
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
