import { deepStrictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode, MAX_WATERMARK } from '../base/index.ts';
import type { WatermarkStrategySpec } from '../runtime/index.ts';
import { OperatorHarness } from '../testing/operator-harness.ts';
import { runOperatorThroughAllModes } from '../testing/operator-modes.ts';
import { TimestampsAndWatermarksOperator } from './timestamps-and-watermarks-operator.ts';

interface Tick {
  at: number;
}

const never = (): never => {
  throw new Error('an inlined strategy needs no generator');
};

function bounded(
  delayMs: number,
  more: Partial<WatermarkStrategySpec<Tick>> = {},
): WatermarkStrategySpec<Tick> {
  return {
    createGenerator: never,
    assigner: (tick) => tick.at,
    idleTimeoutMs: undefined,
    inline: { kind: 'bounded', delayMs },
    ...more,
  };
}

function open(strategy: WatermarkStrategySpec<Tick>): Promise<OperatorHarness> {
  return OperatorHarness.open({
    create: () => new TimestampsAndWatermarksOperator(strategy, 200),
    name: 'times',
  });
}

/** Without the values of records. */
function shown(harness: OperatorHarness): string[] {
  return harness.events.map((event) => {
    if (event.kind === 'status') return event.idle ? 'idle' : 'active';
    return `${event.kind} ${event.timestamp}`;
  });
}

describe('timestamps and watermarks', () => {
  it('gives each record its timestamp, in every mode', async () => {
    const create = () => new TimestampsAndWatermarksOperator(bounded(5));
    const events = await runOperatorThroughAllModes({ create, compare: 'records' }, [
      { value: { at: 10 }, timestampMs: 3 },
      { processingTimeMs: 200 },
      { value: { at: 8 } },
    ]);
    deepStrictEqual(events, [
      { kind: 'record', value: { at: 10 }, timestamp: 10 },
      { kind: 'record', value: { at: 8 }, timestamp: 8 },
    ]);
  });

  it('emits the watermark periodically, only when it is higher, and at the end', async () => {
    const harness = await open(bounded(5));
    harness.setProcessingTime(200);
    harness.process({ at: 10 });
    harness.process({ at: 30 });
    harness.process({ at: 20 });
    harness.setProcessingTime(400);
    harness.process({ at: 25 });
    harness.setProcessingTime(600);
    harness.process({ at: 50 });
    await harness.finish();
    deepStrictEqual(shown(harness), [
      'record 10',
      'record 30',
      'record 20',
      'watermark 24',
      'record 25',
      'record 50',
      `watermark ${MAX_WATERMARK}`,
    ]);
  });

  it('ignores watermarks and idleness from above, but for the end of time', async () => {
    const harness = await open(bounded(0));
    harness.watermark(1000);
    harness.watermarkStatus(true);
    harness.watermark(MAX_WATERMARK);
    deepStrictEqual(shown(harness), [`watermark ${MAX_WATERMARK}`]);
  });

  it('becomes idle after the time-out without records, and active with the next record, before it', async () => {
    const harness = await open(bounded(0, { idleTimeoutMs: 1000 }));
    harness.process({ at: 1 });
    for (let now = 200; now <= 1400; now += 200) harness.setProcessingTime(now);
    harness.process({ at: 2 });
    deepStrictEqual(shown(harness), ['record 1', 'watermark 0', 'idle', 'active', 'record 2']);
  });

  it('counts idleness from the first period, however long the job opened before', async () => {
    const harness = await open(bounded(0, { idleTimeoutMs: 1000 }));
    harness.setProcessingTime(30_000);
    harness.setProcessingTime(30_999);
    deepStrictEqual(shown(harness), []);
    harness.setProcessingTime(31_200);
    deepStrictEqual(shown(harness), ['idle']);
  });

  it('keeps its periods and its idle time-out when the wall clock is set', async () => {
    for (const jumpMs of [-1_000_000, 1_000_000]) {
      const harness = await open(bounded(0, { idleTimeoutMs: 1000 }));
      harness.setProcessingTime(200);
      harness.process({ at: 1 });
      harness.setWallClock(200 + jumpMs);
      for (let passedMs = 200; passedMs <= 1200; passedMs += 200) {
        deepStrictEqual(
          shown(harness).includes('idle'),
          false,
          `${passedMs} ms after it was set by ${jumpMs}`,
        );
        harness.setProcessingTime(200 + jumpMs + passedMs);
      }
      deepStrictEqual(shown(harness), ['record 1', 'watermark 0', 'idle']);
    }
  });

  it('runs a generator of the user, and without assigner keeps the timestamps that are there', async () => {
    const seen: number[] = [];
    const harness = await open({
      createGenerator: () => ({
        onEvent: (_tick, timestampMs) => void seen.push(timestampMs),
        onPeriodicEmit: () => (seen.length === 0 ? Number.NEGATIVE_INFINITY : seen.at(-1)! - 100),
      }),
      assigner: undefined,
      idleTimeoutMs: undefined,
      inline: undefined,
    });
    harness.setProcessingTime(200);
    harness.process({ at: 5 }, 500);
    harness.setProcessingTime(400);
    deepStrictEqual([shown(harness), seen], [['record 500', 'watermark 400'], [500]]);
  });

  it('refuses a timestamp that is no integer in range, naming operator, what was found, and the record', async () => {
    for (const [found, text] of [
      [Number.NaN, /NaN/],
      [1.5, /1\.5/],
      [Number.MIN_SAFE_INTEGER, /-9007199254740991/],
      [Number.MAX_SAFE_INTEGER, /9007199254740991/],
      [undefined, /undefined/],
      [new Date(5), /instance of Date.*Convert/],
      [5n, /bigint.*Convert/],
    ] as const) {
      const harness = await open(bounded(0, { assigner: () => found as never }));
      throws(
        () => harness.process({ at: 7 }),
        (error: Error) =>
          hasCode(error, 'TIMESTAMP_INVALID') &&
          /'times'/.test(error.message) &&
          /"at":7/.test(error.message) &&
          text.test(error.message),
      );
    }
  });

  it('names assigner and generator in what they throw', async () => {
    const fail = (): never => {
      throw new Error('no');
    };
    const assigner = await open(bounded(0, { assigner: fail }));
    throws(() => assigner.process({ at: 1 }), /timestamp assigner.*'times'/);
    const generator = { createGenerator: () => ({ onEvent: fail, onPeriodicEmit: fail }), inline: undefined };
    const harness = await open(bounded(0, generator));
    throws(() => harness.process({ at: 1 }), /watermark generator.*'times'/);
    throws(() => harness.setProcessingTime(200), /watermark generator.*'times'/);
  });
});
