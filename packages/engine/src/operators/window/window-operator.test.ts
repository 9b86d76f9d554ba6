import { deepStrictEqual, rejects, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../../base/index.ts';
import { type AggregateFunction, ValueStateDescriptor } from '../../state/index.ts';
import { type HarnessOptions, OperatorHarness } from '../../testing/operator-harness.ts';
import { type HarnessStep, runOperatorThroughAllModes } from '../../testing/operator-modes.ts';
import type { HarnessEvent } from '../../testing/recorded-output.ts';
import { Types } from '../../types/index.ts';
import { type Collector, type ProcessWindowContext, ProcessWindowFunction } from '../functions.ts';
import { OutputTag } from '../output-tag.ts';
import type { TimeWindow } from './time-window.ts';
import type { Trigger } from './trigger.ts';
import {
  EventTimeSessionWindows,
  ProcessingTimeSessionWindows,
  SlidingEventTimeWindows,
  TumblingEventTimeWindows,
  TumblingProcessingTimeWindows,
} from './window-assigner.ts';
import { WindowOperator, type WindowOptions } from './window-operator.ts';

interface Sale {
  shop: string;
  n: number;
}

const late = new OutputTag<Sale>('late');

/** Lists what a window holds: `shop [start, end) values`. */
class Listing extends ProcessWindowFunction<Sale, string, string, TimeWindow> {
  override process(
    key: string,
    context: ProcessWindowContext<TimeWindow>,
    sales: Iterable<Sale>,
    out: Collector<string>,
  ): void {
    const values = [...sales].map((sale) => sale.n).sort((a, b) => a - b);
    out.collect(`${key} ${context.window()} ${values}`);
  }
}

const sum: AggregateFunction<Sale, { total: number }, number> = {
  createAccumulator: () => ({ total: 0 }),
  add: (sale, accumulator) => {
    accumulator.total += sale.n;
    return accumulator;
  },
  getResult: (accumulator) => accumulator.total,
  merge: (a, b) => ({ total: a.total + b.total }),
};

function options<Acc, Content, Out>(window: WindowOptions<string, Sale, Acc, Content, Out>): HarnessOptions {
  return {
    create: () => new WindowOperator(window),
    name: 'sales',
    key: { selectors: [(sale: Sale) => sale.shop], type: Types.STRING },
    inputTypes: [Types.POJO('Sale', { shop: Types.STRING, n: Types.INT })],
  };
}

const elements = { kind: 'elements' as const };
const listing = { kind: 'process' as const, fn: new Listing() };

function sale(n: number, timestampMs: number, shop = 'a'): HarnessStep {
  return { value: { shop, n }, timestampMs };
}

/** Records as `value @timestamp`, side outputs as `late n`, without watermarks. */
function shown(events: readonly HarnessEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.kind === 'record') return [`${event.value} @${event.timestamp}`];
    return event.kind === 'side' ? [`${event.tag} ${(event.value as Sale).n}`] : [];
  });
}

