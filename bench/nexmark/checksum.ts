/**
 * What is compared of results: how many there are, and 64 bits, as two words of 32, that do not depend on their order. All
 * modulo 2^32, so that a twin in another language gives the same.
 *
 *     hash of a result: h = its start (0 unless said otherwise), then h = mix(h, x) for each field x
 *     mix(h, x)      : h = (h ^ x) * 0x9E3779B1; h ^= h >>> 15
 *     mixLong(h, v)  = mix(mix(h, low 32 bits of v), high 32 bits of v)         for 0 <= v < 2^53
 *     textHash(s)    : h = 0; h = h * 31 + c for each UTF-16 unit c             (Java's String.hashCode)
 *     textDigest(s)  = length * 961 + first * 31 + last UTF-16 unit; 0 for the empty string
 *     addTimes(h, n) : count += n, low += n * finish(h), high += n * finish(h ^ 0x5BD1E995)
 *     add(h)         = addTimes(h, 1)
 *     finish(h)      : h ^= h >>> 16; h *= 0x85EBCA6B; h ^= h >>> 13; h *= 0xC2B2AE35; h ^= h >>> 16
 */

/** As it is written to files and compared; `low` and `high` are from 0 to 2^32 - 1. */
export interface ChecksumValue {
  readonly count: number;
  readonly low: number;
  readonly high: number;
}

export class Checksum {
  private count = 0;
  /** Low, high. */
  private readonly words = new Int32Array(2);

  /** Takes the hash of one result. */
  add(h: number): void {
    this.addTimes(h, 1);
  }

  /** As if it had been added `times`; -1 takes a result back, so that of all its versions only the last one counts. */
  addTimes(h: number, times: number): void {
    this.count += times;
    this.words[0] = this.words[0]! + Math.imul(finish(h), times);
    this.words[1] = this.words[1]! + Math.imul(finish(h ^ 0x5bd1e995), times);
  }

  merge({ count, low, high }: ChecksumValue): void {
    this.count += count;
    this.words[0] = this.words[0]! + low;
    this.words[1] = this.words[1]! + high;
  }

  value(): ChecksumValue {
    return { count: this.count, low: this.words[0]! >>> 0, high: this.words[1]! >>> 0 };
  }
}

/** 16 hexadecimal digits, high word first. */
export function checksumText({ low, high }: ChecksumValue): string {
  return [high, low].map((word) => word.toString(16).padStart(8, '0')).join('');
}

export function mix(h: number, x: number): number {
  const product = Math.imul(h ^ x, 0x9e3779b1);
  return product ^ (product >>> 15);
}

const WORD = 4_294_967_296;

export function mixLong(h: number, value: number): number {
  const high = Math.floor(value / WORD);
  return mix(mix(h, (value - high * WORD) | 0), high);
}

export function textHash(text: string): number {
  let h = 0;
  for (let i = 0; i < text.length; i++) h = (Math.imul(h, 31) + text.charCodeAt(i)) | 0;
  return h;
}

/** Cheap, for what runs within a measurement. */
export function textDigest(text: string): number {
  const { length } = text;
  if (length === 0) return 0;
  return (length * 961 + text.charCodeAt(0) * 31 + text.charCodeAt(length - 1)) | 0;
}

function finish(word: number): number {
  let h = word;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
