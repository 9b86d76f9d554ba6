/**
 * Everything composes: random types of all kinds within each other, with random values, as values, as keys, and read by
 * a type that has changed since.
 */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc, { type Arbitrary } from 'fast-check';
import { hasCode } from '../base/index.ts';
import {
  checkTypeDescription,
  createKeySerializer,
  createSerializer,
  decodeFromBytes,
  defaultValueOf,
  encodeToBytes,
  resolveSchema,
  type TypeDescription,
  type TypeInformation,
  Types,
} from './index.ts';

type Any = TypeInformation<unknown>;

/** A type as it was saved and as it is now, values of the saved one, and what they are now. */
interface Sample {
  readonly saved: Any;
  readonly current: Any;
  readonly values: Arbitrary<unknown>;
  as(value: unknown): unknown;
}

class Point {
  x = 0;
  y = 0;

  static of(x: number, y: number): Point {
    const point = new Point();
    point.x = x;
    point.y = y;
    return point;
  }
}

const Amount = Types.CUSTOM<bigint>({
  name: 'amount',
  version: 1,
  canonical: true,
  serialize: (value, out) => out.writeBigInt(value),
  deserialize: (input) => input.readBigInt(),
  defaultValue: () => 0n,
});

const unchanged = (type: Any, values: Arbitrary<unknown>): Sample => ({
  saved: type,
  current: type,
  values,
  as: (value) => value,
});
const numbers = fc.oneof(fc.double(), fc.constantFrom(0, -0, 1, Number.NaN));

const keyLeaves: readonly Sample[] = [
  unchanged(Types.STRING, fc.string({ unit: 'binary', maxLength: 12 })),
  unchanged(Types.LONG, fc.oneof(fc.maxSafeInteger(), fc.constantFrom(0, -0))),
  unchanged(Types.INT, fc.integer()),
  unchanged(Types.DOUBLE, numbers),
  unchanged(Types.BOOLEAN, fc.boolean()),
  unchanged(Types.BIGINT, fc.bigInt()),
  unchanged(
    Types.BYTES,
    fc.uint8Array({ maxLength: 9 }).map((each) => new Uint8Array(each)),
  ),
  unchanged(Types.DATE, fc.date({ noInvalidDate: false })),
  unchanged(Types.VOID, fc.constant(undefined)),
  unchanged(Types.LITERAL('a', 2, false, null), fc.constantFrom('a', 2, false, null)),
  unchanged(Types.LITERAL('only'), fc.constant('only')),
  unchanged(Amount, fc.bigInt()),
  unchanged(Types.GENERIC(), fc.jsonValue({ maxDepth: 1 })),
  {
    saved: Types.ENUM('E', ['x', 'y', 'z']),
    current: Types.ENUM('E', ['z', 'new', 'x', 'y']),
    values: fc.constantFrom('x', 'y', 'z'),
    as: (value) => value,
  },
];
const leaves: readonly Sample[] = [
  ...keyLeaves,
  unchanged(
    Types.TYPED_ARRAY(Float64Array),
    fc.float64Array({ maxLength: 4 }).map((each) => new Float64Array(each)),
  ),
  unchanged(
    Types.POJO(Point, { x: Types.DOUBLE, y: Types.DOUBLE }),
    fc.tuple(numbers, numbers).map(([x, y]) => Point.of(x, y)),
  ),
];

function list({ saved, current, values, as }: Sample): Sample {
  return {
    saved: Types.LIST(saved),
    current: Types.LIST(current),
    values: fc.array(values, { maxLength: 3 }),
    as: (value) => (value as unknown[]).map(as),
  };
}

function setOf({ saved, current, values, as }: Sample): Sample {
  return {
    saved: Types.SET(saved),
    current: Types.SET(current),
    values: fc.array(values, { maxLength: 3 }).map((each) => new Set(each)),
    as: (value) => new Set([...(value as Set<unknown>)].map(as)),
  };
}

function record({ saved, current, values, as }: Sample): Sample {
  return {
    saved: Types.RECORD(saved),
    current: Types.RECORD(current),
    values: fc.dictionary(fc.string({ maxLength: 5 }), values, { maxKeys: 3, noNullPrototype: true }),
    as: (value) => Object.fromEntries(Object.entries(value as object).map(([k, v]) => [k, as(v)])),
  };
}

function mapOf(key: Sample, { saved, current, values, as }: Sample): Sample {
  // Keys of maps may not change.
  return {
    saved: Types.MAP(key.saved, saved),
    current: Types.MAP(key.saved, current),
    values: fc.array(fc.tuple(key.values, values), { maxLength: 3 }).map((entries) => new Map(entries)),
    as: (value) => new Map([...(value as Map<unknown, unknown>)].map(([k, v]) => [k, as(v)])),
  };
}

