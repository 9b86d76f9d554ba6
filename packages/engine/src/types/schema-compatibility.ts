/**
 * May state that was written as one type be read as another, and how: the rules of schema evolution, as a pure
 * function of two descriptions. Called at a restore for each state; knows no state and no backend.
 *
 *     fields of a pojo     by name: added ones get their default, removed ones are dropped, order does not matter
 *     values of an enum    by name: added and moved freely; a removed one fails for the entries that hold it
 *     values of a literal  the same; an enum and a literal are read as each other
 *     types of a union     by the values of its field; of an EITHER by their kind: added and moved freely; a removed one
 *                          fails for the entries that hold it
 *     own serializers      by name; what the serializer says about the saved version
 *     T -> OPTIONAL(T), T -> NULLABLE(T), T -> EITHER(..., T)    allowed
 *     names of pojos and enums                                   must be equal, unless one of the two has none
 *     keys of a map                                              must be the same, or enums of which no key is lost
 *     schemas of Avro                                            Avro's rules of resolution
 *     anything else that differs                                 refused
 *
 * A default is what `defaultValueOf` says.
 */
import { MillraceError } from '../base/index.ts';
import { resolveAvro } from './avro-evolution.ts';
import { avroSchemaOf } from './avro-schema.ts';
import { resolveCustom } from './custom-evolution.ts';
import { defaultValueOf, whyNoDefault } from './default-value.ts';
import { kindsOf } from './js-kind.ts';
import type { Convert, SchemaResolution } from './schema-resolution.ts';
import { formatType } from './type-description.ts';
import type { TypeDescription } from './type-information.ts';
import { fieldPath } from './type-mismatch.ts';
import { type Branching, branchesByTag, tagOf } from './union-branches.ts';

type Of<K extends TypeDescription['kind']> = Extract<TypeDescription, { readonly kind: K }>;

const SAME: SchemaResolution = Object.freeze({ result: 'same' });
const keep: Convert = (old) => old;

/** Compares the type of saved state with the type that the program declares now. Never throws; both have been checked. */
export function resolveSchema(saved: TypeDescription, current: TypeDescription): SchemaResolution {
  return resolve(saved, current, 'value');
}

function resolve(saved: TypeDescription, current: TypeDescription, path: string): SchemaResolution {
  if (saved.kind === current.kind) return resolveKind(saved, current, path);
  if (isListed(saved) && isListed(current)) return resolveListed(saved, current, path);
  if (current.kind === 'optional' || current.kind === 'nullable') {
    // What was always there may now be absent as well.
    const inner = resolve(saved, current.value, path);
    return inner.result === 'same' ? { result: 'migrate', convert: keep } : inner;
  }
  const branch = current.kind === 'either' ? branchLike(saved, current) : undefined;
  if (branch !== undefined) {
    const inner = resolve(saved, branch, path);
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
    case 'literal':
      return resolveListed(saved, current as typeof saved, path);
    case 'list':
      return resolveList(saved, current as typeof saved, path);
    case 'set': {
      const element = resolve(saved.element, (current as typeof saved).element, `${path}[]`);
      return mapped(
        element,
        (convert) => (old) => new Set(Array.from(old as ReadonlySet<unknown>, (each) => convert(each))),
      );
    }
    case 'record': {
      const value = resolve(saved.value, (current as typeof saved).value, `the values of ${path}`);
      return mapped(value, convertRecord);
    }
    case 'union':
    case 'either':
      return resolveBranches(saved, current as typeof saved, path);
    case 'custom':
      return resolveCustom(saved, current as typeof saved, path);
    case 'typed-array':
      return saved.array === (current as typeof saved).array
        ? SAME
        : incompatible(saved, current, path, 'the type is another one');
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
    if (savedType === undefined) {
      const why = whyNoDefault(field.type);
      if (why !== undefined) return incompatible(saved, current, path + fieldPath(field.name), why);
      continue;
    }
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

type Listed = Of<'enum' | 'literal'>;

function isListed(type: TypeDescription): type is Listed {
  return type.kind === 'enum' || type.kind === 'literal';
}

function resolveListed(saved: Listed, current: Listed, path: string): SchemaResolution {
  const savedName = nameOf(saved);
  const currentName = nameOf(current);
  if (isRenamed(savedName, currentName)) {
    return incompatible(saved, current, path, 'the enum has another name; give it its old name back');
  }
  if (
    saved.kind === current.kind &&
    saved.values.length === current.values.length &&
    saved.values.every((value, i) => value === current.values[i])
  ) {
    return SAME;
  }
  const values = new Set<unknown>(current.values);
  const named = `the ${current.kind}${currentName === '' ? '' : ` ${currentName}`}`;
  return {
    result: 'migrate',
    convert: (old) =>
      values.has(old) ? old : refuseRemoved(path, old, `${named} has no such value`, currentName),
  };
}

function nameOf(type: Listed): string {
  return type.kind === 'enum' ? type.name : '';
}

function refuseRemoved(path: string, old: unknown, why: string, name: string): never {
  throw new MillraceError(
    'STATE_ENUM_VALUE_REMOVED',
    `${path} is '${String(old)}' in saved state, but ${why} any more. Add it again, or change these entries before it is removed.`,
    { details: { path, value: String(old), enum: name } },
  );
}

/** The type of an EITHER that values of `saved` would have. */
function branchLike(saved: TypeDescription, current: Of<'either'>): TypeDescription | undefined {
  const kinds = kindsOf(saved) ?? [];
  const branches = branchesByTag(current);
  const found = new Set(kinds.map((kind) => branches.get(kind)));
  const [only] = found;
  return found.size === 1 && only !== undefined ? current.types[only] : undefined;
}

function resolveBranches(saved: Branching, current: typeof saved, path: string): SchemaResolution {
  if (saved.kind === 'union' && saved.field !== (current as typeof saved).field) {
    return incompatible(saved, current, path, 'the types are told apart by another field');
  }
  const currentBranches = branchesByTag(current);
  const converts = new Map<unknown, Convert>();
  let isSame = saved.types.length === current.types.length;
  for (const [tag, i] of branchesByTag(saved)) {
    const branch = currentBranches.get(tag);
    if (branch !== i) isSame = false;
    if (branch === undefined) continue;
    const part = resolve(saved.types[i]!, current.types[branch]!, path);
    if (part.result === 'incompatible') return part;
    if (part.result === 'migrate') isSame = false;
    converts.set(tag, part.result === 'migrate' ? part.convert : keep);
  }
  if (isSame) return SAME;
  return {
    result: 'migrate',
    convert(old) {
      const tag = tagOf(saved, old);
      const convert = converts.get(tag);
      if (convert !== undefined) return convert(old);
      const at = saved.kind === 'union' ? path + fieldPath(saved.field) : path;
      return refuseRemoved(at, tag, `no type of ${formatType(current)} has it`, '');
    },
  };
}

function convertRecord(convert: Convert): Convert {
  return (old) =>
    Object.fromEntries(
      Object.entries(old as Readonly<Record<string, unknown>>).map(([name, value]) => [name, convert(value)]),
    );
}

function resolveList(saved: Of<'list'>, current: Of<'list'>, path: string): SchemaResolution {
  const element = resolve(saved.element, current.element, `${path}[]`);
  return mapped(element, (convert) => (old) => (old as unknown[]).map(convert));
}

function resolveMap(saved: Of<'map'>, current: Of<'map'>, path: string): SchemaResolution {
  const key = resolve(saved.key, current.key, `the keys of ${path}`);
  if (key.result === 'incompatible') return key;
  if (key.result === 'migrate' && !isListed(saved.key)) {
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
