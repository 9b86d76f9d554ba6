import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ByteView,
  createSerializer,
  decodeFromBytes,
  encodeToBytes,
  type TypeInformation,
  type TypeSerializer,
  Types,
} from './index.ts';

function roundTrip<T>(type: TypeInformation<T> | undefined, value: T): T {
  const serializer = createSerializer(type, 'test');
  return decodeFromBytes(serializer, encodeToBytes(serializer, value));
}

/** Encodes what the compiler would refuse. */
function encodeAny(serializer: TypeSerializer<unknown>, value: unknown): void {
  encodeToBytes(serializer, value);
}

describe('a value that is not of its type', () => {
  const Order = Types.POJO('Order', {
    id: Types.STRING,
    items: Types.LIST(Types.ROW({ price: Types.DOUBLE })),
    stock: Types.OPTIONAL(Types.MAP(Types.STRING, Types.INT)),
    status: Types.OPTIONAL(Types.ENUM('Status', ['NEW', 'PAID'])),
    extra: Types.GENERIC(),
  });
  const serializer: TypeSerializer<unknown> = createSerializer(Order, "output of operator 'map'");
  const rest = { id: 'a', items: [] };

  it('is refused with place, path, expected and found type, and advice', () => {
    throws(() => encodeAny(serializer, { id: 'a', items: [{ price: 1 }, { price: '12.5' }] }), {
      code: 'TYPE_MISMATCH',
      message:
        'output of operator \'map\': order.items[1].price must be DOUBLE but is string "12.5". Change the value, or the description of its type.',
      details: {
        usedBy: "output of operator 'map'",
        path: 'order.items[1].price',
        expected: 'DOUBLE',
        found: 'string "12.5"',
      },
    });
  });

  it('is found wherever it is', () => {
    const cases: readonly [unknown, RegExp][] = [
      [undefined, /order must be POJO\(Order\) but is undefined/],
      [Promise.resolve(), /is a Promise\. Functions answer at once/],
      [
        { items: [] },
        /order\.id must be STRING but is undefined\. Set it, or describe it as Types\.OPTIONAL\(STRING\)/,
      ],
      [{ id: null, items: [] }, /Types\.NULLABLE\(STRING\)/],
      [{ id: 'a', items: 'x' }, /order\.items must be LIST\(ROW\(price\)\) but is string "x"/],
      [{ ...rest, stock: {} }, /order\.stock must be MAP\(STRING, INT\).*A MAP is a JavaScript Map/],
      [{ ...rest, stock: new Map([['k', 1.5]]) }, /order\.stock\["k"\] must be INT but is number 1\.5/],
      [{ ...rest, stock: new Map([[5, 1]]) }, /order\.stock\.keys\(\) must be STRING but is number 5/],
      [{ ...rest, status: 'SENT' }, /order\.status must be ENUM\(Status: NEW, PAID\) but is string "SENT"/],
      [{ ...rest, extra: { a: [() => 1] } }, /order\.extra\.a\[0\] must be plain data but is a function/],
    ];
    for (const [value, message] of cases)
      throws(() => encodeAny(serializer, value), { code: 'TYPE_MISMATCH', message });
  });

  it('is refused for each kind of type', () => {
    const cases: readonly [TypeInformation<unknown>, readonly unknown[]][] = [
      [Types.STRING, [1, null, {}, Symbol('s')]],
      [Types.LONG, [1.5, NaN, Infinity, 2 ** 53, '1', 1n, Symbol('s')]],
      [Types.INT, [1.5, 2 ** 31, -(2 ** 31) - 1, NaN, '1', 1n, Symbol('s'), { valueOf: () => 1 }]],
      [Types.DOUBLE, ['1', 1n, null]],
      [Types.BOOLEAN, [0, 'true', null]],
      [Types.BYTES, [[1], new ArrayBuffer(1), new Int8Array(1)]],
      [Types.BIGINT, [1, '1']],
      [Types.DATE, [0, '2020-01-01']],
      [Types.VOID, [null, 0]],
      [Types.LIST(Types.INT), [{ length: 0 }, new Set(), [undefined], Array(1)]],
      [Types.MAP(Types.INT, Types.INT), [{}, []]],
      [Types.TUPLE(Types.INT), [[], [1, 2], {}]],
      [Types.ENUM(['a']), ['b', 0, null, '__proto__']],
      [Types.OPTIONAL(Types.INT), [null, '1']],
      [Types.NULLABLE(Types.INT), [undefined, '1']],
    ];
    for (const [type, values] of cases) {
      for (const value of values)
        throws(() => encodeAny(createSerializer(type, 'x'), value), { code: 'TYPE_MISMATCH' });
    }
  });

  it('leaves the position where it was', () => {
    const view = ByteView.allocate(100);
    view.pos = 7;
    throws(() => serializer.encode(view, { id: 'a', items: [1] }));
    strictEqual(view.pos, 7);
  });
});

