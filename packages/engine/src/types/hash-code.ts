/**
 * Java's hashCode for the values that may be keys, and Flink's murmur over it: key groups agree with those of a Flink
 * job whose keys have the corresponding Java types (java.lang.*, java.math.BigInteger, java.util.Date).
 *
 * All results are signed 32-bit integers. No function allocates.
 */

const bits = new DataView(new ArrayBuffer(8));
const TWO_32 = 4_294_967_296;
/** The high half of the one NaN of Java's Double.doubleToLongBits. */
const NAN_HIGH = 0x7ff8_0000;

/** String.hashCode, over UTF-16 code units. */
export function hashString(s: string): number {
  let h = 0;
  for (let i = 0; i < s.length; i++) h = (Math.imul(31, h) + s.charCodeAt(i)) | 0;
  return h;
}

/** Long.hashCode of a safe integer. */
export function hashLong(value: number): number {
  return (value | 0) ^ (Math.floor(value / TWO_32) | 0);
}

/** Double.hashCode, but of 0 for -0: the two are one key here (Java's Double tells them apart). */
export function hashDouble(value: number): number {
  if (Number.isNaN(value)) return NAN_HIGH;
  bits.setFloat64(0, value + 0, true);
  return bits.getInt32(0, true) ^ bits.getInt32(4, true);
}

/** The hash of an undescribed number: an integer is hashed as a Long, any other number as a Double. */
export function hashNumber(value: number): number {
  return Number.isSafeInteger(value) ? hashLong(value) : hashDouble(value);
}

/** Boolean.hashCode. */
export function hashBoolean(value: boolean): number {
  return value ? 1231 : 1237;
}

/** BigInteger.hashCode: over the magnitude's 32-bit words, most significant first, times the sign. */
export function hashBigInt(value: bigint): number {
  const hex = (value < 0n ? -value : value).toString(16);
  let h = 0;
  // The first word may have fewer than eight digits.
  for (let end = ((hex.length - 1) % 8) + 1, start = 0; end <= hex.length; start = end, end += 8) {
    h = (Math.imul(31, h) + Number.parseInt(hex.slice(start, end), 16)) | 0;
  }
  return value < 0n ? -h | 0 : h;
}

/** Date.hashCode: that of its milliseconds as a Long. An invalid Date, which Java has not, is hashed as NaN. */
export function hashDate(value: Date): number {
  return hashNumber(value.getTime());
}

/** Arrays.hashCode(byte[]) of a range of bytes. (A Java array as a key has no stable hash; this is its natural one.) */
export function hashBytes(bytes: Uint8Array, start = 0, end = bytes.length): number {
  let h = 1;
  for (let i = start; i < end; i++) h = (Math.imul(31, h) + ((bytes[i]! << 24) >> 24)) | 0;
  return h;
}

/**
 * Flink's MathUtils.murmurHash before it makes the result non-negative: MurmurHash3 of one 32-bit word, seed 0. The
 * key group of a key is this, made non-negative by negation, modulo the max parallelism.
 */
export function murmur(code: number): number {
  let h = Math.imul(code, 0xcc9e_2d51);
  h = (h << 15) | (h >>> 17);
  h = Math.imul(h, 0x1b87_3593);
  h = (h << 13) | (h >>> 19);
  h = (Math.imul(h, 5) + 0xe654_6b64) ^ 4;
  h = Math.imul(h ^ (h >>> 16), 0x85eb_ca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2_ae35);
  return h ^ (h >>> 16);
}
