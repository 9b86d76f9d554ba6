/**
 * Makes values of a declared type of what a file format holds: JSON and Parquet know fewer types than `Types`.
 *
 * Called by the formats, once for a type, to get a function that converts values. Pure.
 *
 * | declared | accepted |
 * | --- | --- |
 * | string, boolean | itself |
 * | long, int, double | a number in range; an exact bigint; for long a Date (its milliseconds) |
 * | bigint | a bigint, a whole number, a string of digits |
 * | date | a Date, an ISO 8601 string, milliseconds since the epoch |
 * | bytes | bytes, a base64 string |
 * | list, tuple | an array |
 * | map | an object (string keys), an array of [key, value], a Map |
 * | pojo | an object; fields that are not declared are dropped |
 * | optional | what its type accepts; null and nothing give undefined |
 * | nullable | what its type accepts; null and nothing give null |
 * | enum, literal | one of its values |
 * | set | an array, a Set |
 * | record | an object |
 * | union | an object whose field names one of its types |
 * | either, typed array, own serializer | what is of the type already |
 * | generic | anything, as it is |
 */
import {
  branchesByTag,
  type FieldDescription,
  type TypeDescription,
  type TypeInformation,
} from '../../types/index.ts';
import { excerpt, MalformedRecord } from './malformed-record.ts';

/** Converts a value; `field` says where it is, for the message. Throws MalformedRecord. */
export type Convert = (value: unknown, field: string) => unknown;

const INT_MIN = -(2 ** 31);
const INT_MAX = 2 ** 31 - 1;
const ISO_DATE = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The conversion to `type`. */
export function converterTo(type: TypeInformation<unknown>): Convert {
  return converterFor(type.description, type);
}

/** The error for a value that is not what its field was declared to be. */
export function unexpected(field: string, expected: string, value: unknown): MalformedRecord {
  const where = field === '' ? expected : `${expected} in "${field}"`;
  return new MalformedRecord(where, describe(value));
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return value === null ? 'null' : 'nothing';
  if (typeof value === 'string') return excerpt(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  return value.constructor === Object ? 'an object' : `a ${value.constructor?.name ?? 'object'}`;
}

function converterFor(description: TypeDescription, type: TypeInformation<unknown>): Convert {
  switch (description.kind) {
    case 'string':
      return (value, field) => (typeof value === 'string' ? value : refuse(field, 'a string', value));
    case 'boolean':
      return (value, field) => (typeof value === 'boolean' ? value : refuse(field, 'true or false', value));
    case 'long':
      return toLong;
    case 'int':
      return toInt;
    case 'double':
      return toDouble;
    case 'bigint':
      return toBigint;
    case 'date':
      return toDate;
    case 'bytes':
      return toBytes;
    case 'void':
      return () => undefined;
    case 'generic':
    case 'avro':
    case 'either':
    case 'typed-array':
    case 'custom':
      // Nothing to convert; the codec checks what is written.
      return (value) => value;
    case 'set':
      return toSet(converterFor(description.element, type));
    case 'record':
      return toRecord(converterFor(description.value, type));
    case 'union':
      return toUnion(description, type);
    case 'list':
      return toList(converterFor(description.element, type));
    case 'tuple':
      return toTuple(description.elements.map((element) => converterFor(element, type)));
    case 'map':
      return toMap(converterFor(description.key, type), converterFor(description.value, type));
    case 'optional':
      return orEmpty(converterFor(description.value, type), undefined);
    case 'nullable':
      return orEmpty(converterFor(description.value, type), null);
    case 'enum':
    case 'literal':
      return toListed(description.values);
    case 'pojo':
      return toPojo(description.fields, type, type.classes?.get(description));
  }
}

function refuse(field: string, expected: string, value: unknown): never {
  throw unexpected(field, expected, value);
}

function toLong(value: unknown, field: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  const exact =
    typeof value === 'bigint' ? Number(value) : value instanceof Date ? value.getTime() : Number.NaN;
  return Number.isSafeInteger(exact) ? exact : refuse(field, 'a whole number below 2^53', value);
}

function toInt(value: unknown, field: string): number {
  const exact = typeof value === 'bigint' ? Number(value) : value;
  if (typeof exact === 'number' && Number.isInteger(exact) && exact >= INT_MIN && exact <= INT_MAX)
    return exact;
  return refuse(field, 'a whole number of 32 bits', value);
}

function toDouble(value: unknown, field: string): number {
  if (typeof value === 'number') return value;
  return typeof value === 'bigint' ? Number(value) : refuse(field, 'a number', value);
}

function toBigint(value: unknown, field: string): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === 'string' && /^-?\d+$/.test(value)) return BigInt(value);
  return refuse(field, 'a whole number', value);
}

