/**
 * How the types of an EITHER are told apart: by what JavaScript itself sees in a value. Used by the check of
 * descriptions, by generated codecs and by the evolution of state.
 *
 * A kind is what `typeof` says, 'null', or for an object 'object' or the name of its built-in class.
 */
import type { TypeDescription } from './type-information.ts';

/** The kind of a value. A Buffer is a Uint8Array. */
export function kindOf(value: unknown): string {
  if (typeof value !== 'object') return typeof value;
  return value === null ? 'null' : kindOfObject(value);
}

function kindOfObject(value: object): string {
  if (Array.isArray(value)) return 'Array';
  if (value instanceof Map) return 'Map';
  if (value instanceof Set) return 'Set';
  if (value instanceof Date) return 'Date';
  // No type has these: where an object is expected they are a mistake.
  if (value instanceof Promise) return 'Promise';
  // Of typed arrays the tag is the name of the class, also of one derived from it.
  return ArrayBuffer.isView(value) ? (value as Uint8Array)[Symbol.toStringTag] : 'object';
}

/** The kinds that values of the type have; undefined if they may have any. Optional types and the like have several. */
export function kindsOf(type: TypeDescription): readonly string[] | undefined {
  switch (type.kind) {
    case 'void':
      return ['undefined'];
    case 'string':
    case 'enum':
      return ['string'];
    case 'long':
    case 'int':
    case 'double':
      return ['number'];
    case 'boolean':
    case 'bigint':
      return [type.kind];
    case 'bytes':
      return ['Uint8Array'];
    case 'date':
      return ['Date'];
    case 'list':
    case 'tuple':
      return ['Array'];
    case 'set':
      return ['Set'];
    case 'map':
      return ['Map'];
    case 'pojo':
    case 'record':
    case 'union':
      return ['object'];
    case 'typed-array':
      return [type.array];
    case 'literal':
      return [...new Set(type.values.map(kindOf))];
    case 'optional':
      return withKind('undefined', type.value);
    case 'nullable':
      return withKind('null', type.value);
    case 'either':
      return type.types.flatMap((each) => kindsOf(each) ?? []);
    case 'generic':
    case 'avro':
    case 'custom':
      return undefined;
  }
}

function withKind(kind: string, type: TypeDescription): readonly string[] | undefined {
  const kinds = kindsOf(type);
  return kinds === undefined ? undefined : [kind, ...kinds];
}
