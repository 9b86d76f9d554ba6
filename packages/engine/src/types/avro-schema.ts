/**
 * Avro schemas as types: the text of a schema becomes a compiled one. Called by the description of types, the codec of
 * Avro and the evolution of state. Only the files avro-*.ts know the library for Avro.
 *
 * Invariants: decoded records and wrapped unions are plain objects, so that they may go wherever an undescribed value
 * may.
 */
import type avro from 'avsc';
import { requireLibrary } from '../base/index.ts';
import { exactNumber } from './avro-numbers.ts';

/** A type of the library: a schema or a part of one. */
export type AvroType = avro.Type;

/** A schema, compiled. */
export interface AvroSchema {
  readonly type: AvroType;
  /** The schema with all names in full, without what is of no use to readers and writers. */
  readonly text: string;
}

const compiled = new Map<string, AvroSchema>();

/** Compiles the text of a description; each text once. Throws the library's errors. */
export function avroSchemaOf(text: string): AvroSchema {
  let schema = compiled.get(text);
  if (schema === undefined) {
    schema = compileAvro(JSON.parse(text));
    compiled.set(text, schema);
  }
  return schema;
}

/** Compiles a schema as users write it. Throws the library's errors, which name the problem. */
export function compileAvro(schema: unknown): AvroSchema {
  const type = requireLibrary<typeof avro>('avsc').Type.forSchema(schema as avro.Schema, {
    omitRecordMethods: true,
    typeHook: exactNumber,
  });
  for (const each of typesWithin(type)) straighten(each);
  return { type, text: JSON.stringify(type.schema({ exportAttrs: true })) };
}

/** The type of the schema of a description. */
export function avroTypeOf(text: string): AvroType {
  return avroSchemaOf(text).type;
}

/** The types within a type, by one step. */
export function partsOf(type: AvroType): readonly AvroType[] {
  switch (type.typeName) {
    case 'array':
      return [(type as avro.types.ArrayType).itemsType];
    case 'map':
      return [(type as avro.types.MapType).valuesType as AvroType];
    case 'record':
    case 'error':
      return fieldsOf(type).map((field) => field.type);
    case 'union:wrapped':
    case 'union:unwrapped':
      return branchesOf(type);
    default:
      return [];
  }
}

/** The fields of a record. */
export function fieldsOf(record: AvroType): readonly avro.types.Field[] {
  return (record as avro.types.RecordType).fields;
}

/** The branches of a union. */
export function branchesOf(union: AvroType): readonly AvroType[] {
  return (union as avro.types.UnwrappedUnionType).types;
}

/** Whether its values are objects with fields; an error of a protocol is one. */
export function isRecord(type: AvroType): boolean {
  return type.typeName === 'record' || type.typeName === 'error';
}

/** A type and all that are within it, each once. */
export function typesWithin(type: AvroType, found = new Set<AvroType>()): ReadonlySet<AvroType> {
  if (found.has(type)) return found;
  found.add(type);
  for (const part of partsOf(type)) typesWithin(part, found);
  return found;
}

/** Makes the values of a type plain objects, and its look-ups by name blind for what every object has. */
function straighten(type: AvroType): void {
  if (isRecord(type)) {
    if (fieldsOf(type).some((field) => field.name === '__proto__')) {
      throw new Error('a field cannot be named __proto__');
    }
    const { recordConstructor } = type as unknown as { recordConstructor: { prototype: object } };
    recordConstructor.prototype = Object.prototype;
  }
  const { _branchConstructor: branch } = type as unknown as { _branchConstructor?: { prototype: object } };
  if (branch) branch.prototype = Object.prototype;
  const indexes = type as unknown as { readonly _indices?: object; readonly _branchIndices?: object };
  if (indexes._indices) Object.setPrototypeOf(indexes._indices, null);
  if (indexes._branchIndices) Object.setPrototypeOf(indexes._branchIndices, null);
}

/** How a part of a schema is named in messages: its name, or what it is made of. */
export function avroName(type: AvroType): string {
  if (type.typeName === 'union:wrapped' || type.typeName === 'union:unwrapped') {
    return `union of ${branchesOf(type)
      .map((branch) => branch.branchName)
      .join(', ')}`;
  }
  return type.name === undefined ? type.typeName : `${type.typeName} ${type.name}`;
}
