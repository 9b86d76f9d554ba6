/**
 * Map state: one ENTRY per key as head, and one MAP_ENTRY per user key, found by hash as entries of other states are.
 *
 * The entries of a map form a doubly linked chain in the order in which they were put, for iterating and clearing. A
 * MAP_ENTRY names its head instead of repeating the key: the head never moves. The last entry takes the head with it.
 *
 * Invariants:
 * I1 Count, first and last of the head agree with the chain; a head without entries does not exist.
 * I2 Open iterators never see a freed row: removing or moving an entry corrects those that stand on it. Entries put
 *    while iterating are not seen. An iterator is good while its key is the current one.
 */
import { MillraceError } from '../../base/index.ts';
import type { ByteView, KeySerializer, TypeSerializer } from '../../types/index.ts';
import type { MapState } from '../descriptors.ts';
import { hashBytes } from './bytes.ts';
import type { CurrentRow } from './current-row.ts';
import { findMapEntry } from './entry-lookup.ts';
import { readIdentity, readValue, setEntryValue } from './entry-rows.ts';
import type { StateWorkspace } from './entry-state.ts';
import { appendMapEntry, headInt, insertMapHead, removeMap, removeMapEntry } from './map-rows.ts';
import { MAP_ENTRY_NEXT, MAP_ENTRY_PREVIOUS, MAP_FIRST, MAP_LAST } from './row-format.ts';
import type { RowStore } from './row-store.ts';
import { Scratch } from './scratch.ts';

/** Where an iteration is. */
export interface Cursor {
  /** The row that comes next; 0 at the end. */
  next: number;
  /** The last row to be seen. */
  last: number;
}

export class HeapMapState<K, V> implements MapState<K, V> {
  protected readonly current: CurrentRow<undefined>;
  protected readonly store: RowStore;
  private readonly keySerializer: KeySerializer<K>;
  private readonly serializer: TypeSerializer<V>;
  private readonly workspace: StateWorkspace;
  private readonly userKey = new Scratch();
  private userKeyLength = 0;
  private userKeyHash = 0;
  /** Of the current key. */
  private cursors: Cursor[] = [];
  private cursorGeneration = -1;

  constructor(
    current: CurrentRow<undefined>,
    keySerializer: KeySerializer<K>,
    serializer: TypeSerializer<V>,
    workspace: StateWorkspace,
  ) {
    this.current = current;
    this.store = current.store;
    this.keySerializer = keySerializer;
    this.serializer = serializer;
    this.workspace = workspace;
  }

  get(key: K): V | undefined {
    const row = this.find(key);
    return row === 0 ? undefined : this.decodeValue(row);
  }

  contains(key: K): boolean {
    return this.find(key) !== 0;
  }

  put(key: K, value: V): void {
    const { store } = this;
    const { scratch } = this.workspace;
    const length = scratch.encode(this.serializer, value);
    const row = this.find(key);
    if (row === 0) {
      this.insert(scratch.view, length);
    } else {
      const moved = setEntryValue(store, row, scratch.view, length);
      if (moved !== row) {
        for (const cursor of this.openCursors()) {
          if (cursor.next === row) cursor.next = moved;
          if (cursor.last === row) cursor.last = moved;
        }
      }
    }
    scratch.trim();
  }

  putAll(entries: Iterable<readonly [K, V]>): void {
    for (const [key, value] of entries) this.put(key, value);
  }

  remove(key: K): void {
    const row = this.find(key);
    if (row !== 0) this.removeRow(row);
  }

  entries(): IterableIterator<[K, V]> {
    return this.iterate((row) => [this.decodeKey(row), this.decodeValue(row)]);
  }

  keys(): IterableIterator<K> {
    return this.iterate((row) => this.decodeKey(row));
  }

  values(): IterableIterator<V> {
    return this.iterate((row) => this.decodeValue(row));
  }

  isEmpty(): boolean {
    return this.current.find() === 0;
  }

  clear(): void {
    const { store } = this;
    const head = this.current.find();
    if (head === 0) return;
    for (const cursor of this.openCursors()) cursor.next = 0;
    removeMap(store, head);
    this.current.row = 0;
  }

