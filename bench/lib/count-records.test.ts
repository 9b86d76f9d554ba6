import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  bufferRecords,
  type CountInput,
  type CountRecord,
  checkTotals,
  expectedTotals,
  recordMaker,
  recordTypeOf,
} from './count-records.ts';
import { EncodedRecords } from './encoded-source.ts';

/** What comes out when the records that sources emit are counted one by one. */
function countedTotals(input: CountInput, subtasks: number, recordsEach: number) {
  const counts = new Map<unknown, number>();
  let results = 0;
  let sum = 0;
  for (let subtask = 0; subtask < subtasks; subtask++) {
    const options = {
      type: recordTypeOf(input.keyKind),
      maker: (of: number) => recordMaker(input, of),
      bufferRecords: bufferRecords(input.keys),
      recordsPerSubtask: recordsEach,
    };
    const collect = ({ key, value }: CountRecord): void => {
      if (value * 2 <= 100) return;
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      results++;
      sum += count;
    };
    const source = new EncodedRecords(options, subtask);
    for (let next = 0; next < recordsEach; next += 777) {
      source.emit({ collect }, next, Math.min(777, recordsEach - next));
    }
  }
  return { keys: counts.size, totals: { results, sum } };
}

for (const keyKind of ['string', 'number'] as const) {
  it(`the expected totals are those of the records that the source emits, with ${keyKind} keys`, () => {
    const input: CountInput = { keys: 900, keyKind };
    const buffer = bufferRecords(input.keys);
    for (const recordsEach of [1000, buffer, buffer + 12_345, buffer * 2 + 1]) {
      const { totals } = countedTotals(input, 2, recordsEach);
      assert.deepEqual(expectedTotals(input.keys, 2, recordsEach), totals);
    }
  });
}

it('one round of the buffer has every key', () => {
  const input: CountInput = { keys: 100_000, keyKind: 'number' };
  assert.equal(countedTotals(input, 1, bufferRecords(input.keys)).keys, input.keys);
});

it('totals that differ are refused', () => {
  const expected = { results: 10, sum: 55 };
  checkTotals({ ...expected }, expected);
  assert.throws(() => checkTotals({ results: 9, sum: 55 }, expected), /wrong result: 9 counts/);
  assert.throws(() => checkTotals({ results: 10, sum: 54 }, expected), /expected 10 that add up to 55/);
});
