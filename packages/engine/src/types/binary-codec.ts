/**
 * The bytes of byte strings, of typed arrays and of integers of any size. Called by generated codecs and by the general codec.
 *
 *     bytes, typed array    [u32 length] [bytes]
 *     bigint    [0] [int64]                                    from -2^63 to 2^63 - 1
 *               [1 positive, 2 negative] [u32 length] [magnitude, big-endian]
 *
 * Invariants: as in string-codec.ts. Every integer has one form only.
 */
import { bytesOf, makeBinary } from './binary-kinds.ts';
import type { ByteView } from './byte-view.ts';

/** Writes `bytes` at `p`; returns the position behind it, or -1 if it does not fit below `limit`. */
export function writeBytes(view: ByteView, bytes: Uint8Array, p: number, limit: number): number {
  const end = p + 4 + bytes.length;
  if (end > limit) return -1;
  view.dv.setUint32(p, bytes.length, true);
  view.u8.set(bytes, p + 4);
  return end;
}

/** Reads the bytes at `p` into a Uint8Array of their own (never in shared memory) and sets `view.pos` behind them. */
export function readBytes(view: ByteView, p: number): Uint8Array {
  const end = p + 4 + view.dv.getUint32(p, true);
  view.pos = end;
  return view.u8.slice(p + 4, end);
}

/** Writes the elements of a typed array, little-endian, as `writeBytes` does. */
export function writeTypedArray(view: ByteView, array: ArrayBufferView, p: number, limit: number): number {
  return writeBytes(view, bytesOf(array), p, limit);
}

/** Reads a typed array of that number in binary-kinds.ts, in memory of its own, and sets `view.pos` behind it. */
export function readTypedArray(view: ByteView, kind: number, p: number): unknown {
  const end = p + 4 + view.dv.getUint32(p, true);
  view.pos = end;
  return makeBinary(kind, view.u8.slice(p + 4, end));
}

/** The position behind the bytes at `p`. */
export function skipBytes(view: ByteView, p: number): number {
  return p + 4 + view.dv.getUint32(p, true);
}

const FORM_INT64 = 0;
const FORM_POSITIVE = 1;
const FORM_NEGATIVE = 2;

/** Writes `value` at `p`; returns the position behind it, or -1 if it does not fit below `limit`. */
export function writeBigInt(view: ByteView, value: bigint, p: number, limit: number): number {
  if (BigInt.asIntN(64, value) === value) {
    if (p + 9 > limit) return -1;
    view.u8[p] = FORM_INT64;
    view.dv.setBigInt64(p + 1, value, true);
    return p + 9;
  }
  // Hexadecimal takes linear time for an integer of any size; shifting out limbs would take quadratic time.
  const hex = (value < 0n ? -value : value).toString(16);
  const length = (hex.length + 1) >>> 1;
  const end = p + 5 + length;
  if (end > limit) return -1;
  view.u8[p] = value < 0n ? FORM_NEGATIVE : FORM_POSITIVE;
  view.dv.setUint32(p + 1, length, true);
  view.buf.hexWrite(hex.length % 2 === 0 ? hex : `0${hex}`, p + 5, length);
  return end;
}

/** Reads the integer at `p` and sets `view.pos` behind it. */
export function readBigInt(view: ByteView, p: number): bigint {
  const form = view.u8[p]!;
  if (form === FORM_INT64) {
    view.pos = p + 9;
    return view.dv.getBigInt64(p + 1, true);
  }
  const end = p + 5 + view.dv.getUint32(p + 1, true);
  view.pos = end;
  const magnitude = BigInt(`0x${view.buf.hexSlice(p + 5, end)}`);
  return form === FORM_NEGATIVE ? -magnitude : magnitude;
}

/** The position behind the integer at `p`. */
export function skipBigInt(view: ByteView, p: number): number {
  return view.u8[p] === FORM_INT64 ? p + 9 : p + 5 + view.dv.getUint32(p + 1, true);
}