  /** The row of a user key; 0 if there is none. Leaves the encoded user key and its hash for `insert`. */
  protected find(key: K): number {
    const head = this.current.find();
    const { context } = this.current;
    this.userKeyLength = this.userKey.encode(this.keySerializer, key);
    this.userKeyHash = hashBytes(this.userKey.view, 0, this.userKeyLength, context.hash);
    if (head === 0) return 0;
    return findMapEntry(
      this.store,
      context.group,
      this.userKeyHash,
      head,
      this.userKey.view,
      this.userKeyLength,
    );
  }

  /** Inserts the user key that was just not found. */
  private insert(value: ByteView, length: number): void {
    const { store, current, userKey } = this;
    const { context } = current;
    if (current.row === 0) {
      const identityLength = context.encode();
      current.row = insertMapHead(
        store,
        context.group,
        context.hash,
        current.hash,
        context.encoded,
        identityLength,
      );
    }
    appendMapEntry(store, current.row, this.userKeyHash, userKey.view, this.userKeyLength, value, length);
  }

  protected removeRow(row: number): void {
    const { store } = this;
    for (const cursor of this.openCursors()) {
      if (cursor.next === row) cursor.next = cursor.last === row ? 0 : store.getInt(row, MAP_ENTRY_NEXT);
      if (cursor.last === row) cursor.last = store.getInt(row, MAP_ENTRY_PREVIOUS);
    }
    if (removeMapEntry(store, this.current.row, row)) this.current.row = 0;
  }

  private decodeKey(row: number): K {
    const { run } = this.workspace;
    readIdentity(this.store, row, run);
    run.view.pos = run.at;
    return this.keySerializer.decode(run.view);
  }

  protected decodeValue(row: number): V {
    const { run } = this.workspace;
    readValue(this.store, row, run);
    run.view.pos = run.at;
    return this.serializer.decode(run.view);
  }

  /** An iterator over the rows that the map has when it begins. */
  protected iterate<R>(read: (row: number) => R): IterableIterator<R> {
    const { context } = this.current;
    const { generation } = context;
    let cursor: Cursor | undefined;
    let isDone = false;
    const end = (): IteratorResult<R> => {
      isDone = true;
      const index = cursor === undefined ? -1 : this.cursors.indexOf(cursor);
      if (index >= 0) this.cursors.splice(index, 1);
      return { done: true, value: undefined };
    };
    const next = (): IteratorResult<R> => {
      if (isDone) return end();
      if (context.generation !== generation) throw staleIterator(context.operatorName);
      cursor ??= this.openCursor();
      const row = this.nextRow(cursor);
      return row === 0 ? end() : { done: false, value: read(row) };
    };
    const iterator: IterableIterator<R> = { next, return: end, [Symbol.iterator]: () => iterator };
    return iterator;
  }

  /** The row that comes next, and moves the cursor behind it; 0 at the end. */
  protected nextRow(cursor: Cursor): number {
    const row = cursor.next;
    if (row !== 0) cursor.next = row === cursor.last ? 0 : this.store.getInt(row, MAP_ENTRY_NEXT);
    return row;
  }

  private openCursor(): Cursor {
    const head = this.current.find();
    const cursor: Cursor = {
      next: head === 0 ? 0 : headInt(this.store, head, MAP_FIRST),
      last: head === 0 ? 0 : headInt(this.store, head, MAP_LAST),
    };
    this.openCursors().push(cursor);
    return cursor;
  }

  /** Iterators over the entries of the current key; those of earlier keys are forgotten. */
  private openCursors(): Cursor[] {
    const { generation } = this.current.context;
    if (this.cursorGeneration !== generation) {
      this.cursorGeneration = generation;
      if (this.cursors.length > 0) this.cursors = [];
    }
    return this.cursors;
  }
}

function staleIterator(operatorName: string): MillraceError {
  return new MillraceError(
    'STATE_WITHOUT_KEY',
    `Operator '${operatorName}' went on with an iterator over map state after the key had changed; ` +
      'read the entries while the record or timer is processed that they belong to.',
  );
}
