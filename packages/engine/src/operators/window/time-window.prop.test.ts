/** Window arithmetic against exact arithmetic with bigints, and the assigners against the definition of their windows. */
import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { hasCode, NO_TIMESTAMP } from '../../base/index.ts';
import { TimeWindow, windowStart } from './time-window.ts';
import {
  EventTimeSessionWindows,
  ProcessingTimeSessionWindows,
  SlidingEventTimeWindows,
  SlidingProcessingTimeWindows,
  TumblingEventTimeWindows,
  TumblingProcessingTimeWindows,
  type WindowAssignerContext,
} from './window-assigner.ts';

const anyTime = fc.oneof(
  fc.integer({ min: -1000, max: 1000 }),
  fc.integer({ min: -2_000_000_000_000, max: 4_000_000_000_000 }),
  fc.integer({ min: -(2 ** 52), max: 2 ** 52 }),
);
const anySize = fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 86_400_000 * 400 }));

/** start is congruent to the offset, and start <= time < start + size. */
function exactStart(timeMs: number, offsetMs: number, sizeMs: number): number {
  const size = BigInt(sizeMs);
  let remainder = (BigInt(timeMs) - BigInt(offsetMs)) % size;
  if (remainder < 0n) remainder += size;
  return Number(BigInt(timeMs) - remainder);
}

describe('window arithmetic', () => {
  it('finds the start that exact arithmetic finds, for negative times and offsets too', () => {
    fc.assert(
      fc.property(anyTime, anySize, fc.double({ min: -1, max: 1, noNaN: true }), (timeMs, sizeMs, part) => {
        const offsetMs = Math.trunc(part * (sizeMs - 1));
        const start = windowStart(timeMs, offsetMs, sizeMs);
        strictEqual(start, exactStart(timeMs, offsetMs, sizeMs));
        ok(start <= timeMs && timeMs < start + sizeMs);
      }),
      { numRuns: 2000 },
    );
  });

  it('is exact at both edges of every window', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -(2 ** 30), max: 2 ** 30 }),
        fc.integer({ min: 1, max: 2 ** 22 }),
        (n, sizeMs) => {
          strictEqual(windowStart(n * sizeMs, 0, sizeMs), n * sizeMs);
          strictEqual(windowStart(n * sizeMs - 1, 0, sizeMs), (n - 1) * sizeMs);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

/** Processing time is event time here. */
function at(timeMs: number): WindowAssignerContext {
  return { getCurrentProcessingTime: () => timeMs };
}

describe('assigners', () => {
  it('tumbling gives the one window that holds the time', () => {
    fc.assert(
      fc.property(anyTime, anySize, (timeMs, sizeMs) => {
        const start = exactStart(timeMs, 0, sizeMs);
        for (const assigner of [
          TumblingEventTimeWindows.of(sizeMs),
          TumblingProcessingTimeWindows.of(sizeMs),
        ]) {
          deepStrictEqual(assigner.assignWindows(undefined, timeMs, at(timeMs)), [
            new TimeWindow(start, start + sizeMs),
          ]);
        }
      }),
    );
  });

  it('sliding gives all windows that hold the time, and no other, also when the slide does not divide the size', () => {
    const small = fc.integer({ min: 1, max: 40 });
    fc.assert(
      fc.property(
        fc.integer({ min: -300, max: 300 }),
        small,
        small,
        fc.integer(),
        (timeMs, sizeMs, slideMs, seed) => {
          const offsetMs = seed % slideMs;
          const expected: number[] = [];
          for (let start = timeMs; start > timeMs - sizeMs; start--) {
            if ((start - offsetMs) % slideMs === 0) expected.push(start);
          }
          for (const kind of [SlidingEventTimeWindows, SlidingProcessingTimeWindows]) {
            const windows = kind.of(sizeMs, slideMs, offsetMs).assignWindows(undefined, timeMs, at(timeMs));
            deepStrictEqual(
              windows.map((window) => window.start),
              expected,
            );
            ok(windows.every((window) => window.end - window.start === sizeMs));
          }
        },
      ),
    );
  });

  it('a session begins with its element and lasts for the gap, fixed or by the element', () => {
    deepStrictEqual(EventTimeSessionWindows.withGap(10).assignWindows('x', 5, at(5)), [
      new TimeWindow(5, 15),
    ]);
    deepStrictEqual(
      ProcessingTimeSessionWindows.withDynamicGap((value: string) => value.length).assignWindows(
        'four',
        NO_TIMESTAMP,
        at(5),
      ),
      [new TimeWindow(5, 9)],
    );
  });

  it('sizes, slides, gaps and offsets that make no sense are refused', () => {
    const refused = [
      () => TumblingEventTimeWindows.of(0),
      () => TumblingEventTimeWindows.of(10.5),
      () => TumblingEventTimeWindows.of(10, 10),
      () => TumblingEventTimeWindows.of(10, -10),
      () => SlidingEventTimeWindows.of(10, 0),
      () => SlidingEventTimeWindows.of(10, 5, 7),
      () => SlidingEventTimeWindows.of(Number.NaN, 5),
      () => EventTimeSessionWindows.withGap(-1),
    ];
    for (const make of refused) throws(make, (error) => hasCode(error, 'INVALID_ARGUMENT'));
    throws(
      () => EventTimeSessionWindows.withDynamicGap(() => 0).assignWindows(1, 1, at(1)),
      /EventTimeSessionWindows: the gap must be a positive integer \(milliseconds\), found the number 0/,
    );
    throws(
      () => EventTimeSessionWindows.withDynamicGap((async () => 1) as never),
      (error) => hasCode(error, 'PROMISE_NOT_EXPECTED'),
    );
  });

  it('their names for plans say what they are', () => {
    strictEqual(`${TumblingEventTimeWindows.of(1000)}`, 'TumblingEventTimeWindows(1000)');
    strictEqual(
      `${SlidingEventTimeWindows.of(1000, 250, 3)}`,
      'SlidingEventTimeWindows(1000, 250, offset 3)',
    );
    strictEqual(`${EventTimeSessionWindows.withGap(5)}`, 'EventTimeSessionWindows(5)');
  });
});
