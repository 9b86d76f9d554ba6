/**
 * May state that was written as one type be read as another, and how: the rules of schema evolution, as a pure
 * function of two descriptions. Called at a restore for each state; knows no state and no backend.
 *
 *     fields of a pojo     by name: added ones get their default, removed ones are dropped, order does not matter
 *     values of an enum    by name: added and moved freely; a removed one fails for the entries that hold it
 *     T -> OPTIONAL(T), T -> NULLABLE(T)                 allowed
 *     names of pojos and enums                           must be equal, unless one of the two has none
 *     keys of a map                                      must be the same, or enums of which no key is lost
 *     schemas of Avro                                    Avro's rules of resolution
 *     anything else that differs                         refused
 *
 * A default is what `defaultValueOf` says.
 */
import { MillraceError } from '../base/index.ts';
import { avroDefaultOf, resolveAvro } from './avro-evolution.ts';
import { avroSchemaOf } from './avro-schema.ts';
import type { Convert, SchemaResolution } from './schema-resolution.ts';
import { formatType } from './type-description.ts';
import type { TypeDescription } from './type-information.ts';
import { fieldPath } from './type-mismatch.ts';

type Of<K extends TypeDescription['kind']> = Extract<TypeDescription, { readonly kind: K }>;

const SAME: SchemaResolution = Object.freeze({ result: 'same' });
const keep: Convert = (old) => old;

/** Compares the type of saved state with the type that the program declares now. Never throws; both have been checked. */
export function resolveSchema(saved: TypeDescription, current: TypeDescription): SchemaResolution {
  return resolve(saved, current, 'value');
}

/**
 * What a field that saved state does not have gets: '' for STRING, 0 for numbers, false, 0n, the epoch for DATE, empty
 * BYTES, LIST and MAP, undefined for OPTIONAL, GENERIC and VOID, null for NULLABLE, the first value of an ENUM; a TUPLE,
 * ROW or POJO of the defaults of its parts; of AVRO what avroDefaultOf says. A new value each time.
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
    case 'map':
      return new Map();
    case 'tuple':
      return type.elements.map(defaultValueOf);
    case 'pojo':
      return Object.fromEntries(type.fields.map((field) => [field.name, defaultValueOf(field.type)]));
    case 'enum':
      return type.values[0];
    case 'avro':
      return avroDefaultOf(avroSchemaOf(type.schema).type);
    case 'nullable':
      return null;
    case 'optional':
    case 'generic':
    case 'void':
      return undefined;
  }
}

function resolve(saved: TypeDescription, current: TypeDescription, path: string): SchemaResolution {
  if (saved.kind === current.kind) return resolveKind(saved, current, path);
  if (current.kind === 'optional' || current.kind === 'nullable') {
    // What was always there may now be absent as well.
    const inner = resolve(saved, current.value, path);
    return inner.result === 'same' ? { result: 'migrate', convert: keep } : inner;
  }
  const reason =
    saved.kind === 'optional' || saved.kind === 'nullable'
      ? 'saved values may be absent'
      : 'the type is another one';
  return incompatible(saved, current, path, reason);
}

function resolveKind(saved: TypeDescription, current: TypeDescription, path: string): SchemaResolution {
  switch (saved.kind) {
    case 'pojo':
      return resolvePojo(saved, current as typeof saved, path);
    case 'enum':
      return resolveEnum(saved, current as typeof saved, path);
    case 'list':
      return resolveList(saved, current as typeof saved, path);
    case 'map':
      return resolveMap(saved, current as typeof saved, path);
    case 'tuple':
      return resolveTuple(saved, current as typeof saved, path);
    case 'avro': {
      const { schema } = current as typeof saved;
      const resolution = resolveAvro(avroSchemaOf(saved.schema), avroSchemaOf(schema));
      return resolution.result === 'incompatible'
        ? { ...resolution, path: path + resolution.path }
        : resolution;
    }
    case 'optional':
    case 'nullable': {
      const absence = saved.kind === 'optional' ? undefined : null;
      const inner = resolve(saved.value, (current as typeof saved).value, path);
      return mapped(inner, (convert) => (old) => (old === absence ? old : convert(old)));
    }
    default:
      return SAME;
  }
}

function incompatible(
  saved: TypeDescription,
  current: TypeDescription,
  path: string,
  reason: string,
): SchemaResolution {
  return { result: 'incompatible', path, saved: formatType(saved), current: formatType(current), reason };
}

/** Lifts the conversion of a part to the whole; other answers stay. */
function mapped(part: SchemaResolution, lift: (convert: Convert) => Convert): SchemaResolution {
  return part.result === 'migrate' ? { result: 'migrate', convert: lift(part.convert) } : part;
}

