import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { hasCode } from '../../base/index.ts';
import { OperatorHarness } from '../../testing/operator-harness.ts';
import { runOperatorThroughAllModes } from '../../testing/operator-modes.ts';
import { type CustomSerializer, type TypeInformation, Types } from '../../types/index.ts';
import { ReduceOperator } from '../reduce-operator.ts';
import { type Aggregation, fieldAggregation } from './field-aggregation.ts';

const saleType = Types.POJO('Sale', {
  shop: Types.STRING,
  id: Types.LONG,
  amount: Types.DOUBLE,
  place: Types.ROW({ zip: Types.STRING, size: Types.INT }),
});

interface Sale {
  shop: string;
  id: number;
  amount: number;
  place: { zip: string; size: number };
}

const sale = (id: number, amount: number, size = 1): Sale => ({
  shop: 'a',
  id,
  amount,
  place: { zip: `zip ${id}`, size },
});

function reduced<T>(
  aggregation: Aggregation,
  field: string | number,
  records: readonly T[],
  options: { type?: TypeInformation<unknown>; first?: boolean } = {},
): T {
  return records.reduce(fieldAggregation<T>(aggregation, field, options).reduce);
}

describe('an aggregation of a field', () => {
  it('keeps the other fields of the first record for sum, min and max', () => {
    const sales = [sale(1, 5, 7), sale(2, 3, 9), sale(3, 4, 8)];
    for (const type of [saleType, undefined]) {
      assert.deepEqual(reduced('sum', 'amount', sales, { type }), sale(1, 12, 7));
      assert.deepEqual(reduced('min', 'amount', sales, { type }), sale(1, 3, 7));
      assert.deepEqual(reduced('max', 'amount', sales, { type }), sale(1, 5, 7));
      assert.deepEqual(reduced('sum', 'place.size', sales, { type }), sale(1, 5, 24));
      assert.deepEqual(reduced('max', 'place.size', sales, { type }), sale(1, 5, 9));
    }
    assert.deepEqual(sales[0], sale(1, 5, 7), 'records are not changed');
  });

  it('gives the whole record for minBy and maxBy; of equals the first, or the last', () => {
    const sales = [sale(1, 5), sale(2, 3), sale(3, 3), sale(4, 5)];
    assert.deepEqual(reduced('minBy', 'amount', sales), sale(2, 3));
    assert.deepEqual(reduced('minBy', 'amount', sales, { first: false }), sale(3, 3));
    assert.deepEqual(reduced('maxBy', 'amount', sales), sale(1, 5));
    assert.deepEqual(reduced('maxBy', 'amount', sales, { first: false }), sale(4, 5));
  });

  it('takes positions of tuples, and records that are values themselves', () => {
    const pairs: [string, number][] = [
      ['x', 2],
      ['y', 1],
    ];
    assert.deepEqual(reduced('sum', 1, pairs), ['x', 3]);
    assert.deepEqual(reduced('minBy', 1, pairs, { type: Types.TUPLE(Types.STRING, Types.INT) }), ['y', 1]);
    assert.equal(reduced('sum', 0, [1, 2, 3]), 6);
    assert.equal(reduced('sum', 0, [1n, 2n], { type: Types.BIGINT }), 3n);
    assert.equal(reduced('max', 0, ['b', 'c', 'a'], { type: Types.STRING }), 'c');
  });

  it('orders texts, booleans and dates', () => {
    const at = (day: number) => ({ at: new Date(day), name: 'b', done: day > 1 });
    assert.deepEqual(reduced('max', 'at', [at(1), at(3), at(2)]).at, new Date(3));
    assert.equal(reduced('min', 'done', [at(2), at(1)]).done, false);
    assert.equal(reduced('minBy', 'name', [{ name: 'b' }, { name: 'B' }]).name, 'B');
  });

  it('keeps the class of a record, also one with private fields', () => {
    class Account {
      #balance = 0;
      owner = '';
      get balance(): number {
        return this.#balance;
      }
      set balance(value: number) {
        this.#balance = value;
      }
    }
    const type = Types.POJO(Account, { owner: Types.STRING, balance: Types.DOUBLE });
    const account = (balance: number): Account => Object.assign(new Account(), { owner: 'me', balance });
    const total = reduced('sum', 'balance', [account(2), account(3)], { type });
    assert.ok(total instanceof Account);
    assert.deepEqual([total.owner, total.balance], ['me', 5]);
    class Point {
      x = 0;
    }
    const point = reduced('sum', 'x', [
      Object.assign(new Point(), { x: 1 }),
      Object.assign(new Point(), { x: 2 }),
    ]);
    assert.ok(point instanceof Point);
    assert.equal(point.x, 3);
  });

  it('agrees with a loop over the records', () => {
    const record = fc.record({ id: fc.nat(), n: fc.integer({ min: -9, max: 9 }) }, { noNullPrototype: true });
    fc.assert(
      fc.property(fc.array(record, { minLength: 1 }), fc.boolean(), (records, first) => {
        const values = records.map(({ n }) => n);
        const [least, greatest] = [Math.min(...values), Math.max(...values)];
        const [head] = records;
        assert.deepEqual(reduced('sum', 'n', records), { id: head!.id, n: values.reduce((a, b) => a + b) });
        assert.deepEqual(reduced('min', 'n', records), { id: head!.id, n: least });
        assert.deepEqual(reduced('max', 'n', records), { id: head!.id, n: greatest });
        const find = (n: number) =>
          first ? records.find((each) => each.n === n) : records.findLast((each) => each.n === n);
        assert.equal(reduced('minBy', 'n', records, { first }), find(least));
        assert.equal(reduced('maxBy', 'n', records, { first }), find(greatest));
      }),
    );
  });
});

