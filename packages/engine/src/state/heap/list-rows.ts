/**
 * The rows of a list: an ENTRY with the first elements, then a chain of LIST_CHUNK rows.
 *
 * Elements come encoded, as runs of bytes; where one ends is known to its serializer only. The ENTRY grows by doubling
 * while the list is short (the caller does it, because the ENTRY moves); from then on chunks are added, each twice as
 * large as the one before up to a limit. So adding costs the same however long the list is. A run that fits no row lies
 * in pieces and has a chunk of its own.
 */
import type { ByteView } from '../../types/index.ts';
import { copyBytes } from './bytes.ts';
import { writeReference } from './entry-rows.ts';
import { freePieces } from './external-bytes.ts';
import {
  EXTERNAL_VALUE,
  KIND_LIST_CHUNK,
  LIST_COUNT,
  LIST_FIRST,
  LIST_HEAD_BYTES,
  LIST_LAST,
  LIST_USED,
  REFERENCE_BYTES,
  ROW_WORD_1,
  ROW_WORD_2,
  unitsOf,
  valueOffsetOf,
} from './row-format.ts';
import type { RowStore } from './row-store.ts';

/** Where elements begin in a LIST_CHUNK. */
export const CHUNK_HEAD_BYTES = 12;
/** Chunks do not grow beyond, unless for one element. */
export const CHUNK_BYTES_MAX = 4096;

/** Adds a run of bytes to the list, which has `count` elements. The ENTRY `row` stays where it is. */
export function appendRun(
  store: RowStore,
  row: number,
  from: ByteView,
  at: number,
  length: number,
  count: number,
): void {
  const headAt = valueOffsetOf(store.wordOf(row));
  const last = store.getInt(row, headAt + LIST_LAST);
  const target = last === 0 ? row : last;
  const usedAt = last === 0 ? headAt + LIST_USED : ROW_WORD_2;
  const start = last === 0 ? headAt + LIST_HEAD_BYTES : CHUNK_HEAD_BYTES;
  const word = store.wordOf(target);
  const used = store.getInt(target, usedAt);
  const isOpen = last === 0 || (word & EXTERNAL_VALUE) === 0;
  if (isOpen && start + used + length <= unitsOf(word) << 3) {
    store.setInt(target, usedAt, used + length);
    copyBytes(from, at, store.viewOf(target), store.offsetOf(target) + start + used, length);
  } else {
    addChunk(store, row, from, at, length);
  }
  addToCount(store, row, count);
}

/** The list has `count` elements more. */
export function addToCount(store: RowStore, row: number, count: number): void {
  const at = valueOffsetOf(store.wordOf(row)) + LIST_COUNT;
  store.setInt(row, at, store.getInt(row, at) + count);
}

/** Frees all chunks of the list. The links in its ENTRY are then wrong: it is emptied or removed next. */
export function freeChunks(store: RowStore, row: number): void {
  let chunk = store.getInt(row, valueOffsetOf(store.wordOf(row)) + LIST_FIRST);
  while (chunk !== 0) {
    const next = store.getInt(chunk, ROW_WORD_1);
    if ((store.wordOf(chunk) & EXTERNAL_VALUE) !== 0)
      freePieces(store, store.getInt(chunk, CHUNK_HEAD_BYTES));
    store.free(chunk);
    chunk = next;
  }
}

/** Sets the four words of a list's ENTRY to those of an empty list. */
export function emptyList(store: RowStore, row: number): void {
  const headAt = valueOffsetOf(store.wordOf(row));
  for (let offset = 0; offset < LIST_HEAD_BYTES; offset += 4) store.setInt(row, headAt + offset, 0);
}

/** Moves all elements of the list `from` behind those of `to`: its chunks are linked, not copied. Only `from` is left. */
export function moveElements(store: RowStore, from: number, to: number): void {
  const fromAt = valueOffsetOf(store.wordOf(from));
  const used = store.getInt(from, fromAt + LIST_USED);
  const start = store.offsetOf(from) + fromAt + LIST_HEAD_BYTES;
  if (used > 0) appendRun(store, to, store.viewOf(from), start, used, 0);
  const first = store.getInt(from, fromAt + LIST_FIRST);
  if (first !== 0) linkChunks(store, to, first, store.getInt(from, fromAt + LIST_LAST));
  addToCount(store, to, store.getInt(from, fromAt + LIST_COUNT));
}

function addChunk(store: RowStore, row: number, from: ByteView, at: number, length: number): void {
  const group = store.groupOf(row);
  const last = store.getInt(row, valueOffsetOf(store.wordOf(row)) + LIST_LAST);
  const previousBytes = unitsOf(store.wordOf(last === 0 ? row : last)) << 3;
  const bytes = CHUNK_HEAD_BYTES + length;
  let chunk: number;
  if (bytes > store.inlineBytesMax) {
    chunk = store.allocate(group, CHUNK_HEAD_BYTES + REFERENCE_BYTES, KIND_LIST_CHUNK, CHUNK_HEAD_BYTES);
    store.setInt(chunk, 0, store.wordOf(chunk) | EXTERNAL_VALUE);
    store.setInt(chunk, ROW_WORD_2, REFERENCE_BYTES);
    writeReference(store, group, chunk, CHUNK_HEAD_BYTES, from, at, length);
  } else {
    const wanted = Math.min(
      last === 0 ? previousBytes : previousBytes * 2,
      CHUNK_BYTES_MAX,
      store.inlineBytesMax,
    );
    chunk = store.allocate(group, Math.max(bytes, wanted), KIND_LIST_CHUNK, CHUNK_HEAD_BYTES);
    store.setInt(chunk, ROW_WORD_2, length);
    copyBytes(from, at, store.viewOf(chunk), store.offsetOf(chunk) + CHUNK_HEAD_BYTES, length);
  }
  store.setInt(chunk, ROW_WORD_1, 0);
  linkChunks(store, row, chunk, chunk);
}

/** Puts a chain of chunks behind the last one. */
function linkChunks(store: RowStore, row: number, first: number, last: number): void {
  const headAt = valueOffsetOf(store.wordOf(row));
  const previous = store.getInt(row, headAt + LIST_LAST);
  if (previous === 0) store.setInt(row, headAt + LIST_FIRST, first);
  else store.setInt(previous, ROW_WORD_1, first);
  store.setInt(row, headAt + LIST_LAST, last);
}
