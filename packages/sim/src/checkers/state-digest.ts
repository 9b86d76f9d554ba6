/**
 * A number for what a key group of a keyed state holds, the same for equal contents wherever they lie. It knows the format of
 * rows and no types: rows are scanned as they are, links between them are left out, their order does not matter.
 */
import {
  ENTRY_IDENTITY,
  EXTERNAL_VALUE,
  identityOffsetOf,
  KIND_ENTRY,
  KIND_FREE,
  KIND_LIST_CHUNK,
  KIND_MAP_ENTRY,
  KIND_MASK,
  KIND_PIECE,
  LIST_FIRST,
  LIST_LAST,
  MAP_ENTRY_NEXT,
  MAP_ENTRY_PREVIOUS,
  MAP_FIRST,
  MAP_LAST,
  ROW_WORD_1,
  unitsOf,
  valueOffsetOf,
} from '../../../engine/src/state/heap/row-format.ts';
import type { RowStore } from '../../../engine/src/state/heap/row-store.ts';

/** By key group, counted from the first of the store; 0 where nothing is. */
export function digestGroups(store: RowStore): number[] {
  const digests: number[] = [];
  for (let page = 0; page < store.pageLimit; page++) {
    const group = store.pageGroup[page]!;
    if (group >= 0) digests[group] = ((digests[group] ?? 0) + digestPage(store, page)) | 0;
  }
  return digests;
}

function digestPage(store: RowStore, page: number): number {
  const bytes = store.pageContent(page).slice();
  const words = new Int32Array(bytes.buffer);
  let sum = 0;
  for (let at = 0, units = 0; at < words.length; at += units * 2) {
    const word = words[at]!;
    units = unitsOf(word);
    if ((word & KIND_MASK) === KIND_FREE) continue;
    for (const offset of linksOf(word, store.kind)) bytes.fill(0, at * 4 + offset, at * 4 + offset + 4);
    sum = (sum + digestRow(words, at, units * 2)) | 0;
  }
  return sum;
}

/** Offsets of the links in a row, in bytes. */
function linksOf(word: number, state: RowStore['kind']): number[] {
  const valueAt = valueOffsetOf(word);
  const kind = word & KIND_MASK;
  const external = (word & EXTERNAL_VALUE) === 0 ? [] : [valueAt];
  if (word < 0) external.push(identityOffsetOf(word));
  switch (kind) {
    case KIND_PIECE:
      return [ROW_WORD_1];
    case KIND_LIST_CHUNK:
      return (word & EXTERNAL_VALUE) === 0 ? [ROW_WORD_1] : [ROW_WORD_1, ENTRY_IDENTITY];
    case KIND_MAP_ENTRY:
      return [ROW_WORD_1, MAP_ENTRY_NEXT, MAP_ENTRY_PREVIOUS, ...external];
    case KIND_ENTRY:
      if (state === 'list') return [valueAt + LIST_FIRST, valueAt + LIST_LAST, ...external];
      if (state === 'map') return [valueAt + MAP_FIRST, valueAt + MAP_LAST, ...external];
      return external;
    default:
      return external;
  }
}

/** FNV-1a over words. */
function digestRow(words: Int32Array, start: number, length: number): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < start + length; i++) hash = Math.imul(hash ^ words[i]!, 0x01000193);
  return hash;
}
