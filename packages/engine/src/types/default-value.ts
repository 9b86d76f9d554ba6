/** What stands for a value that saved state does not have: the fields that were added to a pojo. Pure functions. */
import { avroDefaultOf } from './avro-evolution.ts';
import { avroSchemaOf } from './avro-schema.ts';
import { makeBinary, typedArrayOf } from './binary-kinds.ts';
import { serializerOf } from './custom-type.ts';
import { formatType } from './type-description.ts';
import type { TypeDescription } from './type-information.ts';

/**
 * What a field that saved state does not have gets: '' for STRING, 0 for numbers, false, 0n, the epoch for DATE, empty
 * BYTES, LIST, SET, MAP, RECORD and TYPED_ARRAY, undefined for OPTIONAL, GENERIC and VOID, null for NULLABLE, the first
 * value of an ENUM or LITERAL, the default of the first type of a UNION or EITHER; a TUPLE, ROW or POJO of the defaults of
 * its parts; of AVRO what avroDefaultOf says, of CUSTOM what its serializer says. A new value each time.
 */
export function defaultValueOf(type: TypeDescription): unknown {
  switch (type.kind) {
    case 'string':
      return '';
    case 'long':
    case 'int':
    case 'double':
      return 0;
    case 'boolean':
      return false;
    case 'bigint':
      return 0n;
    case 'bytes':
      return new Uint8Array(0);
    case 'date':
      return new Date(0);
    case 'list':
      return [];
    case 'set':
      return new Set();
    case 'map':
      return new Map();
    case 'record':
      return {};
    case 'typed-array':
      return makeBinary(typedArrayOf(type.array).kind, new Uint8Array(0));
    case 'tuple':
      return type.elements.map(defaultValueOf);
    case 'pojo':
      return Object.fromEntries(type.fields.map((field) => [field.name, defaultValueOf(field.type)]));
    case 'enum':
    case 'literal':
      return type.values[0];
    case 'union':
    case 'either':
      return defaultValueOf(type.types[0]!);
    case 'avro':
      return avroDefaultOf(avroSchemaOf(type.schema).type);
    case 'custom':
      return serializerOf(type)?.defaultValue?.();
    case 'nullable':
      return null;
    case 'optional':
    case 'generic':
    case 'void':
      return undefined;
  }
}

/** Why there is no default of the type, if there is none: its values are the user's own. */
export function whyNoDefault(type: TypeDescription): string | undefined {
  switch (type.kind) {
    case 'custom':
      if (serializerOf(type)?.defaultValue !== undefined) return undefined;
      return `the field is new, and ${formatType(type)} has no defaultValue: give it one, or describe the field as OPTIONAL`;
    case 'pojo':
      return firstOf(type.fields.map((field) => field.type));
    case 'tuple':
      return firstOf(type.elements);
    case 'union':
    case 'either':
      return whyNoDefault(type.types[0]!);
    default:
      return undefined;
  }
}

function firstOf(types: readonly TypeDescription[]): string | undefined {
  for (const type of types) {
    const why = whyNoDefault(type);
    if (why !== undefined) return why;
  }
  return undefined;
}
