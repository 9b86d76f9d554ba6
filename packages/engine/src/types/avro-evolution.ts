/**
 * What the evolution of state asks about Avro: may values of one schema be read by another (Avro's rules of schema
 * resolution), where not, and which value stands for one that was not there. Pure functions.
 */
import {
  type AvroSchema,
  type AvroType,
  avroName,
  branchesOf,
  fieldsOf,
  isRecord,
  partsOf,
} from './avro-schema.ts';
import type { SchemaResolution } from './schema-resolution.ts';

const REASON_MAX = 200;

/** Compares the schema that wrote with the one that reads. */
export function resolveAvro(saved: AvroSchema, current: AvroSchema): SchemaResolution {
  // Defaults, aliases and comments do not show in the bytes, nor in what is read without resolution.
  if (saved.text === current.text || bareText(saved) === bareText(current)) return { result: 'same' };
  try {
    const resolver = current.type.createResolver(saved.type);
    return {
      result: 'migrate',
      convert: (old) => current.type.fromBuffer(saved.type.toBuffer(old), resolver) as unknown,
    };
  } catch (error) {
    const at = narrow(saved.type, current.type, '', error as Error);
    return {
      result: 'incompatible',
      path: at.path,
      saved: `AVRO(${avroName(at.saved)})`,
      current: `AVRO(${avroName(at.current)})`,
      reason: reasonOf(at.error),
    };
  }
}

function bareText(schema: AvroSchema): string {
  return JSON.stringify(schema.type.schema());
}

function reasonOf({ message }: Error): string {
  return message.length <= REASON_MAX ? message : `${message.slice(0, REASON_MAX)}...`;
}

interface Place {
  readonly saved: AvroType;
  readonly current: AvroType;
  readonly path: string;
  readonly error: Error;
}

/** The innermost place that cannot be resolved: a schema is refused as a whole, users look for the field. */
function narrow(saved: AvroType, current: AvroType, path: string, error: Error): Place {
  for (const [savedPart, currentPart, step] of commonParts(saved, current)) {
    try {
      currentPart.createResolver(savedPart);
    } catch (partError) {
      return narrow(savedPart, currentPart, path + step, partError as Error);
    }
  }
  return { saved, current, path, error };
}

function commonParts(saved: AvroType, current: AvroType): (readonly [AvroType, AvroType, string])[] {
  if (isRecord(saved) && isRecord(current)) {
    const savedTypes = new Map(fieldsOf(saved).map(({ name, type }) => [name, type]));
    return fieldsOf(current).flatMap(({ name, type }) => {
      const savedType = savedTypes.get(name);
      return savedType === undefined ? [] : [[savedType, type, `.${name}`] as const];
    });
  }
  if (saved.typeName !== current.typeName) return [];
  if (saved.typeName === 'array') return [[partsOf(saved)[0]!, partsOf(current)[0]!, '[]']];
  if (saved.typeName === 'map') return [[partsOf(saved)[0]!, partsOf(current)[0]!, '[key]']];
  return [];
}

/**
 * What stands for a value that was not there: null if the schema allows it; else false, 0, '', no bytes, no entries, the
 * first symbol, of a record the defaults of its fields; of a union that of its first branch that has one. Undefined if
 * there is none, because a record contains itself. A new value each time.
 */
export function avroDefaultOf(type: AvroType, within: readonly AvroType[] = []): unknown {
  switch (type.typeName) {
    case 'null':
      return null;
    case 'boolean':
      return false;
    case 'string':
      return '';
    case 'bytes':
      return Buffer.alloc(0);
    case 'fixed':
      return Buffer.alloc((type as AvroType & { readonly size: number }).size);
    case 'enum':
      return (type as AvroType & { readonly symbols: readonly string[] }).symbols[0];
    case 'array':
      return [];
    case 'map':
      return {};
    case 'record':
    case 'error':
      return within.includes(type) ? undefined : recordDefaultOf(type, [...within, type]);
    case 'union:wrapped':
    case 'union:unwrapped':
      return unionDefaultOf(type, within);
    default:
      return 0;
  }
}

function recordDefaultOf(type: AvroType, within: readonly AvroType[]): object | undefined {
  const record: Record<string, unknown> = {};
  for (const field of fieldsOf(type)) {
    const own = field.defaultValue() as unknown;
    const value = own === undefined ? avroDefaultOf(field.type, within) : own;
    if (value === undefined) return undefined;
    record[field.name] = value;
  }
  return record;
}

function unionDefaultOf(type: AvroType, within: readonly AvroType[]): unknown {
  if (branchesOf(type).some((branch) => branch.typeName === 'null')) return null;
  for (const branch of branchesOf(type)) {
    const value = avroDefaultOf(branch, within);
    if (value !== undefined)
      return type.typeName === 'union:wrapped' ? { [branch.branchName!]: value } : value;
  }
  return undefined;
}
