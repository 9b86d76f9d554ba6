import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  checkTypeDescription,
  createSerializer,
  decodeFromBytes,
  encodeToBytes,
  formatType,
  type TypeDescription,
  Types,
} from './index.ts';

const invalidBecause = (pattern: RegExp) => ({ code: 'TYPE_INVALID', message: pattern });

describe('descriptions', () => {
  it('are plain data in the order of the fields', () => {
    const type = Types.POJO('Order', {
      id: Types.STRING,
      tags: Types.LIST(Types.ENUM('Tag', ['a', 'b'])),
      place: Types.OPTIONAL(Types.TUPLE(Types.DOUBLE, Types.DOUBLE)),
      names: Types.MAP(Types.STRING, Types.NULLABLE(Types.GENERIC())),
    });
    deepStrictEqual(JSON.parse(JSON.stringify(type.description)), {
      kind: 'pojo',
      name: 'Order',
      fields: [
        { name: 'id', type: { kind: 'string' } },
        { name: 'tags', type: { kind: 'list', element: { kind: 'enum', name: 'Tag', values: ['a', 'b'] } } },
        {
          name: 'place',
          type: {
            kind: 'optional',
            value: { kind: 'tuple', elements: [{ kind: 'double' }, { kind: 'double' }] },
          },
        },
        {
          name: 'names',
          type: {
            kind: 'map',
            key: { kind: 'string' },
            value: { kind: 'nullable', value: { kind: 'generic' } },
          },
        },
      ],
    });
  });

  it('are frozen', () => {
    const { description } = Types.ROW({ a: Types.LIST(Types.INT) });
    ok(description.kind === 'pojo');
    ok(
      Object.isFrozen(description) &&
        Object.isFrozen(description.fields) &&
        Object.isFrozen(description.fields[0]),
    );
  });

  it('have the same functions under the names of Flink and in lower case', () => {
    strictEqual(Types.LIST, Types.list);
    strictEqual(Types.ENUM, Types.enum);
    strictEqual(Types.POJO, Types.pojo);
  });

  it('are written in messages as Types spells them', () => {
    const type = Types.MAP(Types.STRING, Types.TUPLE(Types.POJO('P', {}), Types.ROW({ a: Types.INT })));
    strictEqual(formatType(type.description), 'MAP(STRING, TUPLE(POJO(P), ROW(a)))');
    const many = Types.ENUM(Array.from({ length: 20 }, (_, i) => `v${i}`));
    strictEqual(formatType(many.description), 'ENUM(v0, v1, v2, v3, v4, v5, v6, ... 13 more)');
  });
});

describe('what is not a type is refused', () => {
  it('a type that is used before it is described', () => {
    throws(
      () => Types.ROW({ next: undefined as never }),
      invalidBecause(/^Types\.ROW\.next: this is not a type/),
    );
    throws(() => Types.LIST(undefined as never), invalidBecause(/^Types\.LIST: this is not a type/));
  });

  it('a description that contains itself', () => {
    const type: { kind: string; element?: unknown } = { kind: 'list' };
    type.element = type;
    throws(
      () => checkTypeDescription(type, 'state x'),
      invalidBecause(/^state x\[\]: this is the type of state x again: a type cannot contain itself/),
    );
    const node = { kind: 'pojo', name: 'Node', fields: [] as unknown[] };
    node.fields.push({ name: 'next', type: { kind: 'optional', value: { kind: 'list', element: node } } });
    throws(
      () => checkTypeDescription({ kind: 'set', element: node }, 'state x'),
      invalidBecause(/^state x\[\]\.next\[\]: this is the type of state x\[\] again/),
    );
    const deep = Array.from({ length: 70 }).reduce<unknown>((element) => ({ kind: 'list', element }), {
      kind: 'int',
    });
    throws(() => checkTypeDescription(deep, 'state x'), invalidBecause(/nested more than 64 deep/));
  });

  it('enums without values, with a value twice, with other things than strings', () => {
    throws(() => Types.ENUM([]), invalidBecause(/at least one value/));
    throws(
      () => Types.ENUM('E', ['a', 'a']),
      invalidBecause(/Types\.ENUM\(E\): the value 'a' is there twice/),
    );
    throws(() => Types.ENUM([1] as never), invalidBecause(/its values are strings/));
  });

  it('a field named __proto__, a field twice, a pojo without name', () => {
    const field = { name: 'a', type: { kind: 'int' } };
    throws(
      () => checkTypeDescription({ kind: 'pojo', name: 'P', fields: [field, field] }, 'x'),
      invalidBecause(/twice/),
    );
    throws(() => Types.ROW({ ['__proto__']: Types.INT }), invalidBecause(/cannot be named __proto__/));
    throws(() => Types.POJO('', {}), invalidBecause(/a name or a class/));
  });

  it('data from outside that is no description', () => {
    for (const value of [
      null,
      1,
      'string',
      {},
      { kind: 'long long' },
      { kind: 'list' },
      { kind: 'tuple' },
      { kind: 'pojo' },
      { kind: 'set' },
      { kind: 'record' },
      { kind: 'literal', values: [{}] },
      { kind: 'either', types: [{ kind: 'int' }, 'string'] },
      { kind: 'union', types: [] },
      { kind: 'union', field: '', types: [{ kind: 'int' }, { kind: 'string' }] },
      { kind: 'typed-array', array: 'constructor' },
      { kind: 'custom', name: 'a' },
      { kind: 'custom', version: 1 },
    ]) {
      throws(() => checkTypeDescription(value, 'manifest'), invalidBecause(/^(the values of )?manifest/));
    }
    const fine: TypeDescription = { kind: 'list', element: { kind: 'string' } };
    checkTypeDescription(fine, 'manifest');
  });
});

