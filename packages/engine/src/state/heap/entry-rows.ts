/**
 * Entries: inserting them, giving them another value, reading and removing them, wherever their bytes are.
 *
 * An identity or value that is too long for a row lies in pieces; a value that outgrows its row moves the entry. All kinds
 * of state and the restore use this; none of them sees where the bytes lie. Values come encoded, so that nothing here can
 * fail half-way.
 *
 * Invariants:
 * I1 After a move the table and, of a MAP_ENTRY, its neighbours and head refer to the new row. The caller's own address
 *    is its own business: the functions return the new one.
 */
import type { ByteView } from '../../types/index.ts';
import { copyBytes } from './bytes.ts';
import { freePieces, readPieces, writePieces } from './external-bytes.ts';
import {
  ENTRY_IDENTITY,
  EXTERNAL_IDENTITY,
  EXTERNAL_VALUE,
  identityOffsetOf,
  KIND_MAP_ENTRY,
  KIND_MASK,
  MAP_ENTRY_IDENTITY,
  MAP_ENTRY_NEXT,
  MAP_ENTRY_PREVIOUS,
  MAP_FIRST,
  MAP_LAST,
  REFERENCE_BYTES,
  ROW_WORD_1,
  ROW_WORD_2,
  unitsFor,
  unitsOf,
  valueOffsetOf,
} from './row-format.ts';
import type { RowStore } from './row-store.ts';
import { Scratch } from './scratch.ts';

/** A value with four times the room it needs is moved to a smaller row, if that is worth it. */
const SHRINK_UNITS_MIN = 32;

/** Where some bytes were found. Valid until the store or the scratch behind it changes. */
export class ByteRun {
  view: ByteView;
  at = 0;
  length = 0;
  private readonly scratch = new Scratch();

  constructor() {
    this.view = this.scratch.view;
  }

  set(view: ByteView, at: number, length: number): void {
    this.view = view;
    this.at = at;
    this.length = length;
  }

  /** Brings external bytes together. */
  setExternal(store: RowStore, first: number, length: number): void {
    this.scratch.trim();
    this.scratch.reserve(length);
    readPieces(store, first, this.scratch.view, 0);
    this.set(this.scratch.view, 0, length);
  }
}

/**
 * Inserts an entry: `identityLength` bytes of `identity` and `valueLength` of `value`, each from 0; the new row. It is in
 * the table; the words of a MAP_ENTRY (head, next, previous) are the caller's. `word1` is the key hash or the head.
 */
export function insertEntry(
  store: RowStore,
  group: number,
  kind: number,
  word1: number,
  hash: number,
  identity: ByteView,
  identityLength: number,
  value: ByteView,
  valueLength: number,
): number {
  const identityAt = kind === KIND_MAP_ENTRY ? MAP_ENTRY_IDENTITY : ENTRY_IDENTITY;
  let flags = 0;
  let identityBytes = identityLength;
  if (identityLength > store.inlineBytesMax >> 1) {
    flags |= EXTERNAL_IDENTITY;
    identityBytes = REFERENCE_BYTES;
  }
  const valueOffset = identityAt + identityBytes;
  let valueBytes = valueLength;
  if (valueOffset + valueLength > store.inlineBytesMax) {
    flags |= EXTERNAL_VALUE;
    valueBytes = REFERENCE_BYTES;
  }
  const row = store.allocate(group, valueOffset + valueBytes, kind, valueOffset);
  const view = store.viewOf(row);
  const at = store.offsetOf(row);
  if (flags !== 0) view.dv.setInt32(at, view.dv.getInt32(at, true) | flags, true);
  view.dv.setInt32(at + ROW_WORD_1, word1, true);
  view.dv.setInt32(at + ROW_WORD_2, hash, true);
  if ((flags & EXTERNAL_IDENTITY) === 0) copyBytes(identity, 0, view, at + identityAt, identityLength);
  else writeReference(store, group, row, identityAt, identity, 0, identityLength);
  if ((flags & EXTERNAL_VALUE) === 0) copyBytes(value, 0, view, at + valueOffset, valueLength);
  else writeReference(store, group, row, valueOffset, value, 0, valueLength);
  store.addToTable(group, hash, row);
  return row;
}

