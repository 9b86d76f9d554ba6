/** The keyed backend contract: timers. */
import assert from 'node:assert/strict';
import { hasCode } from '../../base/index.ts';
import type { KeyedStateBackend, TimerQueue } from '../../state/index.ts';
import { Types } from '../../types/index.ts';
import { seededRandom } from '../seeded-random.ts';
import { type BackendCases, useKey } from './backend-workbench.ts';

const NEVER = Number.MAX_SAFE_INTEGER + 1;

/** Everything that is due, as [timestamp, key, namespace]. */
function drain<N>(backend: KeyedStateBackend<string>, timers: TimerQueue<N>, upToMs = NEVER): unknown[][] {
  const polled: unknown[][] = [];
  while (timers.poll(upToMs)) {
    assert.equal(backend.currentKeyHash, backend.hashOf(backend.currentKey));
    polled.push([timers.polledTimestamp, backend.currentKey, timers.polledNamespace]);
  }
  return polled;
}

export const timerCases: BackendCases = {
  'timers come in the order of their timestamps and set the current key': async (bench) => {
    const backend = await bench.create();
    const timers = backend.getTimerQueue('t', Types.STRING);
    assert.equal(timers.nextTimestamp(), NEVER);
    assert.equal(timers.poll(NEVER), false);
    const random = seededRandom(1);
    const expected: number[] = [];
    for (let i = 0; i < 500; i++) {
      useKey(backend, `k${i % 37}`);
      const timestamp = random.below(1_000_000) - 500_000;
      if (timers.register(timestamp, `n${i}`)) expected.push(timestamp);
    }
    expected.sort((a, b) => a - b);
    assert.equal(timers.size, 500);
    assert.equal(timers.nextTimestamp(), expected[0]);
    const first = drain(backend, timers, 0);
    assert.deepEqual(
      first.map(([timestamp]) => timestamp),
      expected.filter((timestamp) => timestamp <= 0),
    );
    assert.ok(timers.nextTimestamp() > 0);
    const rest = drain(backend, timers);
    assert.deepEqual(
      [...first, ...rest].map(([timestamp]) => timestamp),
      expected,
    );
    assert.equal(timers.size, 0);
    assert.equal(backend.statistics().entries, 0);
  },

  'a timer is there once, however often it is registered, deleted and registered again': async (bench) => {
    const backend = await bench.create();
    const timers = backend.getTimerQueue('t', Types.LONG);
    useKey(backend, 'a');
    assert.equal(timers.register(5, 1), true);
    assert.equal(timers.register(5, 1), false);
    assert.equal(timers.register(5, 2), true);
    assert.equal(timers.register(6, 1), true);
    useKey(backend, 'b');
    assert.equal(timers.register(5, 1), true);
    assert.equal(timers.size, 4);
    assert.equal(timers.delete(7, 1), false);
    assert.equal(timers.delete(5, 1), true);
    assert.equal(timers.delete(5, 1), false);
    useKey(backend, 'a');
    assert.equal(timers.delete(6, 1), true);
    assert.equal(timers.register(6, 1), true);
    assert.equal(timers.delete(5, 1), true);
    assert.equal(timers.size, 2);
    assert.deepEqual(drain(backend, timers), [
      [5, 'a', 2],
      [6, 'a', 1],
    ]);
    assert.equal(timers.register(5, 2), true, 'a timer that fired may be registered again');
    assert.equal(timers.nextTimestamp(), 5);
    assert.equal(timers.register(-0, 2), true);
    assert.equal(timers.register(0, 2), false);
  },

  'moving a timer is deleting the one and registering the other, whichever of them are there': async (
    bench,
  ) => {
    const backend = await bench.create();
    const timers = backend.getTimerQueue('t', Types.STRING);
    useKey(backend, 'b');
    timers.register(5, 'x');
    useKey(backend, 'a');
    timers.register(5, 'x');
    timers.move(5, 'x', 9, 'y');
    assert.equal(timers.size, 2);
    assert.equal(timers.delete(5, 'x'), false);
    assert.equal(timers.register(9, 'y'), false);
    timers.move(9, 'y', 12, 'z');
    timers.move(12, 'z', 7, 'longer');
    timers.move(1, 'none', 8, 'x');
    assert.equal(timers.register(5, 'x'), true, 'where one was moved from there is room');
    timers.move(5, 'x', 8, 'x');
    timers.register(6, 'x');
    timers.delete(6, 'x');
    timers.move(6, 'x', 10, 'x');
    assert.equal(timers.size, 4);
    const expected = [
      [5, 'b', 'x'],
      [7, 'a', 'longer'],
      [8, 'a', 'x'],
      [10, 'a', 'x'],
    ];
    const restored = await bench.restoreOf(backend);
    const restoredTimers = restored.getTimerQueue('t', Types.STRING);
    assert.deepEqual(
      [timers, restoredTimers].map((each) => each.lastRestoredTimestamp),
      [-Infinity, 10],
    );
    assert.deepEqual(drain(restored, restoredTimers), expected);
    assert.equal(timers.nextTimestamp(), 5);
    assert.deepEqual(drain(backend, timers), expected);
    assert.deepEqual(backend.statistics(), { entries: 0, sizeBytes: 0 });
  },

  'deleting most timers leaves the others in order': async (bench) => {
    const backend = await bench.create();
    const timers = backend.getTimerQueue('t', Types.VOID);
    const kept: number[] = [];
    for (let i = 0; i < 3000; i++) {
      useKey(backend, `k${i % 50}`);
      timers.register((i * 7919) % 3001, undefined);
    }
    for (let i = 0; i < 3000; i++) {
      useKey(backend, `k${i % 50}`);
      if (i % 10 === 3) kept.push((i * 7919) % 3001);
      else assert.equal(timers.delete((i * 7919) % 3001, undefined), true);
    }
    assert.equal(timers.size, 300);
    assert.equal(backend.statistics().entries, 300);
    assert.deepEqual(
      drain(backend, timers).map(([timestamp]) => timestamp),
      kept.sort((a, b) => a - b),
    );
    assert.deepEqual(backend.statistics(), { entries: 0, sizeBytes: 0 });
  },

  'timers of one timestamp come in an order of key and namespace, not of registration': async (bench) => {
    const items = Array.from({ length: 400 }, (_, i) => [`k${i % 40}`, `n${i}`] as const);
    const orders: unknown[][] = [];
    for (const permuted of [items, [...items].reverse(), [...items].sort((a, b) => (a[1] < b[1] ? -1 : 1))]) {
      const backend = await bench.create();
      const timers = backend.getTimerQueue('t', Types.STRING);
      for (const [key, namespace] of permuted) {
        useKey(backend, key);
        timers.register(1000, namespace);
      }
      const half: unknown[] = [];
      for (let i = 0; i < 200 && timers.poll(NEVER); i++)
        half.push([backend.currentKey, timers.polledNamespace]);
      const restored = await bench.restoreOf(backend);
      const rest = drain(restored, restored.getTimerQueue('t', Types.STRING)).map(([, ...what]) => what);
      orders.push([...half, ...rest]);
    }
    assert.equal(orders[0]!.length, 400);
    assert.deepEqual(orders[1], orders[0]);
    assert.deepEqual(orders[2], orders[0]);
  },

  'queues of different names are apart, and asking again gives the same queue': async (bench) => {
    const backend = await bench.create();
    const event = backend.getTimerQueue('event', Types.VOID);
    const processing = backend.getTimerQueue('processing', Types.VOID);
    assert.equal(backend.getTimerQueue('event', Types.VOID), event);
    useKey(backend, 'a');
    event.register(1, undefined);
    assert.equal(processing.size, 0);
    assert.equal(processing.delete(1, undefined), false);
    assert.throws(
      () => backend.getTimerQueue('event', Types.LONG),
      (error) => hasCode(error, 'STATE_DESCRIPTOR_CONFLICT'),
    );
  },

  'a timestamp that is no integer number of milliseconds is refused': async (bench) => {
    const backend = await bench.create();
    const timers = backend.getTimerQueue('t', Types.VOID);
    useKey(backend, 'a');
    for (const timestamp of [1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      assert.throws(
        () => timers.register(timestamp, undefined),
        (error) => hasCode(error, 'TIMESTAMP_INVALID'),
      );
    }
    assert.equal(timers.register(Number.MAX_SAFE_INTEGER, undefined), true);
    assert.equal(timers.register(Number.MIN_SAFE_INTEGER, undefined), true);
    assert.equal(timers.nextTimestamp(), Number.MIN_SAFE_INTEGER);
  },

  'timers may be registered and deleted while they are polled': async (bench) => {
    const backend = await bench.create();
    const timers = backend.getTimerQueue('t', Types.VOID);
    useKey(backend, 'a');
    timers.register(1, undefined);
    timers.register(50, undefined);
    const fired: number[] = [];
    while (timers.poll(100)) {
      fired.push(timers.polledTimestamp);
      if (timers.polledTimestamp < 10) timers.register(timers.polledTimestamp + 1, undefined);
      if (timers.polledTimestamp === 5) timers.delete(50, undefined);
      if (timers.polledTimestamp === 10) timers.register(3, undefined);
      if (fired.length > 12) timers.delete(timers.polledTimestamp + 1, undefined);
    }
    assert.deepEqual(fired, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 3, 4, 5]);
  },
};
