/**
 * `Types`: how users describe the types of records, keys and state. The words are those of Flink's Types class; the
 * TypeScript type is inferred from the description.
 *
 *     const Order = Types.POJO('Order', {
 *       id: Types.STRING,
 *       items: Types.LIST(Types.ROW({ price: Types.DOUBLE, count: Types.INT })),
 *       note: Types.OPTIONAL(Types.STRING),
 *     });
 *     type Order = Infer<typeof Order>;   // { id: string; items: { price: number; count: number }[]; note?: string }
 *
 * Invariants: a description is frozen, complete when it is returned, and checked: everything else may rely on it.
 */
import { pojo } from './pojo-type.ts';
import { jsonSchemaType, schemaType } from './schema-type.ts';
import {
  avro,
  BIGINT,
  BOOLEAN,
  BYTES,
  custom,
  DATE,
  DOUBLE,
  either,
  enumeration,
  generic,
  INT,
  LONG,
  list,
  literal,
  map,
  nullable,
  optional,
  record,
  row,
  STRING,
  set,
  tuple,
  typedArray,
  union,
  VOID,
} from './type-factories.ts';

/**
 * The types. What has parts is spelled in lower case (`Types.list`) or in upper case as in Flink (`Types.LIST`): the
 * same functions. Functions throw TYPE_INVALID for a description that is not allowed.
 */