function tuple(parts: readonly Sample[]): Sample {
  return {
    saved: Types.TUPLE(...parts.map((part) => part.saved)),
    current: Types.TUPLE(...parts.map((part) => part.current)),
    values: fc.tuple(...parts.map((part) => part.values)),
    as: (value) => (value as unknown[]).map((each, i) => parts[i]!.as(each)),
  };
}

function absent(kind: 'OPTIONAL' | 'NULLABLE', { saved, current, values, as }: Sample): Sample {
  const nil = kind === 'OPTIONAL' ? undefined : null;
  return {
    saved: Types[kind](saved),
    current: Types[kind](current),
    values: fc.option(values, { nil }),
    as: (value) => (value === nil ? nil : as(value)),
  };
}

/** A type that could not be absent and now can. */
function nowAbsent(kind: 'OPTIONAL' | 'NULLABLE', sample: Sample): Sample {
  return { ...sample, current: Types[kind](sample.current) };
}

/** What happened to a field since it was saved. */
type Fate = 'kept' | 'removed' | 'added';

function row(parts: readonly Sample[], fates: readonly Fate[], reversed: boolean): Sample {
  const fields = parts.map((part, i) => ({ name: `f${i}`, part, fate: fates[i % fates.length]! }));
  const before = fields.filter(({ fate }) => fate !== 'added');
  const now = fields.filter(({ fate }) => fate !== 'removed');
  if (reversed) now.reverse();
  const isOptional = (part: Sample): boolean => part.saved.description.kind === 'optional';
  return {
    saved: Types.POJO('P', Object.fromEntries(before.map(({ name, part }) => [name, part.saved]))),
    current: Types.POJO('P', Object.fromEntries(now.map(({ name, part }) => [name, part.current]))),
    values: fc.record(Object.fromEntries(before.map(({ name, part }) => [name, part.values])), {
      requiredKeys: before.filter(({ part }) => !isOptional(part)).map(({ name }) => name),
      noNullPrototype: true,
    }),
    as(value) {
      const from = value as Record<string, unknown>;
      const to: Record<string, unknown> = {};
      for (const { name, part, fate } of now) {
        const { description } = part.current;
        if (name in from) to[name] = part.as(from[name]);
        else if (fate === 'added' && description.kind !== 'optional') to[name] = inClasses(part.current);
      }
      return to;
    },
  };
}

/** The default of a field as it comes back: an instance where the type has a class. */
function inClasses(type: Any): unknown {
  const serializer = createSerializer(type, 'default');
  return decodeFromBytes(serializer, encodeToBytes(serializer, defaultValueOf(type.description)));
}

function union(parts: readonly Sample[], reversed: boolean): Sample {
  const rows = parts.map((part, i) => {
    const kind = unchanged(Types.LITERAL(`t${i}`), fc.constant(`t${i}`));
    return { kind, part };
  });
  const typeOf = (kind: Any, part: Any) => Types.ROW({ kind, part }) as TypeInformation<{ kind: string }>;
  const now = rows.map(({ kind, part }) => typeOf(kind.saved, part.current));
  if (reversed) now.reverse();
  return {
    saved: Types.UNION('kind', ...rows.map(({ kind, part }) => typeOf(kind.saved, part.saved))),
    current: Types.UNION('kind', ...now),
    values: fc.oneof(
      ...rows.map(({ kind, part }) =>
        fc.record({ kind: kind.values, part: part.values }, { noNullPrototype: true }),
      ),
    ),
    as(value) {
      const { kind, part } = value as { kind: string; part: unknown };
      return { kind, part: rows[Number(kind.slice(1))]!.part.as(part) };
    },
  };
}

/** Samples whose values JavaScript tells apart. */
function either(inner: Sample): Sample {
  const parts = [keyLeaves[0]!, list(inner), unchanged(Types.BOOLEAN, fc.boolean()), setOf(inner)];
  return {
    saved: Types.EITHER(...parts.map((part) => part.saved)),
    current: Types.EITHER(...parts.map((part) => part.current).reverse()),
    values: fc.oneof(...parts.map((part) => part.values)),
    as(value) {
      if (Array.isArray(value)) return parts[1]!.as(value);
      return value instanceof Set ? parts[3]!.as(value) : value;
    },
  };
}

/** What stood alone and is now one of several. */
function nowEither(): Sample {
  return { ...keyLeaves[0]!, current: Types.EITHER(Types.INT, Types.STRING) };
}

const fates = fc.array(fc.constantFrom<Fate>('kept', 'kept', 'removed', 'added'), { minLength: 1 });
const absences = fc.constantFrom('OPTIONAL' as const, 'NULLABLE' as const);

