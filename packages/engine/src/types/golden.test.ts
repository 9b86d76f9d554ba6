/**
 * The bytes of fixed values, written down once. A file in golden/ is never rewritten: state of users has these bytes.
 * A change of the encoding gets a new version of the format and new files beside these.
 */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import {
  type CustomSerializer,
  createKeySerializer,
  createSerializer,
  decodeFromBytes,
  encodeToBytes,
  type TypeInformation,
  type TypeSerializer,
  Types,
} from './index.ts';
import * as valueTags from './value-tags.ts';

interface GoldenFile {
  readonly description: unknown;
  readonly encodings: Readonly<Record<string, string>>;
}

interface GoldenCase {
  readonly serializer: TypeSerializer<unknown>;
  readonly values: Readonly<Record<string, unknown>>;
}

function values<T>(type: TypeInformation<T> | undefined, byName: Readonly<Record<string, T>>): GoldenCase {
  return { serializer: createSerializer(type, 'golden') as TypeSerializer<unknown>, values: byName };
}

function keys<T>(type: TypeInformation<T> | undefined, byName: Readonly<Record<string, T>>): GoldenCase {
  return { serializer: createKeySerializer(type, 'golden') as TypeSerializer<unknown>, values: byName };
}

const numbers = { zero: 0, one: 1, negative: -123456, maximum: 2147483647, minimum: -2147483648 };
const longs = { ...numbers, safeMaximum: Number.MAX_SAFE_INTEGER, safeMinimum: Number.MIN_SAFE_INTEGER };
const doubles = {
  ...longs,
  negativeZero: -0,
  pi: Math.PI,
  infinity: Infinity,
  negativeInfinity: -Infinity,
  tiny: 5e-324,
};
const strings = {
  empty: '',
  ascii: 'hello',
  latin1: 'déjà vu',
  ascii23: 'a'.repeat(23),
  ascii24: 'a'.repeat(24),
  latin24: 'é'.repeat(24),
  chinese: '订单',
  emoji: '😀',
  loneSurrogate: 'a\ud800b',
  ascii85: 'x'.repeat(85),
  ascii86: 'x'.repeat(86),
  utf86: '语'.repeat(86),
  utf16of86: '\udc00'.repeat(86),
};
const Item = Types.ROW({ price: Types.DOUBLE, count: Types.INT });
const Order = Types.POJO('Order', {
  id: Types.STRING,
  at: Types.LONG,
  paid: Types.BOOLEAN,
  items: Types.LIST(Item),
  note: Types.OPTIONAL(Types.STRING),
  status: Types.ENUM('Status', ['NEW', 'PAID']),
});
const order = {
  id: 'o-1',
  at: 1700000000000,
  paid: true,
  items: [{ price: 1.5, count: 2 }],
  status: 'PAID' as const,
};
const manyNames = Array.from({ length: 257 }, (_, i) => `v${i}`);

interface EveryPart {
  boolean: boolean;
  byte: number;
  int: number;
  long: number;
  double: number;
  bigint: bigint;
  string: string;
  bytes: Uint8Array;
}
const everyPart: EveryPart = {
  boolean: true,
  byte: 255,
  int: 2 ** 31 - 1,
  long: 2 ** 40,
  double: 1.5,
  bigint: 5n,
  string: 'hé',
  bytes: Uint8Array.of(1, 2),
};
/** What an own serializer can write. */
const everything: CustomSerializer<EveryPart> = {
  name: 'everything',
  version: 3,
  serialize(value, out) {
    out.writeBoolean(value.boolean);
    out.writeByte(value.byte);
    out.writeInt(value.int);
    out.writeLong(value.long);
    out.writeDouble(value.double);
    out.writeBigInt(value.bigint);
    out.writeString(value.string);
    out.writeBytes(value.bytes);
  },
  deserialize: (input) => ({
    boolean: input.readBoolean(),
    byte: input.readByte(),
    int: input.readInt(),
    long: input.readLong(),
    double: input.readDouble(),
    bigint: input.readBigInt(),
    string: input.readString(),
    bytes: input.readBytes(),
  }),
};