const price: CustomSerializer<number> = {
  name: 'price',
  version: 1,
  serialize: (value, out) => out.writeDouble(value),
  deserialize: (input) => input.readDouble(),
};

describe('a field that cannot be aggregated', () => {
  it('is refused when the job is written, if the records are described', () => {
    for (const [aggregation, field, message] of [
      [
        'sum',
        'amuont',
        /sum\("amuont"\): the record type Sale has no field "amuont"; did you mean "amount"\?/,
      ],
      ['sum', 'shop', /sum\("shop"\): the field must be a number or a bigint.*STRING/],
      ['max', 'place', /must be a number, a bigint, a string.*ROW/],
      ['min', 'place.zap', /no field "zap"; did you mean "zip"/],
      ['sum', 'amount.x', /records of type DOUBLE have no field "x"/],
      ['sum', 2, /no field 2/],
      ['sum', '', /expected the name of a field/],
      ['sum', -1, /expected the name of a field/],
      ['sum', undefined as never, /expected the name of a field/],
    ] as const) {
      assert.throws(
        () => fieldAggregation(aggregation, field, { type: saleType }),
        (error: Error) => hasCode(error, 'INVALID_ARGUMENT') && message.test(error.message),
        `${aggregation} ${field}`,
      );
    }
  });

  it('is left to each record where the type allows values that can be', () => {
    const type = Types.ROW({
      stage: Types.LITERAL('paid', 'new'),
      size: Types.EITHER(Types.LONG, Types.BIGINT),
      price: Types.NULLABLE(Types.CUSTOM(price)),
      none: Types.LITERAL(null),
    });
    assert.equal(
      fieldAggregation<{ stage: string }>('min', 'stage', { type }).reduce(
        { stage: 'paid' },
        { stage: 'new' },
      ).stage,
      'new',
    );
    for (const field of ['size', 'price']) fieldAggregation('sum', field, { type });
    for (const [aggregation, field] of [
      ['sum', 'stage'],
      ['min', 'none'],
    ] as const) {
      assert.throws(() => fieldAggregation(aggregation, field, { type }), /but it is described as LITERAL/);
    }
  });

  it('is an error that names the operator, from the first record on', async () => {
    const good = { shop: 'a', amount: 1 };
    for (const [records, message] of [
      [[{ shop: 'a' }], /sum\("amount"\).*found undefined/],
      [[good, { shop: 'a', amount: Number.NaN }], /found the number NaN/],
      [[good, { shop: 'a', amount: '2' }], /found the string "2"/],
      [[good, { shop: 'a', amount: 2n }], /of one type, found the number 1 and a bigint/],
      [[{ shop: 'a', amount: null }], /found null/],
    ] as const) {
      const harness = await OperatorHarness.open({
        create: () => {
          const { reduce, check } = fieldAggregation<unknown>('sum', 'amount');
          return new ReduceOperator(reduce, undefined, check);
        },
        name: 'totals',
        key: { selectors: [(each: { shop: string }) => each.shop] },
      });
      assert.throws(
        () => records.forEach((each) => harness.process(each)),
        (error: Error) =>
          hasCode(error, 'USER_FUNCTION_FAILED') &&
          /'totals'/.test(error.message) &&
          message.test(error.message),
        String(message),
      );
      await harness.close();
    }
    const { check } = fieldAggregation<unknown>('max', 'at');
    assert.throws(() => check({ at: new Date(Number.NaN) }), /an invalid Date/);
    assert.throws(() => check({ at: [] }), /found an instance of Array/);
  });
});

describe('a rolling aggregation', () => {
  for (const type of [saleType, undefined]) {
    it(`gives the same in all modes, ${type === undefined ? 'undescribed' : 'described'}`, async () => {
      const events = await runOperatorThroughAllModes(
        {
          create: () => {
            const { reduce, check } = fieldAggregation<Sale>('max', 'amount', { type });
            return new ReduceOperator(reduce, type, check);
          },
          key: { selectors: [(each: Sale) => each.shop], type: Types.STRING },
          inputTypes: [type],
          outputType: type,
        },
        [
          { value: sale(1, 5), timestampMs: 1 },
          { value: { ...sale(2, 1), shop: 'b' }, timestampMs: 2 },
          { value: sale(3, 4), timestampMs: 3 },
          { value: sale(4, 9), timestampMs: 4 },
        ],
      );
      const results = events.flatMap((event) => (event.kind === 'record' ? [event.value as Sale] : []));
      assert.deepEqual(
        results.map(({ id, amount }) => [id, amount]),
        [
          [1, 5],
          [2, 1],
          [1, 5],
          [1, 9],
        ],
      );
    });
  }
});
