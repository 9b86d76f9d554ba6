import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ByteView,
  createKeySerializer,
  createSerializer,
  decodeFromBytes,
  defaultValueOf,
  encodeToBytes,
  formatType,
  resolveSchema,
  type TypeInformation,
  Types,
} from './index.ts';

const ORDER = {
  type: 'record',
  name: 'Order',
  namespace: 'shop',
  doc: 'What somebody wants to buy.',
  fields: [
    { name: 'id', type: 'string' },
    { name: 'at', type: 'long' },
    { name: 'status', type: { type: 'enum', name: 'Status', symbols: ['NEW', 'PAID'] } },
    {
      name: 'items',
      type: {
        type: 'array',
        items: {
          type: 'record',
          name: 'Item',
          fields: [
            { name: 'price', type: 'double' },
            { name: 'count', type: 'int', default: 1 },
          ],
        },
      },
    },
    { name: 'stock', type: { type: 'map', values: 'int' } },
    { name: 'note', type: ['null', 'string'], default: null },
    { name: 'either', type: ['int', 'double', 'null'] },
    { name: 'code', type: { type: 'fixed', name: 'Code', size: 2 } },
    { name: 'raw', type: 'bytes' },
  ],
};
const Order = Types.avro(ORDER);

const order = {
  id: 'o-1 订单',
  at: 1_700_000_000_000,
  status: 'PAID',
  items: [
    { price: 1.5, count: 2 },
    { price: -0, count: 1 },
  ],
  stock: { a: 1, 'b c': -2, constructor: 3 },
  note: null,
  either: { double: 2.5 },
  code: Buffer.of(1, 2),
  raw: Buffer.of(3),
};

function roundTrip<T>(type: TypeInformation<T>, value: T): T {
  const serializer = createSerializer(type, 'test');
  return decodeFromBytes(serializer, encodeToBytes(serializer, value));
}

describe('values of an Avro schema', () => {
  it('come back as they were, records and maps as plain objects', () => {
    deepStrictEqual(roundTrip(Order, order), order);
    deepStrictEqual(roundTrip(Order, { ...order, note: 'n', either: null, items: [], stock: {} }), {
      ...order,
      note: 'n',
      either: null,
      items: [],
      stock: {},
    });
    encodeToBytes(createSerializer(undefined, 'undescribed'), roundTrip(Order, order));
  });

  it('get the defaults of the schema for fields that are missing and lose those it does not have', () => {
    const { note: _, ...rest } = order;
    deepStrictEqual(roundTrip<unknown>(Order, { ...rest, items: [{ price: 1 }], more: 1 }), {
      ...order,
      items: [{ price: 1, count: 1 }],
    });
  });

  it('may be parts of other types', () => {
    const type = Types.POJO('P', {
      list: Types.LIST(Order),
      map: Types.MAP(Types.STRING, Order),
      pair: Types.TUPLE(Types.INT, Order),
      optional: Types.OPTIONAL(Order),
      nullable: Types.NULLABLE(Order),
      last: Types.INT,
    });
    const value = {
      list: [order, order],
      map: new Map([['k', order]]),
      pair: [7, order] as [number, unknown],
      optional: undefined,
      nullable: order,
      last: 9,
    };
    deepStrictEqual(roundTrip(type, value), value);
  });

  it('that do not fit leave the position and everything from the limit on as it was', () => {
    const serializer = createSerializer(Types.TUPLE(Types.INT, Order), 'test');
    const bytes = encodeToBytes(serializer, [5, order]);
    for (let limit = 3; limit < 3 + bytes.length; limit++) {
      const view = ByteView.allocate(bytes.length + 20);
      view.u8.fill(0xee);
      view.pos = 3;
      view.limit = limit;
      strictEqual(serializer.encode(view, [5, order]), false);
      strictEqual(view.pos, 3);
      ok(view.u8.subarray(limit).every((byte) => byte === 0xee));
    }
  });

  it('are skipped, and may lie in shared memory', () => {
    const serializer = createSerializer(Order, 'test');
    const view = new ByteView(new SharedArrayBuffer(1000));
    view.pos = 11;
    ok(serializer.encode(view, order) && serializer.encode(view, { ...order, id: 'second' }));
    const end = view.pos;
    view.pos = 11;
    serializer.skip(view);
    deepStrictEqual(serializer.decode(view), { ...order, id: 'second' });
    strictEqual(view.pos, end);
  });

  it('of type long are exact up to 2^53 - 1, also when they are read as double', () => {
    const limits = [2 ** 52, 2 ** 52 + 1, 2 ** 53 - 1, 2 ** 31, 2 ** 30, 64, 63, 1, 0];
    const longs = limits.flatMap((n) => [n, n + (n < 2 ** 53 - 1 ? 1 : 0), 0 - n, 1 - n]);
    const saved = Types.avro<number[]>({ type: 'array', items: 'long' });
    deepStrictEqual(roundTrip(saved, longs), longs);
    const current = Types.avro({ type: 'array', items: { type: 'double' } });
    deepStrictEqual(migrate(saved, current, longs), longs);
    deepStrictEqual(migrate(Types.avro('int'), Types.avro('double'), -5), -5);
    const lowest = encodeToBytes(createSerializer(Types.avro('long'), 'test'), Number.MIN_SAFE_INTEGER);
    strictEqual(Buffer.from(lowest).toString('hex'), '08000000' + 'fdffffffffffff1f');
  });

  it('may be recursive', () => {
    const Node = Types.AVRO({
      type: 'record',
      name: 'Node',
      fields: [
        { name: 'value', type: 'int' },
        { name: 'next', type: ['null', 'Node'], default: null },
      ],
    });
    const list = { value: 1, next: { value: 2, next: null } };
    deepStrictEqual(roundTrip<unknown>(Node, list), list);
    const cycle: { value: number; next: unknown } = { value: 1, next: null };
    cycle.next = cycle;
    throws(() => roundTrip<unknown>(Node, cycle), { code: 'TYPE_MISMATCH', message: /contain itself/ });
  });
});

