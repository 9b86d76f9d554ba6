import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { hasCode, silentLogger } from '../../base/index.ts';
import { createNodePlatform } from '../../platform/node/index.ts';
import type { Source } from '../../runtime/index.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { SimulatedSourceHost } from '../../testing/simulated-source-host.ts';
import { sourceContract } from '../../testing/source-contract.ts';
import { Types } from '../../types/index.ts';
import { FileSource } from './file-source.ts';
import { compileEmitRows } from './parquet-rows.ts';

// Row groups of 25, 25 and 10 rows, zstd; written by hyparquet-writer 0.17.0.
const golden = join(import.meta.dirname, 'golden/orders.parquet');
const platform = createNodePlatform({ logger: silentLogger });
const root = mkdtempSync(join(tmpdir(), 'parquet-source-'));
after(() => rmSync(root, { recursive: true }));

const Order = Types.ROW({
  id: Types.LONG,
  amount: Types.DOUBLE,
  note: Types.OPTIONAL(Types.STRING),
  at: Types.LONG,
  big: Types.BIGINT,
  later: Types.OPTIONAL(Types.INT),
});
const expected = Array.from({ length: 60 }, (_, i) => ({
  id: i,
  amount: i * 1.5,
  note: i % 5 === 0 ? undefined : `note ${i % 7}`,
  at: 1_700_000_000_000 + i * 1000,
  big: i === 59 ? 2n ** 60n : BigInt(i),
  later: undefined,
}));

sourceContract({
  name: 'Parquet rows of a declared type',
  create: () => FileSource.forParquet(golden, { type: Order }),
  platform: () => platform,
  expected,
});

async function readAll<T>(source: Source<T>): Promise<T[]> {
  const host = await SimulatedSourceHost.start(source, platform, seededRandom(1), 1);
  try {
    while (!host.ended) await host.step(17);
    return host.emitted;
  } finally {
    await host.close();
  }
}

test('without a type, values are as the file has them: exact numbers, dates, null', async () => {
  const columns = ['note', 'id', 'quantity', 'at', 'paid'];
  const rows = await readAll(FileSource.forParquet(golden, { columns }));
  assert.equal(rows.length, 60);
  assert.deepEqual(rows[5], { note: null, id: 5, quantity: 1, at: new Date(1_700_000_005_000), paid: false });
  assert.deepEqual(Object.keys(rows[0]!), columns);
});

test('a whole number that is not exact without a type is an error that says how to declare it', async () => {
  await assert.rejects(readAll(FileSource.forParquet(golden)), (error: Error) => {
    assert.ok(hasCode(error, 'SOURCE_RECORD_MALFORMED'));
    return /orders\.parquet row group 2, row 9, column "big": .*Types\.BIGINT.* found 1152921504606846976/.test(
      error.message,
    );
  });
});

test('a column that is not of its declared type is an error with its place', async () => {
  const type = Types.ROW({ note: Types.STRING });
  await assert.rejects(
    readAll(FileSource.forParquet(golden, { type })),
    /row group 0, row 0, column "note": expected a string, found null/,
  );
});

test('a column that is not there is an error before the first record', async () => {
  const host = SimulatedSourceHost.start(
    FileSource.forParquet(golden, { type: Types.ROW({ price: Types.DOUBLE }) }),
    platform,
    seededRandom(1),
    1,
  );
  await assert.rejects(host, /orders\.parquet: expected the column "price", found id, amount, quantity/);
});

test('rows are made by the class of their type', async () => {
  class Payment {
    id = 0;
    amount = 0;
    get double(): number {
      return this.amount * 2;
    }
  }
  const type = Types.POJO(Payment, { id: Types.LONG, amount: Types.DOUBLE });
  const rows = await readAll(FileSource.forParquet(golden, { type, timestampOf: (row) => row.id }));
  assert.ok(rows[4] instanceof Payment);
  assert.equal(rows[4].double, 12);
});

test('what is no Parquet file, or is damaged, is an error that names it', async () => {
  const path = join(root, 'x.parquet');
  writeFileSync(path, 'this is text, not Parquet');
  await assert.rejects(readAll(FileSource.forParquet(path)), (error: Error) => {
    return (
      hasCode(error, 'SOURCE_RECORD_MALFORMED') &&
      /x\.parquet: expected an intact Parquet file/.test(error.message)
    );
  });
});

test('a field called __proto__ is a field', () => {
  const rows: object[] = [];
  const emit = compileEmitRows<object>(['__proto__', 'a"b'], undefined, undefined);
  emit({ collect: (row) => void rows.push(row) }, [['x'], [1]], 0, 1);
  assert.deepEqual(Object.entries(rows[0]!), [
    ['__proto__', 'x'],
    ['a"b', 1],
  ]);
});
