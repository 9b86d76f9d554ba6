/**
 * Descriptions of types as plain data: checking what comes from outside, naming a type in a message, its size on the
 * wire. Used by everything in this folder and by whoever reads a description from a manifest or a plan.
 */
import { MillraceError } from '../base/index.ts';
import { avroName, avroSchemaOf } from './avro-schema.ts';
import type { FieldDescription, PrimitiveKind, TypeDescription } from './type-information.ts';

/** Types nested deeper than this are taken for a type that contains itself. */
export const TYPE_DEPTH_MAX = 64;
/** An enum's value travels as one byte, or two. */
const ENUM_VALUES_MAX = 65_536;

const PRIMITIVE_KINDS: ReadonlySet<string> = new Set<PrimitiveKind>([
  'void',
  'string',
  'long',
  'int',
  'double',
  'boolean',
  'bytes',
  'bigint',
  'date',
]);

/** Bytes of an enum's index. */
export function enumIndexBytes(values: readonly string[]): 1 | 2 {
  return values.length <= 256 ? 1 : 2;
}

/**
 * Makes sure that `value` is a description, whoever wrote it. `at` says where it was found, for the message.
 * Throws TYPE_INVALID. Idempotent and without side effects; the nodes keep their identity.
 */
export function checkTypeDescription(value: unknown, at: string): asserts value is TypeDescription {
  check(value, at, 0);
}

function check(value: unknown, at: string, depth: number): void {
  if (depth > TYPE_DEPTH_MAX) {
    throw invalid(
      `${at.slice(0, 60)}...`,
      `types are nested more than ${TYPE_DEPTH_MAX} deep: a type cannot contain itself. Use Types.GENERIC() where the recursion begins`,
    );
  }
  if (typeof value !== 'object' || value === null)
    throw invalid(at, 'a type description is an object with a kind');
  const type = value as { readonly [name: string]: unknown };
  const kind = type.kind;
  if (typeof kind === 'string' && PRIMITIVE_KINDS.has(kind)) return;
  switch (kind) {
    case 'generic':
      return;
    case 'list':
      return check(type.element, `${at}[]`, depth + 1);
    case 'map':
      check(type.key, `the keys of ${at}`, depth + 1);
      return check(type.value, `the values of ${at}`, depth + 1);
    case 'tuple':
      if (!Array.isArray(type.elements)) throw invalid(at, 'a tuple has a list of elements');
      type.elements.forEach((element: unknown, i) => check(element, `${at}[${i}]`, depth + 1));
      return;
    case 'pojo':
      return checkPojo(type, at, depth);
    case 'optional':
    case 'nullable':
      return check(type.value, at, depth + 1);
    case 'enum':
      return checkEnum(type, at);
    case 'avro':
      return checkAvro(type.schema, at);
    default:
      throw invalid(at, `there is no kind of type '${String(kind)}'`);
  }
}

function checkPojo(type: { readonly [name: string]: unknown }, at: string, depth: number): void {
  if (typeof type.name !== 'string') throw invalid(at, 'the name of a pojo is a string');
  if (!Array.isArray(type.fields)) throw invalid(at, 'a pojo has a list of fields');
  const names = new Set<string>();
  for (const field of type.fields as readonly Partial<FieldDescription>[]) {
    const name = field?.name;
    if (typeof name !== 'string' || name === '') throw invalid(at, 'a field of a pojo has a name');
    // Assigning to it would change the prototype instead of a field.
    if (name === '__proto__') throw invalid(at, 'a field cannot be named __proto__');
    if (names.has(name)) throw invalid(at, `the field '${name}' is there twice`);
    names.add(name);
    check(field.type, `${at}.${name}`, depth + 1);
  }
}

function checkEnum(type: { readonly [name: string]: unknown }, at: string): void {
  if (typeof type.name !== 'string') throw invalid(at, 'the name of an enum is a string');
  const values: unknown = type.values;
  if (!Array.isArray(values) || values.length === 0 || !values.every((each) => typeof each === 'string')) {
    throw invalid(at, 'an enum has at least one value, and its values are strings');
  }
  if (values.length > ENUM_VALUES_MAX) throw invalid(at, `an enum has at most ${ENUM_VALUES_MAX} values`);
  const twice = values.find((each, i) => values.indexOf(each) !== i);
  if (twice !== undefined) throw invalid(at, `the value '${String(twice)}' is there twice`);
}

function checkAvro(schema: unknown, at: string): void {
  if (typeof schema !== 'string') throw invalid(at, 'the schema of an avro type is JSON text');
  try {
    avroSchemaOf(schema);
  } catch (error) {
    throw invalid(at, `the Avro schema is not allowed: ${(error as Error).message}`, error);
  }
}

/** TYPE_INVALID, saying where and why. */
export function invalid(at: string, why: string, cause?: unknown): MillraceError {
  return new MillraceError('TYPE_INVALID', `${at}: ${why}.`, { cause, details: { at } });
}

/** Bytes that every value of the type takes, or undefined if they differ. */
export function fixedSizeOf(type: TypeDescription): number | undefined {
  switch (type.kind) {
    case 'void':
      return 0;
    case 'boolean':
      return 1;
    case 'int':
      return 4;
    case 'long':
    case 'double':
    case 'date':
      return 8;
    case 'enum':
      return enumIndexBytes(type.values);
    case 'tuple':
      return sumOfSizes(type.elements);
    case 'pojo':
      return sumOfSizes(type.fields.map((field) => field.type));
    case 'string':
    case 'bytes':
    case 'bigint':
    case 'generic':
    case 'avro':
    case 'list':
    case 'map':
    case 'optional':
    case 'nullable':
      return undefined;
  }
}

function sumOfSizes(types: readonly TypeDescription[]): number | undefined {
  let sum = 0;
  for (const type of types) {
    const size = fixedSizeOf(type);
    if (size === undefined) return undefined;
    sum += size;
  }
  return sum;
}

/** How a type is written in messages, as `Types` spells it: LIST(STRING), POJO(Order), ENUM(NEW, PAID). */
export function formatType(type: TypeDescription): string {
  switch (type.kind) {
    case 'list':
      return `LIST(${formatType(type.element)})`;
    case 'map':
      return `MAP(${formatType(type.key)}, ${formatType(type.value)})`;
    case 'tuple':
      return `TUPLE(${type.elements.map(formatType).join(', ')})`;
    case 'pojo':
      return type.name === ''
        ? `ROW(${elided(type.fields.map((field) => field.name))})`
        : `POJO(${type.name})`;
    case 'optional':
      return `OPTIONAL(${formatType(type.value)})`;
    case 'nullable':
      return `NULLABLE(${formatType(type.value)})`;
    case 'enum':
      return `ENUM(${type.name === '' ? elided(type.values) : `${type.name}: ${elided(type.values)}`})`;
    case 'avro':
      return `AVRO(${avroName(avroSchemaOf(type.schema).type)})`;
    default:
      return type.kind.toUpperCase();
  }
}

function elided(names: readonly string[]): string {
  return names.length <= 8
    ? names.join(', ')
    : `${names.slice(0, 7).join(', ')}, ... ${names.length - 7} more`;
}