export const Types = Object.freeze({
  /** Any string; lone surrogates survive. */
  STRING,
  /** A safe integer, from -(2^53 - 1) to 2^53 - 1; beyond it use BIGINT. Java's long, as far as a number is exact. */
  LONG,
  /** An integer of 32 bits, signed. -0 becomes 0. */
  INT,
  /** Any number: NaN, the infinities and -0 too. */
  DOUBLE,
  /** True or false. */
  BOOLEAN,
  /** A Uint8Array. A Buffer comes back as a Uint8Array. */
  BYTES,
  /** A bigint of any size. */
  BIGINT,
  /** A Date; an invalid Date comes back invalid. */
  DATE,
  /** The one value undefined. */
  VOID,
  /** Any plain data. It takes more bytes, is fast while values look alike, and cannot evolve by schema. */
  generic,
  /** The same as `generic`. */
  GENERIC: generic,
  /** An array. */
  list,
  /** The same as `list`. */
  LIST: list,
  /** A JavaScript Map; the order of its entries survives. */
  map,
  /** The same as `map`. */
  MAP: map,
  /** A JavaScript Set; the order of its elements survives. */
  set,
  /** The same as `set`. */
  SET: set,
  /** A plain object with any names as fields, all of one type: Record<string, T>. */
  record,
  /** The same as `record`. */
  RECORD: record,
  /** A typed array, by its class: `Types.TYPED_ARRAY(Float64Array)`. (Of a Uint8Array the type is BYTES.) */
  typedArray,
  /** The same as `typedArray`. */
  TYPED_ARRAY: typedArray,
  /** An array of fixed length, each position with a type of its own. */
  tuple,
  /** The same as `tuple`. */
  TUPLE: tuple,
  /** An object with these fields, without a name: compared by its fields when saved state is read again. */
  row,
  /** The same as `row`. */
  ROW: row,
  /**
   * An object with these fields and a name, or the instances of a class.
   *
   * By name: fields of a value that are not described are dropped.
   *
   * A class must keep the rules of a POJO: it can be made without arguments; each described field can be assigned, or has
   * a getter and a setter; every field is described, those of its base classes too, or listed as `transient`. A value
   * that is read is made by `new Class()`, then the described fields are assigned. So private fields (`#x`), which nobody
   * sees from outside, and transient ones have what the constructor gives them: describe an accessor with getter and
   * setter to keep one. Methods, and getters without setter, are no fields.
   *
   * ```ts
   * import { Types } from 'millrace';
   *
   * class Account {
   *   owner = '';
   *   #cents = 0;
   *   get cents(): number { return this.#cents; }
   *   set cents(value: number) { this.#cents = value; }
   *   cache = new Map<string, number>();
   * }
   * const AccountType = Types.POJO(Account, { owner: Types.STRING, cents: Types.LONG }, { transient: ['cache'] });
   * ```
   */
  pojo,
  /** The same as `pojo`. */
  POJO: pojo,
  /** One of these strings, stored by name: values may be added and moved later. */
  enum: enumeration,
  /** The same as `enum`. */
  ENUM: enumeration,
  /** One of these values: strings, finite numbers, booleans, null. */
  literal,
  /** The same as `literal`. */
  LITERAL: literal,
  /**
   * An object of one of several types that a field tells apart: in each of them the field is a LITERAL or an ENUM, with
   * values that no other has. Types may be added and moved later.
   *
   * ```ts
   * import { Types } from 'millrace';
   *
   * const Event = Types.UNION('kind',
   *   Types.ROW({ kind: Types.LITERAL('created'), at: Types.DATE }),
   *   Types.ROW({ kind: Types.LITERAL('paid'), amount: Types.DOUBLE }));
   * ```
   */
  union,
  /** The same as `union`. */
  UNION: union,
  /**
   * A value of one of these types (Flink's Either, as TypeScript has it: A | B). They are told apart by what JavaScript
   * sees in a value: a string, a number, an array, a Map, an object, ...; for several types of objects use UNION.
   */
  either,
  /** The same as `either`. */
  EITHER: either,
  /** The value or undefined; a field of a pojo may then be missing (and stays missing). */
  optional,
  /** The same as `optional`. */
  OPTIONAL: optional,
  /** The value or null. */
  nullable,
  /** The same as `nullable`. */
  NULLABLE: nullable,
  /**
   * What an Avro schema (its object, or its JSON as text) describes, written in Avro's binary encoding; saved state is
   * read again by Avro's rules of resolution. Records and maps are plain objects, bytes are Buffers, a long is a number.
   * Not for keys.
   */
  avro,
  /** The same as `avro`. */
  AVRO: avro,
  /**
   * Values that your own code writes and reads: see CustomSerializer. They may be used everywhere, within other types
   * too; as (part of) keys if the serializer says that it is canonical. Saved with name and version; when the version of
   * saved state is another one, the serializer is asked whether it can be read as it is, be migrated, or not.
   *
   * ```ts
   * import { Types } from 'millrace';
   *
   * interface Money { cents: bigint; currency: string }
   *
   * const MoneyType = Types.CUSTOM<Money>({
   *   name: 'money',
   *   version: 2,
   *   serialize: (value, out) => { out.writeBigInt(value.cents); out.writeString(value.currency); },
   *   deserialize: (input) => ({ cents: input.readBigInt(), currency: input.readString() }),
   *   compatibility: (saved) => (saved === 1 ? 'migrate' : 'incompatible'),
   *   readOld: (input) => ({ cents: input.readBigInt(), currency: 'EUR' }),
   * });
   * ```
   */
  custom,
  /** The same as `custom`. */
  CUSTOM: custom,
  /**
   * The output of a schema of Zod, Valibot, ArkType or any validator that follows the Standard Schema and can tell its
   * shape as JSON Schema; else give that as the second argument. Values are not validated (see `validated`), they are
   * encoded: refinements, formats and bounds do not matter, and the type is that after all transforms and defaults. What
   * cannot be encoded exactly is refused, naming its path: recursion, intersections of other things than objects, objects
   * with declared and other fields, the result of a transform that nothing describes.
   */
  schema: schemaType,
  /** The same as `schema`. */
  SCHEMA: schemaType,
  /**
   * The values that a JSON Schema describes (draft 7 or 2020-12), as for SCHEMA. An integer is a LONG, any other number a
   * DOUBLE; the keyword `x-millrace-type` ('date', 'bigint', 'bytes', 'int', 'long', 'double', 'generic', 'undefined') says
   * what JSON Schema cannot.
   */
  jsonSchema: jsonSchemaType,
  /** The same as `jsonSchema`. */
  JSON_SCHEMA: jsonSchemaType,
});