const CASES: Readonly<Record<string, GoldenCase>> = {
  void: values(Types.VOID, { undefined: undefined }),
  string: values(Types.STRING, strings),
  long: values(Types.LONG, { ...longs, negativeZero: -0 }),
  int: values(Types.INT, numbers),
  double: values(Types.DOUBLE, doubles),
  boolean: values(Types.BOOLEAN, { true: true, false: false }),
  bytes: values(Types.BYTES, { empty: new Uint8Array(), three: Uint8Array.of(1, 2, 255) }),
  bigint: values(Types.BIGINT, {
    zero: 0n,
    minusOne: -1n,
    int64Maximum: 2n ** 63n - 1n,
    int64Minimum: -(2n ** 63n),
    beyond: 2n ** 63n,
    beyondNegative: -(2n ** 63n) - 1n,
    oddDigits: 0xabc_0000_0000_0000_0000n,
  }),
  date: values(Types.DATE, { epoch: new Date(0), year2023: new Date(1700000000123), before: new Date(-1) }),
  list: values(Types.LIST(Types.STRING), { empty: [], two: ['a', 'bc'] }),
  map: values(Types.MAP(Types.STRING, Types.INT), { empty: new Map(), two: new Map([['b', 1], ['a', 2]]) }), // biome-ignore format: one line
  tuple: values(Types.TUPLE(Types.STRING, Types.INT), { one: ['a', 5] }),
  pojo: values(Order, {
    plain: order,
    noteUndefined: { ...order, note: undefined },
    note: { ...order, note: 'n' },
  }),
  optional: values(Types.OPTIONAL(Types.INT), { absent: undefined, present: 7 }),
  nullable: values(Types.NULLABLE(Types.INT), { absent: null, present: 7 }),
  enum: values(Types.ENUM('Status', ['NEW', 'PAID']), { first: 'NEW', second: 'PAID' }),
  'enum-wide': values(Types.ENUM(manyNames), { first: 'v0', last: 'v256' }),
  generic: values<unknown>(undefined, {
    undefined: undefined,
    null: null,
    true: true,
    false: false,
    number: 1.5,
    negativeZero: -0,
    string: 'hello',
    bigint: -5n,
    date: new Date(1700000000123),
    array: [1, 'a', null],
    // biome-ignore lint/suspicious/noSparseArray: a hole has a tag of its own.
    hole: [1, , undefined],
    object: { b: 1, a: { c: [] } },
    bareObject: Object.assign(Object.create(null), { a: 1 }),
    map: new Map<unknown, unknown>([['k', 1], [2, 'v']]), // biome-ignore format: one line
    set: new Set(['b', 'a']),
    arrayBuffer: Uint8Array.of(1, 2).buffer,
    buffer: Buffer.of(1, 2),
    uint8: Uint8Array.of(1, 2),
    uint8Clamped: Uint8ClampedArray.of(1, 2),
    int8: Int8Array.of(-1),
    uint16: Uint16Array.of(1),
    int16: Int16Array.of(-1),
    uint32: Uint32Array.of(1),
    int32: Int32Array.of(-1),
    float32: Float32Array.of(1.5),
    float64: Float64Array.of(1.5),
    bigUint64: BigUint64Array.of(1n),
    bigInt64: BigInt64Array.of(-1n),
    dataView: new DataView(Uint8Array.of(1, 2).buffer),
  }),
  avro: values<unknown>(
    Types.AVRO({
      type: 'record',
      name: 'Reading',
      namespace: 'plant',
      fields: [
        { name: 'sensor', type: 'string' },
        { name: 'at', type: 'long' },
        { name: 'unit', type: { type: 'enum', name: 'Unit', symbols: ['C', 'K'] } },
        { name: 'values', type: { type: 'array', items: ['null', 'double'] } },
        { name: 'labels', type: { type: 'map', values: 'int' }, default: {} },
        { name: 'raw', type: 'bytes' },
      ],
    }),
    {
      reading: {
        sensor: 's-1',
        at: 1700000000000,
        unit: 'K',
        values: [1.5, null],
        labels: { hall: 3 },
        raw: Buffer.of(255),
      },
    },
  ),
  set: values(Types.SET(Types.INT), { empty: new Set(), two: new Set([2, 1]) }),
  record: values(Types.RECORD(Types.INT), {
    empty: {},
    two: { b: 1, a: 2 },
    proto: Object.fromEntries([['__proto__', 3]]),
  }),
  literal: values(Types.LITERAL('a', 1, true, null), { string: 'a', number: 1, boolean: true, null: null }),
  'literal-single': values(Types.ROW({ kind: Types.LITERAL('a'), n: Types.INT }), {
    one: { kind: 'a', n: 5 },
  }),
  union: values(
    Types.UNION(
      'kind',
      Types.ROW({ kind: Types.LITERAL('created'), id: Types.INT }),
      Types.ROW({ kind: Types.LITERAL('paid', 'refunded'), amount: Types.DOUBLE }),
    ),
    { created: { kind: 'created', id: 1 }, refunded: { kind: 'refunded', amount: 1.5 } },
  ),
  either: values(Types.EITHER(Types.STRING, Types.INT, Types.LIST(Types.BOOLEAN)), {
    string: 'a',
    number: 1,
    array: [true, false],
  }),
  'typed-array': values(Types.TYPED_ARRAY(Float32Array), {
    empty: new Float32Array(),
    two: Float32Array.of(1.5, -0),
  }),
  custom: values(Types.LIST(Types.CUSTOM(everything)), {
    one: [everyPart],
    negative: [{ ...everyPart, boolean: false, int: -1, long: -(2 ** 40), bigint: -(2n ** 70n) }],
  }),
  'key-string': keys(Types.STRING, { ascii: 'hello', chinese: '订单', ascii24: 'a'.repeat(24) }),
  'key-int': keys(Types.INT, numbers),
  'key-double': keys(Types.DOUBLE, { pi: Math.PI, notANumber: Number.NaN }),
  'key-pojo': keys(
    Types.POJO('Key', { id: Types.INT, name: Types.OPTIONAL(Types.STRING), n: Types.DOUBLE }),
    {
      named: { id: 1, name: 'a', n: 0 },
      unnamed: { id: 1, n: 1.5 },
    },
  ),
  'key-custom': keys(
    Types.ROW({
      id: Types.CUSTOM({ ...everything, canonical: true }),
      of: Types.EITHER(Types.INT, Types.STRING),
    }),
    { string: { id: everyPart, of: 'x' }, number: { id: everyPart, of: 5 } },
  ),
  'key-union': keys(
    Types.UNION(
      'by',
      Types.ROW({ by: Types.LITERAL('name'), name: Types.STRING }),
      Types.ROW({ by: Types.LITERAL('number'), number: Types.LONG }),
    ),
    { name: { by: 'name', name: 'a' }, number: { by: 'number', number: -0 + 0 } },
  ),
  'key-generic': keys<unknown>(undefined, {
    string: 'hello',
    number: 42,
    notANumber: Number.NaN,
    bigint: 42n,
    boolean: true,
    date: new Date(0),
    object: { b: 1, a: 'x' },
    map: new Map([['b', 1], ['a', 2]]), // biome-ignore format: one line
    set: new Set(['b', 'a']),
    array: [null, undefined, 1],
    bytes: Uint8Array.of(1, 2),
  }),
};