describe('an object of which nothing would be left', () => {
  it('is refused where no field would be missed', () => {
    for (const type of [Types.RECORD(Types.INT), Types.ROW({ n: Types.OPTIONAL(Types.INT) })]) {
      const serializer = createSerializer<unknown>(type, 'x');
      for (const value of [new Map([['n', 1]]), [1], Promise.reject(new Error('too late'))]) {
        throws(() => encodeToBytes(serializer, value), { code: 'TYPE_MISMATCH' });
      }
      strictEqual(encodeToBytes(serializer, {}).length > 0, true);
    }
  });
});

describe('objects', () => {
  it('come back without the fields that are not described', () => {
    const value = { a: 1, b: 2 };
    deepStrictEqual(roundTrip(Types.ROW({ a: Types.INT }), value), { a: 1 });
  });

  it('keep the difference between an optional field that is missing and one that is undefined, and their order', () => {
    const type = Types.ROW({ a: Types.INT, b: Types.OPTIONAL(Types.INT), c: Types.STRING });
    deepStrictEqual(roundTrip(type, { a: 1, c: 'x' }), { a: 1, c: 'x' });
    deepStrictEqual(roundTrip(type, { a: 1, b: undefined, c: 'x' }), { a: 1, b: undefined, c: 'x' });
    deepStrictEqual(Object.keys(roundTrip(type, { a: 1, b: 2, c: 'x' })), ['a', 'b', 'c']);
  });

  it('may have fields of any name', () => {
    const names = [
      'a b',
      '"',
      "'",
      '\u2028',
      'constructor',
      'toString',
      '0',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a name that would be code in a template.
      '`${1}`',
      '*/',
      'p',
      'root',
      'view',
    ];
    const type = Types.ROW(Object.fromEntries(names.map((name) => [name, Types.INT])));
    const value = Object.fromEntries(names.map((name, i) => [name, i]));
    deepStrictEqual(roundTrip(type, value), value);
  });
});

describe('instances of a class', () => {
  class Account {
    id = '';
    note?: string;
    #cents = 0;
    readonly opened = 'by constructor';
    get cents(): number {
      return this.#cents;
    }
    set cents(value: number) {
      this.#cents = value;
    }
    describe(): string {
      return `${this.id}: ${this.#cents}`;
    }
  }
  const fields = { id: Types.STRING, cents: Types.LONG, note: Types.OPTIONAL(Types.STRING) };
  const type = Types.POJO(Account, fields, { transient: ['opened'] });

  it('come back as instances, with accessors, private fields and what is transient as the constructor made it', () => {
    const account = new Account();
    account.id = 'a';
    account.cents = 5;
    const back = roundTrip(type, account);
    ok(back instanceof Account);
    strictEqual(back.describe(), 'a: 5');
    strictEqual(back.opened, 'by constructor');
    strictEqual(back.note, undefined);
  });

  it('come back as instances within lists, maps and rows', () => {
    const composed = Types.ROW({
      accounts: Types.LIST(type),
      byId: Types.MAP(Types.STRING, Types.NULLABLE(type)),
    });
    const account = new Account();
    const back = roundTrip(composed, { accounts: [account], byId: new Map([['a', account]]) });
    ok(back.accounts[0] instanceof Account && back.byId.get('a') instanceof Account);
  });

  it('do not get back a default that their value had not', () => {
    class WithDefault {
      note?: string = 'default';
    }
    const value = new WithDefault();
    value.note = undefined;
    strictEqual(
      roundTrip(Types.POJO(WithDefault, { note: Types.OPTIONAL(Types.STRING) }), value).note,
      undefined,
    );
    delete value.note;
    strictEqual(
      roundTrip(Types.POJO(WithDefault, { note: Types.OPTIONAL(Types.STRING) }), value).note,
      undefined,
    );
  });

  it('are plain objects to a serializer made from the description alone', () => {
    const bytes = encodeToBytes(createSerializer(type, 'x'), new Account());
    const plain = decodeFromBytes(createSerializer({ description: type.description }, 'x'), bytes);
    deepStrictEqual(plain, { id: '', cents: 0, note: undefined });
  });
});