describe('a value that does not fit its Avro schema', () => {
  const serializer = createSerializer<unknown>(Order, "output of operator 'map'");

  it('is refused with place, path, expected and found', () => {
    throws(() => encodeToBytes(serializer, { ...order, items: [{ price: 1 }, { price: '12.5' }] }), {
      code: 'TYPE_MISMATCH',
      message:
        /^output of operator 'map': order\.items\[1\]\.price must be Avro double but is string "12\.5"\. Change/,
      details: {
        usedBy: "output of operator 'map'",
        path: 'order.items[1].price',
        expected: 'Avro double',
        found: 'string "12.5"',
      },
    });
  });

  it('is found wherever it is', () => {
    const cases: readonly [unknown, RegExp][] = [
      [undefined, /order must be Avro record shop\.Order but is undefined/],
      [
        Promise.resolve(),
        /order must be Avro record shop\.Order but is instance of Promise\. Functions answer at once/,
      ],
      [{ ...order, at: 2 ** 53 }, /order\.at must be Avro long but is number 9007199254740992\. A long/],
      [{ ...order, at: 1.5 }, /order\.at must be Avro long/],
      [{ ...order, at: undefined }, /order\.at must be Avro long but is undefined\. Set it, give the field/],
      [{ ...order, status: 'constructor' }, /order\.status must be Avro enum shop\.Status/],
      [{ ...order, stock: { 'b c': 'x' } }, /order\.stock\["b c"\] must be Avro int/],
      [{ ...order, stock: new Map([['a', 1]]) }, /order\.stock must be Avro map .*Object\.fromEntries/],
      [{ ...order, stock: JSON.parse('{"__proto__": 1}') }, /order\.stock must be Avro map/],
      [{ ...order, either: 5 }, /order\.either must be Avro union of int, double, null .*Wrap it/],
      [{ ...order, either: { constructor: 5 } }, /order\.either must be Avro union/],
      [{ ...order, either: { int: 'x' } }, /order\.either\.int must be Avro int/],
      [{ ...order, raw: Uint8Array.of(1) }, /order\.raw must be Avro bytes .*Buffer\.from/],
      [{ ...order, code: Buffer.of(1) }, /order\.code must be Avro fixed shop\.Code/],
    ];
    for (const [value, message] of cases) {
      throws(() => encodeToBytes(serializer, value), { code: 'TYPE_MISMATCH', message });
    }
  });

  it('is found where every field has a default, and behind arrays and unions', () => {
    const inner = { type: 'record', name: 'Inner', fields: [{ name: 'a', type: 'int', default: 0 }] };
    const type = Types.avro<unknown>({
      type: 'record',
      name: 'Outer',
      fields: [
        { name: 'list', type: { type: 'array', items: inner }, default: [] },
        { name: 'either', type: ['null', { type: 'map', values: 'Inner' }], default: null },
      ],
    });
    deepStrictEqual(roundTrip(type, { list: [{}, { a: 1 }], either: { k: {} } }), {
      list: [{ a: 0 }, { a: 1 }],
      either: { k: { a: 0 } },
    });
    throws(() => roundTrip(type, 'text'), { message: /outer must be Avro record Outer/ });
    throws(() => roundTrip(type, Promise.resolve({})), { message: /Functions answer at once/ });
    throws(() => roundTrip(type, { list: [{}, 5] }), {
      message: /outer\.list\[1\] must be Avro record Inner/,
    });
    throws(() => roundTrip(type, { either: { k: [] } }), { message: /outer\.either\.k must be/ });
  });

  it('lets the error of a getter through', () => {
    const value = {
      get id(): string {
        throw new TypeError('mine');
      },
    };
    throws(() => encodeToBytes(serializer, value), { name: 'TypeError', message: 'mine' });
  });
});