describe('tumbling windows of event time', () => {
  it('hold the elements of their time per key and fire when the watermark reaches their last millisecond', async () => {
    const window = { assigner: TumblingEventTimeWindows.of(10), contents: elements, evaluation: listing };
    const events = await runOperatorThroughAllModes(options(window), [
      sale(1, 3),
      sale(2, 9),
      sale(3, 10),
      sale(4, 5, 'b'),
      { watermarkMs: 8 },
      sale(5, 0),
      { watermarkMs: 9 },
      { watermarkMs: 18 },
    ]);
    deepStrictEqual(shown(events).sort(), ['a [0, 10) 1,2,5 @9', 'a [10, 20) 3 @19', 'b [0, 10) 4 @9']);
  });

  it('work for negative times and with an offset', async () => {
    const window = { assigner: TumblingEventTimeWindows.of(10, 3), contents: elements, evaluation: listing };
    const events = await runOperatorThroughAllModes(options(window), [
      sale(1, -8),
      sale(2, -7),
      sale(3, 2),
      sale(4, 3),
    ]);
    deepStrictEqual(shown(events), ['a [-17, -7) 1 @-8', 'a [-7, 3) 2,3 @2', 'a [3, 13) 4 @12']);
  });

  it('reduce in place, and emit the reduced value without a window function', async () => {
    const reduce = (left: Sale, right: Sale): Sale => ({ shop: left.shop, n: left.n + right.n });
    const window = {
      assigner: TumblingEventTimeWindows.of(10),
      contents: { kind: 'reduce' as const, reduce },
    };
    const events = await runOperatorThroughAllModes(options(window), [sale(1, 1), sale(2, 2), sale(3, 11)]);
    const values = events.flatMap((event) => (event.kind === 'record' ? [event.value] : []));
    deepStrictEqual(values, [
      { shop: 'a', n: 3 },
      { shop: 'a', n: 3 },
    ]);
  });

  it('aggregate, and hand the result to a window function, plain or with context', async () => {
    const contents = {
      kind: 'aggregate' as const,
      aggregate: sum,
      accumulatorType: Types.ROW({ total: Types.LONG }),
    };
    const assigner = TumblingEventTimeWindows.of(10);
    const apply = {
      kind: 'apply' as const,
      fn: (key: string, window: TimeWindow, totals: Iterable<number>, out: Collector<string>) =>
        out.collect(`${key} ${window} ${[...totals]}`),
    };
    const steps = [sale(1, 1), sale(2, 2), sale(3, 11, 'b'), { watermarkMs: 9 }, sale(4, 12, 'b')];
    const plain = await runOperatorThroughAllModes(options({ assigner, contents, evaluation: apply }), steps);
    deepStrictEqual(shown(plain), ['a [0, 10) 3 @9', 'b [10, 20) 7 @19']);
    const bare = await runOperatorThroughAllModes(options({ assigner, contents }), steps);
    deepStrictEqual(shown(bare), ['3 @9', '7 @19']);
  });

  it('drop and count what comes after their end, or hand it to the late side output', async () => {
    const window = { assigner: TumblingEventTimeWindows.of(10), contents: elements, evaluation: listing };
    const harness = await OperatorHarness.open(options(window));
    harness.process({ shop: 'a', n: 1 }, 5);
    harness.watermark(9);
    harness.process({ shop: 'a', n: 2 }, 9);
    harness.process({ shop: 'a', n: 3 }, 10);
    strictEqual(harness.counter('numLateRecordsDropped'), 1);
    const events = await runOperatorThroughAllModes(options({ ...window, lateTag: late }), [
      sale(1, 5),
      { watermarkMs: 9 },
      sale(2, 9),
      sale(3, 10),
    ]);
    deepStrictEqual(shown(events), ['a [0, 10) 1 @9', 'late 2', 'a [10, 20) 3 @19']);
  });

  it('fire again for each element within the allowed lateness, and are gone when it is over', async () => {
    const window = {
      assigner: TumblingEventTimeWindows.of(10),
      allowedLatenessMs: 5,
      lateTag: late,
      contents: elements,
      evaluation: listing,
    };
    const events = await runOperatorThroughAllModes(options(window), [
      sale(1, 5),
      { watermarkMs: 9 },
      sale(2, 6),
      { watermarkMs: 13 },
      sale(3, 7),
      { watermarkMs: 14 },
      sale(4, 8),
      sale(5, 10),
    ]);
    deepStrictEqual(shown(events), [
      'a [0, 10) 1 @9',
      'a [0, 10) 1,2 @9',
      'a [0, 10) 1,2,3 @9',
      'late 4',
      'a [10, 20) 5 @19',
    ]);
  });

  it('fire again after a restore, whose watermark begins anew, for an element within the allowed lateness', async () => {
    for (const assigner of [TumblingEventTimeWindows.of(10), SlidingEventTimeWindows.of(10, 10)]) {
      const window = { assigner, allowedLatenessMs: 5, contents: elements, evaluation: listing };
      const before = await OperatorHarness.open(options(window));
      before.process({ shop: 'a', n: 1 }, 5);
      before.watermark(9);
      deepStrictEqual(before.values, ['a [0, 10) 1']);
      const after = await OperatorHarness.open(options(window), [await before.snapshot()]);
      after.process({ shop: 'a', n: 2 }, 6);
      after.watermark(9);
      deepStrictEqual(after.values, ['a [0, 10) 1,2']);
      after.watermark(100);
      deepStrictEqual(after.values, ['a [0, 10) 1,2']);
      strictEqual(after.stateEntries, 0);
    }
  });

  it('leave no state and no timers behind', async () => {
    const window = {
      assigner: TumblingEventTimeWindows.of(10),
      allowedLatenessMs: 5,
      contents: elements,
      evaluation: listing,
    };
    const harness = await OperatorHarness.open(options(window));
    for (let n = 0; n < 50; n++) harness.process({ shop: `s${n % 7}`, n }, n);
    harness.watermark(1000);
    strictEqual(harness.stateEntries, 0);
    strictEqual(harness.values.length, 35);
  });
});

