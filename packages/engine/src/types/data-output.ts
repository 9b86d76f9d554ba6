/**
 * What a serializer of the user writes to (java.io.DataOutput): typed writes behind each other, each of them checked.
 * Handed to `serialize` of a CustomSerializer; knows the buffer, the user's code does not.
 *
 * Invariants:
 * I1 Nothing is written at or beyond the limit. The first write that does not fit ends the writing: what follows is
 *    ignored, and whoever called the user's code sees it by `end`.
 */
import { MillraceError } from '../base/index.ts';
import { writeBigInt, writeBytes } from './binary-codec.ts';
import type { ByteView } from './byte-view.ts';
import { writeString } from './string-codec.ts';
import { describeValue } from './type-mismatch.ts';
import { FULL } from './value-refusal.ts';

/** Takes the parts of a value one by one. Each method throws TYPE_MISMATCH for what is not of its type. */
export interface DataOutput {
  /** One byte: 0 or 1. */
  writeBoolean(value: boolean): void;
  /** One byte: an integer from 0 to 255. */
  writeByte(value: number): void;
  /** Four bytes: an integer of 32 bits, signed. */
  writeInt(value: number): void;
  /** Eight bytes: an integer from -(2^53 - 1) to 2^53 - 1. */
  writeLong(value: number): void;
  /** Eight bytes: any number. */
  writeDouble(value: number): void;
  /** An integer of any size: nine bytes up to 64 bits, more beyond. */
  writeBigInt(value: bigint): void;
  /** Any string, with its length. */
  writeString(value: string): void;
  /** Bytes, with their length. They are copied. */
  writeBytes(value: Uint8Array): void;
}

/** Stands for the position after the first write that did not fit. */
const OVER = Number.POSITIVE_INFINITY;

export class BytesOutput implements DataOutput {
  readonly #view: ByteView;
  readonly #limit: number;
  #at: number;

  constructor(view: ByteView, at: number, limit: number) {
    this.#view = view;
    this.#at = at;
    this.#limit = limit;
  }

  /** The position behind what was written, or FULL if not all of it fitted. */
  get end(): number {
    return this.#at === OVER ? FULL : this.#at;
  }

  writeBoolean(value: boolean): void {
    if (typeof value !== 'boolean') throw notA('writeBoolean', 'a boolean', value);
    const at = this.#take(1);
    if (at !== OVER) this.#view.u8[at] = value ? 1 : 0;
  }

  writeByte(value: number): void {
    if ((value & 255) !== value) throw notA('writeByte', 'an integer from 0 to 255', value);
    const at = this.#take(1);
    if (at !== OVER) this.#view.u8[at] = value;
  }

  writeInt(value: number): void {
    if (typeof value !== 'number' || (value | 0) !== value) {
      throw notA('writeInt', 'an integer of 32 bits', value);
    }
    const at = this.#take(4);
    if (at !== OVER) this.#view.dv.setInt32(at, value, true);
  }

  writeLong(value: number): void {
    if (!Number.isSafeInteger(value)) throw notA('writeLong', 'an integer up to 2^53 - 1', value);
    const at = this.#take(8);
    // A sum with 0 turns -0, which is no integer, into 0.
    if (at !== OVER) this.#view.dv.setFloat64(at, value + 0, true);
  }

  writeDouble(value: number): void {
    if (typeof value !== 'number') throw notA('writeDouble', 'a number', value);
    const at = this.#take(8);
    if (at !== OVER) this.#view.dv.setFloat64(at, value, true);
  }

  writeBigInt(value: bigint): void {
    if (typeof value !== 'bigint') throw notA('writeBigInt', 'a bigint', value);
    if (this.#at !== OVER) this.#moveTo(writeBigInt(this.#view, value, this.#at, this.#limit));
  }

  writeString(value: string): void {
    if (typeof value !== 'string') throw notA('writeString', 'a string', value);
    if (this.#at !== OVER) this.#moveTo(writeString(this.#view, this.#view.u8, value, this.#at, this.#limit));
  }

  writeBytes(value: Uint8Array): void {
    if (!(value instanceof Uint8Array)) throw notA('writeBytes', 'a Uint8Array', value);
    if (this.#at !== OVER) this.#moveTo(writeBytes(this.#view, value, this.#at, this.#limit));
  }

  #take(sizeBytes: number): number {
    const at = this.#at;
    this.#at = at + sizeBytes <= this.#limit ? at + sizeBytes : OVER;
    return this.#at === OVER ? OVER : at;
  }

  #moveTo(end: number): void {
    this.#at = end < 0 ? OVER : end;
  }
}

function notA(method: string, expected: string, found: unknown): MillraceError {
  return new MillraceError('TYPE_MISMATCH', `${method} takes ${expected}, not ${describeValue(found)}`, {
    details: { expected, found: describeValue(found) },
  });
}
