import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ByteView,
  createKeySerializer,
  decodeFromBytes,
  encodeToBytes,
  KEY_TAG_NUMBER,
  KEY_TAG_STRING,
  type KeySerializer,
  murmur,
  type TypeInformation,
  Types,
} from './index.ts';

/** How key groups are made of hashes in Flink. */
function nonNegative(hash: number): number {
  if (hash >= 0) return hash;
  return hash === -(2 ** 31) ? 0 : -hash;
}

function keyGroup<K>(type: TypeInformation<K> | undefined, key: K, maxParallelism = 128): number {
  return nonNegative(createKeySerializer(type, 'key of test').hash(key)) % maxParallelism;
}

function bytesOf<K>(type: TypeInformation<K> | undefined, key: K): Uint8Array {
  return encodeToBytes(createKeySerializer(type, 'key of test'), key);
}

describe('hashes agree with those of Flink', () => {
  it('for Integer keys', () => {
    const hash = (key: number) => nonNegative(createKeySerializer(Types.INT, 'x').hash(key));
    deepStrictEqual(
      [0, 1, -1, 42, 2147483647, -2147483648].map(hash),
      [593689054, 68075478, 1982413648, 1134849565, 1653689534, 1718298732],
    );
    deepStrictEqual(
      [0, 1, -1, 42, 2147483647, -2147483648].map((key) => keyGroup(Types.INT, key)),
      [94, 86, 80, 29, 62, 108],
    );
  });

  it('for Long keys', () => {
    deepStrictEqual(
      [1, 2, 3, 4, 5, -1, 2 ** 40].map((key) => keyGroup(Types.LONG, key)),
      [86, 127, 113, 7, 126, 94, 54],
    );
  });

  it('for String keys', () => {
    deepStrictEqual(
      ['a', 'hello', 'key-1', 'user-42', 'zz'].map((key) => keyGroup(Types.STRING, key)),
      [81, 35, 54, 20, 42],
    );
    deepStrictEqual(
      ['hello', 'zz'].map((key) => keyGroup(Types.STRING, key, 300)),
      [179, 262],
    );
    strictEqual(nonNegative(createKeySerializer(Types.STRING, 'x').hash('user-42')), 1600933524);
  });

  it('for Boolean keys and tuples', () => {
    deepStrictEqual(
      [true, false].map((key) => keyGroup(Types.BOOLEAN, key)),
      [77, 3],
    );
    deepStrictEqual(
      [0, 1, 2, 3].map((key) => keyGroup(Types.TUPLE(Types.LONG), [key], 4)),
      [2, 2, 3, 1],
    );
  });

  it('for undescribed strings, integers and booleans', () => {
    strictEqual(keyGroup(undefined, 'user-42'), 20);
    strictEqual(keyGroup(undefined, 2 ** 40), 54);
    strictEqual(keyGroup(undefined, -1), 94);
    strictEqual(keyGroup(undefined, true), 77);
  });
});

