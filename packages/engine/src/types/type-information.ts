/**
 * Descriptions of types, and what is made of them. The words are Flink's: TypeInformation describes, TypeSerializer
 * turns values into bytes and back.
 */
import type { ByteView } from './byte-view.ts';

/** A type as plain data: what snapshots, plans and error messages hold. JSON, stable, documented in docs/formats. */
export type TypeDescription =
  | { readonly kind: PrimitiveKind }
  | { readonly kind: 'generic' }
  | { readonly kind: 'list'; readonly element: TypeDescription }
  | { readonly kind: 'set'; readonly element: TypeDescription }
  | { readonly kind: 'map'; readonly key: TypeDescription; readonly value: TypeDescription }
  /** A plain object whose fields have any names and one type. */
  | { readonly kind: 'record'; readonly value: TypeDescription }
  | { readonly kind: 'tuple'; readonly elements: readonly TypeDescription[] }
  | { readonly kind: 'pojo'; readonly name: string; readonly fields: readonly FieldDescription[] }
  | { readonly kind: 'optional'; readonly value: TypeDescription }
  | { readonly kind: 'nullable'; readonly value: TypeDescription }
  | { readonly kind: 'enum'; readonly name: string; readonly values: readonly string[] }
  | { readonly kind: 'literal'; readonly values: readonly LiteralValue[] }
  /** Pojos that are told apart by `field`: in each of them it is a literal. */
  | { readonly kind: 'union'; readonly field: string; readonly types: readonly TypeDescription[] }
  /** Types that are told apart by what kind of JavaScript value theirs are. */
  | { readonly kind: 'either'; readonly types: readonly TypeDescription[] }
  /** `array` is the name of the class, such as Float64Array. */
  | { readonly kind: 'typed-array'; readonly array: string }
  /** What a serializer of the user writes. */
  | { readonly kind: 'custom'; readonly name: string; readonly version: number }
  /** The schema as JSON text, names in full. */
  | { readonly kind: 'avro'; readonly schema: string };

/** A value that a literal type may consist of. */
export type LiteralValue = string | number | boolean | null;

/** `void` is the type with the one value undefined (the namespace of state outside windows). */
export type PrimitiveKind =
  | 'void'
  | 'string'
  | 'long'
  | 'int'
  | 'double'
  | 'boolean'
  | 'bytes'
  | 'bigint'
  | 'date';

export interface FieldDescription {
  readonly name: string;
  readonly type: TypeDescription;
}

declare const VALUE: unique symbol;

/** The type of values of type T. Made by `Types`; carries no state, may be shared by any number of jobs. */
export interface TypeInformation<T> {
  readonly description: TypeDescription;
  /**
   * Makes class instances of decoded pojos; undefined for plain objects. By position of the pojo in the description. Of a
   * custom type it says that its serializer reads it; else values are EncodedCustom, as of a description alone.
   */
  readonly classes?: ReadonlyMap<TypeDescription, new () => object>;
  readonly [VALUE]?: T;
}

/** The TypeScript type of the values that `I` describes: `type Order = Infer<typeof orderType>`. */
export type Infer<I extends TypeInformation<unknown>> = I extends TypeInformation<infer T> ? T : never;

/** Given values of more units of strings and parts than this are not copied. */
export const GIVEN_SIZE_MAX = 4096;

/** Generated code for one type at one place of use. Not thread-safe, no state between calls. */
export interface TypeSerializer<T> {
  readonly description: TypeDescription;
  /** Bytes of every value, if all have the same; else undefined. */
  readonly fixedSizeBytes: number | undefined;
  /**
   * Writes `value` at `view.pos` and advances it; false (and nothing done) if it does not fit below `view.limit`.
   * Throws TYPE_MISMATCH (place of use, field path, expected, found) if `value` is not of the type.
   */
  encode(view: ByteView, value: T): boolean;
  /** Reads a value at `view.pos` and advances it. The value shares no memory with the view. */
  decode(view: ByteView): T;
  /** Advances `view.pos` over one value. */
  skip(view: ByteView): void;
  /**
   * Copies a value that `decode` gave, as decoding again would; the copy shares nothing that can be changed. Only where
   * that takes less time than decoding: values with strings, of kinds that generated code can copy.
   */
  copy?(value: T): T;
  /**
   * What encoding and decoding `value`, which may be anything, would give; undefined if `encode` would refuse it, or if it is
   * large (4,096 units of strings and parts). Only of kinds that generated code can copy. Of an undescribed type: only of
   * values like those that were encoded before.
   */
  copyGiven?(value: T): T | undefined;
}

/**
 * What keys need beyond serialising. Two keys are the same key if and only if their encodings are the same bytes.
 *
 * `hash` is the key's 32-bit hash after Flink's murmur: for keys of a described type murmur(Java's hashCode), so that
 * key groups agree with Flink's; for undescribed keys a canonical typed hash (1, "1" and 1n differ; NaN equals NaN;
 * 0 equals -0; objects by sorted fields). Throws KEY_NOT_ALLOWED for functions, symbols, promises and the like.
 */
export interface KeySerializer<K> extends TypeSerializer<K> {
  hash(key: K): number;
  /**
   * How the row store may compare a key with its bytes without encoding it, and what the bytes then are:
   * 'string': the string encoding. A string shorter than 24 characters, all below 256, is one byte of length and one
   *   byte a character; any other string begins with a byte of 128 or more.
   * 'number': a float64, little-endian, 0 for -0 and one NaN (bytes 0 0 0 0 0 0 f8 7f).
   * 'tagged': a key whose typeof is 'string' is the byte KEY_TAG_STRING and the string encoding, one whose typeof is
   *   'number' the byte KEY_TAG_NUMBER and the float64; any other key begins with another byte. This is what undescribed
   *   keys have.
   * 'none': encode and compare.
   */
  readonly shortcut: 'string' | 'number' | 'tagged' | 'none';
}