function readGolden(name: string): GoldenFile {
  return JSON.parse(readFileSync(new URL(`golden/${name}.json`, import.meta.url), 'utf8')) as GoldenFile;
}

describe('values have the bytes that were written down', () => {
  for (const [name, { serializer, values: byName }] of Object.entries(CASES)) {
    it(name, () => {
      const golden = readGolden(name);
      deepStrictEqual(serializer.description, golden.description);
      deepStrictEqual(Object.keys(byName), Object.keys(golden.encodings));
      for (const [valueName, value] of Object.entries(byName)) {
        const hex = golden.encodings[valueName]!;
        strictEqual(Buffer.from(encodeToBytes(serializer, value)).toString('hex'), hex, valueName);
        deepStrictEqual(decodeFromBytes(serializer, Uint8Array.from(Buffer.from(hex, 'hex'))), value);
      }
    });
  }

  it('every golden file is checked', () => {
    const files = readdirSync(new URL('golden/', import.meta.url)).sort();
    deepStrictEqual(files, Object.keys(CASES).map((name) => `${name}.json`).sort()); // biome-ignore format: one line
  });
});

describe('docs/formats/type-encoding.md says what the code does', () => {
  const text = readFileSync(new URL('../../../../docs/formats/type-encoding.md', import.meta.url), 'utf8');
  const generic = createSerializer<unknown>(undefined, 'golden');

  it('its example has the bytes that the code writes', () => {
    const type = Types.ROW({ id: Types.STRING, at: Types.LONG, note: Types.OPTIONAL(Types.STRING) });
    const bytes = encodeToBytes(createSerializer(type, 'golden'), { id: 'o-1', at: 1700000000000 });
    const drawn = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(' | ');
    ok(text.includes(`| ${drawn} |`), drawn);
  });

  it('it names every tag and every kind of binary data', () => {
    const tags = Object.entries(valueTags).filter(([name]) => name.startsWith('TAG_'));
    for (const [name, tag] of tags) {
      const row =
        tag === valueTags.TAG_FALSE || tag === valueTags.TAG_TRUE ? '| 2, 3 | false, true |' : `| ${tag} | `;
      ok(text.includes(row), name);
    }
    for (const value of Object.values(CASES['generic']!.values)) {
      const bytes = encodeToBytes(generic, value);
      if (bytes[0] !== valueTags.TAG_BINARY) continue;
      const { name } = (value as object).constructor;
      ok(text.replaceAll('\n', ' ').includes(` ${bytes[5]} ${name}`), name);
    }
  });
});