const { sample } = fc.letrec<{ sample: Sample; parts: Sample[] }>((tie) => ({
  sample: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(...leaves),
    fc.constant(nowEither()),
    tie('sample').map(list),
    tie('sample').map(setOf),
    tie('sample').map(record),
    tie('sample').map(either),
    fc.tuple(tie('sample'), tie('sample')).map(([key, value]) => mapOf(key, value)),
    fc.tuple(absences, tie('sample')).map(([kind, each]) => absent(kind, each)),
    fc.tuple(absences, fc.constantFrom(...leaves)).map(([kind, each]) => nowAbsent(kind, each)),
    tie('parts').map(tuple),
    fc.tuple(tie('parts'), fates, fc.boolean()).map(([parts, each, reversed]) => row(parts, each, reversed)),
    fc.tuple(tie('sample'), tie('sample'), fc.boolean()).map(([a, b, reversed]) => union([a, b], reversed)),
  ),
  parts: fc.array(tie('sample'), { maxLength: 4 }),
}));

const { key } = fc.letrec<{ key: Sample; parts: Sample[] }>((tie) => ({
  key: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(...keyLeaves),
    tie('key').map(list),
    fc.tuple(absences, tie('key')).map(([kind, each]) => absent(kind, each)),
    tie('parts').map(tuple),
    tie('parts').map((parts) => row(parts, ['kept'], false)),
    fc.tuple(tie('key'), tie('key')).map(([a, b]) => union([a, b], false)),
  ),
  parts: fc.array(tie('key'), { maxLength: 3 }),
}));

const withValue = (from: Arbitrary<Sample>) => from.chain((each) => fc.tuple(fc.constant(each), each.values));

function asJson(description: TypeDescription): TypeDescription {
  return JSON.parse(JSON.stringify(description)) as TypeDescription;
}

describe('types of all kinds within each other', () => {
  it('give every value back, and skip what they read', () => {
    fc.assert(
      fc.property(withValue(sample), ([{ saved }, value]) => {
        const serializer = createSerializer(saved, 'test');
        const bytes = encodeToBytes(serializer, value);
        deepStrictEqual(decodeFromBytes(serializer, bytes), value);
        checkTypeDescription(asJson(saved.description), 'test');
        const other = createSerializer<unknown>({ description: asJson(saved.description) }, 'test');
        deepStrictEqual(encodeToBytes(other, decodeFromBytes(other, bytes)), bytes);
      }),
      { numRuns: 400 },
    );
  });

  it('read what was saved before they changed', () => {
    fc.assert(
      fc.property(withValue(sample), ([{ saved, current, as }, value]) => {
        const resolution = resolveSchema(asJson(saved.description), current.description);
        const bytes = encodeToBytes(createSerializer(saved, 'before'), value);
        const now = createSerializer(current, 'now');
        if (resolution.result === 'same') return deepStrictEqual(decodeFromBytes(now, bytes), as(value));
        if (resolution.result === 'incompatible') throw new Error(resolution.reason);
        const from = createSerializer<unknown>({ description: asJson(saved.description) }, 'saved');
        const converted = encodeToBytes(now, resolution.convert(decodeFromBytes(from, bytes)));
        deepStrictEqual(decodeFromBytes(now, converted), as(value));
      }),
      { numRuns: 400 },
    );
  });

  it('refuse values of other types with an error that begins with the place of use', () => {
    fc.assert(
      fc.property(sample, withValue(sample), ({ saved }, [, value]) => {
        const serializer = createSerializer(saved, 'the test');
        try {
          decodeFromBytes(serializer, encodeToBytes(serializer, value));
        } catch (error) {
          ok(hasCode(error, 'TYPE_MISMATCH'), String(error));
          ok(String((error as Error).message).startsWith('the test: '));
        }
      }),
      { numRuns: 400 },
    );
  });
});

/** Numbers that are equal are one; a missing field is one that is undefined. */
function normal(value: unknown): unknown {
  if (typeof value === 'number') return value + 0;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(normal);
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  const fields = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(fields.map(([name, each]) => [name, normal(each)]));
}

describe('keys of all kinds within each other', () => {
  it('have the same bytes if and only if they are the same key, and then the same hash', () => {
    const pairs = key.chain((each) =>
      fc.tuple(
        fc.constant(each.saved),
        each.values.chain((one) => fc.tuple(fc.constant(one), fc.oneof(fc.constant(one), each.values))),
      ),
    );
    fc.assert(
      fc.property(pairs, ([type, [one, other]]) => {
        const serializer = createKeySerializer(type, 'test');
        if (type.description.kind === 'generic' && (one === null || other === null)) return;
        const bytes = encodeToBytes(serializer, one);
        const same = isDeepStrictEqual(bytes, encodeToBytes(serializer, other));
        strictEqual(same, isDeepStrictEqual(normal(one), normal(other)));
        if (same) strictEqual(serializer.hash(one), serializer.hash(other));
        const back = decodeFromBytes(serializer, bytes);
        deepStrictEqual(normal(back), normal(one));
        strictEqual(serializer.hash(back), serializer.hash(one));
      }),
      { numRuns: 600 },
    );
  });
});
