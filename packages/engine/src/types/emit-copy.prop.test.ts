/** Copies of given values are what encoding and decoding makes of them, whatever is given; types without strings have none. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createSerializer, decodeFromBytes, encodeToBytes, Types } from './index.ts';

const Item = Types.ROW({ name: Types.STRING, price: Types.DOUBLE, count: Types.INT });
const Everything = Types.ROW({
  id: Types.STRING,
  at: Types.LONG,
  day: Types.DATE,
  isNew: Types.BOOLEAN,
  items: Types.LIST(Item),
  pair: Types.TUPLE(Types.STRING, Types.INT),
  tags: Types.SET(Types.STRING),
  stock: Types.MAP(Types.STRING, Types.LIST(Types.INT)),
  note: Types.OPTIONAL(Types.NULLABLE(Types.STRING)),
  best: Types.NULLABLE(Item),
});
const serializer = createSerializer<unknown>(Everything, 'state');
const { copyGiven } = serializer;

const item = fc.record({ name: fc.string(), price: fc.double(), count: fc.integer() });
const everything = fc.record(
  {
    id: fc.string({ unit: 'binary' }),
    at: fc.maxSafeInteger(),
    day: fc.date({ noInvalidDate: false }),
    isNew: fc.boolean(),
    items: fc.array(item, { maxLength: 3 }),
    pair: fc.tuple(fc.string(), fc.integer()),
    tags: fc.array(fc.string(), { maxLength: 3 }).map((each) => new Set(each)),
    stock: fc
      .array(fc.tuple(fc.string(), fc.array(fc.integer())), { maxLength: 3 })
      .map((each) => new Map(each)),
    note: fc.option(fc.string(), { nil: null }),
    best: fc.option(item, { nil: null }),
  },
  { requiredKeys: ['id', 'at', 'day', 'isNew', 'items', 'pair', 'tags', 'stock', 'best'] },
);
const odd = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, -0, 0, 1.5, 2 ** 31, 2 ** 53, Number.NaN, '', 'x', true, 1n),
  fc
    .constantFrom<() => unknown>(
      Array,
      () => ({}),
      () => new Map(),
      () => new Set(),
      () => new Date(0),
    )
    .map((make) => make()),
  fc.constant('long').map((each) => each.repeat(2000)),
  fc.anything({ maxDepth: 2 }),
);

/** Puts `value` into the place that `steps` lead to, each by its number among the parts of what it is in. */
function spoil(target: unknown, steps: readonly number[], value: unknown): unknown {
  const [step, ...rest] = steps;
  if (step === undefined || typeof target !== 'object' || target === null) return value;
  if ((target instanceof Set || target instanceof Map) && target.size === 0) return value;
  if (target instanceof Set) return new Set(spoil([...target], steps, value) as unknown[]);
  if (target instanceof Map)
    return new Map(spoil([...target], [step, 1, ...rest], value) as [unknown, unknown][]);
  const names = Object.keys(target);
  if (names.length === 0) return value;
  const name = names[step % names.length]!;
  const spoiled = spoil((target as Record<string, unknown>)[name], rest, value);
  return Object.assign(Array.isArray(target) ? [...target] : { ...target }, { [name]: spoiled });
}

function readBack(value: unknown): { readonly value: unknown } | undefined {
  try {
    return { value: decodeFromBytes(serializer, encodeToBytes(serializer, value)) };
  } catch {
    return undefined;
  }
}

describe('a copy of a given value', () => {
  it('is what encoding and decoding makes of it, and is not made of what encoding refuses', () => {
    const spoiled = fc
      .tuple(everything, fc.array(fc.nat({ max: 12 }), { minLength: 1, maxLength: 4 }), odd)
      .map(([value, steps, part]) => spoil(value, steps, part));
    fc.assert(
      fc.property(fc.oneof(everything, spoiled), (value) => {
        const copy = copyGiven!(value);
        if (copy === undefined) return;
        deepStrictEqual(copy, readBack(value)?.value);
      }),
      { numRuns: 2000 },
    );
  });

  it('is made of all that is small', () => {
    fc.assert(fc.property(everything, (value) => deepStrictEqual(copyGiven!(value), readBack(value)!.value)));
  });

  it('is not made of what is large, whatever makes it so', () => {
    const [value] = fc.sample(everything, 1);
    const items = Array.from({ length: 2000 }, () => ({ name: '', price: 0, count: 0 }));
    for (const large of [
      { id: 'x'.repeat(4097) },
      { items },
      { tags: new Set(Array.from({ length: 4097 }, (_, i) => `${i}`)) },
    ]) {
      strictEqual(copyGiven!({ ...value, ...large }), undefined);
    }
  });

  it('keeps a field that is there and undefined apart from one that is missing', () => {
    const [value] = fc.sample(everything, 1);
    const { note: _, ...without } = value!;
    for (const each of [without, { ...without, note: undefined }]) {
      strictEqual('note' in (copyGiven!(each) as object), 'note' in each);
    }
  });
});

describe('a type', () => {
  it('has copies of what was decoded if they save the decoding of strings, and of what is given if it is plain data', () => {
    class Named {
      name = '';
    }
    const copied = (type: Parameters<typeof createSerializer>[0]) => {
      const { copy, copyGiven } = createSerializer(type, 'state');
      return [copy !== undefined, copyGiven !== undefined];
    };
    deepStrictEqual(copied(Types.LIST(Types.STRING)), [true, true]);
    deepStrictEqual(copied(Types.LIST(Types.LONG)), [false, true]);
    deepStrictEqual(copied(Types.POJO(Named, { name: Types.STRING })), [false, false]);
    deepStrictEqual(copied(Types.TUPLE(Types.STRING, Types.GENERIC())), [false, false]);
    deepStrictEqual(copied(undefined), [false, true]);
  });
});
