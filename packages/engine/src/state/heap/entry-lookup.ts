/** Finding rows by hash and identity. This is what each access to state by a new key does; it makes no objects. */
import type { ByteView } from '../../types/index.ts';
import { equalBytes } from './bytes.ts';
import { equalPieces } from './external-bytes.ts';
import type { KeyContext } from './key-context.ts';
import {
  ENTRY_IDENTITY,
  KIND_MAP_ENTRY,
  KIND_MASK,
  MAP_ENTRY_IDENTITY,
  ROW_WORD_1,
  valueOffsetOf,
} from './row-format.ts';
import type { RowStore } from './row-store.ts';
import { bucketIndex } from './slot-table.ts';

/**
 * The ENTRY (or DEAD) of the current key with `suffixLength` bytes of `suffix` (from 0) behind it; 0 if there is none.
 * `hash` is the slot hash.
 */
export function findEntry(
  store: RowStore,
  context: KeyContext,
  hash: number,
  suffix: ByteView,
  suffixLength: number,
): number {
  const table = store.tables[context.group]!;
  const mask = table.length - 1;
  let index = bucketIndex(hash, table.length);
  for (;;) {
    const row = table[index + 1]!;
    if (row === 0) return 0;
    if (table[index] === hash && isEntry(store, row, context, suffix, suffixLength)) return row;
    index = (index + 2) & mask;
  }
}

function isEntry(
  store: RowStore,
  row: number,
  context: KeyContext,
  suffix: ByteView,
  suffixLength: number,
): boolean {
  const view = store.viewOf(row);
  const at = store.offsetOf(row);
  const word = view.dv.getInt32(at, true);
  // A negative word has an external identity. Entries of a map lie in the same table as its heads.
  if (word < 0) return isExternalEntry(store, row, word, context, suffix, suffixLength);
  if ((word & KIND_MASK) === KIND_MAP_ENTRY) return false;
  const end = context.match(view, at + ENTRY_IDENTITY);
  if (end < 0 || end + suffixLength !== at + valueOffsetOf(word)) return false;
  return suffixLength === 0 || equalBytes(view, end, suffix, 0, suffixLength);
}

function isExternalEntry(
  store: RowStore,
  row: number,
  word: number,
  context: KeyContext,
  suffix: ByteView,
  suffixLength: number,
): boolean {
  if ((word & KIND_MASK) === KIND_MAP_ENTRY) return false;
  const length = context.encodeWith(suffix, suffixLength);
  if (store.getInt(row, ENTRY_IDENTITY + 4) !== length) return false;
  return equalPieces(store, store.getInt(row, ENTRY_IDENTITY), context.encoded);
}

/** The MAP_ENTRY of the map whose head is `head` with the user key that is `length` bytes of `key`, from 0; or 0. */
export function findMapEntry(
  store: RowStore,
  group: number,
  hash: number,
  head: number,
  key: ByteView,
  length: number,
): number {
  const table = store.tables[group]!;
  const mask = table.length - 1;
  let index = bucketIndex(hash, table.length);
  for (;;) {
    const row = table[index + 1]!;
    if (row === 0) return 0;
    if (table[index] === hash && isMapEntry(store, row, head, key, length)) return row;
    index = (index + 2) & mask;
  }
}

function isMapEntry(store: RowStore, row: number, head: number, key: ByteView, length: number): boolean {
  const view = store.viewOf(row);
  const at = store.offsetOf(row);
  const word = view.dv.getInt32(at, true);
  if ((word & KIND_MASK) !== KIND_MAP_ENTRY || view.dv.getInt32(at + ROW_WORD_1, true) !== head) return false;
  if (word < 0) {
    if (view.dv.getInt32(at + MAP_ENTRY_IDENTITY + 4, true) !== length) return false;
    return equalPieces(store, view.dv.getInt32(at + MAP_ENTRY_IDENTITY, true), key);
  }
  if (valueOffsetOf(word) - MAP_ENTRY_IDENTITY !== length) return false;
  return equalBytes(view, at + MAP_ENTRY_IDENTITY, key, 0, length);
}
