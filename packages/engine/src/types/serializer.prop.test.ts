/** Every kind of type through the contract suite, and random types. */
import { deepStrictEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc, { type Arbitrary } from 'fast-check';
import { serializerContract } from '../testing/serializer-contract.ts';
import { createSerializer, decodeFromBytes, encodeToBytes, type TypeInformation, Types } from './index.ts';

const short = fc.string({ unit: 'binary', maxLength: 30 });
const latin = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
  maxLength: 30,
});
/** Any UTF-16 units: half of the strings of surrogates are not well formed. */
const units = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0xd800, max: 0xdfff })), {
    maxLength: 120,
  })
  .map((codes) => String.fromCharCode(...codes));
const long = fc
  .integer({ min: 0, max: 400 })
  .chain((n) => fc.constantFrom('x', 'é', '语', '😀').map((c) => c.repeat(n)));
export const strings = fc.oneof(short, latin, units, long);

const longs = fc.oneof(
  fc.maxSafeInteger(),
  fc.constantFrom(Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, -0),
);
const doubles = fc.double();
const dates = fc.date({ noInvalidDate: false });
const bigints = fc.oneof(fc.bigInt(), fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }));
const bytes = fc.uint8Array({ maxLength: 300 }).map((each) => new Uint8Array(each));

serializerContract('STRING', Types.STRING, strings);
serializerContract('LONG', Types.LONG, longs);
serializerContract('INT', Types.INT, fc.integer());
serializerContract('DOUBLE', Types.DOUBLE, doubles);
serializerContract('BOOLEAN', Types.BOOLEAN, fc.boolean());
serializerContract('BYTES', Types.BYTES, bytes);
serializerContract('BIGINT', Types.BIGINT, bigints);
serializerContract('DATE', Types.DATE, dates);
serializerContract('VOID', Types.VOID, fc.constant(undefined));
serializerContract('LIST of STRING', Types.LIST(Types.STRING), fc.array(strings, { maxLength: 5 }));
serializerContract('LIST of INT', Types.LIST(Types.INT), fc.array(fc.integer(), { maxLength: 50 }));
serializerContract('LIST of VOID', Types.LIST(Types.VOID), fc.array(fc.constant(undefined)));
serializerContract(
  'MAP',
  Types.MAP(Types.STRING, Types.LIST(Types.DOUBLE)),
  fc.array(fc.tuple(short, fc.array(doubles))).map((entries) => new Map(entries)),
);
serializerContract(
  'TUPLE',
  Types.TUPLE(Types.STRING, Types.INT, Types.BYTES),
  fc.tuple(short, fc.integer(), bytes),
);
serializerContract(
  'ENUM',
  Types.ENUM('Status', ['NEW', 'PAID', 'SENT']),
  fc.constantFrom('NEW', 'PAID', 'SENT'),
);
const manyNames = Array.from({ length: 300 }, (_, i) => `name-${i}`);
serializerContract('ENUM of 300 values', Types.ENUM(manyNames), fc.constantFrom(...manyNames));
serializerContract('OPTIONAL', Types.OPTIONAL(Types.STRING), fc.option(short, { nil: undefined }));
serializerContract('NULLABLE', Types.NULLABLE(Types.LONG), fc.option(longs, { nil: null }));

serializerContract(
  'AVRO',
  Types.AVRO<object>({
    type: 'record',
    name: 'Order',
    fields: [
      { name: 'id', type: 'string' },
      { name: 'at', type: 'long' },
      { name: 'status', type: { type: 'enum', name: 'Status', symbols: ['NEW', 'PAID'] } },
      { name: 'prices', type: { type: 'array', items: ['null', 'double'] } },
      { name: 'stock', type: { type: 'map', values: { type: 'array', items: 'int' } } },
      { name: 'either', type: ['int', 'double', 'bytes'] },
    ],
  }),
  fc.record(
    {
      id: short,
      at: longs.map((each) => each + 0),
      status: fc.constantFrom('NEW', 'PAID'),
      prices: fc.array(fc.option(fc.double({ noNaN: true }))),
      stock: fc.dictionary(
        short.filter((key) => key !== '__proto__'),
        fc.array(fc.integer()),
        { noNullPrototype: true },
      ),
      either: fc.oneof(
        fc.record({ int: fc.integer() }, { noNullPrototype: true }),
        fc.record({ double: doubles }, { noNullPrototype: true }),
        fc.record({ bytes: bytes.map((each) => Buffer.from(each)) }, { noNullPrototype: true }),
      ),
    },
    { noNullPrototype: true },
  ),
);

