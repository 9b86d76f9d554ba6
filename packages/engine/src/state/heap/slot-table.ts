/**
 * The table that finds the rows of one key group by hash: open addressing with linear probing over pairs.
 *
 *   | hash 0 | row 0 | hash 1 | row 1 | ...        a row address of 0 is an empty slot
 *   bucket of h: the top bits of h * GOLDEN mod 2^32
 *
 * All hashes of a key group agree in their remainder by max parallelism, so the bucket comes from a product in which all
 * bits of the hash have a part. A table is a bare Int32Array whose length says everything: looking up in one of many
 * tables should touch as little memory as can be. Each key group grows by itself, so that pauses are small.
 *
 * Invariants:
 * I1 At most three quarters of the slots are used, so that a probe ends.
 * I2 Between the bucket of an entry and its slot no slot is empty; removal moves entries back (no tombstones).
 */
import { assert } from '../../base/index.ts';

/** 2^32 / golden ratio, odd: multiplicative hashing after Knuth. */
export const GOLDEN = 0x9e3779b1;

const LENGTH_MIN = 16;

/** Stands for the table of every key group without rows. Nothing is ever added to it. */
export const EMPTY_TABLE: Int32Array = new Int32Array(4);

/** Where the probe for a hash begins: an even index into a table of this length. */
export function bucketIndex(hash: number, length: number): number {
  // length = 2 << k for k bits of bucket: the top k bits are those above 32 - k = clz32(length) + 2.
  return (Math.imul(hash, GOLDEN) >>> (Math.clz32(length) + 2)) << 1;
}

/** A table with room for one entry more than `count`: `table` or a larger copy. */
export function grownTable(table: Int32Array, count: number): Int32Array {
  return reservedTable(table, count + 1);
}

/** A table with room for `count` entries in all: `table` or a larger copy. */
export function reservedTable(table: Int32Array, count: number): Int32Array {
  let length = Math.max(table.length, LENGTH_MIN);
  while (count * 8 > length * 3) length *= 2;
  return length === table.length ? table : resized(table, length);
}

/** A table for `count` entries that is not much too large: `table` or a smaller copy. */
export function shrunkTable(table: Int32Array, count: number): Int32Array {
  if (count * 16 >= table.length || table.length <= LENGTH_MIN) return table;
  return resized(table, table.length / 2);
}

/** Adds a row, for which there is room and no entry yet. */
export function addSlot(table: Int32Array, hash: number, row: number): void {
  const mask = table.length - 1;
  let index = bucketIndex(hash, table.length);
  while (table[index + 1] !== 0) index = (index + 2) & mask;
  table[index] = hash;
  table[index + 1] = row;
}

/** Removes the entry of a row. It must be there. */
export function removeSlot(table: Int32Array, hash: number, row: number): void {
  const mask = table.length - 1;
  let hole = slotOf(table, hash, row);
  for (let next = (hole + 2) & mask; table[next + 1] !== 0; next = (next + 2) & mask) {
    const home = bucketIndex(table[next]!, table.length);
    // The entry may move back to the hole unless its bucket lies between the two (I2).
    if (((next - home) & mask) < ((next - hole) & mask)) continue;
    table[hole] = table[next]!;
    table[hole + 1] = table[next + 1]!;
    hole = next;
  }
  table[hole + 1] = 0;
}

/** Puts `row` where `oldRow` was. */
export function replaceSlot(table: Int32Array, hash: number, oldRow: number, row: number): void {
  table[slotOf(table, hash, oldRow) + 1] = row;
}

function slotOf(table: Int32Array, hash: number, row: number): number {
  const mask = table.length - 1;
  let index = bucketIndex(hash, table.length);
  while (table[index + 1] !== row) {
    assert(table[index + 1] !== 0, 'a row is missing in the table of its key group');
    index = (index + 2) & mask;
  }
  return index;
}

function resized(table: Int32Array, length: number): Int32Array {
  const copy = new Int32Array(length);
  for (let i = 0; i < table.length; i += 2) {
    if (table[i + 1] !== 0) addSlot(copy, table[i]!, table[i + 1]!);
  }
  return copy;
}
