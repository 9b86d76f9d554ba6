/** Learned code against the general codec, which it must not be told from: the same bytes, values, refusals and limits. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { compileLearnedCopier } from './emit-learned-copy.ts';
import { compileLearnedReader } from './emit-learned-read.ts';
import { compileLearnedWriter } from './emit-learned-write.ts';
import { ByteView, createSerializer, decodeFromBytes, encodeToBytes, Types } from './index.ts';
import { readValue } from './read-value.ts';
import { takeRefusal } from './value-refusal.ts';
import { ObservedValue, type ValueShape } from './value-shape.ts';
import { writeValue } from './write-value.ts';

const UNTOUCHED = 0xa5;
const ROOM_BYTES = 1 << 13;

function encodeGeneral(value: unknown): Uint8Array {
  const view = ByteView.allocate(ROOM_BYTES);
  const end = writeValue(view, value, 0, view.limit, false);
  ok(end > 0, 'the value does not fit, or is no data');
  return view.u8.slice(0, end);
}

function shapeOf(values: readonly unknown[]): ValueShape {
  const observed = new ObservedValue();
  for (const value of values) observed.observe(ByteView.of(encodeGeneral(value)), 0);
  return { ...observed.learn(), others: false };
}

/** What a writer did at `p` of a fresh view: its answer, the view's bytes as far as they count, the refusal. */
function outcome(write: typeof writeValue, value: unknown, p: number, limit: number) {
  const view = ByteView.allocate(limit + 16);
  view.u8.fill(UNTOUCHED);
  const end = write(view, value, p, limit, false);
  ok(
    view.u8.subarray(limit).every((byte) => byte === UNTOUCHED),
    'wrote beyond the limit',
  );
  ok(
    view.u8.subarray(0, p).every((byte) => byte === UNTOUCHED),
    'wrote before the position',
  );
  strictEqual(view.pos, 0);
  return { end, bytes: view.u8.slice(p, Math.max(p, end)), refusal: end === -2 ? takeRefusal() : undefined };
}

/** The writer of a shape, how often it took a value, and what it must not be told from. */
function expectSameWrites(shape: ValueShape, values: readonly unknown[]): number {
  const place = { hits: 0 };
  const write = compileLearnedWriter('test', shape, place, (view, value, p, limit) =>
    writeValue(view, value, p, limit, false),
  );
  for (const value of values) {
    const whole = outcome(writeValue, value, 3, ROOM_BYTES);
    deepStrictEqual(outcome(write, value, 3, ROOM_BYTES), whole);
    const size = whole.bytes.length;
    // All limits below the size, or a sample of them if it is big; and the size itself.
    for (let room = size; room >= 0; room -= Math.max(1, size >>> 6)) {
      deepStrictEqual(outcome(write, value, 3, 3 + room), outcome(writeValue, value, 3, 3 + room));
    }
  }
  return place.hits;
}

function expectSameReads(shape: ValueShape, values: readonly unknown[]): number {
  const place = { hits: 0 };
  const read = compileLearnedReader('test', shape, place, readValue);
  for (const value of values) {
    const bytes = encodeGeneral(value);
    // At the end of the memory, where nothing may be read behind it, and before other values.
    for (const behind of [[], [4], bytes]) {
      const view = ByteView.of(new Uint8Array([UNTOUCHED, ...bytes, ...behind]));
      const back = read(view, 1);
      strictEqual(view.pos, 1 + bytes.length);
      deepStrictEqual(back, readValue(view, 1));
      // The order of names and holes, which deepStrictEqual does not compare.
      deepStrictEqual(encodeGeneral(back), bytes);
    }
  }
  return place.hits;
}

/** Copies are what writing and reading makes, have no object of the original, and are taken by the writer as well. */
function expectSameCopies(shape: ValueShape, values: readonly unknown[]): number {
  const place = { hits: 0 };
  const copy = compileLearnedCopier('test', shape, place);
  const write = compileLearnedWriter('test', shape, { hits: 0 }, () => -1);
  for (const value of values) {
    const made = copy(value);
    if (made === undefined) continue;
    const bytes = encodeGeneral(value);
    deepStrictEqual(made, readValue(ByteView.of(bytes), 0));
    deepStrictEqual(encodeGeneral(made), bytes);
    const originals = objectsIn(value);
    ok(objectsIn(made).every((each) => !originals.includes(each)));
    ok(write(ByteView.allocate(ROOM_BYTES), value, 0, ROOM_BYTES) > 0);
  }
  return place.hits;
}

