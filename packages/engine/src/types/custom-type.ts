/**
 * Serializers of the user as types (Flink's TypeSerializer and TypeSerializerSnapshot in one): what users give, and
 * how it is found again from a description.
 *
 * A description is data and holds the name and the version only; the serializer itself belongs to the node that was made
 * with it. A description that was read from a snapshot has none: its values are read as EncodedCustom, which a type with
 * a serializer of the same name can take over.
 */
import type { DataInput } from './data-input.ts';
import type { DataOutput } from './data-output.ts';
import { invalid } from './type-description.ts';
import type { TypeDescription } from './type-information.ts';

/** What a serializer answers about bytes of an older (or newer) version of itself. */
export type SerializerCompatibility = 'as-is' | 'migrate' | 'incompatible';

/**
 * A type whose values are written by the user's own code. `name` and `version` are saved with the state; when a job is
 * restored from state of another version, `compatibility` says what is done about it.
 */
export interface CustomSerializer<T> {
  /** Saved state is found by it: unique among the serializers of a job, and never changed. */
  readonly name: string;
  /** An integer from 0 on; to be raised whenever other bytes are written. */
  readonly version: number;
  /** Writes `value`. May be called more than once for a value; must answer at once and change nothing. */
  serialize(value: T, out: DataOutput): void;
  /** Reads what `serialize` of this version wrote: all of it. */
  deserialize(input: DataInput): T;
  /**
   * What is to be done with saved state of another version: 'as-is' (the bytes are the same, `deserialize` reads them),
   * 'migrate' (`readOld` reads them, and they are written anew before the first record) or 'incompatible' (the restore is
   * refused). Without this method every other version is incompatible.
   */
  compatibility?(savedVersion: number): SerializerCompatibility;
  /** Reads what `serialize` of `savedVersion` wrote. */
  readOld?(input: DataInput, savedVersion: number): T;
  /**
   * Values that are equal are always written as equal bytes: then the type may be (part of) a key, and two keys are one
   * key if their bytes are equal.
   */
  readonly canonical?: boolean;
  /** Only of keys: Java's hashCode, an integer of 32 bits; by default that of the bytes (Arrays.hashCode). */
  hashCode?(value: T): number;
  /** What a pojo that was saved without a field of this type gets in it. */
  defaultValue?(): T;
}

/** A serializer whose values are of any type. */
export type AnyCustomSerializer = CustomSerializer<unknown>;

/** A value of a custom type that is read by its description alone, such as that of saved state: its bytes. */
export class EncodedCustom {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array = new Uint8Array(0)) {
    this.bytes = bytes;
  }
}

const serializers = new WeakMap<TypeDescription, AnyCustomSerializer>();

/** The description of what `serializer` writes. Throws TYPE_INVALID if it is not complete. */
export function describeCustom<T>(serializer: CustomSerializer<T>): TypeDescription {
  checkSerializer(serializer as AnyCustomSerializer);
  const { name, version } = serializer;
  const description: TypeDescription = Object.freeze({ kind: 'custom', name, version });
  serializers.set(description, serializer as AnyCustomSerializer);
  return description;
}

/** The serializer that a node of kind 'custom' was made with. */
export function serializerOf(description: TypeDescription): AnyCustomSerializer | undefined {
  return serializers.get(description);
}

function checkSerializer(serializer: Partial<AnyCustomSerializer>): void {
  const at = 'Types.CUSTOM';
  if (typeof serializer !== 'object' || serializer === null) {
    throw invalid(at, 'a serializer is an object { name, version, serialize, deserialize, ... }');
  }
  const { name, version } = serializer;
  if (typeof name !== 'string' || name === '') {
    throw invalid(at, 'the serializer has no name; saved state is found by it');
  }
  const where = `${at}(${name})`;
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 0) {
    throw invalid(where, `the version of the serializer is an integer from 0 on, not ${String(version)}`);
  }
  for (const method of ['serialize', 'deserialize'] as const) {
    if (typeof serializer[method] !== 'function')
      throw invalid(where, `the serializer has no method ${method}`);
  }
  for (const method of ['compatibility', 'readOld', 'hashCode', 'defaultValue'] as const) {
    const found = serializer[method];
    if (found !== undefined && typeof found !== 'function')
      throw invalid(where, `${method} of the serializer is not a method`);
  }
}