describe("hashes are murmur of Java's hashCode", () => {
  const expectHash = <K>(type: TypeInformation<K>, key: K, javaHash: number) => {
    strictEqual(
      createKeySerializer(type, 'x').hash(key),
      murmur(javaHash),
      `${JSON.stringify(type.description)}`,
    );
  };

  it('of Long, over the whole range of safe integers', () => {
    expectHash(Types.LONG, Number.MAX_SAFE_INTEGER, 0x1fffff ^ -1);
    expectHash(Types.LONG, Number.MIN_SAFE_INTEGER, -0x200000 ^ 1);
    expectHash(Types.LONG, -(2 ** 32), -1);
    for (const key of [0, 1, -1, 2 ** 31, -(2 ** 31), 2 ** 32 - 1, 2 ** 52 + 12345, -(2 ** 52) - 1]) {
      const bits = BigInt.asUintN(64, BigInt(key));
      expectHash(Types.LONG, key, Number(BigInt.asIntN(32, bits ^ (bits >> 32n))));
    }
  });

  it('of Double, with one NaN and one zero', () => {
    expectHash(Types.DOUBLE, 1, 0x3ff00000);
    expectHash(Types.DOUBLE, -1.5, 0xbff80000 | 0);
    expectHash(Types.DOUBLE, Number.NaN, 0x7ff80000);
    expectHash(Types.DOUBLE, 0, 0);
    expectHash(Types.DOUBLE, -0, 0);
    expectHash(Types.DOUBLE, Math.PI, 340593891);
  });

  it('of BigInteger and Date', () => {
    expectHash(Types.BIGINT, 0n, 0);
    expectHash(Types.BIGINT, 42n, 42);
    expectHash(Types.BIGINT, -42n, -42);
    expectHash(Types.BIGINT, 2n ** 32n, 31);
    expectHash(Types.BIGINT, -(2n ** 64n) - 5n, -(31 * 31 + 5));
    expectHash(Types.DATE, new Date(2 ** 40), 256);
  });

  it('of lists, tuples, pojos, enums and what is absent', () => {
    expectHash(Types.LIST(Types.STRING), [], 1);
    expectHash(Types.LIST(Types.STRING), ['a', 'b'], (31 + 97) * 31 + 98);
    expectHash(Types.TUPLE(Types.STRING, Types.INT), ['a', 5], 97 * 31 + 5);
    expectHash(Types.ROW({ a: Types.STRING, b: Types.INT }), { a: 'a', b: 5 }, (31 + 97) * 31 + 5);
    expectHash(Types.ENUM(['a', 'b']), 'b', 98);
    expectHash(Types.NULLABLE(Types.INT), null, 0);
    expectHash(Types.ROW({ a: Types.OPTIONAL(Types.INT) }), {}, 31);
    expectHash(Types.BYTES, new Uint8Array([1, 255]), (31 + 1) * 31 - 1);
    expectHash(Types.VOID, undefined, 0);
  });
});

describe('keys that are equal have the same bytes and hash, others have not', () => {
  const pairs: readonly [string, unknown, unknown, boolean][] = [
    ['1 and "1"', 1, '1', false],
    ['1 and 1n', 1, 1n, false],
    ['"1" and 1n', '1', 1n, false],
    ['NaN and NaN', Number.NaN, -Number.NaN, true],
    ['0 and -0', 0, -0, true],
    ['fields in another order', { a: 1, b: { c: -0, d: 2 } }, { b: { d: 2, c: 0 }, a: 1 }, true],
    ['an array and an object', [1], { 0: 1 }, false],
    ['null and undefined within a key', [null], [undefined], false],
    ['maps in another order', new Map([[1, 'a'], [2, 'b']]), new Map([[2, 'b'], [1, 'a']]), true], // biome-ignore format: a pair a line
    ['sets in another order', new Set(['a', 'b', 'c']), new Set(['c', 'a', 'b']), true],
    ['a set and an array', new Set([1]), [1], false],
    ['a date and its time', new Date(5), 5, false],
    ['a Buffer and a Uint8Array', Buffer.from([1, 2]), new Uint8Array([1, 2]), true],
    [
      'an object without prototype and a plain one',
      Object.assign(Object.create(null), { a: 1 }),
      { a: 1 },
      true,
    ],
    ['"a","b" and "ab"', ['a', 'b'], ['ab'], false],
    ['lone surrogates', '\ud800', '\ud801', false],
    ['true and 1', true, 1, false],
  ];
  for (const [name, a, b, equal] of pairs) {
    it(`undescribed: ${name}`, () => {
      strictEqual(Buffer.compare(bytesOf(undefined, a), bytesOf(undefined, b)) === 0, equal);
      const keys = createKeySerializer<unknown>(undefined, 'x');
      if (equal) strictEqual(keys.hash(a), keys.hash(b));
    });
  }

  it('described: 0 and -0, all NaNs, a field that is missing and one that is undefined', () => {
    const type = Types.ROW({ n: Types.DOUBLE, o: Types.OPTIONAL(Types.STRING) });
    deepStrictEqual(bytesOf(type, { n: -0 }), bytesOf(type, { n: 0, o: undefined }));
    const nan = new Float64Array(new BigUint64Array([0xfff8_0000_0000_0001n]).buffer)[0]!;
    deepStrictEqual(bytesOf(Types.DOUBLE, nan), Uint8Array.of(0, 0, 0, 0, 0, 0, 0xf8, 0x7f));
    deepStrictEqual(bytesOf(Types.LIST(Types.LONG), [-0]), bytesOf(Types.LIST(Types.LONG), [0]));
  });
});

