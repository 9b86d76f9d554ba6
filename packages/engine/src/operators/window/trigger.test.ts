/** Every trigger, on windows that end, that merge and that do not end, in every way in which a host may run them. */
import { deepStrictEqual, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../../base/index.ts';
import {
  AggregatingStateDescriptor,
  ListStateDescriptor,
  MapStateDescriptor,
  ReducingStateDescriptor,
  ValueStateDescriptor,
} from '../../state/index.ts';
import { type HarnessOptions, OperatorHarness } from '../../testing/operator-harness.ts';
import { type HarnessStep, runOperatorThroughAllModes } from '../../testing/operator-modes.ts';
import { Types } from '../../types/index.ts';
import type { Collector } from '../functions.ts';
import { ContinuousEventTimeTrigger, ContinuousProcessingTimeTrigger } from './continuous-trigger.ts';
import { CountTrigger } from './count-trigger.ts';
import { DeltaTrigger } from './delta-trigger.ts';
import { GlobalWindows, NeverTrigger } from './global-windows.ts';
import { ProcessingTimeoutTrigger } from './processing-timeout-trigger.ts';
import { PurgingTrigger } from './purging-trigger.ts';
import { EventTimeTrigger, ProcessingTimeTrigger } from './time-trigger.ts';
import type { TimeWindow } from './time-window.ts';
import { type OnMergeContext, Trigger, type TriggerContext, TriggerResult } from './trigger.ts';
import type { Window } from './window.ts';
import {
  EventTimeSessionWindows,
  ProcessingTimeSessionWindows,
  TumblingEventTimeWindows,
  TumblingProcessingTimeWindows,
} from './window-assigner.ts';
import { WindowOperator, type WindowOptions } from './window-operator.ts';

interface Item {
  key: string;
  n: number;
}

type Settings<W extends Window> = Pick<
  WindowOptions<string, Item, never, Item, string, W>,
  'assigner' | 'trigger' | 'allowedLatenessMs'
>;

/** Windows that list what they hold when they fire: `key: values`. */
function listing<W extends Window>(settings: Settings<W>): HarnessOptions {
  return {
    create: () =>
      new WindowOperator<string, Item, never, Item, string, W>({
        ...settings,
        contents: { kind: 'elements' },
        evaluation: {
          kind: 'apply',
          fn: (key: string, _window: W, items: Iterable<Item>, out: Collector<string>) =>
            out.collect(`${key}: ${[...items].map((item) => item.n)}`),
        },
      }),
    name: 'items',
    key: { selectors: [(item: Item) => item.key], type: Types.STRING },
    inputTypes: [Types.ROW({ key: Types.STRING, n: Types.INT })],
  };
}

function item(n: number, timestampMs?: number, key = 'a'): HarnessStep {
  const value = { key, n };
  return timestampMs === undefined ? { value } : { value, timestampMs };
}

async function fired<W extends Window>(
  settings: Settings<W>,
  steps: readonly HarnessStep[],
): Promise<string[]> {
  const events = await runOperatorThroughAllModes(listing(settings), steps);
  return events.flatMap((event) => (event.kind === 'record' ? [String(event.value)] : []));
}

/** State entries and timers that are left after the inputs have ended and the clock has passed everything. */
async function leftOver<W extends Window>(
  settings: Settings<W>,
  steps: readonly HarnessStep[],
): Promise<number> {
  const harness = await OperatorHarness.open(listing(settings));
  for (const step of steps) {
    if ('value' in step) harness.process(step.value, step.timestampMs);
    else if ('watermarkMs' in step) harness.watermark(step.watermarkMs);
    else harness.setProcessingTime(step.processingTimeMs);
  }
  await harness.finish();
  harness.setProcessingTime(1_000_000);
  return harness.stateEntries;
}

const tumbling = TumblingEventTimeWindows.of(100);
const sessions = EventTimeSessionWindows.withGap(10);

describe('CountTrigger', () => {
  it('fires with each so many elements of a key, and not when the window ends', async () => {
    const steps = [item(1, 1), item(2, 2, 'b'), item(3, 3), item(4, 4), item(5, 5), { watermarkMs: 99 }];
    deepStrictEqual(await fired({ assigner: tumbling, trigger: CountTrigger.of(2) }, steps), [
      'a: 1,3',
      'a: 1,3,4,5',
    ]);
    strictEqual(await leftOver({ assigner: tumbling, trigger: CountTrigger.of(2) }, steps), 0);
  });

  it('adds up the counts of sessions that merge', async () => {
    const steps = [item(1, 0), item(2, 15), item(3, 40), item(4, 7), item(5, 12), item(6, 41)];
    deepStrictEqual(await fired({ assigner: sessions, trigger: CountTrigger.of(3) }, steps), ['a: 1,2,4']);
    strictEqual(await leftOver({ assigner: sessions, trigger: CountTrigger.of(3) }, steps), 0);
  });

  it('fires with the next element if merging alone makes it enough', async () => {
    const steps = [item(1, 0), item(2, 1), item(3, 15), item(4, 16), item(5, 8)];
    deepStrictEqual(await fired({ assigner: sessions, trigger: CountTrigger.of(3) }, steps), [
      'a: 1,2,3,4,5',
    ]);
  });

  it('counts late elements within the allowed lateness', async () => {
    const settings = { assigner: tumbling, trigger: CountTrigger.of(2), allowedLatenessMs: 50 };
    const steps = [
      item(1, 1),
      { watermarkMs: 120 },
      item(2, 2),
      { watermarkMs: 149 },
      item(3, 3),
      item(4, 4),
    ];
    deepStrictEqual(await fired(settings, steps), ['a: 1,2']);
    strictEqual(await leftOver(settings, steps), 0);
  });

  it('refuses what is no count', () => {
    for (const count of [0, -1, 1.5, Number.NaN]) {
      throws(
        () => CountTrigger.of(count),
        (error) => hasCode(error, 'INVALID_ARGUMENT'),
      );
    }
  });
});

describe('EventTimeTrigger and ProcessingTimeTrigger', () => {
  it('chosen by hand do what they do by default, on windows of either time', async () => {
    const steps = [item(1, 1), item(2, 5), { watermarkMs: 99 }, item(3, 120)];
    deepStrictEqual(await fired({ assigner: tumbling, trigger: EventTimeTrigger.create() }, steps), [
      'a: 1,2',
      'a: 3',
    ]);
    const byClock = TumblingProcessingTimeWindows.of(100);
    const clock = [item(1), { processingTimeMs: 99 }, item(2), { processingTimeMs: 300 }];
    deepStrictEqual(await fired({ assigner: byClock, trigger: ProcessingTimeTrigger.create() }, clock), [
      'a: 1',
      'a: 2',
    ]);
  });

  it('of the other time than the windows work too', async () => {
    const trigger = ProcessingTimeTrigger.create();
    const steps = [item(1, 1), { processingTimeMs: 99 }, { watermarkMs: 50 }, item(2, 60)];
    deepStrictEqual(await fired({ assigner: tumbling, trigger }, steps), ['a: 1']);
    strictEqual(await leftOver({ assigner: tumbling, trigger }, steps), 0);
  });
});

describe('ContinuousEventTimeTrigger', () => {
  const trigger = ContinuousEventTimeTrigger.of(30);

  it('fires at each multiple of the interval, and at the end', async () => {
    const steps = [
      item(1, 5),
      { watermarkMs: 29 },
      item(2, 35),
      { watermarkMs: 30 },
      { watermarkMs: 65 },
      item(3, 95),
      { watermarkMs: 99 },
    ];
    deepStrictEqual(await fired({ assigner: tumbling, trigger }, steps), [
      'a: 1,2',
      'a: 1,2',
      'a: 1,2,3',
      'a: 1,2,3',
    ]);
    strictEqual(await leftOver({ assigner: tumbling, trigger }, steps), 0);
  });

  it('counts multiples from 1970 for negative times too', async () => {
    const steps = [item(1, -95), { watermarkMs: -90 }, item(2, -1)];
    deepStrictEqual(await fired({ assigner: tumbling, trigger }, steps), [
      'a: 1',
      'a: 1,2',
      'a: 1,2',
      'a: 1,2',
    ]);
  });

  it('fires for each late element, and leaves nothing', async () => {
    const settings = { assigner: tumbling, trigger, allowedLatenessMs: 40 };
    const steps = [item(1, 70), { watermarkMs: 99 }, item(2, 80), { watermarkMs: 138 }, item(3, 90)];
    deepStrictEqual(await fired(settings, steps), ['a: 1', 'a: 1', 'a: 1,2', 'a: 1,2,3']);
    strictEqual(await leftOver(settings, steps), 0);
  });

  it('goes on at the same times when sessions grow and merge', async () => {
    const gap = EventTimeSessionWindows.withGap(20);
    const steps = [
      item(1, 5),
      item(2, 20),
      item(3, 70),
      { watermarkMs: 30 },
      item(4, 38),
      item(5, 55),
      { watermarkMs: 59 },
      { watermarkMs: 60 },
      { watermarkMs: 89 },
    ];
    // The end of the one session is 90 after its last element at 70: the multiple 90 is none of it.
    deepStrictEqual(await fired({ assigner: gap, trigger }, steps), [
      'a: 1,2',
      'a: 1,2,4,3,5',
      'a: 1,2,4,3,5',
    ]);
    strictEqual(await leftOver({ assigner: gap, trigger }, steps), 0);
  });

  it('leaves no timer of sessions that were merged', async () => {
    const slow = ContinuousEventTimeTrigger.of(1_000_000);
    const gap = EventTimeSessionWindows.withGap(2_000_000);
    const harness = await OperatorHarness.open(listing({ assigner: gap, trigger: slow }));
    harness.process({ key: 'a', n: 0 }, 0);
    const { timers } = await sizes(harness);
    for (let n = 1; n < 50; n++) harness.process({ key: 'a', n }, n);
    deepStrictEqual(await sizes(harness), { timers });
  });

  it('says what is missing when a record has no timestamp', async () => {
    const harness = await OperatorHarness.open(listing({ assigner: GlobalWindows.create(), trigger }));
    throws(
      () => harness.process({ key: 'a', n: 1 }),
      (error) => hasCode(error, 'TIMESTAMP_MISSING'),
    );
  });

  it('refuses an interval that is none', () => {
    for (const kind of [ContinuousEventTimeTrigger, ContinuousProcessingTimeTrigger]) {
      for (const interval of [0, -5, 'soon']) throws(() => kind.of(interval), /interval|duration/);
    }
  });
});

/** Timers in a snapshot of the operator. */
async function sizes(harness: OperatorHarness): Promise<{ timers: number }> {
  const { state } = await harness.snapshot();
  let timers = 0;
  for (const { states } of state.keyed) {
    for (const { kind, entries } of states) if (kind === 'timers') timers += entries;
  }
  return { timers };
}

describe('ContinuousProcessingTimeTrigger', () => {
  const trigger = ContinuousProcessingTimeTrigger.of(30);

  it('fires as the clock passes multiples of the interval, and at the end of windows of processing time', async () => {
    const settings = { assigner: TumblingProcessingTimeWindows.of(100), trigger };
    const steps = [
      item(1),
      { processingTimeMs: 29 },
      item(2),
      { processingTimeMs: 30 },
      item(3),
      { processingTimeMs: 60 },
      { processingTimeMs: 90 },
      item(4),
      { processingTimeMs: 99 },
      item(5),
      { processingTimeMs: 500 },
    ];
    deepStrictEqual(await fired(settings, steps), ['a: 1,2', 'a: 1,2,3', 'a: 1,2,3', 'a: 1,2,3,4', 'a: 5']);
    strictEqual(await leftOver(settings, steps), 0);
  });

  it('fires once when the clock jumps over several multiples', async () => {
    const settings = { assigner: GlobalWindows.create(), trigger };
    deepStrictEqual(
      await fired(settings, [item(1), { processingTimeMs: 1000 }, item(2), { processingTimeMs: 1020 }]),
      ['a: 1', 'a: 1,2'],
    );
  });

  it('works for windows of event time that are long over by the clock', async () => {
    const steps = [
      { processingTimeMs: 1_000_000 },
      item(1, 5),
      { processingTimeMs: 1_000_020 },
      { watermarkMs: 50 },
      item(2, 60),
      { processingTimeMs: 1_000_050 },
      { watermarkMs: 99 },
      { processingTimeMs: 1_000_100 },
    ];
    deepStrictEqual(await fired({ assigner: tumbling, trigger }, steps), ['a: 1', 'a: 1,2']);
    strictEqual(await leftOver({ assigner: tumbling, trigger }, steps), 0);
  });

  it('forgets the ends of sessions that have grown', async () => {
    const settings = { assigner: ProcessingTimeSessionWindows.withGap(20), trigger };
    const steps = [
      item(1),
      { processingTimeMs: 15 },
      item(2),
      { processingTimeMs: 29 },
      { processingTimeMs: 30 },
      item(3),
      { processingTimeMs: 49 },
    ];
    deepStrictEqual(await fired(settings, steps), ['a: 1,2', 'a: 1,2,3']);
    strictEqual(await leftOver(settings, steps), 0);
  });
});

describe('PurgingTrigger', () => {
  it('empties the window as it fires', async () => {
    const trigger = PurgingTrigger.of(CountTrigger.of(2));
    const steps = [item(1, 1), item(2, 2), item(3, 3), item(4, 4), item(5, 5)];
    deepStrictEqual(await fired({ assigner: tumbling, trigger }, steps), ['a: 1,2', 'a: 3,4']);
    strictEqual(await leftOver({ assigner: tumbling, trigger }, steps), 0);
  });

  it('merges if the trigger in it does', async () => {
    const trigger = PurgingTrigger.of(ContinuousEventTimeTrigger.of(10));
    const steps = [
      item(1, 1),
      item(2, 12),
      item(3, 8),
      { watermarkMs: 10 },
      item(4, 15),
      { watermarkMs: 30 },
    ];
    deepStrictEqual(await fired({ assigner: sessions, trigger }, steps), ['a: 1,2,3', 'a: 4']);
    throws(
      () =>
        new WindowOperator({
          assigner: sessions,
          trigger: PurgingTrigger.of(NeverTrigger.create()),
          contents: { kind: 'elements' },
        }),
      /cannot/,
    );
  });

  it('fires with the elements that came since, until the window is gone', async () => {
    const settings = {
      assigner: tumbling,
      trigger: PurgingTrigger.of(EventTimeTrigger.create()),
      allowedLatenessMs: 20,
    };
    const steps = [
      item(1, 1),
      { watermarkMs: 99 },
      item(2, 2),
      { watermarkMs: 118 },
      item(3, 3),
      { watermarkMs: 119 },
      item(4, 4),
    ];
    deepStrictEqual(await fired(settings, steps), ['a: 1', 'a: 2', 'a: 3']);
    strictEqual(await leftOver(settings, steps), 0);
  });
});

describe('NeverTrigger', () => {
  it('never fires', async () => {
    const trigger = NeverTrigger.create();
    deepStrictEqual(
      await fired({ assigner: tumbling, trigger }, [item(1, 1), { processingTimeMs: 500 }]),
      [],
    );
    strictEqual(await leftOver({ assigner: tumbling, trigger }, [item(1, 1)]), 0);
  });
});

describe('DeltaTrigger', () => {
  const delta = (old: Item, current: Item): number => current.n - old.n;

  it('fires when an element is further than the threshold from the one that fired last', async () => {
    const settings = { assigner: tumbling, trigger: DeltaTrigger.of(10, delta) };
    const steps = [item(5, 1), item(15, 2), item(16, 3), item(20, 4), item(100, 5, 'b'), item(27, 6)];
    deepStrictEqual(await fired(settings, steps), ['a: 5,15,16', 'a: 5,15,16,20,27']);
    strictEqual(await leftOver(settings, steps), 0);
  });

  it('keeps the element by its type', async () => {
    const type = Types.ROW({ key: Types.STRING, n: Types.INT });
    const settings = { assigner: GlobalWindows.create(), trigger: DeltaTrigger.of(0, delta, type) };
    deepStrictEqual(await fired(settings, [item(5), item(6), item(6), item(7)]), ['a: 5,6', 'a: 5,6,6,7']);
  });

  it('refuses what is no threshold or no function', () => {
    throws(() => DeltaTrigger.of(Number.NaN, delta), /threshold/);
    throws(
      () => DeltaTrigger.of(1, (async () => 1) as never),
      (error) => hasCode(error, 'PROMISE_NOT_EXPECTED'),
    );
  });
});

describe('ProcessingTimeoutTrigger', () => {
  const global = GlobalWindows.create();

  it('fires when its time is over, counted from the first element since it fired', async () => {
    const trigger = ProcessingTimeoutTrigger.of(PurgingTrigger.of(CountTrigger.of(3)), 50);
    const steps = [
      item(1),
      { processingTimeMs: 30 },
      item(2),
      { processingTimeMs: 50 },
      item(3),
      item(4),
      item(5),
      item(6),
      { processingTimeMs: 99 },
      { processingTimeMs: 100 },
    ];
    // It fires with what is there and purges only if the trigger in it does so by itself.
    deepStrictEqual(await fired({ assigner: global, trigger }, steps), ['a: 1,2', 'a: 1,2,3,4,5', 'a: 6']);
  });

  it('may count from the last element', async () => {
    const trigger = ProcessingTimeoutTrigger.of(CountTrigger.of(10), 50, true);
    const steps = [
      item(1),
      { processingTimeMs: 30 },
      item(2),
      { processingTimeMs: 79 },
      { processingTimeMs: 80 },
    ];
    deepStrictEqual(await fired({ assigner: global, trigger }, steps), ['a: 1,2']);
  });

  it('may leave the count of the trigger in it alone', async () => {
    const steps = [item(1), { processingTimeMs: 50 }, item(2)];
    const kept = ProcessingTimeoutTrigger.of(CountTrigger.of(2), 50, true, false);
    deepStrictEqual(await fired({ assigner: global, trigger: kept }, steps), ['a: 1', 'a: 1,2']);
    const cleared = ProcessingTimeoutTrigger.of(CountTrigger.of(2), 50, true, true);
    deepStrictEqual(await fired({ assigner: global, trigger: cleared }, steps), ['a: 1']);
  });

  it('does not keep a window from its end, nor from being removed', async () => {
    const settings = {
      assigner: tumbling,
      trigger: ProcessingTimeoutTrigger.of(EventTimeTrigger.create(), 50),
    };
    const steps = [item(1, 1), { processingTimeMs: 50 }, { watermarkMs: 99 }];
    deepStrictEqual(await fired(settings, steps), ['a: 1', 'a: 1']);
    strictEqual(await leftOver(settings, steps), 0);
    strictEqual(await leftOver({ ...settings, allowedLatenessMs: 10 }, steps), 0);
  });

  it('refuses to merge', () => {
    const trigger = ProcessingTimeoutTrigger.of(CountTrigger.of(2), 50);
    throws(
      () => new WindowOperator({ assigner: sessions, trigger, contents: { kind: 'elements' } }),
      (error) => hasCode(error, 'INVALID_ARGUMENT'),
    );
  });
});

/** Fires when the elements of a window have the given sum; all kinds of state take part. */
class SumTrigger extends Trigger<Item, Window> {
  private readonly sum = new AggregatingStateDescriptor<number, number, number>(
    'sum',
    { createAccumulator: () => 0, add: (n, sum) => n + sum, getResult: (sum) => sum, merge: (a, b) => a + b },
    Types.LONG,
  );
  private readonly largest = new ReducingStateDescriptor<number>('largest', Math.max, Types.LONG);
  private readonly all = new ListStateDescriptor<number>('all', Types.LONG);
  private readonly last = new ValueStateDescriptor<number>('last', Types.LONG);
  private readonly target: number;

  constructor(target: number) {
    super();
    this.target = target;
  }

  onElement(value: Item, _timestampMs: number, _window: Window, context: TriggerContext): TriggerResult {
    const sum = context.getPartitionedState(this.sum);
    sum.add(value.n);
    context.getPartitionedState(this.largest).add(value.n);
    context.getPartitionedState(this.all).add(value.n);
    context.getPartitionedState(this.last).update(value.n);
    const all = context.getPartitionedState(this.all).get();
    strictEqual(
      sum.get(),
      all.reduce((left, right) => left + right),
    );
    strictEqual(context.getPartitionedState(this.largest).get(), Math.max(...all));
    strictEqual(context.getPartitionedState(this.last).value(), value.n);
    if (sum.get()! < this.target) return TriggerResult.CONTINUE;
    context.getMetricGroup().counter('reached').inc();
    return TriggerResult.FIRE;
  }

  onEventTime(): TriggerResult {
    return 'CONTINUE';
  }

  onProcessingTime(): TriggerResult {
    return 'CONTINUE';
  }

  override canMerge(): boolean {
    return true;
  }

  override onMerge(_window: Window, context: OnMergeContext): void {
    context.forEachMergedWindow(() => context.getPartitionedState(this.last).clear());
    context.mergePartitionedState(this.sum);
    context.mergePartitionedState(this.largest);
    context.mergePartitionedState(this.all);
  }

  clear(_window: Window, context: TriggerContext): void {
    context.getPartitionedState(this.sum).clear();
    context.getPartitionedState(this.largest).clear();
    context.getPartitionedState(this.all).clear();
    context.getPartitionedState(this.last).clear();
  }
}

describe('a trigger of the user', () => {
  const trigger = new SumTrigger(10);

  it('has state of all kinds in the namespace of each window', async () => {
    const steps = [item(4, 1), item(20, 101), item(5, 2), item(7, 3), item(1, 102)];
    deepStrictEqual(await fired({ assigner: tumbling, trigger }, steps), ['a: 20', 'a: 4,5,7', 'a: 20,1']);
    strictEqual(await leftOver({ assigner: tumbling, trigger }, steps), 0);
  });

  it('merges its state with the windows', async () => {
    const steps = [item(4, 0), item(3, 20), item(2, 40), item(1, 30), item(3, 10)];
    deepStrictEqual(await fired({ assigner: sessions, trigger }, steps), ['a: 4,3,2,1,3']);
    strictEqual(await leftOver({ assigner: sessions, trigger }, steps), 0);
  });

  it('has metrics of the operator', async () => {
    const harness = await OperatorHarness.open(listing({ assigner: tumbling, trigger }));
    harness.process({ key: 'a', n: 12 }, 1);
    strictEqual(harness.counter('reached'), 1);
  });

  it('cannot merge state that has no rule for it', async () => {
    const wrong: Trigger<Item, TimeWindow> = Object.assign(new SumTrigger(10), {
      onMerge: (_window: Window, context: OnMergeContext) =>
        context.mergePartitionedState(new ValueStateDescriptor<number>('last', Types.LONG) as never),
    });
    const harness = await OperatorHarness.open(listing({ assigner: sessions, trigger: wrong }));
    harness.process({ key: 'a', n: 1 }, 1);
    throws(
      () => harness.process({ key: 'a', n: 1 }, 2),
      (error) => hasCode(error, 'INVALID_ARGUMENT'),
    );
    const asking: Trigger<Item, TimeWindow> = Object.assign(new SumTrigger(10), {
      onElement: (_value: Item, _timestampMs: number, _window: Window, context: TriggerContext) =>
        context.getPartitionedState(new MapStateDescriptor('map') as never),
    });
    const other = await OperatorHarness.open(listing({ assigner: tumbling, trigger: asking }));
    throws(
      () => other.process({ key: 'a', n: 1 }, 1),
      (error: Error) => hasCode(error, 'INVALID_ARGUMENT') && /map state/.test(error.message),
    );
  });

  it('that answers anything else than a result, or later, is refused with the name of the operator', async () => {
    for (const [answer, code] of [
      [undefined, 'RESULT_NOT_ALLOWED'],
      ['fire', 'RESULT_NOT_ALLOWED'],
      [Promise.resolve('FIRE'), 'PROMISE_NOT_EXPECTED'],
    ] as const) {
      const wrong = Object.assign(new SumTrigger(1), { onElement: () => answer as TriggerResult });
      const harness = await OperatorHarness.open(listing({ assigner: tumbling, trigger: wrong }));
      throws(
        () => harness.process({ key: 'a', n: 1 }, 1),
        (error: Error) => hasCode(error, code) && /'items'/.test(error.message),
      );
    }
    const declared = Object.assign(new SumTrigger(1), { onEventTime: async () => 'FIRE' as never });
    throws(
      () => listing({ assigner: tumbling, trigger: declared }).create(),
      (error) => hasCode(error, 'PROMISE_NOT_EXPECTED'),
    );
  });

  it('that throws is named', async () => {
    const failing = Object.assign(new SumTrigger(1), {
      onElement: () => {
        throw new Error('no');
      },
    });
    const harness = await OperatorHarness.open(listing({ assigner: tumbling, trigger: failing }));
    throws(
      () => harness.process({ key: 'a', n: 1 }, 1),
      (error: Error) =>
        hasCode(error, 'USER_FUNCTION_FAILED') && /trigger of operator 'items'/.test(error.message),
    );
  });

  it('is called at the end of the window even if it deleted its timer there', async () => {
    const calls: number[] = [];
    const deleting: Trigger<unknown, Window> = {
      onElement: (_value, _timestampMs, window, context) => {
        context.registerEventTimeTimer(window.maxTimestamp());
        context.deleteEventTimeTimer(window.maxTimestamp());
        return 'CONTINUE';
      },
      onEventTime: (timestampMs) => {
        calls.push(timestampMs);
        return 'FIRE';
      },
      onProcessingTime: () => 'CONTINUE',
      canMerge: () => false,
      clear() {},
    };
    strictEqual(
      await leftOver({ assigner: tumbling, trigger: deleting }, [item(1, 1), { watermarkMs: 200 }]),
      0,
    );
    deepStrictEqual(calls, [99]);
  });
});

it('a window goes once, even if its trigger sets a timer for that very time as it is called', async () => {
  const cleared: string[] = [];
  const resetting: Trigger<unknown, Window> = {
    onElement: () => 'CONTINUE',
    onEventTime: (timestampMs, window, context) => {
      if (timestampMs === window.maxTimestamp()) context.registerEventTimeTimer(timestampMs);
      return 'FIRE';
    },
    onProcessingTime: () => 'CONTINUE',
    canMerge: () => false,
    clear: (window, context) => {
      cleared.push(`${window}`);
      context.deleteEventTimeTimer(window.maxTimestamp());
    },
  };
  const steps = [item(1, 1), { watermarkMs: 500 }];
  strictEqual(await leftOver({ assigner: tumbling, trigger: resetting }, steps), 0);
  deepStrictEqual(cleared, ['[0, 100)']);
});

it('GlobalWindows fire at the end of the stream if they are made so, and otherwise by their trigger only', async () => {
  const steps = [item(1), item(2, 5), item(3, 1, 'b'), { watermarkMs: 1000 }];
  deepStrictEqual((await fired({ assigner: GlobalWindows.createWithEndOfStreamTrigger() }, steps)).sort(), [
    'a: 1,2',
    'b: 3',
  ]);
  deepStrictEqual(await fired({ assigner: GlobalWindows.create() }, steps), []);
});
