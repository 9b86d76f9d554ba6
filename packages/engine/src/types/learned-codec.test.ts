/** When a place makes code of what it sees, when again, and when never more. What the code does: the property tests. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ByteView } from './index.ts';
import { LearnedReader, LearnedWriter } from './learned-codec.ts';
import { ObservedValue } from './value-shape.ts';
import { writeValue } from './write-value.ts';

const view = ByteView.allocate(1 << 14);

/** A place that writes and one that reads, and which code each of them had, in order. */
function places() {
  const writer = new LearnedWriter('test');
  const reader = new LearnedReader('test');
  const writes = new Set([writer.write]);
  const reads = new Set([reader.read]);
  const pass = (value: unknown) => {
    ok(writer.write(view, value, 0, view.limit) > 0);
    writes.add(writer.write);
    deepStrictEqual(reader.read(view, 0), value);
    reads.add(reader.read);
  };
  /** How often code was made, and what is called now. */
  const state = () => [writes.size - 1, writer.write.name, reads.size - 1, reader.read.name];
  return { pass, state };
}

const LEARNED = ['writeLearned', 'readLearned'] as const;
const after = (count: number) => [count, LEARNED[0], count, LEARNED[1]];

describe('a place where undescribed values are written or read', () => {
  it('makes code of the first 64 values, and keeps it while they stay alike', () => {
    const { pass, state } = places();
    for (let i = 0; i < 63; i++) pass({ id: `o-${i}`, amount: i });
    deepStrictEqual(state(), [0, 'missed', 0, 'missed']);
    pass({ id: 'o-63', amount: 63 });
    deepStrictEqual(state(), after(1));
    for (let i = 0; i < 100_000; i++) pass(i % 50 === 0 ? [i] : { id: `o-${i}`, amount: i });
    deepStrictEqual(state(), after(1));
  });

  it('makes code anew when many values are of another shape, for the old ones and the new ones', () => {
    const { pass, state } = places();
    for (let i = 0; i < 1000; i++) pass({ id: `o-${i}`, amount: i });
    for (let i = 0; i < 1000; i++) pass({ id: `o-${i}`, amount: null });
    deepStrictEqual(state(), after(2));
    for (let i = 0; i < 5000; i++) pass({ id: `o-${i}`, amount: i % 3 === 0 ? null : i });
    for (let i = 0; i < 5000; i++) pass({ id: `o-${i}`, amount: i % 2 === 0 ? null : i, note: 'x' });
    deepStrictEqual(state(), after(3));
  });

  it('leaves values without a common shape to the general codec, for good', () => {
    const { pass, state } = places();
    for (let i = 0; i < 25_000; i++) pass({ [`user-${i}`]: i });
    deepStrictEqual(state(), [1, 'writeGeneral', 1, 'readValue']);
  });

  it('makes code four times at most, and goes on using it if it takes most values', () => {
    const { pass, state } = places();
    for (let phase = 0; phase < 12; phase++) {
      for (let i = 0; i < 10_000; i++) pass(i % 2 === 0 ? { id: i } : { [`phase-${phase}`]: i });
    }
    const [writes, writeName, reads, readName] = state();
    ok((writes as number) <= 4 && (writes as number) > 1 && writes === reads);
    deepStrictEqual([writeName, readName], LEARNED);
  });

  it('copies what it has learned to write, and what is written because it was not copied it learns', () => {
    const writer = new LearnedWriter('test');
    /** How many of so many values, written if there is no copy, were copied. */
    const copied = (count: number, make: (i: number) => object) => {
      let copies = 0;
      for (let i = 0; i < count; i++) {
        const value = make(i);
        const copy = writer.copy(value);
        if (copy === undefined) ok(writer.write(view, value, 0, view.limit) > 0);
        else {
          deepStrictEqual(copy, value);
          copies++;
        }
      }
      return copies;
    };
    strictEqual(
      copied(64, (i) => ({ id: i })),
      0,
    );
    strictEqual(
      copied(1000, (i) => ({ id: i })),
      1000,
    );
    // Few are of another kind: they are written.
    strictEqual(
      copied(1000, (i) => ({ id: i % 100 === 0 ? null : i })),
      990,
    );
    strictEqual(
      copied(1000, (i) => ({ id: `${i}` })),
      1000 - (4 * 64 - 10),
    );
    for (let i = 0; i < 25_000; i++) copied(1, () => ({ [`user-${i}`]: i }));
    strictEqual(
      copied(10, (i) => ({ id: i })),
      0,
    );
  });

  it('does not count values that are refused or do not fit', () => {
    const writer = new LearnedWriter('test');
    // What memory holds behind a value that failed must not be looked at.
    const view = ByteView.allocate(100);
    for (let i = 0; i < 1000; i++) {
      ok(writer.write(view, { id: 'x', call: Math.max }, 0, view.limit) < 0);
      ok(writer.write(view, { id: 'x' }, 0, 5) < 0);
    }
    strictEqual(writer.write.name, 'missed');
  });
});

describe('what is observed of undescribed values', () => {
  const shapeOf = (values: readonly unknown[]) => {
    const observed = new ObservedValue();
    for (const value of values) {
      writeValue(view, value, 0, view.limit, false);
      observed.observe(view, 0);
    }
    return observed.learn();
  };

  it('is which kinds and shapes there were, the frequent ones first', () => {
    deepStrictEqual(shapeOf([{ a: 1 }, { b: 'x', a: null }, { b: 'y', a: true }, 5, [1n]]), {
      simple: ['number'],
      objects: [
        {
          names: ['b', 'a'],
          values: [
            { simple: ['string'], objects: [], element: undefined, others: false },
            { simple: ['boolean', 'null'], objects: [], element: undefined, others: false },
          ],
        },
        {
          names: ['a'],
          values: [{ simple: ['number'], objects: [], element: undefined, others: false }],
        },
      ],
      element: { simple: ['bigint'], objects: [], element: undefined, others: false },
      others: false,
    });
  });

  it('is bounded: four shapes, a depth of five, a few hundred fields', () => {
    const many = shapeOf(Array.from({ length: 5 }, (_, i) => ({ [`f${i}`]: 1 })));
    strictEqual(many.objects.length, 4);
    ok(many.others);
    const rare = shapeOf([...Array.from({ length: 20 }, () => ({ a: 1 })), { b: 1 }]);
    strictEqual(rare.objects.length, 1);
    ok(rare.others);
    const wide = shapeOf([Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`f${i}`, i]))]);
    strictEqual(wide.objects.length, 0);
    ok(shapeOf([[undefined]]).others);
    const deep = shapeOf([[[[[[[1]]]]]]]);
    strictEqual(deep.element?.element?.element?.element?.element?.others, true);
    strictEqual(deep.element?.element?.element?.element?.element?.element, undefined);
    const tree = (depth: number): object =>
      depth === 0 ? {} : Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`f${i}`, tree(depth - 1)]));
    const fields = JSON.stringify(shapeOf([tree(3)])).match(/"f\d"/g)!.length;
    ok(fields <= 200, `${fields} fields`);
  });
});