describe('bytes and whole values', () => {
  it('a Buffer comes back as a Uint8Array of its own', () => {
    const back = roundTrip(Types.BYTES, Buffer.from('abc'));
    strictEqual(Object.getPrototypeOf(back), Uint8Array.prototype);
    deepStrictEqual([...back], [97, 98, 99]);
    ok(back.buffer instanceof ArrayBuffer && back.buffer.byteLength === 3);
  });

  it('a value of megabytes is encoded', () => {
    const text = 'é'.repeat(2_000_000);
    strictEqual(roundTrip(Types.STRING, text), text);
    strictEqual(roundTrip(undefined, text), text);
    const big = 1n << 1_000_000n;
    strictEqual(roundTrip(Types.BIGINT, -big), -big);
  });

  it('a getter of a value may encode another value', () => {
    const serializer = createSerializer(Types.ROW({ a: Types.STRING, b: Types.BYTES }), 'x');
    const value = {
      a: 'outer',
      get b() {
        return encodeToBytes(createSerializer(Types.STRING, 'y'), 'inner');
      },
    };
    deepStrictEqual(
      [...decodeFromBytes(serializer, encodeToBytes(serializer, value)).b],
      [5, ...Buffer.from('inner')],
    );
  });

  it('bytes that are longer than a value are refused', () => {
    const serializer = createSerializer(Types.INT, 'x');
    throws(() => decodeFromBytes(serializer, new Uint8Array(5)), { code: 'ASSERTION_FAILED' });
  });

  it('a description that is no description is refused, naming the place', () => {
    const type = { description: { kind: 'nothing' } } as never;
    throws(() => createSerializer(type, "state 'sum'"), { code: 'TYPE_INVALID', message: /^state 'sum'/ });
  });
});

describe('strings', () => {
  it('of every length around the borders of the forms, of every alphabet, survive and take the expected bytes', () => {
    const serializer = createSerializer(Types.STRING, 'x');
    for (const n of [0, 1, 22, 23, 24, 25, 84, 85, 86, 87, 300]) {
      for (const [unit, head, bytesPerUnit] of [
        ['a', n < 24 ? 1 : n < 86 ? 2 : 5, 1],
        ['é', n < 24 ? 1 : n < 86 ? 2 : 5, n < 24 ? 1 : 2],
        ['语', n === 0 ? 1 : n < 86 ? 2 : 5, 3],
        ['\ud800', n === 0 ? 1 : n < 86 ? 2 : 5, 2],
      ] as const) {
        const text = unit.repeat(n);
        const bytes = encodeToBytes(serializer, text);
        strictEqual(bytes.length, head + n * bytesPerUnit, `${n} times ${JSON.stringify(unit)}`);
        strictEqual(decodeFromBytes(serializer, bytes), text);
      }
    }
  });

  it('have one encoding, whatever the room behind them', () => {
    const serializer = createSerializer(Types.STRING, 'x');
    for (const text of ['a'.repeat(30), `${'é'.repeat(40)}a`, '语'.repeat(100), `${'a'.repeat(50)}\udc00`]) {
      const bytes = encodeToBytes(serializer, text);
      const exact = ByteView.allocate(bytes.length);
      ok(serializer.encode(exact, text));
      deepStrictEqual(exact.u8, bytes);
    }
  });
});
