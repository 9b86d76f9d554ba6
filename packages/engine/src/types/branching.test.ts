/** SET, RECORD, LITERAL, TYPED_ARRAY, UNION and EITHER: what they refuse, and in which words. */
import { deepStrictEqual, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  createKeySerializer,
  createSerializer,
  decodeFromBytes,
  encodeToBytes,
  resolveSchema,
  type TypeInformation,
  Types,
} from './index.ts';

const Event = Types.UNION(
  'kind',
  Types.ROW({ kind: Types.LITERAL('created'), at: Types.DATE }),
  Types.ROW({ kind: Types.LITERAL('paid', 'refunded'), amount: Types.DOUBLE }),
);

function refusal<T>(type: TypeInformation<T>, value: unknown, message: RegExp): void {
  const serializer = createSerializer(type, 'the test');
  throws(() => encodeToBytes(serializer, value as T), { code: 'TYPE_MISMATCH', message });
}

function roundTrip<T>(type: TypeInformation<T>, value: T): T {
  const serializer = createSerializer(type, 'the test');
  return decodeFromBytes(serializer, encodeToBytes(serializer, value));
}

const invalid = (make: () => unknown, message: RegExp) => throws(make, { code: 'TYPE_INVALID', message });

describe('values that do not fit are refused with their path', () => {
  it('in sets, records, literals and typed arrays', () => {
    refusal(Types.SET(Types.INT), new Set([1, 'a']), /value\.keys\(\) must be INT but is string "a"/);
    refusal(Types.SET(Types.INT), [1], /value must be SET\(INT\) but is array of 1/);
    refusal(Types.RECORD(Types.INT), { a: 1, 'b c': 'x' }, /value\["b c"\] must be INT but is string "x"/);
    refusal(Types.RECORD(Types.INT), new Map(), /is instance of Map\. A RECORD is a plain object; for a Map/);
    refusal(Types.RECORD(Types.INT), null, /value must be RECORD\(INT\) but is null/);
    refusal(Types.LITERAL('a', 1), 'b', /value must be LITERAL\("a", 1\) but is string "b"/);
    refusal(Types.LITERAL('a'), 'b', /value must be LITERAL\("a"\) but is string "b"/);
    refusal(
      Types.TYPED_ARRAY(Float64Array),
      Float32Array.of(1),
      /TYPED_ARRAY\(Float64Array\) but is instance of Float32Array/,
    );
  });

  it('in unions: the field that tells, or the part of the type it tells', () => {
    refusal(
      Event,
      { kind: 'sent' },
      /value\.kind must be LITERAL\("created", "paid", "refunded"\) but is string "sent"/,
    );
    refusal(Event, { kind: 'paid', amount: '5' }, /value\.amount must be DOUBLE but is string "5"/);
    refusal(Event, {}, /value\.kind must be .* but is undefined/);
    refusal(
      Types.LIST(Event),
      [5],
      /value\[0\] must be UNION\(kind: created, paid, refunded\) but is number 5/,
    );
  });

  it('in EITHER: what none of its types is', () => {
    const type = Types.EITHER(Types.STRING, Types.LIST(Types.INT));
    refusal(type, 5, /value must be EITHER\(STRING, LIST\(INT\)\) but is number 5/);
    refusal(type, [1.5], /value\[0\] must be INT but is number 1\.5/);
    refusal(type, null, /but is null/);
  });
});

describe('types that cannot be told apart are refused', () => {
  it('by EITHER', () => {
    invalid(() => Types.EITHER(Types.INT, Types.DOUBLE), /INT and DOUBLE are both of kind number/);
    invalid(
      () => Types.EITHER(Types.ROW({}), Types.RECORD(Types.INT)),
      /use UNION, which tells objects apart/,
    );
    invalid(() => Types.EITHER(Types.GENERIC(), Types.INT), /values of GENERIC may be of any kind/);
    invalid(() => Types.EITHER(Types.STRING), /2 to 256 types/);
    invalid(
      () => Types.EITHER(Types.STRING, undefined as never),
      /Types\.EITHER, type 2: this is not a type/,
    );
  });

  it('by UNION', () => {
    const a = Types.ROW({ kind: Types.LITERAL('a') });
    invalid(() => Types.UNION('kind', a, a), /the field 'kind' may be "a" in ROW\(kind\) and ROW\(kind\)/);
    const text = Types.ROW({ kind: Types.STRING });
    invalid(() => Types.UNION('kind', a, text), /ROW\(kind\) is no type of a union by the field 'kind'/);
    invalid(
      () => Types.UNION('kind', a, Types.MAP(Types.INT, Types.INT) as never),
      /MAP\(INT, INT\) is no type of a union/,
    );
    invalid(() => Types.LITERAL(Number.NaN), /finite numbers/);
    invalid(() => Types.LITERAL(), /at least one value/);
    invalid(() => Types.TYPED_ARRAY(Uint8Array), /no typed array 'Uint8Array'/);
    invalid(() => Types.TYPED_ARRAY(class Odd extends Float64Array {}), /no typed array 'Odd'/);
  });

  it('and types of which nobody knows the order are no keys', () => {
    for (const type of [
      Types.SET(Types.INT),
      Types.RECORD(Types.INT),
      Types.TYPED_ARRAY(Int8Array),
      Types.EITHER(Types.INT, Types.SET(Types.INT)),
    ] as TypeInformation<unknown>[]) {
      invalid(() => createKeySerializer(type, 'key of x'), /^key of x: a .* cannot be \(part of\) a key/);
    }
  });
});

