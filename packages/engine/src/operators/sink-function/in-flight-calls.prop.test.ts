import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InFlightCalls } from './in-flight-calls.ts';

type Step = 'record' | 'snapshot' | { readonly done: number };

test('records are called in order, no more than allowed at a time, and a snapshot waits for those before it', async () => {
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 3, arbitrary: fc.constant('record' as const) },
    { weight: 3, arbitrary: fc.record({ done: fc.nat() }) },
    { weight: 1, arbitrary: fc.constant('snapshot' as const) },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.integer({ min: 1, max: 4 }),
      async (steps, callsMax) => {
        const calls = new InFlightCalls<number>(callsMax);
        const called: { readonly ticket: number; readonly value: number }[] = [];
        const order: number[] = [];
        const done = new Set<number>();
        const snapshots: { readonly before: number; isComplete: boolean }[] = [];
        let records = 0;
        const call = (ticket: number, value: number): void => {
          called.push({ ticket, value });
          order.push(value);
          assert.ok(called.length <= callsMax);
        };
        const finish = (index: number): void => {
          const [{ ticket, value }] = called.splice(index, 1) as [(typeof called)[0]];
          done.add(value);
          calls.done(ticket);
          for (let next = calls.next(); next !== undefined; next = calls.next())
            call(next.ticket, next.value);
        };
        const check = async (): Promise<void> => {
          await Promise.resolve();
          await Promise.resolve();
          for (const { before, isComplete } of snapshots) {
            const isCovered = Array.from({ length: before }, (_, i) => i).every((value) => done.has(value));
            assert.equal(isComplete, isCovered);
          }
        };
        for (const each of steps) {
          if (each === 'snapshot') {
            const snapshot = { before: records, isComplete: false };
            snapshots.push(snapshot);
            void calls.allSoFar().then(() => (snapshot.isComplete = true));
          } else if (each === 'record') {
            const value = records++;
            assert.equal(calls.room() === undefined, !calls.isFull);
            if (calls.isFull) calls.wait(value, 0);
            else call(calls.begin(), value);
          } else if (called.length > 0) finish(each.done % called.length);
          await check();
        }
        while (called.length > 0) finish(0);
        await check();
        assert.deepEqual(
          order,
          Array.from({ length: records }, (_, i) => i),
        );
        assert.equal(calls.room(), undefined);
      },
    ),
  );
});

test('after a failure whoever waits is told, and whoever asks later', async () => {
  const calls = new InFlightCalls<string>(1);
  calls.begin();
  calls.wait('b', 0);
  const room = calls.room();
  const snapshot = calls.allSoFar();
  calls.fail(new Error('gone'));
  await assert.rejects(snapshot, /gone/);
  await assert.rejects(calls.allSoFar(), /gone/);
  await room;
});
