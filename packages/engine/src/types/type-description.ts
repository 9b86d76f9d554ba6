/**
 * Descriptions of types as plain data: naming a type in a message, its size on the wire. Used by everything in this
 * folder and by whoever reads a description from a manifest or a plan.
 */
import { MillraceError } from '../base/index.ts';
import { avroName, avroSchemaOf } from './avro-schema.ts';
import type { TypeDescription } from './type-information.ts';
import { tagsOf } from './union-branches.ts';

/** Bytes of the position of a value that an enum or a literal lists; a literal of one value takes none. */
export function listedIndexBytes(
  type: Extract<TypeDescription, { readonly kind: 'enum' | 'literal' }>,
): number {
  if (type.kind === 'literal' && type.values.length === 1) return 0;
  return type.values.length <= 256 ? 1 : 2;
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
    case 'literal':
      return listedIndexBytes(type);
    case 'tuple':
      return sumOfSizes(type.elements);
    case 'pojo':
      return sumOfSizes(type.fields.map((field) => field.type));
    case 'string':
    case 'bytes':
    case 'bigint':
    case 'generic':
    case 'avro':
    case 'custom':
    case 'either':
    case 'list':
    case 'map':
    case 'optional':
    case 'record':
    case 'set':
    case 'typed-array':
    case 'union':
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
    case 'set':
      return `SET(${formatType(type.element)})`;
    case 'record':
      return `RECORD(${formatType(type.value)})`;
    case 'literal':
      return `LITERAL(${elided(type.values.map((value) => JSON.stringify(value)))})`;
    case 'union':
      return `UNION(${type.field}: ${elided(type.types.flatMap((each) => tagsOf(type, each)).map(String))})`;
    case 'either':
      return `EITHER(${type.types.map(formatType).join(', ')})`;
    case 'typed-array':
      return `TYPED_ARRAY(${type.array})`;
    case 'custom':
      return `CUSTOM(${type.name}, version ${type.version})`;
    default:
      return type.kind.toUpperCase();
  }
}

function elided(names: readonly string[]): string {
  return names.length <= 8
    ? names.join(', ')
    : `${names.slice(0, 7).join(', ')}, ... ${names.length - 7} more`;
}
