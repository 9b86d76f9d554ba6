/**
 * What a serializer of the user reads from (java.io.DataInput): the counterparts of DataOutput, which must be called in
 * the same order. Handed to `deserialize` of a CustomSerializer.
 *
 * Invariants:
 * I1 Nothing is read beyond the bytes of the one value, whatever the user's code does.
 */
import { MillraceError } from '../base/index.ts';
import { readBigInt, readBytes } from './binary-codec.ts';
import { ByteView } from './byte-view.ts';
import { readString } from './string-codec.ts';

/** Gives the parts of a value back, in the order in which they were written. Throws SERIALIZER_FAILED beyond its end. */
export interface DataInput {
  /** Bytes of the value that are not read yet. */
  readonly remaining: number;
  /** What `writeBoolean` wrote. */
  readBoolean(): boolean;
  /** What `writeByte` wrote. */
  readByte(): number;
  /** What `writeInt` wrote. */
  readInt(): number;
  /** What `writeLong` wrote. */
  readLong(): number;
  /** What `writeDouble` wrote. */
  readDouble(): number;
  /** What `writeBigInt` wrote. */
  readBigInt(): bigint;
  /** What `writeString` wrote. */
  readString(): string;
  /** A copy. */
  readBytes(): Uint8Array;
}

export class BytesInput implements DataInput {
  readonly #view: ByteView;
  readonly #end: number;
  #at: number;

  constructor(view: ByteView, at: number, end: number) {
    this.#view = view;
    this.#at = at;
    this.#end = end;
  }

  static of(bytes: Uint8Array): BytesInput {
    return new BytesInput(ByteView.of(bytes), 0, bytes.length);
  }

  get remaining(): number {
    return this.#end - this.#at;
  }

  readBoolean(): boolean {
    return this.readByte() !== 0;
  }

  readByte(): number {
    return this.#view.u8[this.#take(1, 'readByte')]!;
  }

  readInt(): number {
    return this.#view.dv.getInt32(this.#take(4, 'readInt'), true);
  }

  readLong(): number {
    return this.#view.dv.getFloat64(this.#take(8, 'readLong'), true);
  }

  readDouble(): number {
    return this.#view.dv.getFloat64(this.#take(8, 'readDouble'), true);
  }

  readBigInt(): bigint {
    return this.#read('readBigInt', () => readBigInt(this.#view, this.#at));
  }

  readString(): string {
    return this.#read('readString', () => readString(this.#view, this.#view.u8, this.#at));
  }

  readBytes(): Uint8Array {
    return this.#read('readBytes', () => readBytes(this.#view, this.#at));
  }

  #take(sizeBytes: number, method: string): number {
    const at = this.#at;
    if (at + sizeBytes > this.#end) throw beyond(method);
    this.#at = at + sizeBytes;
    return at;
  }

  /** Reads what says its length itself: bytes that were written as something else may say anything. */
  #read<T>(method: string, read: () => T): T {
    if (this.#at >= this.#end) throw beyond(method);
    let value: T;
    try {
      value = read();
    } catch (cause) {
      throw beyond(method, cause);
    }
    if (this.#view.pos > this.#end) throw beyond(method);
    this.#at = this.#view.pos;
    return value;
  }
}

function beyond(method: string, cause?: unknown): MillraceError {
  return new MillraceError(
    'SERIALIZER_FAILED',
    `${method} reads beyond the end of the value: read the parts that were written, in the same order`,
    { cause },
  );
}
