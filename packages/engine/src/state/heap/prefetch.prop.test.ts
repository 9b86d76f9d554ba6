import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type TypeInformation, Types } from '../../types/index.ts';
import { ValueStateDescriptor } from '../descriptors.ts';
import { createHeapKeyedStateBackend, type HeapTuning } from './heap-keyed-state-backend.ts';

/** Few hashes, of both signs and of few key groups: most keys share theirs with others. */
const HASHES = [7, -7, 7 + 128, -(2 ** 31)];
const KEYS = 12;

/** Keys that are compared in each of the ways there are, external ones included. */
const KEY_KINDS: readonly (readonly [TypeInformation<unknown> | undefined, (index: number) => unknown])[] = [
  [Types.STRING, (index) => 'k'.repeat(index)],
  [Types.STRING, (index) => String(index).repeat(40)],
  [Types.LONG, (index) => index],
  [undefined, (index) => (index % 2 === 0 ? index : String(index - 1))],
  [undefined, (index) => ({ id: index })],
];

async function countsBy(keyType: TypeInformation<unknown> | undefined, prefetchBytesMin: number) {
  const tuning: HeapTuning = { pageBytes: 256, chunkBytes: 1024, prefetchBytesMin };
  const backend = await createHeapKeyedStateBackend<unknown>({
    keyType,
    keyGroups: { first: 0, last: 127 },
    maxParallelism: 128,
    processingTimeMs: () => 0,
    operatorName: 'counts',
    tuning,
  });
  return { backend, state: backend.getValueState(new ValueStateDescriptor('count', Types.STRING)) };
}

/** One record: its key, and what is done with the value. */
const records = fc.array(
  fc.record({
    key: fc.nat(KEYS - 1),
    action: fc.constantFrom('read', 'append', 'append', 'clear'),
    // Such a key was not in the batch that was announced, or is not processed though it was.
    isAnnounced: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
    isProcessed: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
  }),
  { maxLength: 30 },
);

test('states whose rows were found ahead hold what states hold whose rows were not', async () => {
  for (const [keyType, keyOf] of KEY_KINDS) {
    await fc.assert(
      fc.asyncProperty(fc.array(records, { maxLength: 12 }), async (batches) => {
        const ahead = await countsBy(keyType, 0);
        const plain = await countsBy(keyType, Number.POSITIVE_INFINITY);
        const use = (key: number, action: string): void => {
          const values = [ahead, plain].map(({ backend, state }) => {
            backend.setCurrentKey(keyOf(key), HASHES[key % HASHES.length]!);
            const value = state.value();
            // Values grow, so that rows move.
            if (action === 'append') state.update(`${value ?? key}+`);
            if (action === 'clear') state.clear();
            return value;
          });
          assert.equal(values[0], values[1]);
          assert.ok(values[0] === undefined || values[0].startsWith(String(key)), 'the value of another key');
        };
        for (const batch of batches) {
          const announced = batch.filter(({ isAnnounced }) => isAnnounced);
          const hashes = Int32Array.from(announced, ({ key }) => HASHES[key % HASHES.length]!);
          for (const { backend } of [ahead, plain]) backend.prefetch(hashes, hashes.length);
          for (const { key, action, isProcessed } of batch) if (isProcessed) use(key, action);
        }
        for (let key = 0; key < KEYS; key++) use(key, 'read');
        assert.deepEqual(ahead.backend.statistics(), plain.backend.statistics());
      }),
      { numRuns: 60 },
    );
  }
});