/** All objects that a value consists of. */
function objectsIn(value: unknown): readonly object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(objectsIn)];
}

const units = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0xd800, max: 0xdfff })), {
    maxLength: 30,
  })
  .map((codes) => String.fromCharCode(...codes));
const names = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom('a', 'b', 'c') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('__proto__', 'constructor', 'toString', '0', '7', '', 'é', '语言'),
  },
  { weight: 1, arbitrary: fc.oneof(units, fc.string({ maxLength: 12 })) },
);
const leaves = fc.oneof(
  { weight: 6, arbitrary: fc.oneof(fc.constantFrom(1, -0, Number.NaN, 2 ** 53), fc.double()) },
  {
    weight: 6,
    arbitrary: fc.oneof(fc.constantFrom('', 'x', 'x'.repeat(23), 'é'.repeat(40)), fc.string(), units),
  },
  { weight: 2, arbitrary: fc.boolean() },
  { weight: 2, arbitrary: fc.constantFrom(null, undefined) },
  { weight: 1, arbitrary: fc.oneof(fc.bigInt(), fc.constantFrom(2n ** 63n, 0n)) },
  { weight: 1, arbitrary: fc.date({ noInvalidDate: false }) },
  {
    weight: 1,
    arbitrary: fc.anything({ maxDepth: 2, withMap: true, withSet: true, withTypedArray: true, withSparseArray: true, withNullPrototype: true }), // biome-ignore format: one line
  },
);
/** Few names and kinds, so that values are often alike, and often nearly. */
const { value: alike } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 4 },
    leaves,
    fc
      .array(fc.tuple(names, tie('value')), { maxLength: 3 })
      .map((entries) => Object.fromEntries(entries) as unknown),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
}));

describe('code of a learned shape', () => {
  it('writes, reads and copies any value as the general codec does, whatever it has learned from', () => {
    let hits = 0;
    let values = 0;
    const cases = fc.tuple(
      fc.array(alike, { minLength: 1, maxLength: 6 }),
      fc.array(alike, { maxLength: 6 }),
    );
    fc.assert(
      fc.property(cases, ([seen, unseen]) => {
        const shape = shapeOf(seen);
        hits += Number(expectSameWrites(shape, [...seen, ...unseen]) > 0);
        hits += Number(expectSameReads(shape, [...seen, ...unseen]) > 0);
        hits += Number(expectSameCopies(shape, [...seen, ...unseen]) > 0);
        values += 3;
      }),
      { numRuns: 150 },
    );
    ok(hits > values / 2, `the code took values in ${hits} of ${values} cases`);
  });

  it('writes, reads and copies records of one shape itself, with names of every length', () => {
    const kinds = fc.constantFrom(
      fc.double(),
      fc.string({ unit: 'binary' }),
      fc.boolean(),
      fc.constant(null),
      fc.option(fc.integer()),
      fc.bigInt(),
      fc.date(),
      fc.array(fc.double(), { maxLength: 3 }),
      fc.tuple(fc.string(), fc.double()),
      fc.record({ x: fc.double(), y: fc.double() }, { noNullPrototype: true }),
      fc.array(fc.record({ sku: fc.string(), n: fc.integer() }, { noNullPrototype: true }), { maxLength: 3 }),
    );
    const name = fc.string({ unit: 'binary', maxLength: 100 }).filter((each) => each !== '__proto__' && each.length <= 100); // biome-ignore format: one line
    const models = fc.uniqueArray(fc.tuple(name, kinds), {
      selector: ([each]) => each,
      minLength: 1,
      maxLength: 8,
    });
    const cases = models.chain((model) =>
      fc.array(fc.record(Object.fromEntries(model), { noNullPrototype: true }), {
        minLength: 6,
        maxLength: 6,
      }),
    );
    fc.assert(
      fc.property(cases, (values) => {
        const shape = shapeOf(values);
        ok(expectSameWrites(shape, values) >= values.length);
        strictEqual(expectSameReads(shape, values), values.length * 3);
        const isCopied = (value: object) => Object.values(value).every((part) => typeof part !== 'bigint');
        strictEqual(expectSameCopies(shape, values), values.filter(isCopied).length);
      }),
      { numRuns: 40 },
    );
  });
});

