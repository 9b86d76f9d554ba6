/** Comparing, copying and hashing bytes of views without making objects: rows are short and these run per record. */
import type { ByteView } from '../../types/index.ts';

/** From here on the built-in copy and comparison are faster than a loop. */
const LONG_BYTES = 96;

/** True if `length` bytes at `aAt` of `a` and at `bAt` of `b` are the same. */
export function equalBytes(a: ByteView, aAt: number, b: ByteView, bAt: number, length: number): boolean {
  if (length >= LONG_BYTES) {
    return a.buf.compare(b.u8, bAt, bAt + length, aAt, aAt + length) === 0;
  }
  let i = 0;
  for (; i + 4 <= length; i += 4) {
    if (a.dv.getInt32(aAt + i, true) !== b.dv.getInt32(bAt + i, true)) return false;
  }
  for (; i < length; i++) {
    if (a.u8[aAt + i] !== b.u8[bAt + i]) return false;
  }
  return true;
}

/** Order of two runs of bytes as unsigned bytes, the shorter first if one begins with the other: -1, 0 or 1. */
export function compareBytes(
  a: ByteView,
  aAt: number,
  aLength: number,
  b: ByteView,
  bAt: number,
  bLength: number,
): number {
  return a.buf.compare(b.u8, bAt, bAt + bLength, aAt, aAt + aLength);
}

/** Copies `length` bytes between two views, or within one if the runs do not overlap. */
export function copyBytes(from: ByteView, fromAt: number, to: ByteView, toAt: number, length: number): void {
  if (length >= LONG_BYTES) {
    to.u8.set(from.u8.subarray(fromAt, fromAt + length), toAt);
    return;
  }
  let i = 0;
  for (; i + 4 <= length; i += 4) to.dv.setInt32(toAt + i, from.dv.getInt32(fromAt + i, true), true);
  for (; i < length; i++) to.u8[toAt + i] = from.u8[fromAt + i]!;
}

/** 32-bit Murmur3 of `length` bytes; `seed` is any 32-bit number. Slot hashes in snapshots are made by it. */
export function hashBytes(view: ByteView, at: number, length: number, seed: number): number {
  let hash = seed;
  let i = 0;
  for (; i + 4 <= length; i += 4) {
    hash = (Math.imul(rotate13(hash ^ scramble(view.dv.getInt32(at + i, true))), 5) + 0xe6546b64) | 0;
  }
  let tail = 0;
  for (let shift = 0; i < length; i++, shift += 8) tail |= view.u8[at + i]! << shift;
  hash ^= scramble(tail) ^ length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function scramble(word: number): number {
  const spread = Math.imul(word, 0xcc9e2d51);
  return Math.imul((spread << 15) | (spread >>> 17), 0x1b873593);
}

function rotate13(word: number): number {
  return (word << 13) | (word >>> 19);
}