describe('sliding windows', () => {
  it('put an element into each window that holds it; late for one is not late for all', async () => {
    const window = {
      assigner: SlidingEventTimeWindows.of(10, 5),
      lateTag: late,
      contents: elements,
      evaluation: listing,
    };
    const events = await runOperatorThroughAllModes(options(window), [
      sale(1, 7),
      { watermarkMs: 9 },
      sale(2, 8),
      { watermarkMs: 14 },
      sale(3, 9),
    ]);
    deepStrictEqual(shown(events), ['a [0, 10) 1 @9', 'a [5, 15) 1,2 @14', 'late 3']);
  });

  it('with a slide above the size leave gaps, whose elements are in no window and not late', async () => {
    const window = {
      assigner: SlidingEventTimeWindows.of(5, 10),
      lateTag: late,
      contents: elements,
      evaluation: listing,
    };
    const events = await runOperatorThroughAllModes(options(window), [sale(1, 4), sale(2, 5), sale(3, 12)]);
    deepStrictEqual(shown(events), ['a [0, 5) 1 @4', 'a [10, 15) 3 @14']);
  });
});

describe('session windows', () => {
  const assigner = EventTimeSessionWindows.withGap(10);

  it('merge elements, lists, reduced values and accumulators when a session closes the gap between two', async () => {
    const reduce = (left: Sale, right: Sale): Sale => ({ shop: left.shop, n: left.n + right.n });
    const total = {
      kind: 'apply' as const,
      fn: (key: string, at: TimeWindow, sums: Iterable<number>, out: Collector<string>) =>
        out.collect(`${key} ${at} ${[...sums]}`),
    };
    const steps = [
      sale(1, 0),
      sale(2, 15),
      sale(4, 40),
      sale(3, 8),
      { watermarkMs: 24 },
      sale(5, 45),
      sale(7, 26, 'b'),
    ];
    const listed = await runOperatorThroughAllModes(
      options({ assigner, contents: elements, evaluation: listing }),
      steps,
    );
    deepStrictEqual(shown(listed), ['a [0, 25) 1,2,3 @24', 'b [26, 36) 7 @35', 'a [40, 55) 4,5 @54']);
    const aggregated = await runOperatorThroughAllModes(
      options({ assigner, contents: { kind: 'aggregate', aggregate: sum }, evaluation: total }),
      steps,
    );
    deepStrictEqual(shown(aggregated), ['a [0, 25) 6 @24', 'b [26, 36) 7 @35', 'a [40, 55) 9 @54']);
    const reduced = await runOperatorThroughAllModes(
      options({ assigner, contents: { kind: 'reduce', reduce }, evaluation: listing }),
      steps,
    );
    deepStrictEqual(shown(reduced), ['a [0, 25) 6 @24', 'b [26, 36) 7 @35', 'a [40, 55) 9 @54']);
  });

  it('take a late element that reaches a live session, and refuse one that does not', async () => {
    const window = { assigner, lateTag: late, contents: elements, evaluation: listing };
    const events = await runOperatorThroughAllModes(options(window), [
      sale(1, 20),
      { watermarkMs: 25 },
      sale(2, 12),
      sale(3, 1),
      { watermarkMs: 29 },
      sale(4, 25),
    ]);
    deepStrictEqual(shown(events), ['late 3', 'a [12, 30) 1,2 @29', 'a [25, 35) 4 @34']);
  });

  it('stay for the allowed lateness, fire for late elements, and leave nothing behind', async () => {
    const window = { assigner, allowedLatenessMs: 20, contents: elements, evaluation: listing };
    const steps = [sale(1, 0), { watermarkMs: 15 }, sale(2, 5), { watermarkMs: 33 }, sale(3, 3)];
    const events = await runOperatorThroughAllModes(options(window), steps);
    deepStrictEqual(shown(events), ['a [0, 10) 1 @9', 'a [0, 15) 1,2 @14', 'a [0, 15) 1,2,3 @14']);
    const harness = await OperatorHarness.open(options(window));
    for (let n = 0; n < 30; n++) harness.process({ shop: 'a', n }, (n * 37) % 200);
    harness.watermark(10_000);
    strictEqual(harness.stateEntries, 0);
  });

  it('may have a gap by element; a gap that is none names the operator', async () => {
    const byElement = EventTimeSessionWindows.withDynamicGap((value: Sale) => value.n);
    const events = await runOperatorThroughAllModes(
      options({ assigner: byElement, contents: elements, evaluation: listing }),
      [sale(30, 0), sale(5, 25), sale(5, 40)],
    );
    deepStrictEqual(shown(events), ['a [0, 30) 5,30 @29', 'a [40, 45) 5 @44']);
    const harness = await OperatorHarness.open(
      options({ assigner: byElement, contents: elements, evaluation: listing }),
    );
    throws(() => harness.process({ shop: 'a', n: 0 }, 5), /gap must be a positive integer/);
  });

  it('have no window state, because it could not be merged', async () => {
    const fn = {
      process(_key: string, context: ProcessWindowContext<TimeWindow>) {
        context.windowState();
      },
    };
    const harness = await OperatorHarness.open(
      options({ assigner, contents: elements, evaluation: { kind: 'process', fn } }),
    );
    harness.process({ shop: 'a', n: 1 }, 5);
    throws(
      () => harness.watermark(100),
      (error: Error) => hasCode(error, 'INVALID_ARGUMENT') && /'sales'.*globalState/.test(error.message),
    );
  });

  it('are refused with a trigger that cannot merge', () => {
    const trigger: Trigger = {
      onElement: () => 'FIRE',
      onEventTime: () => 'CONTINUE',
      onProcessingTime: () => 'CONTINUE',
      canMerge: () => false,
      clear() {},
    };
    throws(
      () => new WindowOperator({ assigner, trigger, contents: elements, evaluation: listing }),
      (error) => hasCode(error, 'INVALID_ARGUMENT'),
    );
  });
});