describe('a value that is nearly of the shape', () => {
  class Point {
    a = 1;
    b = 'x';
  }
  const alikeValue = () => ({ a: 1, b: 'x', c: [{ d: 1 }], e: { f: true } as unknown });
  const shape = shapeOf([alikeValue()]);
  const inherited = Object.create({ b: 'x' }) as Record<string, unknown>;
  inherited.a = 1;
  const withLength = Object.assign([{ d: 1 }], { extra: 1 });
  const proxy = new Proxy(alikeValue(), {});
  const circle = alikeValue();
  circle.e = { f: circle };
  /** What it is, and whether the code takes it itself, when it writes or copies and when it reads. */
  const cases: readonly [string, unknown, boolean?, boolean?][] = [
    ['is of the shape', alikeValue(), true],
    ['is frozen', Object.freeze(alikeValue()), true],
    ['is a proxy', proxy, true],
    ['has a getter', { get a() { return 1; }, b: 'x', c: [], e: { f: false } }, true], // biome-ignore format: one line
    ['has a getter of another kind', { get a() { return 'x'; }, b: 'x', c: [], e: { f: false } }], // biome-ignore format: one line
    ['has a hidden field more', Object.defineProperty(alikeValue(), 'g', { value: 1 }), true],
    ['has a hidden field', Object.defineProperty(alikeValue(), 'b', { enumerable: false })],
    ['has a field named by a symbol', { ...alikeValue(), [Symbol('s')]: 1 }],
    ['has a hidden field named by a symbol', Object.defineProperty(alikeValue(), Symbol('s'), { value: 1 })],
    ['has a symbol within', { ...alikeValue(), e: { f: true, [Symbol('s')]: 1 } }],
    ['has a field more', { ...alikeValue(), g: 1 }],
    ['has a field less', { a: 1, b: 'x', c: [{ d: 1 }] }],
    ['has a field that is undefined', { ...alikeValue(), b: undefined }],
    ['has its fields in another order', { b: 'x', a: 1, c: [{ d: 1 }], e: { f: true } }],
    ['has a field within more', { ...alikeValue(), e: { f: true, g: 1 } }],
    ['has the field of an inner object outside', { a: 1, b: 'x', c: [{}], d: 1, e: { f: true } }],
    ['has a field of another kind', { ...alikeValue(), a: '1' }],
    ['has a field that is null', { ...alikeValue(), e: null }],
    ['has a hole', { ...alikeValue(), c: Object.assign(new Array(2), [{ d: 1 }]) }],
    ['has undefined in an array', { ...alikeValue(), c: [undefined] }],
    ['has an array with a field', { ...alikeValue(), c: withLength }, true],
    ['has an empty array', { ...alikeValue(), c: [] }, true],
    ['has a Map', { ...alikeValue(), e: new Map([['f', true]]) }],
    ['has a Date', { ...alikeValue(), a: new Date(1) }],
    ['has bytes', { ...alikeValue(), e: new Uint8Array([1]) }],
    ['has a bigint', { ...alikeValue(), a: 1n }],
    ['has a lone surrogate', { ...alikeValue(), b: '\ud800' }, true],
    ['has a long string', { ...alikeValue(), b: 'é'.repeat(1000) }, true],
    ['has a field named __proto__', JSON.parse('{"a":1,"b":"x","c":[],"__proto__":{"f":true}}')],
    ['has a function', { ...alikeValue(), a: Math.max }],
    ['has a function within', { ...alikeValue(), c: [{ d: Math.max }] }],
    ['contains itself', circle],
    ['inherits a field', inherited],
    ['has no prototype', Object.assign(Object.create(null), alikeValue())],
    ['is an instance of a class', new Point()],
    [
      'is of another realm',
      runInNewContext('({ a: 1, b: "x", c: [{ d: 1 }], e: { f: true } })'),
      false,
      true,
    ],
    [
      'has an array of another realm',
      { ...alikeValue(), c: runInNewContext('[{ d: 1 }]') as unknown },
      false,
      true,
    ],
    ['has an instance of an array class', { ...alikeValue(), c: new (class Names extends Array {})() }],
    ['is null', null],
    ['is undefined', undefined],
    ['is a string', 'a'],
  ];
  for (const [name, value, isWritten = false, isRead = isWritten] of cases) {
    it(`is written, read and copied as ever if it ${name}`, () => {
      strictEqual(expectSameWrites(shape, [value]) > 0, isWritten);
      strictEqual(expectSameCopies(shape, [value]) > 0, isWritten);
      const isData = outcome(writeValue, value, 0, ROOM_BYTES).end > 0;
      if (isData) strictEqual(expectSameReads(shape, [value]) > 0, isRead);
    });
  }

  it('is written as ever while something is enumerable in all objects', () => {
    const prototype = Object.prototype as { polluted?: number };
    prototype.polluted = 1;
    try {
      strictEqual(expectSameWrites(shape, [alikeValue()]), 0);
      strictEqual(expectSameCopies(shape, [alikeValue()]), 0);
    } finally {
      delete prototype.polluted;
    }
  });

  it('lets a getter that throws throw', () => {
    const failing = {
      get a(): number {
        throw new RangeError('not now');
      },
      b: 'x',
      c: [],
      e: { f: true },
    };
    for (const write of [writeValue, compileLearnedWriter('test', shape, { hits: 0 }, () => -1)]) {
      let thrown: unknown;
      try {
        write(ByteView.allocate(100), failing, 0, 100, false);
      } catch (error) {
        thrown = error;
      }
      strictEqual((thrown as Error | undefined)?.message, 'not now');
    }
  });

  it('is refused where it is nested too deep, at the same depth', () => {
    const nested = (depth: number) => {
      let value: unknown = 1;
      for (let i = 0; i < depth; i++) value = { a: value };
      return value;
    };
    const deepShape = shapeOf([nested(8)]);
    for (const depth of [3, 8, 40, 998, 999, 1000, 1001, 1006]) {
      strictEqual(
        expectSameWrites(deepShape, [nested(depth)]) > 0,
        depth > 4 && depth <= 1000,
        `${depth} deep`,
      );
    }
  });
});

