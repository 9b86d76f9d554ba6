import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { hasCode } from '../../base/index.ts';
import {
  addSlot,
  bucketIndex,
  EMPTY_TABLE,
  grownTable,
  removeSlot,
  replaceSlot,
  reservedTable,
  shrunkTable,
} from './slot-table.ts';

/** Hashes of which many fall into one bucket. */
const hashes = fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }));

function find(table: Int32Array, hash: number): number[] {
  const rows: number[] = [];
  const mask = table.length - 1;
  for (let i = bucketIndex(hash, table.length); table[i + 1] !== 0; i = (i + 2) & mask) {
    if (table[i] === hash) rows.push(table[i + 1]!);
  }
  return rows.sort((a, b) => a - b);
}

test('what was added and not removed is found by its hash, whatever came in between', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(hashes, fc.nat(3)), { maxLength: 200 }), (steps) => {
      const model = new Map<number, number>();
      let table = EMPTY_TABLE;
      let nextRow = 1;
      for (const [hash, what] of steps) {
        const victim = [...model.keys()][Math.abs(hash) % (model.size + 1)];
        if (what < 2 || victim === undefined) {
          table = grownTable(table, model.size);
          addSlot(table, hash, nextRow);
          model.set(nextRow++, hash);
        } else if (what === 2) {
          removeSlot(table, model.get(victim)!, victim);
          model.delete(victim);
          table = shrunkTable(table, model.size);
        } else {
          replaceSlot(table, model.get(victim)!, victim, nextRow);
          model.set(nextRow++, model.get(victim)!);
          model.delete(victim);
        }
        assert.ok(model.size * 8 <= table.length * 3 || table === EMPTY_TABLE);
      }
      for (const hash of new Set(model.values())) {
        const expected = [...model].filter(([, each]) => each === hash).map(([row]) => row);
        assert.deepEqual(find(table, hash), expected);
      }
      assert.equal(table.filter((word, i) => i % 2 === 1 && word !== 0).length, model.size);
    }),
  );
});

test('a table grows with its entries and shrinks when they go', () => {
  let table = EMPTY_TABLE;
  for (let i = 1; i <= 10_000; i++) {
    table = grownTable(table, i - 1);
    addSlot(table, Math.imul(i, 0x01000193), i);
  }
  assert.equal(table.length, 32768);
  for (let i = 10_000; i > 0; i--) {
    removeSlot(table, Math.imul(i, 0x01000193), i);
    table = shrunkTable(table, i - 1);
  }
  assert.equal(table.length, 16);
  assert.equal(reservedTable(table, 3000).length, 8192);
  assert.equal(reservedTable(table, 3), table);
});

test('the empty table stays empty', () => {
  assert.deepEqual([...EMPTY_TABLE], [0, 0, 0, 0]);
  assert.notEqual(grownTable(EMPTY_TABLE, 0), EMPTY_TABLE);
  assert.equal(shrunkTable(EMPTY_TABLE, 0), EMPTY_TABLE);
});

test('a row that is not in the table is an assertion and no endless loop', () => {
  const table = grownTable(EMPTY_TABLE, 0);
  addSlot(table, 1, 5);
  assert.throws(
    () => removeSlot(table, 1, 6),
    (error) => hasCode(error, 'ASSERTION_FAILED'),
  );
});