function toDate(value: unknown, field: string): Date {
  let date: Date | undefined;
  if (value instanceof Date) date = value;
  else if (typeof value === 'number') date = new Date(value);
  else if (typeof value === 'string' && ISO_DATE.test(value)) date = new Date(asUtc(value));
  if (date !== undefined && Number.isFinite(date.getTime())) return date;
  return refuse(field, 'a date (ISO 8601, or milliseconds since the epoch)', value);
}

/** A date and time without zone would be read in the zone of the machine; results must not depend on it. */
function asUtc(text: string): string {
  const iso = text.replace(' ', 'T');
  return iso.includes('T') && !/(Z|[+-]\d{2}:?\d{2})$/.test(iso) ? `${iso}Z` : iso;
}

function toBytes(value: unknown, field: string): Uint8Array {
  if (value instanceof Uint8Array) return value;
  if (typeof value === 'string' && BASE64.test(value)) return new Uint8Array(Buffer.from(value, 'base64'));
  return refuse(field, 'bytes (base64)', value);
}

function toList(element: Convert): Convert {
  return (value, field) => {
    if (!Array.isArray(value)) return refuse(field, 'an array', value);
    return value.map((item, i) => element(item, `${field}[${i}]`));
  };
}

function toTuple(elements: readonly Convert[]): Convert {
  return (value, field) => {
    if (!Array.isArray(value) || value.length !== elements.length) {
      return refuse(field, `an array of ${elements.length}`, value);
    }
    return elements.map((element, i) => element(value[i], `${field}[${i}]`));
  };
}

function toMap(key: Convert, item: Convert): Convert {
  return (value, field) => {
    const entries = entriesOf(value) ?? refuse(field, 'an object or an array of [key, value]', value);
    const converted = new Map<unknown, unknown>();
    for (const entry of entries) {
      if (!Array.isArray(entry) || entry.length !== 2)
        return refuse(field, 'an array of [key, value]', entry);
      converted.set(key(entry[0], `${field} key`), item(entry[1], `${field}[${String(entry[0])}]`));
    }
    return converted;
  };
}

function entriesOf(value: unknown): Iterable<unknown> | undefined {
  if (value instanceof Map || Array.isArray(value)) return value;
  return typeof value === 'object' && value !== null ? Object.entries(value) : undefined;
}

function orEmpty(convert: Convert, empty: null | undefined): Convert {
  return (value, field) => (value === null || value === undefined ? empty : convert(value, field));
}

function toListed(values: readonly unknown[]): Convert {
  const known = new Set(values);
  const expected = `one of ${values.map(String).join(', ')}`;
  return (value, field) => (known.has(value) ? value : refuse(field, expected, value));
}

function toSet(element: Convert): Convert {
  return (value, field) => {
    if (!Array.isArray(value) && !(value instanceof Set)) return refuse(field, 'an array', value);
    return new Set(Array.from(value as Iterable<unknown>, (item, i) => element(item, `${field}[${i}]`)));
  };
}

function toRecord(item: Convert): Convert {
  return (value, field) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return refuse(field, 'an object', value);
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [
        name,
        item(each, field === '' ? name : `${field}.${name}`),
      ]),
    );
  };
}

function toUnion(
  description: Extract<TypeDescription, { readonly kind: 'union' }>,
  type: TypeInformation<unknown>,
): Convert {
  const converts = description.types.map((each) => converterFor(each, type));
  const byTag = branchesByTag(description);
  const expected = `one of ${[...byTag.keys()].map(String).join(', ')}`;
  return (value, field) => {
    if (typeof value !== 'object' || value === null) return refuse(field, 'an object', value);
    const tag = (value as Record<string, unknown>)[description.field];
    const branch = byTag.get(tag);
    if (branch !== undefined) return converts[branch]!(value, field);
    return refuse(field === '' ? description.field : `${field}.${description.field}`, expected, tag);
  };
}

function toPojo(
  fields: readonly FieldDescription[],
  type: TypeInformation<unknown>,
  pojoClass: (new () => object) | undefined,
): Convert {
  const converters = fields.map((field) => ({ name: field.name, convert: converterFor(field.type, type) }));
  return (value, at) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return refuse(at, 'an object', value);
    const from = value as Record<string, unknown>;
    const to = (pojoClass === undefined ? {} : new pojoClass()) as Record<string, unknown>;
    for (const { name, convert } of converters) {
      const found = Object.hasOwn(from, name) ? from[name] : undefined;
      to[name] = convert(found, at === '' ? name : `${at}.${name}`);
    }
    return to;
  };
}