describe('a value of the shape', () => {
  const shape = shapeOf([{ a: 'x', b: [[1]] }]);
  const copy = compileLearnedCopier('test', shape, { hits: 0 });
  const cases: readonly [string, unknown, boolean][] = [
    ['has 4,096 units and parts', { a: 'x'.repeat(4093), b: [] }, true],
    ['has a unit more', { a: 'x'.repeat(4094), b: [] }, false],
    ['has many elements', { a: '', b: [new Array(4093).fill(1)] }, false],
    ['has many empty arrays', { a: '', b: Array.from({ length: 4097 }, () => []) }, false],
  ];
  for (const [name, value, isCopied] of cases) {
    it(`is ${isCopied ? '' : 'not '}copied if it ${name}`, () => {
      strictEqual(copy(value) !== undefined, isCopied);
    });
  }
});

describe('serializers that learn', () => {
  const phases = fc.array(
    fc.tuple(fc.array(alike, { minLength: 1, maxLength: 3 }), fc.integer({ min: 1, max: 200 })),
    {
      minLength: 1,
      maxLength: 4,
    },
  );
  const Row = Types.ROW({ before: Types.STRING, each: Types.GENERIC(), list: Types.LIST(Types.GENERIC()) });

  it('write the same bytes and read the same values before, while and after they learn', () => {
    fc.assert(
      fc.property(phases, (all) => {
        const serializer = createSerializer<unknown>(undefined, 'test');
        const rows = createSerializer(Row, 'test');
        for (const [values, times] of all) {
          for (let i = 0; i < times; i++) {
            const value = values[i % values.length];
            const bytes = encodeGeneral(value);
            const copy = serializer.copyGiven!(value);
            if (copy !== undefined) deepStrictEqual(encodeGeneral(copy), bytes);
            deepStrictEqual(encodeToBytes(serializer, value), bytes);
            deepStrictEqual(encodeGeneral(decodeFromBytes(serializer, bytes)), bytes);
            const row = encodeToBytes(rows, { before: 'x', each: value, list: [value] });
            deepStrictEqual(row, Uint8Array.of(1, 120, ...bytes, 1, 0, 0, 0, ...bytes));
            deepStrictEqual(encodeGeneral(decodeFromBytes(rows, row).each), bytes);
          }
        }
      }),
      { numRuns: 10 },
    );
  });
});