describe('an Avro schema', () => {
  it('is JSON in the description, the same however it was given', () => {
    deepStrictEqual(Types.AVRO(JSON.stringify(ORDER)).description, Order.description);
    deepStrictEqual(Types.AVRO('int').description, Types.avro('"int"').description);
    const { description } = Order;
    ok(description.kind === 'avro');
    deepStrictEqual(Types.avro(description.schema).description, description);
    strictEqual(formatType(description), 'AVRO(record shop.Order)');
  });

  it('that is not allowed is refused with the problem', () => {
    const cases: readonly [object | string, RegExp][] = [
      [{ type: 'recrod' }, /Types\.AVRO: the schema is not allowed: unknown type: "recrod"/],
      ['{ "type": ', /the schema is not allowed: .*JSON/],
      [{ type: 'array', items: 'Missing' }, /undefined type name: Missing/],
      [{ type: 'record', name: 'R', fields: [{ name: '__proto__', type: 'int' }] }, /__proto__/],
      [{ type: 'record', name: 'R', fields: [{ name: 'a', type: 'int', default: 'x' }] }, /default/],
    ];
    for (const [schema, message] of cases)
      throws(() => Types.avro(schema), { code: 'TYPE_INVALID', message });
    const broken = { description: { kind: 'avro' as const, schema: '"strnig"' } };
    throws(() => createSerializer(broken, 'saved'), { code: 'TYPE_INVALID', message: /^saved: .*strnig/ });
  });

  it('does not describe keys', () => {
    for (const type of [Order, Types.LIST(Order), Types.ROW({ a: Types.NULLABLE(Order) })]) {
      throws(() => createKeySerializer<unknown>(type, 'key of x'), {
        code: 'TYPE_INVALID',
        message: /^key of x.*: an AVRO type cannot be \(part of\) a key/,
      });
    }
  });
});

function record(...fields: readonly object[]): TypeInformation<unknown> {
  return Types.avro({ type: 'record', name: 'R', fields });
}

function migrate(
  saved: TypeInformation<unknown>,
  current: TypeInformation<unknown>,
  value: unknown,
): unknown {
  const resolution = resolveSchema(saved.description, current.description);
  ok(resolution.result === 'migrate', JSON.stringify(resolution));
  return roundTrip(current, resolution.convert(roundTrip(saved, value)));
}

describe('state of an Avro schema', () => {
  const id = { name: 'id', type: 'string' };
  const n = { name: 'n', type: 'int' };
  const saved = record(id, n);
  const value = { id: 'a', n: 5 };

  it('is the same if only defaults, comments and aliases differ', () => {
    const current = record({ ...id, doc: 'd' }, { ...n, default: 3, aliases: ['m'] });
    strictEqual(resolveSchema(saved.description, saved.description).result, 'same');
    strictEqual(resolveSchema(saved.description, current.description).result, 'same');
  });

  it('migrates when a field with a default is added, one is removed, moved, renamed by alias or promoted', () => {
    const tags = { name: 'tags', type: { type: 'array', items: 'string' }, default: ['x'] };
    deepStrictEqual(migrate(saved, record(id, n, tags), value), { ...value, tags: ['x'] });
    deepStrictEqual(migrate(saved, record(id), value), { id: 'a' });
    deepStrictEqual(migrate(saved, record(n, id), value), { n: 5, id: 'a' });
    deepStrictEqual(migrate(saved, record(id, { name: 'm', type: 'int', aliases: ['n'] }), value), {
      id: 'a',
      m: 5,
    });
    deepStrictEqual(migrate(saved, record(id, { ...n, type: 'long' }), value), value);
    deepStrictEqual(migrate(saved, record(id, { ...n, type: ['null', 'int'] }), value), value);
  });

  it('migrates within other types', () => {
    const current = record(id, { ...n, type: 'long' });
    deepStrictEqual(migrate(Types.LIST(saved), Types.LIST(current), [value]), [value]);
    deepStrictEqual(migrate(saved, Types.NULLABLE(current), value), value);
  });

  it('is incompatible where Avro says so: the answer names the place', () => {
    const resolve = (current: TypeInformation<unknown>) =>
      resolveSchema(
        Types.ROW({ r: Types.LIST(saved) }).description,
        Types.ROW({ r: Types.LIST(current) }).description,
      );
    const changed = resolve(record(id, { ...n, type: 'string' }));
    ok(changed.result === 'incompatible');
    deepStrictEqual(
      [changed.path, changed.saved, changed.current],
      ['value.r[].n', 'AVRO(int)', 'AVRO(string)'],
    );
    const added = resolve(record(id, n, { name: 'm', type: 'int' }));
    ok(added.result === 'incompatible');
    strictEqual(added.path, 'value.r[]');
    strictEqual(added.reason, 'no matching field for default-less R.m');
    strictEqual(resolve(Types.GENERIC()).result, 'incompatible');
  });

  it('has a default that fits, unless there is none', () => {
    const type = Types.AVRO({
      type: 'record',
      name: 'Everything',
      fields: [
        ...ORDER.fields,
        { name: 'float', type: 'float' },
        { name: 'yes', type: 'boolean' },
        { name: 'nothing', type: 'null' },
        { name: 'union', type: ['int', 'long'] },
      ],
    });
    const standIn = defaultValueOf(type.description);
    deepStrictEqual(roundTrip(type, standIn), standIn);
    const endless = Types.avro({ type: 'record', name: 'E', fields: [{ name: 'e', type: 'E' }] });
    strictEqual(defaultValueOf(endless.description), undefined);
  });
});