describe('a class that cannot be described is refused, naming class and field', () => {
  it('one that cannot be made without arguments', () => {
    class Order {
      readonly total: number;
      constructor(parts: number[]) {
        this.total = parts.length;
      }
    }
    throws(
      () => Types.POJO(Order as never, { total: Types.INT } as never),
      invalidBecause(
        /^Types\.POJO\(Order\): the class cannot be made without arguments .*give every parameter a default/,
      ),
    );
  });

  it('one whose field cannot be set', () => {
    class Account {
      readonly #sum = 0;
      get sum(): number {
        return this.#sum;
      }
      set secret(_value: number) {}
      close(): void {}
    }
    throws(
      () => Types.POJO(Account, { sum: Types.INT, secret: Types.INT }),
      invalidBecause(/Account\)\.sum: .*getter but no setter/),
    );
    throws(
      () => Types.POJO(Account, { secret: Types.INT }),
      invalidBecause(/Account\)\.secret: .*setter but no getter/),
    );
    throws(
      // @ts-expect-error: a method is no field.
      () => Types.POJO(Account, { close: Types.GENERIC() }),
      invalidBecause(/Account\)\.close: .*method/),
    );
  });

  it('one with a field whose type is not described, its own or of a base class', () => {
    class Base {
      #cents = 0;
      id = '';
      get cents(): number {
        return this.#cents;
      }
      set cents(value: number) {
        this.#cents = value;
      }
      get euros(): number {
        return this.#cents / 100;
      }
    }
    class Account extends Base {
      private readonly cache = new Map<string, number>();
      listener = (): number => this.cache.size;
    }
    const described = (fields: object, transient: readonly string[] = []) =>
      Types.POJO(Account, fields as never, { transient });
    throws(
      () => described({ id: Types.STRING, cents: Types.LONG }),
      invalidBecause(/Account\)\.cache: the type of the field is not described.*transient: \["cache"\]/),
    );
    throws(() => described({ cents: Types.LONG }, ['cache']), invalidBecause(/Account\)\.id: /));
    throws(() => described({ id: Types.STRING }, ['cache']), invalidBecause(/Account\)\.cents: /));
    throws(
      () => described({ id: Types.STRING, '#cents': Types.LONG }, ['cache']),
      invalidBecause(/Account\)\["#cents"\]: a private field cannot be seen .* getter and setter/),
    );
    throws(
      () => described({ id: Types.STRING, cents: Types.LONG }, ['cache', 'id']),
      invalidBecause(/Account\)\.id: the field is described and transient/),
    );
    const type = described({ id: Types.STRING, cents: Types.LONG }, ['cache']);
    const account = new Account();
    account.cents = 5;
    const serializer = createSerializer(type, 'test');
    const back = decodeFromBytes(serializer, encodeToBytes(serializer, account));
    ok(back instanceof Account);
    strictEqual(back.euros, 0.05);
    strictEqual(back.listener(), 0);
  });

  it('one without a name, and one whose instances are frozen', () => {
    throws(() => Types.POJO(class {}, {}), invalidBecause(/the class has no name/));
    class Frozen {
      a = 1;
      constructor() {
        Object.freeze(this);
      }
    }
    throws(
      () => Types.POJO(Frozen, { a: Types.INT }),
      invalidBecause(/Frozen\)\.a: the field is not writable/),
    );
  });
});