describe('shortcuts of the row store', () => {
  const shortcut = <K>(type: TypeInformation<K> | undefined) => createKeySerializer(type, 'x').shortcut;
  const float64 = (value: number) => {
    const view = ByteView.allocate(8);
    view.dv.setFloat64(0, value, true);
    return [...view.u8];
  };

  it('a described string is its length and its characters', () => {
    strictEqual(shortcut(Types.STRING), 'string');
    deepStrictEqual([...bytesOf(Types.STRING, 'aé')], [2, 97, 0xe9]);
    ok(bytesOf(Types.STRING, 'a'.repeat(24))[0]! >= 128 && bytesOf(Types.STRING, '语')[0]! >= 128);
  });

  it('a described number of any type is a float64', () => {
    for (const type of [Types.INT, Types.LONG, Types.DOUBLE]) {
      strictEqual(shortcut(type), 'number');
      deepStrictEqual([...bytesOf(type, -7)], float64(-7));
      strictEqual(createKeySerializer(type, 'x').fixedSizeBytes, 8);
      strictEqual(decodeFromBytes(createKeySerializer(type, 'x'), bytesOf(type, 7)), 7);
    }
  });

  it('an undescribed string or number has its tag before that', () => {
    strictEqual(shortcut(undefined), 'tagged');
    deepStrictEqual([...bytesOf(undefined, 'ab')], [KEY_TAG_STRING, 2, 97, 98]);
    deepStrictEqual([...bytesOf(undefined, 1.5)], [KEY_TAG_NUMBER, ...float64(1.5)]);
    for (const key of [true, 1n, [], {}, new Date(0), new Uint8Array()]) {
      const first = bytesOf(undefined, key)[0]!;
      ok(first !== KEY_TAG_STRING && first !== KEY_TAG_NUMBER);
    }
  });

  it('anything else has none', () => {
    for (const type of [
      Types.BOOLEAN,
      Types.ROW({ a: Types.STRING }),
      Types.OPTIONAL(Types.STRING),
      Types.BIGINT,
    ]) {
      strictEqual(shortcut<never>(type as never), 'none');
    }
  });
});

describe('keys that are not allowed', () => {
  const keys: KeySerializer<unknown> = createKeySerializer<unknown>(undefined, "key of operator 'count'");
  class Customer {}
  const circle: { self?: unknown } = {};
  circle.self = circle;
  const cases: readonly [unknown, RegExp][] = [
    [
      undefined,
      /^key of operator 'count': the key must be a value but is undefined\. A key selector must return/,
    ],
    [null, /but is null/],
    [() => 1, /but is a function/],
    [Symbol('s'), /but is a symbol/],
    [Promise.resolve(1), /instance of Promise\. Functions answer at once/],
    [new Customer(), /instance of Customer/],
    [{ customer: [new Customer()] }, /the key\.customer\[0\] must be plain data but is instance of Customer/],
    [circle, /It contains itself/],
  ];

  it('are refused by encode and by hash, naming the place', () => {
    for (const [key, message] of cases) {
      throws(() => keys.encode(ByteView.allocate(1000), key), { code: 'KEY_NOT_ALLOWED', message });
      throws(() => keys.hash(key), { code: 'KEY_NOT_ALLOWED', message });
    }
  });

  it('are refused within a described key too', () => {
    const described = createKeySerializer(Types.ROW({ id: Types.GENERIC() }), 'x');
    throws(() => described.hash({ id: new Customer() }), {
      code: 'KEY_NOT_ALLOWED',
      message: /value\.id must be plain data/,
    });
    throws(() => encodeToBytes(described, { id: () => 1 }), { code: 'KEY_NOT_ALLOWED' });
  });

  it('are of another type than the described one', () => {
    const described = createKeySerializer<unknown>(Types.STRING as TypeInformation<unknown>, 'x');
    throws(() => described.hash(undefined), { code: 'TYPE_MISMATCH' });
    throws(() => described.encode(ByteView.allocate(10), 5), { code: 'TYPE_MISMATCH' });
    throws(() => createKeySerializer(Types.INT, 'x').hash(1.5), { code: 'TYPE_MISMATCH' });
    throws(() => encodeToBytes(createKeySerializer(Types.INT, 'x'), 2 ** 31), { code: 'TYPE_MISMATCH' });
  });

  it('are maps, if they are described', () => {
    const type = Types.ROW({ m: Types.LIST(Types.MAP(Types.STRING, Types.INT)) });
    throws(() => createKeySerializer(type, 'key of x'), {
      code: 'TYPE_INVALID',
      message: /^key of x, field m: a MAP/,
    });
  });
});
