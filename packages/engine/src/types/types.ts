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
import { compileAvro } from './avro-schema.ts';
import { checkPojoClass, type PojoClass } from './pojo-class.ts';
import { checkTypeDescription, invalid } from './type-description.ts';
import type {
  FieldDescription,
  Infer,
  PrimitiveKind,
  TypeDescription,
  TypeInformation,
} from './type-information.ts';

/** The fields of a pojo or row, by name, in the order in which they are encoded. */
export type FieldTypes = Readonly<Record<string, TypeInformation<unknown>>>;

type OptionalNames<F extends FieldTypes> = {
  [K in keyof F]: undefined extends Infer<F[K]> ? K : never;
}[keyof F];

/** The objects with these fields; a field that may be undefined may be missing. */
export type ObjectOf<F extends FieldTypes> = {
  -readonly [K in Exclude<keyof F, OptionalNames<F>>]: Infer<F[K]>;
} & { -readonly [K in OptionalNames<F>]?: Infer<F[K]> } extends infer O
  ? // Written out once more, so that editors show the fields rather than this.
    { [K in keyof O]: O[K] }
  : never;

/** The tuple of the values of these types. */
export type TupleOf<E extends readonly TypeInformation<unknown>[]> = {
  -readonly [I in keyof E]: Infer<E[I]>;
};

type Classes = ReadonlyMap<TypeDescription, PojoClass>;

function describe<T>(
  at: string,
  description: TypeDescription,
  parts: readonly TypeInformation<unknown>[],
  own?: PojoClass,
): TypeInformation<T> {
  checkTypeDescription(description, at);
  const classes = new Map<TypeDescription, PojoClass>();
  for (const part of parts) for (const [type, pojoClass] of part.classes ?? []) classes.set(type, pojoClass);
  if (own !== undefined) classes.set(description, own);
  return Object.freeze(classes.size === 0 ? { description } : { description, classes: classes as Classes });
}

function primitive<T>(kind: PrimitiveKind): TypeInformation<T> {
  return Object.freeze({ description: Object.freeze({ kind }) });
}

/** The description of a part, or TYPE_INVALID where there is none: a type used before it was assigned, or a typo. */
function descriptionOf(part: TypeInformation<unknown> | undefined, at: string): TypeDescription {
  if (typeof part !== 'object' || part === null || typeof part.description !== 'object') {
    throw invalid(
      at,
      'this is not a type of Types. A type that is used before it is described, such as one inside itself, is undefined here; use Types.GENERIC() for it',
    );
  }
  return part.description;
}

const STRING = primitive<string>('string');
const LONG = primitive<number>('long');
const INT = primitive<number>('int');
const DOUBLE = primitive<number>('double');
const BOOLEAN = primitive<boolean>('boolean');
const BYTES = primitive<Uint8Array>('bytes');
const BIGINT = primitive<bigint>('bigint');
const DATE = primitive<Date>('date');
const VOID = primitive<undefined>('void');
const UNDESCRIBED = Object.freeze({ description: Object.freeze({ kind: 'generic' as const }) });

function generic<T = unknown>(): TypeInformation<T> {
  return UNDESCRIBED;
}

function list<T>(element: TypeInformation<T>): TypeInformation<T[]> {
  const at = 'Types.LIST';
  const type = descriptionOf(element, at);
  return describe(at, Object.freeze({ kind: 'list', element: type }), [element]);
}

function map<K, V>(key: TypeInformation<K>, value: TypeInformation<V>): TypeInformation<Map<K, V>> {
  const at = 'Types.MAP';
  const parts = { key: descriptionOf(key, `${at} key`), value: descriptionOf(value, `${at} value`) };
  return describe(at, Object.freeze({ kind: 'map', ...parts }), [key, value]);
}

function tuple<const E extends readonly TypeInformation<unknown>[]>(
  ...elements: E
): TypeInformation<TupleOf<E>> {
  const at = 'Types.TUPLE';
  const types = elements.map((element, i) => descriptionOf(element, `${at}[${i}]`));
  return describe(at, Object.freeze({ kind: 'tuple', elements: Object.freeze(types) }), elements);
}

function optional<T>(value: TypeInformation<T>): TypeInformation<T | undefined> {
  const at = 'Types.OPTIONAL';
  return describe(at, Object.freeze({ kind: 'optional', value: descriptionOf(value, at) }), [value]);
}

function nullable<T>(value: TypeInformation<T>): TypeInformation<T | null> {
  const at = 'Types.NULLABLE';
  return describe(at, Object.freeze({ kind: 'nullable', value: descriptionOf(value, at) }), [value]);
}

