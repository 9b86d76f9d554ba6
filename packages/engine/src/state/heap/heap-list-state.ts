/**
 * List state over the rows of list-rows.ts: elements are encoded directly behind the last one.
 *
 * `addAll` and `update` encode everything before they change anything, so that an element of the wrong type changes
 * nothing.
 */
import { ByteView, type TypeSerializer } from '../../types/index.ts';
import type { AddsIfPresent, Merging, Namespaced } from '../backend.ts';
import type { ListState } from '../descriptors.ts';
import type { CurrentRow } from './current-row.ts';
import { type ByteRun, insertEntry, moveEntry, removeEntry } from './entry-rows.ts';
import type { StateWorkspace } from './entry-state.ts';
import {
  addToCount,
  appendRun,
  CHUNK_BYTES_MAX,
  CHUNK_HEAD_BYTES,
  emptyList,
  freeChunks,
  moveElements,
} from './list-rows.ts';
import {
  ENTRY_IDENTITY,
  EXTERNAL_VALUE,
  KIND_ENTRY,
  LIST_COUNT,
  LIST_FIRST,
  LIST_HEAD_BYTES,
  LIST_LAST,
  LIST_USED,
  ROW_WORD_1,
  ROW_WORD_2,
  unitsOf,
  valueOffsetOf,
} from './row-format.ts';
import type { RowStore } from './row-store.ts';
import type { Scratch } from './scratch.ts';

/** An ENTRY does not grow beyond. */
const ENTRY_BYTES_MAX = 256;

const EMPTY_HEAD = ByteView.allocate(LIST_HEAD_BYTES);

export class HeapListState<T, N> implements Namespaced<ListState<T>, N>, Merging<N>, AddsIfPresent<T> {
  protected readonly current: CurrentRow<N>;
  protected readonly store: RowStore;
  protected readonly serializer: TypeSerializer<T>;
  private readonly scratch: Scratch;
  private readonly run: ByteRun;

  constructor(current: CurrentRow<N>, serializer: TypeSerializer<T>, workspace: StateWorkspace) {
    this.current = current;
    this.store = current.store;
    this.serializer = serializer;
    this.scratch = workspace.scratch;
    this.run = workspace.run;
  }

  setNamespace(namespace: N): void {
    this.current.setNamespace(namespace);
  }

  get(): T[] {
    const row = this.current.find();
    if (row === 0) return [];
    const { store } = this;
    const headAt = valueOffsetOf(store.wordOf(row));
    const count = store.getInt(row, headAt + LIST_COUNT);
    if (this.serializer.fixedSizeBytes === 0) return this.decodeEmpty(count);
    const elements: T[] = [];
    const start = store.offsetOf(row) + headAt + LIST_HEAD_BYTES;
    this.decodeRun(store.viewOf(row), start, store.getInt(row, headAt + LIST_USED), elements, row);
    let chunk = store.getInt(row, headAt + LIST_FIRST);
    for (; chunk !== 0; chunk = store.getInt(chunk, ROW_WORD_1)) {
      if ((store.wordOf(chunk) & EXTERNAL_VALUE) === 0) {
        const at = store.offsetOf(chunk) + CHUNK_HEAD_BYTES;
        this.decodeRun(store.viewOf(chunk), at, store.getInt(chunk, ROW_WORD_2), elements, chunk);
      } else {
        const length = store.getInt(chunk, CHUNK_HEAD_BYTES + 4);
        this.run.setExternal(store, store.getInt(chunk, CHUNK_HEAD_BYTES), length);
        this.decodeRun(this.run.view, 0, length, elements, chunk);
      }
    }
    return elements;
  }

  add(value: T): void {
    const row = this.current.find();
    if (row === 0) {
      this.insertFirst(value);
      return;
    }
    const { store } = this;
    const last = store.getInt(row, valueOffsetOf(store.wordOf(row)) + LIST_LAST);
    if (last === 0) {
      if (this.encodeInEntry(row, value)) return;
    } else if (this.encodeInChunk(last, value)) {
      addToCount(store, row, 1);
      return;
    }
    const length = this.scratch.encode(this.serializer, value);
    appendRun(store, this.current.row, this.scratch.view, 0, length, 1);
    this.scratch.trim();
  }

  addIfPresent(value: T): boolean {
    if (this.current.find() === 0) return false;
    this.add(value);
    return true;
  }

  addAll(values: Iterable<T>): void {
    const ends = this.encodeAll(values);
    if (ends.length > 0) this.appendAll(this.current.find(), ends);
  }

  update(values: Iterable<T>): void {
    const ends = this.encodeAll(values);
    if (ends.length === 0) {
      this.clear();
      return;
    }
    const row = this.current.find();
    if (row !== 0) {
      freeChunks(this.store, row);
      emptyList(this.store, row);
    }
    this.appendAll(row, ends);
  }

  clear(): void {
    const row = this.current.find();
    if (row === 0) return;
    freeChunks(this.store, row);
    removeEntry(this.store, row);
    this.store.entries--;
    this.current.row = 0;
  }

  mergeNamespaces(target: N, sources: readonly N[]): void {
    const { current, store } = this;
    const held = current.holdNamespace();
    current.setNamespace(target);
    const targetBytes = current.holdNamespace();
    for (const source of sources) {
      current.setNamespace(source);
      if (current.isNamespace(targetBytes)) continue;
      const from = current.find();
      if (from === 0) continue;
      current.restoreNamespace(targetBytes);
      const to = current.find() || this.insertHead(EMPTY_HEAD, LIST_HEAD_BYTES);
      moveElements(store, from, to);
      removeEntry(store, from);
      store.entries--;
    }
    current.restoreNamespace(held);
  }

