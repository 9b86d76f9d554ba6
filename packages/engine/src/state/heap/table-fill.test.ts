import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bucketIndex, reservedTable } from './slot-table.ts';
import { TableFill } from './table-fill.ts';

const EMPTY = new Int32Array(4);

/** The row with this hash, as look-ups find it: the hashes here are all different. */
function find(table: Int32Array, hash: number): number {
  for (let index = bucketIndex(hash, table.length); ; index = (index + 2) & (table.length - 1))
    if (table[index] === hash || table[index + 1] === 0) return table[index + 1]!;
}

/** All different, in an order that has nothing to do with the buckets. */
const hashOf = (row: number): number => Math.imul(row, 0x2545f491);

test('each row of a key group is found afterwards, however many there are', () => {
  const fill = new TableFill();
  for (const rowCount of [1, 1000, 48 * 1024 - 1, 200_000, 48 * 1024, 0, 3]) {
    const table = reservedTable(EMPTY, rowCount);
    fill.begin(rowCount);
    for (let row = 1; row <= rowCount; row++) fill.add(hashOf(row), row);
    assert.equal(fill.count, rowCount);
    fill.fill(table);
    for (let row = 1; row <= rowCount; row++) {
      if (find(table, hashOf(row)) !== row) assert.fail(`row ${row} of ${rowCount} is not found`);
    }
    assert.equal(find(table, hashOf(rowCount + 1)), 0);
    const used = table.filter((value, index) => index % 2 === 1 && value !== 0).length;
    assert.equal(used, rowCount, 'no row is there twice');
  }
});

test('rows with one and the same hash have their places one after the other', () => {
  const rowCount = 50_000;
  const fill = new TableFill();
  const table = reservedTable(EMPTY, rowCount);
  fill.begin(rowCount);
  for (let row = 1; row <= rowCount; row++) fill.add(row % 100 === 0 ? 7 : hashOf(row), row);
  fill.fill(table);
  const found: number[] = [];
  for (let at = bucketIndex(7, table.length); table[at + 1] !== 0; at = (at + 2) & (table.length - 1))
    if (table[at] === 7) found.push(table[at + 1]!);
  assert.equal(found.length, rowCount / 100);
});