function isRenamed(saved: string, current: string): boolean {
  return saved !== current && saved !== '' && current !== '';
}

function resolvePojo(saved: Of<'pojo'>, current: Of<'pojo'>, path: string): SchemaResolution {
  if (isRenamed(saved.name, current.name)) {
    return incompatible(saved, current, path, 'the type has another name; give it its old name back');
  }
  const savedTypes = new Map(saved.fields.map((field) => [field.name, field.type]));
  const converts = new Map<string, Convert>();
  let isSame = saved.fields.length === current.fields.length;
  for (const [i, field] of current.fields.entries()) {
    const savedType = savedTypes.get(field.name);
    if (saved.fields[i]?.name !== field.name) isSame = false;
    if (savedType === undefined) continue;
    const part = resolve(savedType, field.type, path + fieldPath(field.name));
    if (part.result === 'incompatible') return part;
    if (part.result === 'migrate') isSame = false;
    converts.set(field.name, part.result === 'migrate' ? part.convert : keep);
  }
  return isSame ? SAME : { result: 'migrate', convert: convertPojo(current, converts) };
}

function convertPojo(current: Of<'pojo'>, converts: ReadonlyMap<string, Convert>): Convert {
  return (old) => {
    const from = old as Readonly<Record<string, unknown>>;
    const to: Record<string, unknown> = {};
    for (const { name, type } of current.fields) {
      const convert = converts.get(name);
      if (convert === undefined) {
        // An optional field that was not there stays away.
        if (type.kind !== 'optional') to[name] = defaultValueOf(type);
      } else if (name in from) to[name] = convert(from[name]);
    }
    return to;
  };
}

function resolveEnum(saved: Of<'enum'>, current: Of<'enum'>, path: string): SchemaResolution {
  if (isRenamed(saved.name, current.name)) {
    return incompatible(saved, current, path, 'the enum has another name; give it its old name back');
  }
  if (
    saved.values.length === current.values.length &&
    saved.values.every((value, i) => value === current.values[i])
  ) {
    return SAME;
  }
  const values = new Set<unknown>(current.values);
  const named = current.name === '' ? 'the enum' : `the enum ${current.name}`;
  return {
    result: 'migrate',
    convert(old) {
      if (values.has(old)) return old;
      throw new MillraceError(
        'STATE_ENUM_VALUE_REMOVED',
        `${path} is '${String(old)}' in saved state, but ${named} has no such value any more. Add it again, or change these entries before it is removed.`,
        { details: { path, value: String(old), enum: current.name } },
      );
    },
  };
}

function resolveList(saved: Of<'list'>, current: Of<'list'>, path: string): SchemaResolution {
  const element = resolve(saved.element, current.element, `${path}[]`);
  return mapped(element, (convert) => (old) => (old as unknown[]).map(convert));
}

function resolveMap(saved: Of<'map'>, current: Of<'map'>, path: string): SchemaResolution {
  const key = resolve(saved.key, current.key, `the keys of ${path}`);
  if (key.result === 'incompatible') return key;
  if (key.result === 'migrate' && saved.key.kind !== 'enum') {
    return incompatible(saved.key, current.key, `the keys of ${path}`, 'the type of keys may not change');
  }
  const value = resolve(saved.value, current.value, `the values of ${path}`);
  if (value.result === 'incompatible') return value;
  if (key.result === 'same' && value.result === 'same') return SAME;
  const convertKey = key.result === 'migrate' ? key.convert : keep;
  const convertValue = value.result === 'migrate' ? value.convert : keep;
  return {
    result: 'migrate',
    convert: (old) =>
      new Map(Array.from(old as Map<unknown, unknown>, ([k, v]) => [convertKey(k), convertValue(v)])),
  };
}

function resolveTuple(saved: Of<'tuple'>, current: Of<'tuple'>, path: string): SchemaResolution {
  if (saved.elements.length !== current.elements.length) {
    return incompatible(saved, current, path, 'a tuple has no names, so its length may not change');
  }
  const converts: Convert[] = [];
  let isSame = true;
  for (const [i, element] of current.elements.entries()) {
    const part = resolve(saved.elements[i]!, element, `${path}[${i}]`);
    if (part.result === 'incompatible') return part;
    if (part.result === 'migrate') isSame = false;
    converts.push(part.result === 'migrate' ? part.convert : keep);
  }
  if (isSame) return SAME;
  return { result: 'migrate', convert: (old) => (old as unknown[]).map((each, i) => converts[i]!(each)) };
}
