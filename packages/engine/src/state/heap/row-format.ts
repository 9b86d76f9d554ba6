/**
 * How rows look: the bytes that the row store, the states, the snapshots and the restore agree on.
 *
 * Little-endian. A row begins at a multiple of 8 bytes and never crosses a page. Its first word says what it is, how long
 * it is and where its value begins, so that a page can be scanned without knowing types.
 *
 *   word 0:  bits 0..11 size of the row in units of 8 bytes    bits 16..29 offset of the value in the row, in bytes
 *            bits 12..15 kind                                  bit 30 the value is external, bit 31 the identity is
 *
 *   FREE       | word 0 | previous i32 | next i32 |  links of the free list; without meaning in a snapshot
 *   ENTRY      | word 0 | key hash i32 | slot hash i32 | identity: key [namespace [timestamp f64]] | value
 *   DEAD       an ENTRY of a timer that was deleted and still has its place in the timer heap
 *   MAP_ENTRY  | word 0 | head i32 | slot hash i32 | next i32 | previous i32 | identity: user key | value
 *   LIST_CHUNK | word 0 | next i32 | used bytes i32 | elements, one after another
 *   PIECE      | word 0 | next i32 | used bytes i32 | bytes of something external
 *
 * An external identity or value has in its place `| first PIECE i32 | length u32 |`. A list chunk whose value is external
 * holds the reference to one element. Links are addresses, 0 for none; they never leave the key group.
 *
 * The value of an ENTRY is, by kind of state:
 *   value, reducing, aggregating   the value; it may be followed by slack up to the end of the row
 *   list    | elements i32 | first LIST_CHUNK i32 | last LIST_CHUNK i32 | used bytes i32 | the first elements
 *   map     | entries i32 | first MAP_ENTRY i32 | last MAP_ENTRY i32 |  such an ENTRY never moves
 *   timers  nothing
 *
 * Of a state with time-to-live each value and each element of a list is `| last access f64 | value |` (state-ttl.ts).
 */

/** Kinds of rows, in place: `word & KIND_MASK`. */
export const KIND_MASK = 0xf000;
export const KIND_FREE = 0x1000;
export const KIND_ENTRY = 0x2000;
export const KIND_MAP_ENTRY = 0x3000;
export const KIND_LIST_CHUNK = 0x4000;
export const KIND_PIECE = 0x5000;
export const KIND_DEAD = 0x6000;

export const UNITS_MASK = 0xfff;
export const VALUE_OFFSET_SHIFT = 16;
export const VALUE_OFFSET_MASK = 0x3fff;
export const EXTERNAL_VALUE = 0x40000000;
/** The sign bit: word 0 of a row with an external identity is negative. */
export const EXTERNAL_IDENTITY = -0x80000000;

/** Offset of word 1: key hash, next, head, or the previous free row. */
export const ROW_WORD_1 = 4;
/** Offset of word 2: slot hash, used bytes, or the next free row. */
export const ROW_WORD_2 = 8;
/** Where the identity of an ENTRY, and the payload of a chunk or piece, begins. */
export const ENTRY_IDENTITY = 12;
export const MAP_ENTRY_NEXT = 12;
export const MAP_ENTRY_PREVIOUS = 16;
export const MAP_ENTRY_IDENTITY = 20;

/** A reference to external bytes: first piece, length. */
export const REFERENCE_BYTES = 8;

/** Offsets within the value of a list's ENTRY. */
export const LIST_COUNT = 0;
export const LIST_FIRST = 4;
export const LIST_LAST = 8;
export const LIST_USED = 12;
export const LIST_HEAD_BYTES = 16;

/** Offsets within the value of a map's ENTRY. */
export const MAP_COUNT = 0;
export const MAP_FIRST = 4;
export const MAP_LAST = 8;
export const MAP_HEAD_BYTES = 12;

/** Word 0 of a row. */
export function rowWord(units: number, kind: number, valueOffset: number): number {
  return units | kind | (valueOffset << VALUE_OFFSET_SHIFT);
}

/** Size of a row in units, from its word 0. */
export function unitsOf(word: number): number {
  return word & UNITS_MASK;
}

/** Offset of the value in its row in bytes, from word 0. */
export function valueOffsetOf(word: number): number {
  return (word >>> VALUE_OFFSET_SHIFT) & VALUE_OFFSET_MASK;
}

/** Where the identity begins in its row in bytes, from word 0 of an ENTRY, DEAD or MAP_ENTRY. */
export function identityOffsetOf(word: number): number {
  return (word & KIND_MASK) === KIND_MAP_ENTRY ? MAP_ENTRY_IDENTITY : ENTRY_IDENTITY;
}

/** Units of a row of `bytes`. */
export function unitsFor(bytes: number): number {
  return (bytes + 7) >> 3;
}
