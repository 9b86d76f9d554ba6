import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ComparisonRules, differenceOf } from './compare-results.ts';

const rules: ComparisonRules = { guarantee: 'exactly-once', orderedBy: undefined, compare: undefined };
const kindOf = (found: readonly unknown[], expected: readonly unknown[], other = rules): string | undefined =>
  differenceOf(found, expected, other)?.kind;

describe('results', () => {
  it('are the same in any order, and whatever the order of their fields', () => {
    assert.equal(kindOf([{ a: 1, b: [2] }, 'x'], ['x', { b: [2], a: 1 }]), undefined);
  });

  it('are not the same if the kind of a value differs', () => {
    for (const other of ['1', 1n, [1], { valueOf: 1 }, null, new Date(1)])
      assert.equal(kindOf([other], [1]), 'changed');
  });

  it('are lost, there too often, not expected, or others', () => {
    assert.deepEqual(differenceOf([1], [1, 2, 2], rules), { kind: 'lost', lines: ['missing: 2'] });
    assert.deepEqual(differenceOf([2], [2, 2], rules)?.lines, ['missing: 2 (1 times instead of 2)']);
    assert.deepEqual(differenceOf([1, 1, 2, 2], [1, 2], rules), {
      kind: 'repeated',
      lines: ['too often: 1 (2 times instead of 1)', 'too often: 2 (2 times instead of 1)'],
    });
    assert.deepEqual(differenceOf([1, 3], [1], rules), { kind: 'unexpected', lines: ['not expected: 3'] });
    assert.deepEqual(differenceOf([3], [1], rules), {
      kind: 'changed',
      lines: ['missing: 1', 'not expected: 3'],
    });
  });

  it('are told of in a few lines of bounded length', () => {
    const many = Array.from({ length: 100 }, (_, n) => `${n}`.repeat(1000));
    const { lines } = differenceOf([], many, rules)!;
    assert.equal(lines.length, 6);
    assert.equal(lines.at(-1), 'missing: 95 more');
    assert.ok(lines.every((line) => line.length < 320));
  });

  it('at least once may come again, but must come', () => {
    const other: ComparisonRules = { ...rules, guarantee: 'at-least-once' };
    assert.equal(kindOf([1, 2, 1, 3], [1, 2, 2], other), undefined);
    assert.equal(kindOf([1], [1, 2], other), 'lost');
  });

  it('are in the order of their keys, if that is asked for', () => {
    const orderedBy = ({ key }: { readonly key: string }): string => key;
    const other = { ...rules, orderedBy } as ComparisonRules;
    const [a1, a2, b1] = [
      { key: 'a', n: 1 },
      { key: 'a', n: 2 },
      { key: 'b', n: 1 },
    ];
    assert.equal(kindOf([b1, a1, a2], [a1, a2, b1], other), undefined);
    assert.deepEqual(differenceOf([a2, b1, a1], [a1, a2, b1], other), {
      kind: 'reordered',
      lines: [`result 1 of "a" is { key: 'a', n: 2 } instead of { key: 'a', n: 1 }`],
    });
  });

  it('are compared by the user alone, if he gives a comparison', () => {
    const compare = (results: readonly unknown[]): string | undefined =>
      results.length > 1 ? 'too many' : undefined;
    assert.equal(kindOf([1], [2], { ...rules, compare }), undefined);
    assert.deepEqual(differenceOf([1, 2], [1, 2], { ...rules, compare }), {
      kind: 'told',
      lines: ['too many'],
    });
  });
});