function object<T>(at: string, name: string, fields: FieldTypes, own?: PojoClass): TypeInformation<T> {
  if (typeof fields !== 'object' || fields === null)
    throw invalid(at, 'the fields are an object of types by name');
  const described: FieldDescription[] = [];
  const parts: TypeInformation<unknown>[] = [];
  for (const [field, part] of Object.entries(fields)) {
    described.push(Object.freeze({ name: field, type: descriptionOf(part, `${at}.${field}`) }));
    parts.push(part);
  }
  return describe(at, Object.freeze({ kind: 'pojo', name, fields: Object.freeze(described) }), parts, own);
}

function row<F extends FieldTypes>(fields: F): TypeInformation<ObjectOf<F>> {
  return object('Types.ROW', '', fields);
}

/** Methods are no fields. They are left out by name: a `toString` of the class would clash with that of the literal. */
type Method = (...args: never[]) => unknown;

function pojo<C extends object>(
  pojoClass: PojoClass<C>,
  fields: { readonly [K in keyof C as C[K] extends Method ? never : K]?: TypeInformation<C[K]> },
): TypeInformation<C>;
function pojo<F extends FieldTypes>(name: string, fields: F): TypeInformation<ObjectOf<F>>;
function pojo(nameOrClass: string | PojoClass, fields: object): TypeInformation<object> {
  const byName = fields as FieldTypes;
  if (typeof nameOrClass === 'function') {
    const info = object<object>(`Types.POJO(${nameOrClass.name})`, nameOrClass.name, byName, nameOrClass);
    checkPojoClass(nameOrClass, Object.keys(byName));
    return info;
  }
  if (typeof nameOrClass !== 'string' || nameOrClass === '') {
    throw invalid(
      'Types.POJO',
      'the first argument is a name or a class; Types.ROW makes a type without a name',
    );
  }
  return object(`Types.POJO(${nameOrClass})`, nameOrClass, byName);
}

function enumeration<const V extends readonly string[]>(values: V): TypeInformation<V[number]>;
function enumeration<const V extends readonly string[]>(name: string, values: V): TypeInformation<V[number]>;
function enumeration(
  nameOrValues: string | readonly string[],
  values?: readonly string[],
): TypeInformation<string> {
  const name = typeof nameOrValues === 'string' ? nameOrValues : '';
  const listed = typeof nameOrValues === 'string' ? values : nameOrValues;
  const at = `Types.ENUM${name === '' ? '' : `(${name})`}`;
  if (!Array.isArray(listed)) throw invalid(at, 'the values are a list of strings');
  return describe(at, Object.freeze({ kind: 'enum', name, values: Object.freeze([...listed]) }), []);
}

function avro<T = unknown>(schema: object | string): TypeInformation<T> {
  const at = 'Types.AVRO';
  let text: string;
  try {
    text = compileAvro(parsedSchema(schema)).text;
  } catch (error) {
    throw invalid(at, `the schema is not allowed: ${(error as Error).message}`, error);
  }
  return describe(at, Object.freeze({ kind: 'avro', schema: text }), []);
}

/** A schema as text is JSON, or the bare name of a type. */
function parsedSchema(schema: object | string): unknown {
  const isJson = typeof schema === 'string' && !/^\w+$/.test(schema.trim());
  return isJson ? JSON.parse(schema) : typeof schema === 'string' ? schema.trim() : schema;
}

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
  BOOLEAN,
  /** A Uint8Array. A Buffer comes back as a Uint8Array. */
  BYTES,
  /** A bigint of any size. */
  BIGINT,
  /** A Date; an invalid Date comes back invalid. */
  DATE,
  /** The one value undefined. */
  VOID,
  /** Anything that the general codec takes: it works, is slower, and cannot evolve by schema. */
  generic,
  GENERIC: generic,
  /** An array. */
  list,
  LIST: list,
  /** A JavaScript Map; the order of its entries survives. */
  map,
  MAP: map,
  /** An array of fixed length, each position with a type of its own. */
  tuple,
  TUPLE: tuple,
  /** An object with these fields, without a name: compared by its fields when saved state is read again. */
  row,
  ROW: row,
  /**
   * An object with these fields and a name, or the instances of a class. Fields that are not described are dropped. A
   * class must be constructible without arguments: an instance comes back made by `new Class()` with the described
   * fields assigned; accessors need getter and setter.
   */
  pojo,
  POJO: pojo,
  /** One of these strings, stored by name: values may be added and moved later. */
  enum: enumeration,
  ENUM: enumeration,
  /** The value or undefined; a field of a pojo may then be missing (and stays missing). */
  optional,
  OPTIONAL: optional,
  /** The value or null. */
  nullable,
  NULLABLE: nullable,
  /**
   * What an Avro schema (its object, or its JSON as text) describes, written in Avro's binary encoding; saved state is
   * read again by Avro's rules of resolution. Records and maps are plain objects, bytes are Buffers, a long is a number.
   * Not for keys.
   */
  avro,
  AVRO: avro,
});
