/** Keys through the contract of serializers, and: equal keys have equal bytes, different ones different bytes. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc, { type Arbitrary } from 'fast-check';
import { serializerContract } from '../testing/serializer-contract.ts';
import { createKeySerializer, decodeFromBytes, encodeToBytes, type TypeInformation, Types } from './index.ts';

/** What a key is equal to: the same without -0. */
function normal(value: unknown): unknown {
  if (typeof value === 'number') return value + 0;
  if (Array.isArray(value)) return value.map(normal);
  if (value instanceof Map) return new Map(Array.from(value, ([k, v]) => [normal(k), normal(v)]));
  if (value instanceof Set) return new Set(Array.from(value, normal));
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, normal(v)]));
}

/** Few different values, so that equal keys are met often. */
const small = fc.oneof(
  fc.constantFrom(0, -0, 1, 1.5, Number.NaN, '', '0', '1', 'é', '语', '\ud800', true, false, 0n, 1n),
  fc.constantFrom(new Date(0), new Date(Number.NaN), new Uint8Array([1]), 2 ** 53, -1, -1n),
);
const nested = fc.anything({
  values: [small, fc.constantFrom(null, undefined)],
  key: fc.constantFrom('a', 'b', '1'),
  maxDepth: 3,
  maxKeys: 3,
  withMap: true,
  withSet: true,
});
const undescribed: Arbitrary<unknown> = fc
  .oneof(small, nested)
  .filter((key) => key !== null && key !== undefined);

const Pair = Types.TUPLE(Types.STRING, Types.DOUBLE);
const pairs: Arbitrary<[string, number]> = fc.tuple(
  fc.constantFrom('a', 'b'),
  fc.constantFrom(0, -0, 1, Number.NaN),
);
const Compound = Types.ROW({
  id: Types.OPTIONAL(Types.LONG),
  pairs: Types.LIST(Pair),
  other: Types.GENERIC(),
  kind: Types.NULLABLE(Types.ENUM(['x', 'y'])),
});
const compounds = fc.record(
  {
    id: fc.constantFrom(0, -0, 5),
    pairs: fc.array(pairs, { maxLength: 2 }),
    other: nested,
    kind: fc.constantFrom('x' as const, null),
  },
  { requiredKeys: ['pairs', 'other', 'kind'], noNullPrototype: true },
);

function equalKeysHaveEqualBytes<K>(
  name: string,
  type: TypeInformation<K> | undefined,
  keys: Arbitrary<K>,
): void {
  it(`${name}: equal keys have equal bytes and equal hashes, different keys different bytes`, () => {
    const serializer = createKeySerializer(type, 'x');
    fc.assert(
      fc.property(keys, keys, (a, b) => {
        const bytesA = encodeToBytes(serializer, a);
        const equal = isDeepStrictEqual(normal(a), normal(b));
        strictEqual(Buffer.compare(bytesA, encodeToBytes(serializer, b)) === 0, equal);
        if (equal) strictEqual(serializer.hash(a), serializer.hash(b));
        // What is read back is the same key again.
        const back = decodeFromBytes(serializer, bytesA);
        deepStrictEqual(normal(back), normal(a));
        deepStrictEqual(encodeToBytes(serializer, back), bytesA);
        strictEqual(serializer.hash(back), serializer.hash(a));
      }),
      { numRuns: 500 },
    );
  });
}

describe('keys', () => {
  equalKeysHaveEqualBytes('undescribed', undefined, undescribed);
  equalKeysHaveEqualBytes('undescribed strings', undefined, fc.string({ unit: 'binary', maxLength: 2 }));
  equalKeysHaveEqualBytes('TUPLE', Pair, pairs);
  equalKeysHaveEqualBytes('ROW', Compound, compounds);
  equalKeysHaveEqualBytes('INT', Types.INT, fc.integer({ min: -2, max: 2 }));
});

const asKeys = <K>(type: TypeInformation<K> | undefined) => createKeySerializer(type, 'key');
const strings = fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.constantFrom('\ud800'.repeat(30)));
serializerContract('undescribed keys', undefined, undescribed.map(normal), asKeys);
serializerContract('STRING keys', Types.STRING, strings, asKeys);
serializerContract('INT keys', Types.INT, fc.integer(), asKeys);
serializerContract('DOUBLE keys', Types.DOUBLE, fc.double().map((n) => n + 0), asKeys); // biome-ignore format: one line
serializerContract('ROW keys', Compound, compounds.map((key) => normal(key) as typeof key), asKeys); // biome-ignore format: one line
