/**
 * The functions behind `Types`: each makes one kind of description, checked and frozen. Called by Types and by what makes
 * types of schemas.
 */
import { compileAvro } from './avro-schema.ts';
import { type CustomSerializer, describeCustom, EncodedCustom } from './custom-type.ts';
import type { PojoClass } from './pojo-class.ts';
import { checkTypeDescription } from './type-check.ts';
import { invalid } from './type-description.ts';
import type {
  FieldDescription,
  Infer,
  LiteralValue,
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

export const STRING = primitive<string>('string');
export const LONG = primitive<number>('long');
export const INT = primitive<number>('int');
export const DOUBLE = primitive<number>('double');
export const BOOLEAN = primitive<boolean>('boolean');
export const BYTES = primitive<Uint8Array>('bytes');
export const BIGINT = primitive<bigint>('bigint');
export const DATE = primitive<Date>('date');
export const VOID = primitive<undefined>('void');
const UNDESCRIBED = Object.freeze({ description: Object.freeze({ kind: 'generic' as const }) });

export function generic<T = unknown>(): TypeInformation<T> {
  return UNDESCRIBED;
}

export function list<T>(element: TypeInformation<T>): TypeInformation<T[]> {
  const at = 'Types.LIST';
  const type = descriptionOf(element, at);
  return describe(at, Object.freeze({ kind: 'list', element: type }), [element]);
}

export function map<K, V>(key: TypeInformation<K>, value: TypeInformation<V>): TypeInformation<Map<K, V>> {
  const at = 'Types.MAP';
  const parts = { key: descriptionOf(key, `${at} key`), value: descriptionOf(value, `${at} value`) };
  return describe(at, Object.freeze({ kind: 'map', ...parts }), [key, value]);
}

export function tuple<const E extends readonly TypeInformation<unknown>[]>(
  ...elements: E
): TypeInformation<TupleOf<E>> {
  const at = 'Types.TUPLE';
  const types = elements.map((element, i) => descriptionOf(element, `${at}[${i}]`));
  return describe(at, Object.freeze({ kind: 'tuple', elements: Object.freeze(types) }), elements);
}

export function optional<T>(value: TypeInformation<T>): TypeInformation<T | undefined> {
  const at = 'Types.OPTIONAL';
  return describe(at, Object.freeze({ kind: 'optional', value: descriptionOf(value, at) }), [value]);
}

export function nullable<T>(value: TypeInformation<T>): TypeInformation<T | null> {
  const at = 'Types.NULLABLE';
  return describe(at, Object.freeze({ kind: 'nullable', value: descriptionOf(value, at) }), [value]);
}

export function object<T>(at: string, name: string, fields: FieldTypes, own?: PojoClass): TypeInformation<T> {
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

export function row<F extends FieldTypes>(fields: F): TypeInformation<ObjectOf<F>> {
  return object('Types.ROW', '', fields);
}

export function set<T>(element: TypeInformation<T>): TypeInformation<Set<T>> {
  const at = 'Types.SET';
  return describe(at, Object.freeze({ kind: 'set', element: descriptionOf(element, at) }), [element]);
}

export function record<T>(value: TypeInformation<T>): TypeInformation<Record<string, T>> {
  const at = 'Types.RECORD';
  return describe(at, Object.freeze({ kind: 'record', value: descriptionOf(value, at) }), [value]);
}

export function literal<const V extends readonly LiteralValue[]>(...values: V): TypeInformation<V[number]> {
  return describe(
    'Types.LITERAL',
    Object.freeze({ kind: 'literal', values: Object.freeze([...values]) }),
    [],
  );
}

export function either<E extends readonly TypeInformation<unknown>[]>(
  ...types: E
): TypeInformation<Infer<E[number]>> {
  const at = 'Types.EITHER';
  const described = types.map((each, i) => descriptionOf(each, `${at}, type ${i + 1}`));
  return describe(at, Object.freeze({ kind: 'either', types: Object.freeze(described) }), types);
}

/** `types` as a list, where the values of the field are not known to the compiler. */
export function unionOf<T>(field: string, types: readonly TypeInformation<T>[]): TypeInformation<T> {
  const at = 'Types.UNION';
  const described = types.map((each, i) => descriptionOf(each, `${at}, type ${i + 1}`));
  return describe(at, Object.freeze({ kind: 'union', field, types: Object.freeze(described) }), types);
}

export function union<
  F extends string,
  E extends readonly TypeInformation<{ readonly [K in F]: LiteralValue }>[],
>(field: F, ...types: E): TypeInformation<Infer<E[number]>> {
  return unionOf(field, types) as TypeInformation<Infer<E[number]>>;
}

/** A class of typed arrays; its prototype says of which, over any kind of memory. */
export interface TypedArrayClass<A extends ArrayBufferView> {
  readonly prototype: A;
  readonly name: string;
  new (length: number): ArrayBufferView;
}

export function typedArray<A extends ArrayBufferView>(arrayClass: TypedArrayClass<A>): TypeInformation<A> {
  const at = 'Types.TYPED_ARRAY';
  if (typeof arrayClass !== 'function') throw invalid(at, 'the argument is a class such as Float64Array');
  return describe(at, Object.freeze({ kind: 'typed-array', array: arrayClass.name }), []);
}

export function custom<T>(serializer: CustomSerializer<T>): TypeInformation<T> {
  return describe('Types.CUSTOM', describeCustom(serializer), [], EncodedCustom);
}

export function enumeration<const V extends readonly string[]>(values: V): TypeInformation<V[number]>;
export function enumeration<const V extends readonly string[]>(
  name: string,
  values: V,
): TypeInformation<V[number]>;
export function enumeration(
  nameOrValues: string | readonly string[],
  values?: readonly string[],
): TypeInformation<string> {
  const name = typeof nameOrValues === 'string' ? nameOrValues : '';
  const listed = typeof nameOrValues === 'string' ? values : nameOrValues;
  const at = `Types.ENUM${name === '' ? '' : `(${name})`}`;
  if (!Array.isArray(listed)) throw invalid(at, 'the values are a list of strings');
  return describe(at, Object.freeze({ kind: 'enum', name, values: Object.freeze([...listed]) }), []);
}

export function avro<T = unknown>(schema: object | string): TypeInformation<T> {
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
