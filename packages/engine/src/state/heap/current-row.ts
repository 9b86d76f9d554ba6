/**
 * Where one state has its row for the current key and namespace: found once, kept until the key or namespace changes.
 *
 * Each state has one. Whoever inserts, moves or removes the row of the current key says so (`row = ...`).
 *
 * Most keys are short strings or numbers. For them `locate` does what findEntry does, written out in one loop each: it
 * runs once a record and state, and this way takes two thirds of the time. All other keys go through findEntry.
 */
import { assert } from '../../base/index.ts';
import { type ByteView, KEY_TAG_NUMBER, KEY_TAG_STRING, type KeySerializer } from '../../types/index.ts';
import { equalBytes, hashBytes } from './bytes.ts';
import { findEntry } from './entry-lookup.ts';
import { type KeyContext, LONG_STRING } from './key-context.ts';
import { BATCH_MAX } from './prefetched-rows.ts';
import { ENTRY_IDENTITY, EXTERNAL_IDENTITY, KIND_ENTRY, KIND_MASK, valueOffsetOf } from './row-format.ts';
import type { RowStore } from './row-store.ts';
import { Scratch } from './scratch.ts';
import { bucketIndex } from './slot-table.ts';

/** The generation of who knows no row. */
export const UNKNOWN = -1;
/** What word 0 of an ENTRY has in these bits if its identity lies in the row. */
const PLAIN_MASK = KIND_MASK | EXTERNAL_IDENTITY;
/** The same by byte: the upper half of byte 1 of an ENTRY, and what byte 3 is at least if the identity is external. */
const ENTRY_NIBBLE = KIND_ENTRY >> 12;
const EXTERNAL_BYTE = 0x80;

export class CurrentRow<N = unknown> {
  readonly context: KeyContext;
  readonly store: RowStore;
  readonly namespaceSerializer: KeySerializer<N>;
  /** The context's generation for which `row` is right. */
  generation = UNKNOWN;
  /** Address of the row; 0 if there is none. */
  row = 0;
  /** Slot hash of key and namespace. */
  hash = 0;
  private readonly scratch = new Scratch();
  private suffixLength = 0;
  private hasNamespace: boolean;

  constructor(context: KeyContext, store: RowStore, namespaceSerializer: KeySerializer<N>) {
    this.context = context;
    this.store = store;
    this.namespaceSerializer = namespaceSerializer;
    this.hasNamespace = namespaceSerializer.fixedSizeBytes === 0;
    context.followers.push(this);
  }

  /** From now on the row is that of `namespace`. */
  setNamespace(namespace: N): void {
    this.suffixLength = this.scratch.encode(this.namespaceSerializer, namespace);
    this.hasNamespace = true;
    this.generation = UNKNOWN;
  }

  /** The current namespace, for `restoreNamespace`; undefined if there is none yet. */
  holdNamespace(): Uint8Array | undefined {
    return this.hasNamespace ? this.scratch.view.u8.slice(0, this.suffixLength) : undefined;
  }

  /** Makes the namespace that was held the current one again. */
  restoreNamespace(held: Uint8Array | undefined): void {
    this.hasNamespace = held !== undefined;
    this.suffixLength = held?.length ?? 0;
    if (held !== undefined) this.scratch.view.u8.set(held);
    this.generation = UNKNOWN;
  }

  /** True if the current namespace is the one held. */
  isNamespace(held: Uint8Array | undefined): boolean {
    if (held === undefined || held.length !== this.suffixLength) return false;
    return this.scratch.view.buf.compare(held, 0, held.length, 0, held.length) === 0;
  }

  /** Bytes of the namespace, from 0 on. */
  get suffix(): ByteView {
    return this.scratch.view;
  }

  get suffixBytes(): number {
    return this.suffixLength;
  }

  /** The row; 0 if there is none. */
  find(): number {
    return this.generation === this.context.generation ? this.row : this.locate();
  }