describe('windows of processing time', () => {
  it('hold what came in their time, need no timestamps, and fire when time is over', async () => {
    const window = {
      assigner: TumblingProcessingTimeWindows.of(100),
      contents: elements,
      evaluation: listing,
    };
    const events = await runOperatorThroughAllModes({ ...options(window), processingTimeMs: 1010 }, [
      { value: { shop: 'a', n: 1 } },
      { processingTimeMs: 1050 },
      { value: { shop: 'a', n: 2 } },
      { processingTimeMs: 1099 },
      { value: { shop: 'a', n: 3 } },
      { processingTimeMs: 1100 },
      { value: { shop: 'a', n: 4 } },
      { processingTimeMs: 1300 },
    ]);
    deepStrictEqual(shown(events), [
      'a [1000, 1100) 1,2 @1099',
      'a [1000, 1100) 3 @1099',
      'a [1100, 1200) 4 @1199',
    ]);
  });

  it('may be sessions', async () => {
    const window = {
      assigner: ProcessingTimeSessionWindows.withGap(50),
      contents: elements,
      evaluation: listing,
    };
    const events = await runOperatorThroughAllModes({ ...options(window), processingTimeMs: 0 }, [
      { value: { shop: 'a', n: 1 } },
      { processingTimeMs: 40 },
      { value: { shop: 'a', n: 2 } },
      { processingTimeMs: 89 },
      { value: { shop: 'a', n: 3 } },
      { processingTimeMs: 500 },
    ]);
    deepStrictEqual(shown(events), ['a [0, 90) 1,2 @89', 'a [89, 139) 3 @138']);
  });
});