/** Gives the entry the value that is `length` bytes of `value`, from 0; its row, which may be another one. */
export function setEntryValue(store: RowStore, row: number, value: ByteView, length: number): number {
  const word = store.wordOf(row);
  if ((word & EXTERNAL_VALUE) !== 0) {
    freePieces(store, store.getInt(row, valueOffsetOf(word)));
    store.setInt(row, 0, word & ~EXTERNAL_VALUE);
  }
  const valueOffset = valueOffsetOf(word);
  const isExternal = valueOffset + length > store.inlineBytesMax;
  const units = unitsFor(valueOffset + (isExternal ? REFERENCE_BYTES : length));
  const hasUnits = unitsOf(word);
  if (units > hasUnits || (hasUnits > SHRINK_UNITS_MIN && units * 4 < hasUnits)) {
    row = moveEntry(store, row, units << 3, 0);
  }
  store.touch(row);
  if (isExternal) {
    writeReference(store, store.groupOf(row), row, valueOffset, value, 0, length);
    store.setInt(row, 0, store.wordOf(row) | EXTERNAL_VALUE);
  } else {
    copyBytes(value, 0, store.viewOf(row), store.offsetOf(row) + valueOffset, length);
  }
  return row;
}

/** Moves an entry to a row of at least `bytes`, with the first `keptBytes` of its value; the new row. */
export function moveEntry(store: RowStore, row: number, bytes: number, keptBytes: number): number {
  const word = store.wordOf(row);
  const valueOffset = valueOffsetOf(word);
  const group = store.groupOf(row);
  const moved = store.allocate(group, bytes, word & KIND_MASK, valueOffset);
  const view = store.viewOf(moved);
  const at = store.offsetOf(moved);
  const flags = word & (EXTERNAL_IDENTITY | EXTERNAL_VALUE);
  if (flags !== 0) view.dv.setInt32(at, view.dv.getInt32(at, true) | flags, true);
  const from = store.viewOf(row);
  const fromAt = store.offsetOf(row);
  copyBytes(from, fromAt + ROW_WORD_1, view, at + ROW_WORD_1, valueOffset - ROW_WORD_1 + keptBytes);
  store.replaceInTable(group, view.dv.getInt32(at + ROW_WORD_2, true), row, moved);
  if ((word & KIND_MASK) === KIND_MAP_ENTRY) relinkMapEntry(store, moved);
  store.free(row);
  return moved;
}

/** Removes an entry and what it has in pieces. A map's or list's own rows are the caller's. */
export function removeEntry(store: RowStore, row: number): void {
  const word = store.wordOf(row);
  if ((word & EXTERNAL_VALUE) !== 0) freePieces(store, store.getInt(row, valueOffsetOf(word)));
  if (word < 0) freePieces(store, store.getInt(row, identityOffsetOf(word)));
  store.removeFromTable(store.groupOf(row), store.getInt(row, ROW_WORD_2), row);
  store.free(row);
}

/** Finds the identity of an ENTRY, DEAD or MAP_ENTRY. */
export function readIdentity(store: RowStore, row: number, run: ByteRun): void {
  const word = store.wordOf(row);
  const identityAt = identityOffsetOf(word);
  if (word < 0) {
    run.setExternal(store, store.getInt(row, identityAt), store.getInt(row, identityAt + 4));
  } else {
    run.set(store.viewOf(row), store.offsetOf(row) + identityAt, valueOffsetOf(word) - identityAt);
  }
}

/** Finds the value of an entry. The length is that of the rest of the row unless the value is external. */
export function readValue(store: RowStore, row: number, run: ByteRun): void {
  const word = store.wordOf(row);
  const valueOffset = valueOffsetOf(word);
  if ((word & EXTERNAL_VALUE) !== 0) {
    run.setExternal(store, store.getInt(row, valueOffset), store.getInt(row, valueOffset + 4));
  } else {
    run.set(store.viewOf(row), store.offsetOf(row) + valueOffset, (unitsOf(word) << 3) - valueOffset);
  }
}

/** Writes `length` bytes at `fromAt` of `from` in pieces, and the reference to them at byte `at` of `row`. */
export function writeReference(
  store: RowStore,
  group: number,
  row: number,
  at: number,
  from: ByteView,
  fromAt: number,
  length: number,
): void {
  const first = writePieces(store, group, from, fromAt, length);
  store.setInt(row, at, first);
  store.setInt(row, at + 4, length);
}

/** The neighbours of a MAP_ENTRY, or its head, refer to where it now is. */
function relinkMapEntry(store: RowStore, row: number): void {
  const head = store.getInt(row, ROW_WORD_1);
  const headValue = valueOffsetOf(store.wordOf(head));
  const next = store.getInt(row, MAP_ENTRY_NEXT);
  const previous = store.getInt(row, MAP_ENTRY_PREVIOUS);
  if (next !== 0) store.setInt(next, MAP_ENTRY_PREVIOUS, row);
  else store.setInt(head, headValue + MAP_LAST, row);
  if (previous !== 0) store.setInt(previous, MAP_ENTRY_NEXT, row);
  else store.setInt(head, headValue + MAP_FIRST, row);
}