  protected decodeRun(view: ByteView, at: number, length: number, elements: T[], _owner: number): void {
    const end = at + length;
    view.pos = at;
    while (view.pos < end) elements.push(this.serializer.decode(view));
  }

  /** Elements that have no bytes are only counted. */
  private decodeEmpty(count: number): T[] {
    return Array.from({ length: count }, () => {
      EMPTY_HEAD.pos = 0;
      return this.serializer.decode(EMPTY_HEAD);
    });
  }

  private insertFirst(value: T): void {
    const { scratch } = this;
    const length = scratch.encode(this.serializer, value, LIST_HEAD_BYTES);
    if (this.fitsEntry(length)) {
      this.insertWithElements(1, length);
    } else {
      const row = this.insertHead(EMPTY_HEAD, LIST_HEAD_BYTES);
      appendRun(this.store, row, scratch.view, LIST_HEAD_BYTES, length, 1);
    }
    scratch.trim();
  }

  /** True if an ENTRY may hold `length` bytes of elements. */
  private fitsEntry(length: number): boolean {
    const { current, store } = this;
    const identityBytes = current.context.encode() + current.suffixBytes;
    const bytes = ENTRY_IDENTITY + identityBytes + LIST_HEAD_BYTES + length;
    return bytes <= ENTRY_BYTES_MAX && bytes <= store.inlineBytesMax;
  }

  /** The elements lie in the scratch behind room for the head. */
  private insertWithElements(count: number, length: number): number {
    const { dv } = this.scratch.view;
    dv.setInt32(LIST_COUNT, count, true);
    dv.setInt32(LIST_FIRST, 0, true);
    dv.setInt32(LIST_LAST, 0, true);
    dv.setInt32(LIST_USED, length, true);
    return this.insertHead(this.scratch.view, LIST_HEAD_BYTES + length);
  }

  private insertHead(value: ByteView, length: number): number {
    const { current, store } = this;
    const { context } = current;
    const identityLength = context.encodeWith(current.suffix, current.suffixBytes);
    const { group, hash } = context;
    const identity = context.encoded;
    const row = insertEntry(
      store,
      group,
      KIND_ENTRY,
      hash,
      current.hash,
      identity,
      identityLength,
      value,
      length,
    );
    current.row = row;
    store.entries++;
    return row;
  }

  /** Encodes an element in the ENTRY, which may move; false if it is too large for that. */
  private encodeInEntry(row: number, value: T): boolean {
    const { store } = this;
    const headAt = valueOffsetOf(store.wordOf(row));
    const used = store.getInt(row, headAt + LIST_USED);
    for (;;) {
      const bytes = unitsOf(store.wordOf(row)) << 3;
      const start = headAt + LIST_HEAD_BYTES + used;
      const length = this.encodeAtEnd(row, start, bytes, value);
      if (length >= 0) {
        store.setInt(row, headAt + LIST_USED, used + length);
        addToCount(store, row, 1);
        return true;
      }
      const bytesMax = Math.min(ENTRY_BYTES_MAX, store.inlineBytesMax);
      if (bytes >= bytesMax) return false;
      row = moveEntry(store, row, Math.min(bytes * 2, bytesMax), LIST_HEAD_BYTES + used);
      this.current.row = row;
    }
  }

  private encodeInChunk(chunk: number, value: T): boolean {
    const { store } = this;
    const word = store.wordOf(chunk);
    if ((word & EXTERNAL_VALUE) !== 0) return false;
    const used = store.getInt(chunk, ROW_WORD_2);
    const length = this.encodeAtEnd(chunk, CHUNK_HEAD_BYTES + used, unitsOf(word) << 3, value);
    if (length < 0) return false;
    store.setInt(chunk, ROW_WORD_2, used + length);
    return true;
  }

  /** Encodes `value` at byte `start` of a row of `bytes`; its length, or -1 if it does not fit. */
  private encodeAtEnd(row: number, start: number, bytes: number, value: T): number {
    const { store } = this;
    store.touch(row);
    const view = store.viewOf(row);
    const at = store.offsetOf(row);
    view.pos = at + start;
    view.limit = at + bytes;
    return this.serializer.encode(view, value) ? view.pos - at - start : -1;
  }

  /** Encodes all elements into the scratch, behind room for a head; where each ends. */
  private encodeAll(values: Iterable<T>): number[] {
    const ends: number[] = [];
    let end = LIST_HEAD_BYTES;
    // An iterable of the user's may itself use state: let it run before the scratch is in use.
    for (const value of Array.isArray(values) ? (values as T[]) : [...values]) {
      end += this.scratch.encode(this.serializer, value, end);
      ends.push(end);
    }
    return ends;
  }

  /** Adds what encodeAll left in the scratch to the list `row`, or to a new list if that is 0. */
  private appendAll(row: number, ends: readonly number[]): void {
    const { store, scratch } = this;
    const length = ends[ends.length - 1]! - LIST_HEAD_BYTES;
    if (row === 0) {
      if (this.fitsEntry(length)) {
        this.insertWithElements(ends.length, length);
        return;
      }
      row = this.insertHead(EMPTY_HEAD, LIST_HEAD_BYTES);
    }
    // Runs of whole elements, each as long as fits a chunk.
    const runMax = Math.min(CHUNK_BYTES_MAX, store.inlineBytesMax) - CHUNK_HEAD_BYTES;
    let start = LIST_HEAD_BYTES;
    let count = 0;
    for (let i = 0; i < ends.length; i++) {
      count++;
      if (i + 1 < ends.length && ends[i + 1]! - start <= runMax) continue;
      appendRun(store, row, scratch.view, start, ends[i]! - start, count);
      start = ends[i]!;
      count = 0;
    }
    scratch.trim();
  }
}
