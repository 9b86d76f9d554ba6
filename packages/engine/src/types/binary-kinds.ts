/** Typed arrays and their like: how the general codec names each kind of them in one byte. Numbers never change. */

type BinaryClass = new (buffer: ArrayBuffer) => ArrayBufferView;

/** By number. 0 is ArrayBuffer itself, 1 Buffer; kinds that this Node does not have are undefined. */
const CLASSES: readonly (BinaryClass | undefined)[] = [
  undefined,
  undefined,
  Uint8Array,
  Uint8ClampedArray,
  Int8Array,
  Uint16Array,
  Int16Array,
  Uint32Array,
  Int32Array,
  Float32Array,
  Float64Array,
  BigUint64Array,
  BigInt64Array,
  DataView,
  (globalThis as { readonly Float16Array?: BinaryClass }).Float16Array,
];

const KIND_ARRAY_BUFFER = 0;
const KIND_BUFFER = 1;
const KIND_BYTES = 2;

const KINDS = new Map<object, number>([
  [ArrayBuffer.prototype, KIND_ARRAY_BUFFER],
  [Buffer.prototype, KIND_BUFFER],
]);
for (const [kind, binaryClass] of CLASSES.entries()) {
  if (binaryClass !== undefined) KINDS.set(binaryClass.prototype as object, kind);
}

/** The number for objects with this prototype; undefined if they are not binary. */
export function binaryKindOf(prototype: object): number | undefined {
  return KINDS.get(prototype);
}

/** The kind that stands for it among keys: a Buffer and a Uint8Array of the same bytes are one key. */
export function canonicalBinaryKind(kind: number): number {
  return kind === KIND_BUFFER ? KIND_BYTES : kind;
}

/** Typed arrays by the name of their class; a Uint8Array is BYTES, a DataView none. */
const TYPED_ARRAYS = new Map(
  CLASSES.flatMap((each, kind) =>
    each === undefined || each === Uint8Array || each === DataView
      ? []
      : [[each.name, { each, kind }] as const],
  ),
);

/** Whether there is a typed array of that name in this version of Node. */
export function isTypedArray(name: unknown): boolean {
  return TYPED_ARRAYS.has(name as string);
}

/** The class and the number of the typed array of that name. */
export function typedArrayOf(name: string): { readonly each: BinaryClass; readonly kind: number } {
  return TYPED_ARRAYS.get(name)!;
}

/** The bytes behind a value of a binary kind, without copying. */
export function bytesOf(value: ArrayBuffer | ArrayBufferView): Uint8Array {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return new Uint8Array(value);
}

/** A value of the kind with exactly these bytes; `bytes` must own all of its buffer. */
export function makeBinary(kind: number, bytes: Uint8Array<ArrayBuffer>): ArrayBuffer | ArrayBufferView {
  if (kind === KIND_ARRAY_BUFFER) return bytes.buffer;
  if (kind === KIND_BUFFER) return Buffer.from(bytes.buffer);
  const binaryClass = CLASSES[kind];
  if (binaryClass === undefined) {
    throw new RangeError(`this version of Node has no binary type number ${kind}`);
  }
  return new binaryClass(bytes.buffer);
}
