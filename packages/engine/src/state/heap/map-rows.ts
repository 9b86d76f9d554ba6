/**
 * The rows of a map: an ENTRY as head and its MAP_ENTRY rows, a doubly linked chain in the order of insertion.
 *
 * A MAP_ENTRY names its head instead of repeating the key; so the head never moves.
 */
import { ByteView } from '../../types/index.ts';
import { insertEntry, removeEntry } from './entry-rows.ts';
import {
  KIND_ENTRY,
  KIND_MAP_ENTRY,
  MAP_COUNT,
  MAP_ENTRY_NEXT,
  MAP_ENTRY_PREVIOUS,
  MAP_FIRST,
  MAP_HEAD_BYTES,
  MAP_LAST,
  valueOffsetOf,
} from './row-format.ts';
import type { RowStore } from './row-store.ts';

const EMPTY_HEAD = ByteView.allocate(MAP_HEAD_BYTES);

/** Inserts the head of an empty map; its identity is `length` bytes of `identity`, from 0. */
export function insertMapHead(
  store: RowStore,
  group: number,
  keyHash: number,
  slotHash: number,
  identity: ByteView,
  length: number,
): number {
  return insertEntry(
    store,
    group,
    KIND_ENTRY,
    keyHash,
    slotHash,
    identity,
    length,
    EMPTY_HEAD,
    MAP_HEAD_BYTES,
  );
}

/** Inserts an entry as the last of the map; user key and value are the bytes of `key` and `value` from 0. */
export function appendMapEntry(
  store: RowStore,
  head: number,
  hash: number,
  key: ByteView,
  keyLength: number,
  value: ByteView,
  valueLength: number,
): void {
  const group = store.groupOf(head);
  const row = insertEntry(store, group, KIND_MAP_ENTRY, head, hash, key, keyLength, value, valueLength);
  const previous = headInt(store, head, MAP_LAST);
  store.setInt(row, MAP_ENTRY_NEXT, 0);
  store.setInt(row, MAP_ENTRY_PREVIOUS, previous);
  if (previous === 0) setHeadInt(store, head, MAP_FIRST, row);
  else store.setInt(previous, MAP_ENTRY_NEXT, row);
  setHeadInt(store, head, MAP_LAST, row);
  setHeadInt(store, head, MAP_COUNT, headInt(store, head, MAP_COUNT) + 1);
  store.entries++;
}

/** Removes an entry; true if it was the last one and the head went with it. */
export function removeMapEntry(store: RowStore, head: number, row: number): boolean {
  const next = store.getInt(row, MAP_ENTRY_NEXT);
  const previous = store.getInt(row, MAP_ENTRY_PREVIOUS);
  if (next === 0) setHeadInt(store, head, MAP_LAST, previous);
  else store.setInt(next, MAP_ENTRY_PREVIOUS, previous);
  if (previous === 0) setHeadInt(store, head, MAP_FIRST, next);
  else store.setInt(previous, MAP_ENTRY_NEXT, next);
  const count = headInt(store, head, MAP_COUNT) - 1;
  removeEntry(store, row);
  store.entries--;
  if (count > 0) setHeadInt(store, head, MAP_COUNT, count);
  else removeEntry(store, head);
  return count === 0;
}

/** Removes all entries and the head. */
export function removeMap(store: RowStore, head: number): void {
  for (let row = headInt(store, head, MAP_FIRST); row !== 0; ) {
    const next = store.getInt(row, MAP_ENTRY_NEXT);
    removeEntry(store, row);
    store.entries--;
    row = next;
  }
  removeEntry(store, head);
}

/** Reads MAP_COUNT, MAP_FIRST or MAP_LAST of a head. */
export function headInt(store: RowStore, head: number, offset: number): number {
  return store.getInt(head, valueOffsetOf(store.wordOf(head)) + offset);
}

function setHeadInt(store: RowStore, head: number, offset: number, value: number): void {
  store.setInt(head, valueOffsetOf(store.wordOf(head)) + offset, value);
}
