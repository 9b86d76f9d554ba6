/** The general codec: what it takes comes back, what it does not take it names. */
import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { serializerContract } from '../testing/serializer-contract.ts';
import { createSerializer, decodeFromBytes, encodeToBytes, Types } from './index.ts';

const anyUnits = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
  .map((codes) => String.fromCharCode(...codes));

const anything = fc.anything({
  key: fc.oneof(fc.string(), anyUnits, fc.constantFrom('__proto__', 'toJSON', 'constructor', 'length', '0')),
  values: [
    fc.boolean(),
    fc.integer(),
    fc.double(),
    fc.string(),
    anyUnits,
    fc.bigInt(),
    fc.date({ noInvalidDate: false }),
    fc.constantFrom(null, undefined, -0, NaN, Infinity, 2 ** 53, 2n ** 63n, -(2n ** 63n)),
  ],
  maxDepth: 4,
  withMap: true,
  withSet: true,
  withNullPrototype: true,
  withSparseArray: true,
  withTypedArray: true,
});

serializerContract('undescribed values', undefined, anything);
serializerContract('GENERIC', Types.GENERIC(), anything);
serializerContract(
  'lists of undescribed values',
  Types.LIST(Types.GENERIC()),
  fc.array(anything, { maxLength: 4 }),
);

const serializer = createSerializer<unknown>(undefined, "state 'seen'");
const roundTrip = (value: unknown) => decodeFromBytes(serializer, encodeToBytes(serializer, value));

describe('undescribed values', () => {
  it('keep the kind of binary data', () => {
    for (const value of [
      new ArrayBuffer(3),
      Buffer.from('abc'),
      new Uint8Array([1, 2]),
      new Uint8ClampedArray([1, 255]),
      new Int8Array([-1]),
      new Uint16Array([65535]),
      new Int16Array([-5]),
      new Uint32Array([2 ** 32 - 1]),
      new Int32Array([-5, 6]),
      new Float32Array([1.5, NaN, -0]),
      new Float64Array([Math.PI]),
      new BigInt64Array([-1n]),
      new BigUint64Array([2n ** 64n - 1n]),
      new DataView(new ArrayBuffer(8), 2, 3),
      new Int32Array(new Int32Array([1, 2, 3]).buffer, 4, 1),
    ]) {
      const back = roundTrip(value) as object;
      strictEqual(Object.getPrototypeOf(back), Object.getPrototypeOf(value));
      if (value instanceof DataView) strictEqual((back as DataView).byteLength, 3);
      else deepStrictEqual(back, value);
    }
  });

  it('keep holes of arrays and a field named __proto__', () => {
    // biome-ignore lint/suspicious/noSparseArray: this is what is tested.
    const sparse = [1, , undefined, ,];
    const back = roundTrip(sparse) as unknown[];
    strictEqual(back.length, 4);
    deepStrictEqual(Object.keys(back), ['0', '2']);
    const object = JSON.parse('{"__proto__": {"admin": true}, "a": 1}') as object;
    const copy = roundTrip(object) as { admin?: boolean };
    deepStrictEqual(Object.entries(copy), Object.entries(object));
    strictEqual(copy.admin, undefined);
  });

  it('may be nested to a depth of hundreds, and may be objects of another realm', () => {
    let deep: unknown = 'bottom';
    for (let i = 0; i < 900; i++) deep = i % 2 === 0 ? [deep] : { deep };
    deepStrictEqual(roundTrip(deep), deep);
    const foreign: unknown = runInNewContext('({ a: [1, { b: 2 }] })');
    deepStrictEqual(roundTrip(foreign), { a: [1, { b: 2 }] });
  });

  it('come back twice if they occurred twice', () => {
    const part = { a: 1 };
    const back = roundTrip([part, part]) as [object, object];
    deepStrictEqual(back, [part, part]);
    ok(back[0] !== back[1]);
  });

  it('say the same bytes in every process: nothing is shared between values', () => {
    const first = encodeToBytes(serializer, { a: 1, b: [{ a: 2 }] });
    for (let i = 0; i < 100; i++) encodeToBytes(serializer, { [`k${i}`]: i, a: 1 });
    deepStrictEqual(encodeToBytes(createSerializer(undefined, 'y'), { a: 1, b: [{ a: 2 }] }), first);
  });
});

describe('what is not data is refused by TYPE_MISMATCH', () => {
  class Money {
    cents = 1;
  }
  class Names extends Array<string> {}
  class Cache extends Map {}
  const circle: { self?: unknown } = {};
  circle.self = [circle];
  let deep: unknown = {};
  for (let i = 0; i < 5000; i++) deep = [deep];
  const cases: readonly [string, unknown, RegExp][] = [
    ['a function', { f: Math.max }, /value\.f must be plain data but is function max\. Leave it out/],
    ['a symbol', [Symbol('s')], /value\[0\] must be plain data but is a symbol/],
    ['a promise', { a: Promise.resolve(1) }, /value\.a .*instance of Promise\. Functions answer at once/],
    ['an instance of a class', { m: new Money() }, /instance of Money.*Types\.POJO\(Money, \{\.\.\.\}\)/],
    ['an instance of a class that is an array', new Names('a'), /array of 1.*Types\.POJO\(Names/],
    [
      'an instance of a class that is a map',
      new Map([['k', new Cache()]]),
      /value\["k"\].*instance of Cache/,
    ],
    ['an error', new Set([new Error('x')]), /value\.keys\(\).*Keep its message and stack as strings/],
    ['a regular expression', /x/, /instance of RegExp/],
    ['a weak map', new WeakMap(), /instance of WeakMap/],
    ['a boxed number', Object(1), /instance of Number/],
    ['a value that contains itself', circle, /It contains itself/],
    ['a value nested thousands deep', deep, /nested 1000 deep at most/],
    ['an object with a property named by a symbol', { [Symbol('s')]: 1 }, /named by symbols/],
  ];
  for (const [name, value, message] of cases) {
    it(name, () => {
      throws(() => encodeToBytes(serializer, value), { code: 'TYPE_MISMATCH', message });
      throws(() => encodeToBytes(serializer, value), { message: /^state 'seen': / });
    });
  }
});