describe('the window operator', () => {
  it('follows a trigger of the user: fire on every second element and purge', async () => {
    let count = 0;
    const trigger: Trigger<Sale> = {
      onElement: () => (++count % 2 === 0 ? 'FIRE_AND_PURGE' : 'CONTINUE'),
      onEventTime: () => 'CONTINUE',
      onProcessingTime: () => 'CONTINUE',
      canMerge: () => false,
      clear() {},
    };
    const window = {
      assigner: TumblingEventTimeWindows.of(100),
      trigger,
      contents: elements,
      evaluation: listing,
    };
    const harness = await OperatorHarness.open(options(window));
    for (const n of [1, 2, 3, 4, 5]) harness.process({ shop: 'a', n }, n);
    harness.watermark(1000);
    deepStrictEqual(harness.values, ['a [0, 100) 1,2', 'a [0, 100) 3,4']);
    strictEqual(harness.stateEntries, 0);
  });

  it('gives window functions state of the window and of the key, side outputs, and tells when a window goes', async () => {
    const firings = new ValueStateDescriptor('firings', Types.INT, 0);
    const total = new ValueStateDescriptor('total', Types.INT, 0);
    const cleared = new OutputTag<Sale>('cleared');
    class Counting extends ProcessWindowFunction<Sale, string, string, TimeWindow> {
      override process(
        _key: string,
        context: ProcessWindowContext<TimeWindow>,
        sales: Iterable<Sale>,
        out: Collector<string>,
      ): void {
        const ofWindow = context.windowState().getState(firings);
        const ofKey = context.globalState().getState(total);
        ofWindow.update(ofWindow.value()! + 1);
        ofKey.update(ofKey.value()! + 1);
        out.collect(
          `${context.window().start}: ${ofWindow.value()} of ${ofKey.value()}, ${[...sales].length} at ${context.currentWatermark()}`,
        );
      }
      override clear(context: ProcessWindowContext<TimeWindow>): void {
        context.output(cleared, { shop: '', n: context.window().start });
        context.windowState().getState(firings).clear();
      }
    }
    const window = {
      assigner: TumblingEventTimeWindows.of(10),
      allowedLatenessMs: 5,
      contents: elements,
      evaluation: { kind: 'process' as const, fn: Counting },
    };
    const events = await runOperatorThroughAllModes(options(window), [
      sale(1, 1),
      sale(2, 11),
      { watermarkMs: 10 },
      sale(3, 2),
      { watermarkMs: 30 },
    ]);
    deepStrictEqual(shown(events), [
      '0: 1 of 1, 1 at 10 @9',
      '0: 2 of 2, 2 at 10 @9',
      'cleared 0',
      '10: 1 of 3, 1 at 30 @19',
      'cleared 10',
    ]);
  });

  it('says what is missing when a record has no timestamp', async () => {
    const tumbling = options({
      assigner: TumblingEventTimeWindows.of(10),
      contents: elements,
      evaluation: listing,
    });
    const sessions = options({
      assigner: EventTimeSessionWindows.withGap(10),
      contents: elements,
      evaluation: listing,
    });
    for (const compiled of [true, false]) {
      for (const each of [tumbling, sessions]) {
        const harness = await OperatorHarness.open({ ...each, compiled });
        throws(
          () => harness.process({ shop: 'a', n: 1 }),
          (error: Error) =>
            hasCode(error, 'TIMESTAMP_MISSING') && /'sales'.*watermark strategy/.test(error.message),
        );
      }
    }
  });

  it('names the operator and the function that failed', async () => {
    const fail = (): never => {
      throw new Error('no');
    };
    const assigner = TumblingEventTimeWindows.of(10);
    const adding = await OperatorHarness.open(
      options({ assigner, contents: { kind: 'aggregate', aggregate: { ...sum, add: fail } } }),
    );
    throws(() => adding.process({ shop: 'a', n: 1 }, 1), /aggregate function of operator 'sales'/);
    const firing = await OperatorHarness.open(
      options({ assigner, contents: elements, evaluation: { kind: 'apply', fn: fail } }),
    );
    firing.process({ shop: 'a', n: 1 }, 1);
    throws(() => firing.watermark(10), /window function of operator 'sales'/);
    const promising = { ...sum, add: async () => ({ total: 1 }) } as never;
    throws(
      () => new WindowOperator({ assigner, contents: { kind: 'aggregate', aggregate: promising } }),
      (error) => hasCode(error, 'PROMISE_NOT_EXPECTED'),
    );
    const returning = { ...sum, add: (() => Promise.resolve({ total: 1 })) as never };
    const harness = await OperatorHarness.open(
      options({ assigner, contents: { kind: 'aggregate', aggregate: returning } }),
    );
    await rejects(
      async () => harness.process({ shop: 'a', n: 1 }, 1),
      (error) => hasCode(error, 'PROMISE_NOT_EXPECTED'),
    );
  });

  it('refuses an allowed lateness that is none', () => {
    for (const allowedLatenessMs of [-1, 0.5, Number.NaN]) {
      throws(
        () =>
          new WindowOperator({
            assigner: TumblingEventTimeWindows.of(10),
            allowedLatenessMs,
            contents: elements,
            evaluation: listing,
          }),
        (error) => hasCode(error, 'INVALID_ARGUMENT'),
      );
    }
  });
});
