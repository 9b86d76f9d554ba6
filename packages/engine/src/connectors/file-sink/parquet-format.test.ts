import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import { parquetMetadata, parquetReadObjects } from 'hyparquet/src/index.js';
import { hasCode, silentLogger } from '../../base/index.ts';
import { createNodePlatform } from '../../platform/node/index.ts';
import { createManualPlatform } from '../../testing/manual-platform.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { SimulatedSourceHost } from '../../testing/simulated-source-host.ts';
import { type TypeInformation, Types } from '../../types/index.ts';
import { FileSource } from '../file/file-source.ts';
import { type ParquetSinkOptions, parquetPartFormat } from './parquet-format.ts';
import { UnwritableRecord } from './row-format.ts';

const platform = createNodePlatform({ logger: silentLogger });

/** The bytes of a file of `records`, and how many pieces were written. */
async function fileOf<T>(type: TypeInformation<T>, records: readonly T[], options: ParquetSinkOptions = {}) {
  const begin = await parquetPartFormat(type, options).open(platform);
  const pieces: Uint8Array[] = [];
  const part = begin({ write: (bytes) => pieces.push(bytes) });
  for (const record of records) part.add(record);
  part.finish();
  return new Uint8Array(Buffer.concat(pieces));
}

/** What our own source reads. */
async function readBySource<T>(type: TypeInformation<T>, bytes: Uint8Array): Promise<unknown[]> {
  const manual = createManualPlatform();
  await manual.files.makeDirectory('/in');
  const file = await manual.files.create('/in/a.parquet');
  await file.write(bytes);
  await file.close();
  const source = FileSource.forParquet<T>('/in', { type });
  const host = await SimulatedSourceHost.start<T>(source, manual, seededRandom(1), 1);
  while (!host.ended) await host.step(100);
  await host.close();
  return host.emitted;
}

const decompressors = {
  GZIP: (input: Uint8Array) => new Uint8Array(gunzipSync(input)),
  ZSTD: (input: Uint8Array) => new Uint8Array(zstdDecompressSync(input)),
};

function readByLibrary(bytes: Uint8Array): Promise<Record<string, unknown>[]> {
  return parquetReadObjects({ file: bytes.slice().buffer as ArrayBuffer, compressors: decompressors });
}

const flatType = Types.ROW({
  text: Types.STRING,
  long: Types.LONG,
  int: Types.INT,
  double: Types.DOUBLE,
  flag: Types.BOOLEAN,
  bytes: Types.BYTES,
  big: Types.BIGINT,
  on: Types.DATE,
  level: Types.ENUM('Level', ['low', 'high']),
  maybe: Types.OPTIONAL(Types.STRING),
  nothing: Types.NULLABLE(Types.LONG),
});

const flatRow = fc.record(
  {
    text: fc.string({ unit: 'grapheme' }),
    long: fc.maxSafeInteger(),
    int: fc.integer(),
    double: fc.double(),
    flag: fc.boolean(),
    bytes: fc.uint8Array({ maxLength: 8 }),
    big: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    on: fc.date({ noInvalidDate: true }),
    level: fc.constantFrom('low' as const, 'high' as const),
    maybe: fc.option(fc.string({ unit: 'grapheme' }), { nil: undefined }),
    nothing: fc.option(fc.maxSafeInteger(), { nil: null }),
  },
  { noNullPrototype: true },
);

test('flat rows of all types are read back by our own source, whatever the compression', async () => {
  const compression = fc.constantFrom('none', 'snappy', 'gzip', 'zstd');
  await fc.assert(
    fc.asyncProperty(fc.array(flatRow, { minLength: 1, maxLength: 40 }), compression, async (rows, codec) => {
      const bytes = await fileOf(flatType, rows, { compression: codec });
      assert.deepEqual(await readBySource(flatType, bytes), rows);
    }),
    { numRuns: 60 },
  );
});

const Point = Types.ROW({ x: Types.DOUBLE, label: Types.OPTIONAL(Types.STRING) });
const nestedType = Types.ROW({
  tags: Types.LIST(Types.STRING),
  counts: Types.MAP(Types.STRING, Types.LONG),
  at: Point,
  before: Types.OPTIONAL(Point),
  path: Types.LIST(Point),
  gaps: Types.LIST(Types.NULLABLE(Types.INT)),
  table: Types.LIST(Types.LIST(Types.INT)),
  named: Types.MAP(Types.STRING, Point),
  maybeTags: Types.NULLABLE(Types.LIST(Types.STRING)),
});

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'ü'), maxLength: 3 });
const point = fc.record(
  { x: fc.double({ noNaN: true }), label: fc.option(word, { nil: undefined }) },
  { noNullPrototype: true },
);
const mapOf = <V>(value: fc.Arbitrary<V>) =>
  fc.array(fc.tuple(word, value), { maxLength: 3 }).map((pairs) => new Map(pairs));
const nestedRow = fc.record(
  {
    tags: fc.array(word, { maxLength: 3 }),
    counts: mapOf(fc.maxSafeInteger()),
    at: point,
    before: fc.option(point, { nil: undefined }),
    path: fc.array(point, { maxLength: 3 }),
    gaps: fc.array(fc.option(fc.integer(), { nil: null }), { maxLength: 4 }),
    table: fc.array(fc.array(fc.integer(), { maxLength: 3 }), { maxLength: 3 }),
    named: mapOf(point),
    maybeTags: fc.option(fc.array(word, { maxLength: 2 }), { nil: null }),
  },
  { noNullPrototype: true },
);

