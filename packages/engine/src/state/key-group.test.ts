import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { hasCode } from '../base/index.ts';
import { checkParallelism, defaultMaxParallelism, keyGroupOf, rangeOf, subtaskOf } from './key-group.ts';

const vectors: [hash: number, maxParallelism: number, group: number][] = [
  [593689054, 128, 94],
  [68075478, 128, 86],
  [1982413648, 128, 80],
  [1134849565, 128, 29],
  [1653689534, 128, 62],
  [1718298732, 128, 108],
  [1455541201, 128, 81],
  [1715862179, 128, 35],
  [1715862179, 300, 179],
  [23124534, 128, 54],
  [1600933524, 128, 20],
];

test('key groups agree with the vectors of Flink, whichever sign the hash has', () => {
  for (const [hash, maxParallelism, group] of vectors) {
    assert.equal(keyGroupOf(hash, maxParallelism), group);
    assert.equal(keyGroupOf(-hash, maxParallelism), group);
  }
});

test('the hash without positive counterpart is in group 0', () => {
  for (const m of [1, 7, 128, 300, 32768]) assert.equal(keyGroupOf(-2147483648, m), 0);
  assert.equal(keyGroupOf(-2147483647, 300), 2147483647 % 300);
  assert.equal(keyGroupOf(2147483647, 300), 2147483647 % 300);
});

test('ranges agree with the vectors of Flink', () => {
  const ranges = (p: number, m: number) =>
    Array.from({ length: p }, (_, i) => rangeOf(i, p, m)).map((r) => [r.first, r.last]);
  assert.deepEqual(ranges(1, 128), [[0, 127]]);
  assert.deepEqual(ranges(2, 128), [
    [0, 63],
    [64, 127],
  ]);
  assert.deepEqual(ranges(3, 128), [
    [0, 42],
    [43, 85],
    [86, 127],
  ]);
  assert.deepEqual(ranges(3, 10), [
    [0, 3],
    [4, 6],
    [7, 9],
  ]);
  assert.deepEqual(ranges(7, 300), [
    [0, 42],
    [43, 85],
    [86, 128],
    [129, 171],
    [172, 214],
    [215, 257],
    [258, 299],
  ]);
});

test('the default max parallelism agrees with the vectors of Flink', () => {
  const expected = [
    [1, 128],
    [85, 128],
    [86, 256],
    [128, 256],
    [200, 512],
    [500, 1024],
    [20000, 32768],
    [32768, 32768],
  ];
  for (const [p, m] of expected) assert.equal(defaultMaxParallelism(p!), m);
});

const parallelisms = fc
  .integer({ min: 1, max: 32768 })
  .chain((m) => fc.tuple(fc.integer({ min: 1, max: m }), fc.constant(m)));

test('ranges of all subtasks cover all key groups once and in order, and subtaskOf inverts them', () => {
  fc.assert(
    fc.property(parallelisms, ([p, m]) => {
      let next = 0;
      const step = Math.max(1, Math.floor(p / 50));
      for (let i = 0; i < p; i++) {
        const { first, last } = rangeOf(i, p, m);
        assert.equal(first, next);
        assert.ok(last >= first);
        next = last + 1;
        if (i % step === 0) {
          assert.equal(subtaskOf(first, p, m), i);
          assert.equal(subtaskOf(last, p, m), i);
        }
      }
      assert.equal(next, m);
    }),
    { numRuns: 50 },
  );
});

test('any 32-bit hash has a key group within the max parallelism', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -2147483648, max: 2147483647 }),
      fc.integer({ min: 1, max: 32768 }),
      (h, m) => {
        const group = keyGroupOf(h, m);
        assert.ok(Number.isInteger(group) && group >= 0 && group < m);
        assert.equal(Object.is(group, -0), false);
      },
    ),
  );
});

test('parallelisms that are no numbers of subtasks are refused with what is allowed', () => {
  const refused = (p: number, m: number, words: RegExp) =>
    assert.throws(
      () => checkParallelism(p, m),
      (error: Error) => hasCode(error, 'INVALID_ARGUMENT') && words.test(error.message),
    );
  refused(1, 0, /from 1 to 32768, not 0/);
  refused(1, 32769, /not 32769/);
  refused(1, 12.5, /not 12.5/);
  refused(1, Number.NaN, /not NaN/);
  refused(0, 128, /positive integer, not 0/);
  refused(1.5, 128, /not 1.5/);
  refused(129, 128, /parallelism 129 is above the max parallelism 128/);
  assert.throws(() => rangeOf(2, 2, 128), /subtask 2 is not one of 0 .. 1/);
  checkParallelism(32768, 32768);
});
