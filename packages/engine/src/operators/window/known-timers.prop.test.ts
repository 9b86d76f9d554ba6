/** Known timers against the set of those that are registered. */
import { ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { EVENT_TIMERS, KnownTimers, PROCESSING_TIMERS, type TimerKind } from './known-timers.ts';
import { TimeWindow } from './time-window.ts';

const anyKind = fc.constantFrom<TimerKind>(EVENT_TIMERS, PROCESSING_TIMERS);
const anyTime = fc.integer({ min: -1, max: 3 });
const anyStep = fc.record({
  // Of five keys with two hashes each has few slots to itself.
  key: fc.constantFrom<unknown>(0, 1, '0', 'a', Number.NaN),
  window: fc.record({ start: fc.constantFrom(-2, 0, 2), lengthMs: fc.constantFrom(1, 2) }),
  timers: fc.array(
    fc.record({ kind: anyKind, time: anyTime, does: fc.constantFrom('register', 'delete', 'fire') }),
    {
      maxLength: 6,
    },
  ),
  change: fc.constantFrom(0, 0, 0, 1),
});

describe('timers that are known', () => {
  it('are registered, whatever keys and windows share their slot', () => {
    let hits = 0;
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 60, size: 'max' }), (steps) => {
        const backend = { currentKey: undefined as unknown, currentKeyHash: 0 };
        const known = new KnownTimers(backend);
        const registered = new Set<string>();
        for (const { key, window: given, timers, change } of steps) {
          backend.currentKey = key;
          backend.currentKeyHash = String(key).charCodeAt(0) % 2;
          const window = new TimeWindow(given.start, given.start + given.lengthMs);
          known.select(window);
          // Whoever has the window may change it.
          window.end += change;
          for (const { kind, time, does } of timers) {
            const timer = [typeof key, key, window, kind, time].join();
            if (does !== 'register') {
              registered.delete(timer);
              known.noteGone(kind, time, window);
            } else if (known.has(kind, time, window)) {
              hits++;
              ok(registered.has(timer));
            } else {
              registered.add(timer);
              known.noteRegistered(kind, time, window);
              ok(change !== 0 || known.has(kind, time, window));
            }
          }
          known.deselect();
          ok(!known.has(EVENT_TIMERS, 0, window) && !known.has(PROCESSING_TIMERS, 0, window));
        }
      }),
      { numRuns: 500 },
    );
    ok(hits > 100, `${hits} hits`);
  });

  it('are none of keys that are objects, which may change', () => {
    const backend = { currentKey: { id: 1 }, currentKeyHash: 7 };
    const known = new KnownTimers(backend);
    const window = new TimeWindow(0, 10);
    known.select(window);
    known.noteRegistered(EVENT_TIMERS, 9, window);
    ok(!known.has(EVENT_TIMERS, 9, window));
  });
});
