/**
 * A cursor over bytes: the one thing generated codecs read from and write to.
 *
 * It may lie over a segment of a ring, a page of state or a scratch buffer; codecs do not know. `pos` and `limit` are
 * absolute offsets into the buffer, so that one view serves many segments. Little-endian throughout.
 *
 * Invariants:
 * I1 An encoder never writes at or beyond `limit`. If the value does not fit it returns false and leaves `pos` as it was
 *    (bytes between pos and limit are then undefined).
 * I2 A decoder trusts the bytes (they were hashed or never left the process) but never reads beyond the buffer.
 */

/** The methods behind Buffer's write and toString, which @types/node lacks: half the cost for short strings. */
export interface NativeBuffer extends Buffer {
  utf8Write(text: string, offset: number, lengthBytes: number): number;
  ucs2Write(text: string, offset: number, lengthBytes: number): number;
  hexWrite(text: string, offset: number, lengthBytes: number): number;
  utf8Slice(start: number, end: number): string;
  latin1Slice(start: number, end: number): string;
  ucs2Slice(start: number, end: number): string;
  hexSlice(start: number, end: number): string;
}

/** See the head of the file. */
export class ByteView {
  readonly u8: Uint8Array;
  readonly dv: DataView;
  readonly buf: NativeBuffer;
  pos = 0;
  limit = 0;

  constructor(buffer: ArrayBufferLike, byteOffset = 0, byteLength = buffer.byteLength - byteOffset) {
    this.u8 = new Uint8Array(buffer, byteOffset, byteLength);
    this.dv = new DataView(buffer, byteOffset, byteLength);
    this.buf = Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength) as NativeBuffer;
    this.limit = byteLength;
  }

  /** A view over a fresh buffer of its own. */
  static allocate(sizeBytes: number): ByteView {
    return new ByteView(new ArrayBuffer(sizeBytes));
  }

  /** A view over the bytes of `bytes`, without copying. */
  static of(bytes: Uint8Array): ByteView {
    return new ByteView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
}
