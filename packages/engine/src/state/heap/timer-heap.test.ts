import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TimerHeap } from './timer-heap.ts';

type Timer = readonly [timestamp: number, hash: number, row: number];

const byOrder = (a: Timer, b: Timer) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];

function drain(heap: TimerHeap): [number, number][] {
  const drained: [number, number][] = [];
  for (; heap.size > 0; heap.pop()) drained.push([heap.firstTimestamp, heap.firstRow]);
  return drained;
}

const timers = fc
  .array(fc.tuple(fc.integer({ min: -5, max: 5 }), fc.integer({ min: -3, max: 3 })), { maxLength: 300 })
  .map((pairs) => pairs.map(([timestamp, hash], row): Timer => [timestamp, hash, row + 1]));

test('timers come by timestamp, then hash, then row, in whatever order they were added', () => {
  fc.assert(
    fc.property(timers, fc.boolean(), (all, atOnce) => {
      const heap = new TimerHeap((a, b) => a - b);
      for (const [timestamp, hash, row] of all) {
        if (atOnce) heap.append(timestamp, hash, row);
        else heap.push(timestamp, hash, row);
      }
      if (atOnce) heap.heapify();
      const expected = [...all].sort(byOrder).map(([timestamp, , row]) => [timestamp, row]);
      assert.deepEqual(drain(heap), expected);
    }),
  );
});

test('filtering keeps the order of what is kept', () => {
  fc.assert(
    fc.property(timers, fc.integer({ min: 1, max: 5 }), (all, every) => {
      const heap = new TimerHeap((a, b) => a - b);
      for (const [timestamp, hash, row] of all) heap.push(timestamp, hash, row);
      heap.filter((row) => row % every === 0);
      const kept = all.filter(([, , row]) => row % every === 0);
      const expected = kept.sort(byOrder).map(([timestamp, , row]) => [timestamp, row]);
      assert.deepEqual(drain(heap), expected);
    }),
  );
});

test('timestamps at the ends of the safe integers are ordered', () => {
  const heap = new TimerHeap(() => 0);
  const stamps = [Number.MAX_SAFE_INTEGER, 0, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 1];
  stamps.forEach((stamp, i) => heap.push(stamp, 0, i + 1));
  assert.deepEqual(
    drain(heap).map(([stamp]) => stamp),
    stamps.sort((a, b) => a - b),
  );
});