describe('a union of classes', () => {
  class Created {
    readonly kind = 'created';
    id = 0;
  }
  class Paid {
    readonly kind = 'paid';
    amount = 0;
  }
  const type = Types.UNION(
    'kind',
    Types.POJO(Created, { kind: Types.LITERAL('created'), id: Types.INT }),
    Types.POJO(Paid, { kind: Types.LITERAL('paid'), amount: Types.DOUBLE }),
  );

  it('gives instances back', () => {
    const paid = new Paid();
    paid.amount = 1.5;
    deepStrictEqual(roundTrip(Types.LIST(type), [paid, new Created()]), [paid, new Created()]);
  });
});

describe('values that look alike', () => {
  it('stay what they are', () => {
    const type = Types.ROW({
      optional: Types.OPTIONAL(Types.NULLABLE(Types.INT)),
      nullable: Types.NULLABLE(Types.OPTIONAL(Types.INT)),
      either: Types.EITHER(Types.LITERAL(null), Types.VOID, Types.STRING),
    });
    for (const value of [
      { nullable: null, either: null },
      { optional: undefined, nullable: undefined, either: undefined },
      { optional: null, nullable: 1, either: 'null' },
      { optional: 1, nullable: null, either: 'undefined' },
    ]) {
      deepStrictEqual(roundTrip(type, value), value);
    }
  });

  it('such as a field named __proto__ of a record are data', () => {
    const value = Object.fromEntries([['__proto__', 5]]);
    const back = roundTrip(Types.RECORD(Types.INT), value);
    deepStrictEqual(Object.keys(back), ['__proto__']);
    strictEqual(Object.getPrototypeOf(back), Object.prototype);
  });
});

describe('a union that changed', () => {
  const Sent = Types.ROW({ kind: Types.LITERAL('sent'), to: Types.STRING });
  const Created = Types.ROW({ kind: Types.LITERAL('created'), at: Types.DATE });

  function convert(
    saved: TypeInformation<unknown>,
    current: TypeInformation<unknown>,
    value: unknown,
  ): unknown {
    const resolution = resolveSchema(saved.description, current.description);
    return resolution.result === 'migrate' ? resolution.convert(value) : resolution;
  }

  it('fails for the entries of a type that is gone, naming it', () => {
    const current = Types.UNION('kind', Sent, Created);
    const created = { kind: 'created', at: new Date(5) };
    deepStrictEqual(convert(Event, current, created), created);
    throws(() => convert(Event, current, { kind: 'paid', amount: 1 }), {
      code: 'STATE_ENUM_VALUE_REMOVED',
      message:
        /value\.kind is 'paid' in saved state, but no type of UNION\(kind: sent, created\) has it any more/,
    });
  });

  it('is refused if another field tells, or a part of a type may not change so', () => {
    const byType = Types.UNION(
      'type',
      Types.ROW({ type: Types.LITERAL('a') }),
      Types.ROW({ type: Types.LITERAL('b') }),
    );
    const other = convert(Event, byType, {}) as { reason: string };
    strictEqual(other.reason, 'the types are told apart by another field');
    const changed = Types.UNION('kind', Sent, Types.ROW({ kind: Types.LITERAL('created'), at: Types.LONG }));
    const refused = convert(Event, changed, {}) as { path: string; saved: string };
    deepStrictEqual([refused.path, refused.saved], ['value.at', 'DATE']);
  });

  it('takes an enum for a literal, and one type for several', () => {
    strictEqual(convert(Types.ENUM('E', ['a', 'b']), Types.LITERAL('b', 1, 'a'), 'b'), 'b');
    throws(() => convert(Types.LITERAL('a', 1), Types.LITERAL('a'), 1), { code: 'STATE_ENUM_VALUE_REMOVED' });
    deepStrictEqual(
      convert(Types.LIST(Types.INT), Types.EITHER(Types.STRING, Types.LIST(Types.NULLABLE(Types.INT))), [1]),
      [1],
    );
    const numbers = convert(Types.TYPED_ARRAY(Float64Array), Types.TYPED_ARRAY(Float32Array), []);
    strictEqual((numbers as { result: string }).result, 'incompatible');
  });
});
