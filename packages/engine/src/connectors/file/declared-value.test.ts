import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Types } from '../../types/index.ts';
import { converterTo } from './declared-value.ts';

test('values become what is declared', () => {
  const type = Types.ROW({
    long: Types.LONG,
    date: Types.DATE,
    big: Types.BIGINT,
    bytes: Types.BYTES,
    tags: Types.LIST(Types.STRING),
    counts: Types.MAP(Types.STRING, Types.INT),
    pair: Types.TUPLE(Types.STRING, Types.DOUBLE),
    gone: Types.OPTIONAL(Types.STRING),
    empty: Types.NULLABLE(Types.STRING),
  });
  const convert = converterTo(type);
  const found = convert(
    {
      long: 12n,
      date: '2024-03-01 10:00',
      big: '12345678901234567890',
      bytes: 'AQI=',
      tags: ['a'],
      counts: { x: 1 },
      pair: ['p', 2],
      extra: 'dropped',
      gone: null,
    },
    '',
  );
  assert.deepEqual(found, {
    long: 12,
    date: new Date('2024-03-01T10:00:00Z'),
    big: 12345678901234567890n,
    bytes: new Uint8Array([1, 2]),
    tags: ['a'],
    counts: new Map([['x', 1]]),
    pair: ['p', 2],
    gone: undefined,
    empty: null,
  });
});

test('a value that does not fit names its field, what was expected and what was found', () => {
  const convert = converterTo(Types.ROW({ items: Types.LIST(Types.ROW({ n: Types.INT })) }));
  assert.throws(() => convert({ items: [{ n: 1 }, { n: 2 ** 31 }] }, ''), {
    message: 'expected a whole number of 32 bits in "items[1].n", found 2147483648',
  });
  assert.throws(() => convert({ items: [{}] }, ''), { message: /in "items\[0\]\.n", found nothing/ });
  assert.throws(() => convert([], ''), { message: 'expected an object, found an array of 0' });
});

test('sets, records, literals and unions are made of arrays, objects and what names their type', () => {
  const convert = converterTo(
    Types.ROW({
      set: Types.SET(Types.LONG),
      record: Types.RECORD(Types.DATE),
      literal: Types.LITERAL(1, 'x', null),
      event: Types.UNION(
        'kind',
        Types.ROW({ kind: Types.LITERAL('created'), at: Types.DATE }),
        Types.ROW({ kind: Types.LITERAL('paid'), amount: Types.INT }),
      ),
    }),
  );
  const from = {
    set: [1, 1n],
    record: { a: 5 },
    literal: 'x',
    event: { kind: 'created', at: '2024-03-01' },
  };
  assert.deepEqual(convert(from, ''), {
    set: new Set([1]),
    record: { a: new Date(5) },
    literal: 'x',
    event: { kind: 'created', at: new Date('2024-03-01T00:00:00Z') },
  });
  assert.throws(() => convert({ ...from, literal: 2 }, ''), {
    message: /one of 1, x, null in "literal", found 2/,
  });
  assert.throws(() => convert({ ...from, event: { kind: 'sent' } }, ''), {
    message: /one of created, paid in "event\.kind"/,
  });
  assert.throws(() => convert({ ...from, record: [] }, ''), { message: /an object in "record"/ });
});