const Item = Types.ROW({ price: Types.DOUBLE, count: Types.INT, 'odd name': Types.OPTIONAL(Types.BOOLEAN) });
const Order = Types.POJO('Order', {
  id: Types.STRING,
  at: Types.LONG,
  items: Types.LIST(Item),
  note: Types.OPTIONAL(Types.NULLABLE(Types.STRING)),
  tags: Types.MAP(Types.STRING, Types.NULLABLE(Item)),
  anything: Types.GENERIC(),
  status: Types.ENUM(['a', 'b']),
});
const items = fc.record(
  { price: doubles, count: fc.integer(), 'odd name': fc.option(fc.boolean(), { nil: undefined }) },
  { requiredKeys: ['price', 'count'], noNullPrototype: true },
);
serializerContract(
  'a POJO of everything',
  Types.LIST(Order),
  fc.array(
    fc.record(
      {
        id: short,
        at: longs.map((each) => each + 0),
        items: fc.array(items),
        note: fc.option(fc.option(short), { nil: undefined }),
        tags: fc.array(fc.tuple(short, fc.option(items))).map((entries) => new Map(entries)),
        anything: fc.jsonValue(),
        status: fc.constantFrom('a' as const, 'b' as const),
      },
      { requiredKeys: ['id', 'at', 'items', 'tags', 'anything', 'status'], noNullPrototype: true },
    ),
    { maxLength: 3 },
  ),
);

/** A random type, with values of it. */
interface Typed {
  readonly type: TypeInformation<unknown>;
  readonly values: Arbitrary<unknown>;
}

const leaves: readonly Typed[] = [
  { type: Types.STRING, values: short },
  { type: Types.LONG, values: longs },
  { type: Types.INT, values: fc.integer() },
  { type: Types.DOUBLE, values: doubles },
  { type: Types.BOOLEAN, values: fc.boolean() },
  { type: Types.BIGINT, values: bigints },
  { type: Types.DATE, values: dates },
  { type: Types.ENUM(['x', 'y', 'z']), values: fc.constantFrom('x', 'y', 'z') },
];

function row(parts: readonly Typed[]): Typed {
  const named = parts.map((part, i) => [`f${i}`, part] as const);
  return {
    type: Types.ROW(Object.fromEntries(named.map(([name, part]) => [name, part.type]))),
    values: fc.record(Object.fromEntries(named.map(([name, part]) => [name, part.values])), {
      noNullPrototype: true,
    }),
  };
}

const { typed } = fc.letrec<{ typed: Typed; parts: Typed[] }>((tie) => ({
  typed: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...leaves),
    tie('typed').map(({ type, values }) => ({
      type: Types.LIST(type),
      values: fc.array(values, { maxLength: 4 }),
    })),
    // OPTIONAL(VOID) has two names for undefined; none of the leaves is VOID.
    tie('typed').map(({ type, values }) => ({
      type: Types.OPTIONAL(type),
      values: fc.option(values, { nil: undefined }),
    })),
    tie('typed').map(({ type, values }) => ({ type: Types.NULLABLE(type), values: fc.option(values) })),
    tie('parts').map(row),
    tie('parts').map((parts) => ({
      type: Types.TUPLE(...parts.map((part) => part.type)),
      values: fc.tuple(...parts.map((part) => part.values)),
    })),
  ),
  parts: fc.array(tie('typed'), { maxLength: 5 }),
}));

describe('serializers of random types', () => {
  it('give every value back', () => {
    const cases = typed.chain(({ type, values }) => fc.tuple(fc.constant(type), values));
    fc.assert(
      fc.property(cases, ([type, value]) => {
        const serializer = createSerializer(type, 'test');
        const bytesOfValue = encodeToBytes(serializer, value);
        deepStrictEqual(decodeFromBytes(serializer, bytesOfValue), value);
        if (serializer.fixedSizeBytes !== undefined)
          deepStrictEqual(bytesOfValue.length, serializer.fixedSizeBytes);
      }),
      { numRuns: 300 },
    );
  });
});
