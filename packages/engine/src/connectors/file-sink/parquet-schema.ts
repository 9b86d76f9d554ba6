/**
 * What a described row is in Parquet: the schema, and how values become those that the library writes. Pure.
 *
 * | type | in Parquet |
 * | --- | --- |
 * | STRING, ENUM, LITERAL of strings | BYTE_ARRAY (UTF8) |
 * | LONG | INT64 |
 * | BIGINT | INT64; a value of more than 64 bits is refused |
 * | INT | INT32 |
 * | DOUBLE | DOUBLE |
 * | BOOLEAN | BOOLEAN |
 * | BYTES | BYTE_ARRAY |
 * | DATE | INT64 (TIMESTAMP_MILLIS, UTC) |
 * | OPTIONAL, NULLABLE | the same, optional |
 * | LIST, SET | a LIST group |
 * | MAP with STRING or ENUM keys, RECORD | a MAP group |
 * | ROW, POJO | a group |
 *
 * What is not in the table cannot be held: INVALID_ARGUMENT when the sink is made.
 */
import type { SchemaElement } from 'hyparquet/src/index.js';
import { MillraceError } from '../../base/index.ts';
import type { FieldDescription, TypeDescription, TypeInformation } from '../../types/index.ts';
import { UnwritableRecord } from './row-format.ts';

/** About what a value takes in memory beside its own bytes. */
const VALUE_BYTES = 24;
const INT_MIN = -(2 ** 31);
const INT_MAX = 2 ** 31 - 1;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** Counts the memory that converted values take, about. */
export interface ByteCount {
  bytes: number;
}

/** The value as the library takes it; `at` says where it is, for the message. Throws UnwritableRecord. */
export type ToParquet = (value: unknown, at: string, count: ByteCount) => unknown;

/** One field of the row. */
export interface ParquetColumn {
  readonly name: string;
  readonly convert: ToParquet;
}

export interface ParquetSchema {
  /** In the order of the file format: each group before its children. */
  readonly elements: SchemaElement[];
  readonly columns: readonly ParquetColumn[];
}

interface Node {
  readonly elements: SchemaElement[];
  readonly convert: ToParquet;
}

type Repetition = 'REQUIRED' | 'OPTIONAL';
type LeafType = Pick<SchemaElement, 'type' | 'converted_type'>;

/** The columns of a row. Throws INVALID_ARGUMENT naming the field that Parquet cannot hold. */
export function parquetSchema(type: TypeInformation<unknown>): ParquetSchema {
  const { description } = type;
  if (description.kind !== 'pojo') {
    throw unfit(
      `type is a ${description.kind.toUpperCase()}; expected the fields of a row, such as Types.ROW({ ... })`,
    );
  }
  if (description.fields.length === 0) throw unfit('a row without fields');
  const nodes = description.fields.map((field) => nodeOf(field.type, field.name, field.name, 'REQUIRED'));
  return {
    elements: [{ name: 'root', num_children: nodes.length }, ...nodes.flatMap((node) => node.elements)],
    columns: nodes.map((node, i) => ({ name: description.fields[i]!.name, convert: node.convert })),
  };
}

