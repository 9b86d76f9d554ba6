import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Types } from '../../types/index.ts';
import { csvLines } from '../file/csv-format.ts';
import { jsonLines } from '../file/line-format.ts';
import { csvFormat } from './csv-format.ts';
import { jsonLinesFormat } from './json-lines-format.ts';
import { UnwritableRecord } from './row-format.ts';

const json = jsonLinesFormat<unknown>();
const refused = (pattern: RegExp) => (error: unknown) =>
  error instanceof UnwritableRecord && pattern.test(error.message);

test('values that JSON does not know are written as documented', () => {
  const record = {
    big: 2n ** 70n,
    on: new Date('2024-01-02T03:04:05.678Z'),
    bytes: new Uint8Array([1, 2]),
    counts: new Map([['a', 1n]]),
    pairs: new Map([[1, 'x']]),
    set: new Set([1]),
    gone: undefined,
    nothing: null,
    inner: [{ gone: undefined, big: 1n }],
  };
  assert.equal(
    json.encode(record),
    '{"big":"1180591620717411303424","on":"2024-01-02T03:04:05.678Z","bytes":"AQI=","counts":{"a":"1"},' +
      '"pairs":[[1,"x"]],"set":[1],"nothing":null,"inner":[{"big":"1"}]}\n',
  );
});

test('values that JSON would silently change are refused, with their place', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  assert.throws(() => json.encode(undefined), refused(/the record is undefined/));
  assert.throws(() => json.encode({ a: [1, Number.NaN] }), refused(/"a\[1\]" is NaN/));
  assert.throws(() => json.encode({ a: { f() {} } }), refused(/"a\.f" is a function/));
  assert.throws(() => json.encode([undefined]), refused(/"\[0\]" is undefined/));
  assert.throws(() => json.encode({ on: new Date(Number.NaN) }), refused(/an invalid date/));
  assert.throws(() => json.encode({ r: /x/ }), refused(/"r" is a RegExp/));
  assert.throws(() => json.encode(cycle), refused(/a cycle/));
});

test('what is written as JSON lines is read back by its type', () => {
  const type = Types.ROW({
    text: Types.STRING,
    big: Types.BIGINT,
    on: Types.DATE,
    maybe: Types.OPTIONAL(Types.LONG),
    counts: Types.MAP(Types.LONG, Types.STRING),
  });
  const parse = jsonLines(type).createParser(undefined);
  const record = fc.record(
    {
      text: fc.string({ unit: 'binary' }),
      big: fc.bigInt(),
      on: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }),
      maybe: fc.option(fc.maxSafeInteger(), { nil: undefined }),
      counts: fc.array(fc.tuple(fc.integer(), fc.string())).map((pairs) => new Map(pairs)),
    },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(record, (value) => {
      const line = json.encode(value);
      assert.equal(line.indexOf('\n'), line.length - 1);
      assert.deepEqual(parse(line.slice(0, -1)), value);
    }),
  );
});

test('what is written as CSV is read back, whatever characters it has', () => {
  const columns = ['a', 'b,"'] as const;
  const text = fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '\n', ' ', 'ü') });
  const row = fc.record({ a: text, 'b,"': text }, { noNullPrototype: true });
  for (const delimiter of [',', ';']) {
    const format = csvFormat<{ a: string; 'b,"': string }>(columns, { delimiter });
    const parse = csvLines<{ a: string; 'b,"': string }>({ delimiter, multiline: true }).createParser(
      format.header!.slice(0, -1),
    );
    fc.assert(fc.property(row, (value) => assert.deepEqual(parse(format.encode(value).slice(0, -1)), value)));
  }
});

test('CSV fields: nothing is empty, dates and numbers are text, objects are refused', () => {
  const format = csvFormat<Record<'a' | 'b' | 'c', unknown>>(['a', 'b', 'c'], { lineBreak: '\r\n' });
  assert.equal(format.header, 'a,b,c\r\n');
  assert.equal(format.encode({ a: null, b: undefined, c: 10n }), ',,10\r\n');
  assert.equal(format.encode({ a: 1.5, b: true, c: new Date(0) }), '1.5,true,1970-01-01T00:00:00.000Z\r\n');
  assert.throws(() => format.encode({ a: [1], b: 1, c: 1 }), refused(/column "a" is a Array/));
  assert.equal(csvFormat<{ a: string }>(['a']).encode({ a: '' }), '""\n');
});