test('lists, maps and rows in rows are read back by our own source', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(nestedRow, { minLength: 1, maxLength: 20 }), async (rows) => {
      const bytes = await fileOf(nestedType, rows);
      assert.deepEqual(await readBySource(nestedType, bytes), rows);
    }),
    { numRuns: 60 },
  );
});

test('other readers see the types: text, 64-bit integers, timestamps, lists', async () => {
  const type = Types.ROW({
    name: Types.STRING,
    count: Types.LONG,
    on: Types.DATE,
    tags: Types.LIST(Types.STRING),
  });
  const on = new Date('2024-06-01T12:00:00.123Z');
  const bytes = await fileOf(type, [{ name: 'ä', count: 7, on, tags: ['x', 'y'] }]);
  assert.deepEqual(await readByLibrary(bytes), [{ name: 'ä', count: 7n, on, tags: ['x', 'y'] }]);
  const { created_by: by, schema } = parquetMetadata(bytes.slice().buffer as ArrayBuffer);
  assert.equal(by, 'millrace');
  assert.deepEqual(
    schema.slice(1, 4).map((each) => [each.name, each.type, each.converted_type, each.repetition_type]),
    [
      ['name', 'BYTE_ARRAY', 'UTF8', 'REQUIRED'],
      ['count', 'INT64', undefined, 'REQUIRED'],
      ['on', 'INT64', 'TIMESTAMP_MILLIS', 'REQUIRED'],
    ],
  );
});

test('a row group is written when its rows take so much memory, and the rest at the end', async () => {
  const type = Types.ROW({ text: Types.STRING });
  const rows = Array.from({ length: 100 }, (_, i) => ({ text: `${i}`.padEnd(1000, 'x') }));
  const bytes = await fileOf(type, rows, { rowGroupSize: '30 kb' });
  const groups = parquetMetadata(bytes.slice().buffer as ArrayBuffer).row_groups;
  assert.deepEqual(
    groups.map((group) => Number(group.num_rows)),
    [30, 30, 30, 10],
  );
  assert.deepEqual(await readBySource(type, bytes), rows);
});

test('the files of a subtask take a bounded amount of memory together', async () => {
  const begin = await parquetPartFormat(Types.ROW({ text: Types.STRING }), { rowGroupSize: '1 gb' }).open(
    platform,
  );
  const parts = Array.from({ length: 8 }, () => begin({ write() {} }));
  const text = 'y'.repeat(1024 * 1024);
  let most = 0;
  for (let i = 0; i < 200; i++) {
    parts[i % parts.length]!.add({ text });
    most = Math.max(
      most,
      parts.reduce((sum, part) => sum + part.pendingBytes, 0),
    );
  }
  assert.ok(most > 32 * 1024 * 1024 && most < 66 * 1024 * 1024, `${most} bytes`);
  for (const part of parts) part.abandon?.();
});

test('values that are not of the type are refused, with their place', async () => {
  const type = Types.ROW({
    count: Types.OPTIONAL(Types.INT),
    big: Types.OPTIONAL(Types.BIGINT),
    on: Types.OPTIONAL(Types.DATE),
    path: Types.OPTIONAL(Types.LIST(Types.ROW({ name: Types.STRING }))),
  });
  const begin = await parquetPartFormat(type, {}).open(platform);
  const part = begin({ write() {} });
  const refused = (record: object, pattern: RegExp): void =>
    assert.throws(
      () => part.add(record as never),
      (error: unknown) => error instanceof UnwritableRecord && pattern.test(error.message),
    );
  refused({ count: 2 ** 31 }, /"count" is 2147483648; expected an integer of 32 bits/);
  refused({ big: 2n ** 63n }, /"big" is .*; expected a bigint of at most 64 bits/);
  refused({ on: new Date(Number.NaN) }, /"on" is a Date; expected a valid Date/);
  refused({ path: [{ name: 'a' }, { name: 1 }] }, /"path\[1\]\.name" is 1; expected a string/);
  refused({ path: [{ name: '\ud800' }] }, /"path\[0\]\.name" is .*lone surrogates/);
  part.add({});
  part.finish();
});

test('types that Parquet cannot hold are refused when the sink is made', () => {
  const refused = (type: TypeInformation<unknown>, pattern: RegExp): void =>
    assert.throws(
      () => parquetPartFormat(type, {}),
      (error: Error) => hasCode(error, 'INVALID_ARGUMENT') && pattern.test(error.message),
    );
  refused(Types.STRING, /type is a STRING; expected the fields of a row/);
  refused(Types.ROW({}), /a row without fields/);
  refused(Types.ROW({ a: Types.GENERIC() }), /"a" is of type GENERIC/);
  refused(Types.ROW({ a: Types.LIST(Types.TUPLE(Types.INT)) }), /"a\[\]" is of type TUPLE/);
  refused(Types.ROW({ a: Types.MAP(Types.LONG, Types.INT) }), /"a" is a MAP with keys of type LONG/);
  assert.throws(
    () => parquetPartFormat(Types.ROW({ a: Types.INT }), { compression: 'lz4' as never }),
    /expected one of none, snappy, gzip, zstd/,
  );
});