function nodeOf(type: TypeDescription, name: string, at: string, repetition: Repetition): Node {
  const leaf = (as: LeafType, convert: ToParquet): Node => ({
    elements: [{ name, repetition_type: repetition, ...as }],
    convert,
  });
  switch (type.kind) {
    case 'string':
      return leaf({ type: 'BYTE_ARRAY', converted_type: 'UTF8' }, toText);
    case 'enum':
      return leaf({ type: 'BYTE_ARRAY', converted_type: 'UTF8' }, toEnum(type.values));
    case 'long':
      return leaf({ type: 'INT64' }, toLong);
    case 'bigint':
      return leaf({ type: 'INT64' }, toInt64);
    case 'int':
      return leaf({ type: 'INT32' }, toInt);
    case 'double':
      return leaf({ type: 'DOUBLE' }, toDouble);
    case 'boolean':
      return leaf({ type: 'BOOLEAN' }, toBoolean);
    case 'bytes':
      return leaf({ type: 'BYTE_ARRAY' }, toBytes);
    case 'date':
      return leaf({ type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' }, toDate);
    case 'optional':
    case 'nullable': {
      const { elements, convert } = nodeOf(type.value, name, at, 'OPTIONAL');
      return { elements, convert: orNothing(convert) };
    }
    case 'literal':
      if (!type.values.every((value) => typeof value === 'string')) throw unfitType(type, at);
      return leaf({ type: 'BYTE_ARRAY', converted_type: 'UTF8' }, toEnum(type.values));
    case 'list':
    case 'set':
      return listNode(type.element, name, at, repetition);
    case 'map':
      return mapNode(type, name, at, repetition);
    case 'record':
      return mapNode({ key: { kind: 'string' }, value: type.value }, name, at, repetition);
    case 'pojo':
      return groupNode(type.fields, name, at, repetition);
    default:
      throw unfitType(type, at);
  }
}

function listNode(element: TypeDescription, name: string, at: string, repetition: Repetition): Node {
  const item = nodeOf(element, 'element', `${at}[]`, 'REQUIRED');
  const elements: SchemaElement[] = [
    { name, repetition_type: repetition, converted_type: 'LIST', num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    ...item.elements,
  ];
  return {
    elements,
    convert: (value, where, count) => {
      if (!Array.isArray(value) && !(value instanceof Set)) throw refused(where, value, 'an array or a Set');
      count.bytes += VALUE_BYTES;
      return Array.from(value as Iterable<unknown>, (each, i) => item.convert(each, `${where}[${i}]`, count));
    },
  };
}

function mapNode(
  type: { readonly key: TypeDescription; readonly value: TypeDescription },
  name: string,
  at: string,
  repetition: Repetition,
): Node {
  if (type.key.kind !== 'string' && type.key.kind !== 'enum') {
    throw unfit(
      `"${at}" is a MAP with keys of type ${type.key.kind.toUpperCase()}; expected STRING keys, or a LIST of ROW({ key, value })`,
    );
  }
  const key = nodeOf(type.key, 'key', `the keys of ${at}`, 'REQUIRED');
  const item = nodeOf(type.value, 'value', `the values of ${at}`, 'REQUIRED');
  const elements: SchemaElement[] = [
    { name, repetition_type: repetition, converted_type: 'MAP', num_children: 1 },
    { name: 'key_value', repetition_type: 'REPEATED', num_children: 2 },
    ...key.elements,
    ...item.elements,
  ];
  return {
    elements,
    convert: (value, where, count) => {
      if (typeof value !== 'object' || value === null) throw refused(where, value, 'a Map or an object');
      count.bytes += VALUE_BYTES;
      const entries: Iterable<[unknown, unknown]> = value instanceof Map ? value : Object.entries(value);
      return Array.from(entries, ([k, v]) => ({
        key: key.convert(k, `a key of ${where}`, count),
        value: item.convert(v, `${where}[${String(k)}]`, count),
      }));
    },
  };
}

function groupNode(
  fields: readonly FieldDescription[],
  name: string,
  at: string,
  repetition: Repetition,
): Node {
  if (fields.length === 0) throw unfit(`"${at}" is a ROW without fields`);
  const children = fields.map((field) => ({
    name: field.name,
    node: nodeOf(field.type, field.name, `${at}.${field.name}`, 'REQUIRED'),
  }));
  const elements: SchemaElement[] = [
    { name, repetition_type: repetition, num_children: children.length },
    ...children.flatMap(({ node }) => node.elements),
  ];
  return {
    elements,
    convert: (value, where, count) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        throw refused(where, value, 'an object');
      count.bytes += VALUE_BYTES;
      const group: Record<string, unknown> = {};
      for (const child of children) {
        const field = (value as Record<string, unknown>)[child.name];
        group[child.name] = child.node.convert(field, `${where}.${child.name}`, count);
      }
      return group;
    },
  };
}

function orNothing(convert: ToParquet): ToParquet {
  return (value, at, count) =>
    value === undefined || value === null ? undefined : convert(value, at, count);
}

const toText: ToParquet = (value, at, count) => {
  if (typeof value !== 'string') throw refused(at, value, 'a string');
  if (!value.isWellFormed()) throw refused(at, value, 'text that UTF-8 can hold (no lone surrogates)');
  count.bytes += VALUE_BYTES + value.length;
  return value;
};

function toEnum(values: readonly string[]): ToParquet {
  const known = new Set<unknown>(values);
  return (value, at, count) => {
    if (!known.has(value)) throw refused(at, value, `one of ${values.join(', ')}`);
    count.bytes += VALUE_BYTES;
    return value;
  };
}

const toLong: ToParquet = (value, at, count) => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw refused(at, value, 'a safe integer');
  count.bytes += VALUE_BYTES;
  return BigInt(value);
};

const toInt64: ToParquet = (value, at, count) => {
  if (typeof value !== 'bigint') throw refused(at, value, 'a bigint');
  if (value < INT64_MIN || value > INT64_MAX) throw refused(at, value, 'a bigint of at most 64 bits');
  count.bytes += VALUE_BYTES;
  return value;
};

const toInt: ToParquet = (value, at, count) => {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < INT_MIN || value > INT_MAX)
    throw refused(at, value, 'an integer of 32 bits');
  count.bytes += VALUE_BYTES;
  return value;
};

const toDouble: ToParquet = (value, at, count) => {
  if (typeof value !== 'number') throw refused(at, value, 'a number');
  count.bytes += VALUE_BYTES;
  return value;
};

const toBoolean: ToParquet = (value, at, count) => {
  if (typeof value !== 'boolean') throw refused(at, value, 'true or false');
  count.bytes += VALUE_BYTES;
  return value;
};

const toBytes: ToParquet = (value, at, count) => {
  if (!(value instanceof Uint8Array)) throw refused(at, value, 'a Uint8Array');
  count.bytes += VALUE_BYTES + value.length;
  return value;
};

const toDate: ToParquet = (value, at, count) => {
  if (!(value instanceof Date) || Number.isNaN(value.getTime())) throw refused(at, value, 'a valid Date');
  count.bytes += VALUE_BYTES;
  return value;
};

function refused(at: string, value: unknown, expected: string): UnwritableRecord {
  const found =
    typeof value === 'object' && value !== null
      ? `a ${value.constructor?.name ?? 'object'}`
      : typeof value === 'string'
        ? JSON.stringify(value.slice(0, 60))
        : String(value);
  return new UnwritableRecord(`"${at}" is ${found}; expected ${expected}`);
}

function unfitType(type: TypeDescription, at: string): MillraceError {
  return unfit(
    `"${at}" is of type ${type.kind.toUpperCase()}, which has no type in Parquet; describe it as ROW, LIST or a simple type`,
  );
}

function unfit(message: string): MillraceError {
  return new MillraceError('INVALID_ARGUMENT', `FileSink.forParquet: ${message}`);
}