  /** Looks the row up and keeps it. */
  locate(): number {
    const { context, store, suffixLength } = this;
    const { key, tagBytes } = context;
    if (context.position < BATCH_MAX) {
      const ahead = this.rowAhead();
      if (ahead !== 0) return this.keep(context.hash, ahead);
    }
    if (typeof key !== 'string' || !context.compareStrings || !this.hasNamespace) return this.locateNumber();
    const hash = suffixLength === 0 ? context.hash : this.namespaceHash();
    const { chunkShift, chunkMask } = store;
    const length = key.length;
    const table = store.tables[context.group]!;
    const mask = table.length - 1;
    for (let index = bucketIndex(hash, table.length); ; index = (index + 2) & mask) {
      const row = table[index + 1]!;
      if (row === 0) return this.keep(hash, 0);
      if (table[index] !== hash) continue;
      const at = (row & chunkMask) << 3;
      const bytes = store.bytes[row >>> chunkShift]!;
      // Bytes 1 and 3 of word 0 say the kind and whether the identity is external.
      if (bytes[at + 3]! >= EXTERNAL_BYTE) return this.locateAny();
      if (bytes[at + 1]! >> 4 !== ENTRY_NIBBLE) continue;
      const start = at + ENTRY_IDENTITY + tagBytes;
      if (bytes[start] !== length) {
        if (bytes[start]! >= LONG_STRING) return this.locateAny();
        continue;
      }
      let i = 0;
      while (i < length && bytes[start + 1 + i] === key.charCodeAt(i)) i++;
      if (i < length || (tagBytes !== 0 && bytes[start - 1] !== KEY_TAG_STRING)) continue;
      if (suffixLength === 0 || this.isSuffix(row, start + 1 + length)) return this.keep(hash, row);
    }
  }

  /** The row that was found ahead, if it is that of the current key; 0 if not. Stores with namespaces have none. */
  private rowAhead(): number {
    const { context, store } = this;
    const row = store.rowAhead(context.position);
    if (row === 0) return 0;
    const word = store.wordOf(row);
    if ((word & PLAIN_MASK) !== KIND_ENTRY) return 0;
    const at = store.offsetOf(row);
    return context.match(store.viewOf(row), at + ENTRY_IDENTITY) === at + valueOffsetOf(word) ? row : 0;
  }

  private locateNumber(): number {
    const { context, store, suffixLength } = this;
    const { key, tagBytes } = context;
    if (typeof key !== 'number' || !context.compareNumbers || !this.hasNamespace) return this.locateAny();
    const hash = suffixLength === 0 ? context.hash : this.namespaceHash();
    const table = store.tables[context.group]!;
    const mask = table.length - 1;
    for (let index = bucketIndex(hash, table.length); ; index = (index + 2) & mask) {
      const row = table[index + 1]!;
      if (row === 0) return this.keep(hash, 0);
      if (table[index] !== hash) continue;
      const word = store.wordOf(row);
      if (word < 0) return this.locateAny();
      if ((word & PLAIN_MASK) !== KIND_ENTRY) continue;
      const view = store.viewOf(row);
      const start = store.offsetOf(row) + ENTRY_IDENTITY + tagBytes;
      const number = view.dv.getFloat64(start, true);
      // biome-ignore lint/suspicious/noSelfCompare: NaN is the one number that is not itself, and equals itself as a key
      if (number !== key && (number === number || key === key)) continue;
      if (tagBytes !== 0 && view.u8[start - 1] !== KEY_TAG_NUMBER) continue;
      if (suffixLength === 0 || this.isSuffix(row, start + 8)) return this.keep(hash, row);
    }
  }

  private locateAny(): number {
    const { context, suffixLength } = this;
    context.requireKey();
    assert(this.hasNamespace, 'a state with namespaces was used before its namespace was set');
    const hash = suffixLength === 0 ? context.hash : this.namespaceHash();
    return this.keep(hash, findEntry(this.store, context, hash, this.scratch.view, suffixLength));
  }

  private keep(hash: number, row: number): number {
    this.hash = hash;
    this.row = row;
    this.generation = this.context.generation;
    return row;
  }

  private namespaceHash(): number {
    return hashBytes(this.scratch.view, 0, this.suffixLength, this.context.hash);
  }

  /** True if the identity of `row`, whose key ends at byte `end`, goes on with the current namespace and ends there. */
  private isSuffix(row: number, end: number): boolean {
    const { store, suffixLength } = this;
    const valueOffset = valueOffsetOf(store.wordOf(row));
    if (end + suffixLength !== store.offsetOf(row) + valueOffset) return false;
    return equalBytes(store.viewOf(row), end, this.scratch.view, 0, suffixLength);
  }
}
