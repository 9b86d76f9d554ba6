/** Windows of the user's own: assigners, window types, merging by other rules than time; window and global state in them. */
import { deepStrictEqual, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode, MAX_WATERMARK } from '../../base/index.ts';
import { ValueStateDescriptor } from '../../state/index.ts';
import { type HarnessOptions, OperatorHarness } from '../../testing/operator-harness.ts';
import { type HarnessStep, runOperatorThroughAllModes } from '../../testing/operator-modes.ts';
import { Types } from '../../types/index.ts';
import {
  type Collector,
  ProcessAllWindowFunction,
  type ProcessWindowContext,
  ProcessWindowFunction,
} from '../functions.ts';
import { CountTrigger } from './count-trigger.ts';
import type { GlobalWindow } from './global-window.ts';
import { GlobalWindows } from './global-windows.ts';
import { PurgingTrigger } from './purging-trigger.ts';
import { EventTimeTrigger } from './time-trigger.ts';
import { TIME_WINDOW_TYPE, TimeWindow } from './time-window.ts';
import type { Trigger } from './trigger.ts';
import { Window } from './window.ts';
import {
  MergingWindowAssigner,
  TumblingEventTimeWindows,
  WindowAssigner,
  type WindowAssignerContext,
} from './window-assigner.ts';
import { WindowOperator, type WindowOptions } from './window-operator.ts';

interface Visit {
  user: string;
  page: string;
  n: number;
}

function options<Out, W extends Window>(
  window: Omit<WindowOptions<string, Visit, never, Visit, Out, W>, 'contents'>,
): HarnessOptions {
  return {
    create: () => new WindowOperator({ ...window, contents: { kind: 'elements' } }),
    name: 'visits',
    key: { selectors: [(visit: Visit) => visit.user], type: Types.STRING },
  };
}

function visit(n: number, timestampMs: number, page = 'x', user = 'a'): HarnessStep {
  return { value: { user, page, n }, timestampMs };
}

async function fired(harness: HarnessOptions, steps: readonly HarnessStep[]): Promise<string[]> {
  const events = await runOperatorThroughAllModes(harness, steps);
  return events.flatMap((event) =>
    event.kind === 'record'
      ? [`${event.value}${event.timestamp === MAX_WATERMARK ? '' : ` @${event.timestamp}`}`]
      : [],
  );
}

/** All visits of a day to a section of the site. */
class SectionDay extends Window {
  day = 0;
  section = '';

  override maxTimestamp(): number {
    return this.day * 100 + 99;
  }

  label(): string {
    return `${this.section}/${this.day}`;
  }
}

class SectionDays extends WindowAssigner<Visit, SectionDay> {
  readonly windowType = Types.POJO(SectionDay, { day: Types.LONG, section: Types.STRING });

  override assignWindows(value: Visit, timestampMs: number): SectionDay[] {
    const window = new SectionDay();
    window.day = Math.floor(timestampMs / 100);
    window.section = value.page;
    return [window];
  }

  override getDefaultTrigger(): Trigger<unknown, Window> {
    return EventTimeTrigger.create();
  }

  override isEventTime(): boolean {
    return true;
  }
}

const labelled = {
  kind: 'apply' as const,
  fn: (user: string, window: SectionDay, visits: Iterable<Visit>, out: Collector<string>) =>
    out.collect(`${user} ${window.label()} ${[...visits].map((each) => each.n)}`),
};

describe('an assigner of the user', () => {
  it('has windows of its own type, which come back as such, and end by themselves', async () => {
    const window = { assigner: new SectionDays(), evaluation: labelled };
    const steps = [
      visit(1, 10),
      visit(2, 20, 'y'),
      visit(3, 130),
      visit(4, 40),
      { watermarkMs: 99 },
      visit(5, 50),
      visit(6, 150, 'x', 'b'),
    ];
    deepStrictEqual((await fired(options(window), steps)).sort(), [
      'a x/0 1,4 @99',
      'a x/1 3 @199',
      'a y/0 2 @99',
      'b x/1 6 @199',
    ]);
    const harness = await OperatorHarness.open(options(window));
    for (let n = 0; n < 50; n++) harness.process({ user: `u${n % 3}`, page: `p${n % 5}`, n }, n * 10);
    harness.watermark(2000);
    strictEqual(harness.stateEntries, 0);
  });

  it('may give no window, or several, as any iterable', async () => {
    const assigner: WindowAssigner<Visit> = {
      windowType: TIME_WINDOW_TYPE,
      isEventTime: () => true,
      getDefaultTrigger: () => EventTimeTrigger.create(),
      *assignWindows({ n }: Visit, timestampMs: number) {
        for (let i = 0; i < n; i++) yield new TimeWindow(timestampMs, timestampMs + 10 + i);
      },
    };
    const evaluation = {
      kind: 'apply' as const,
      fn: (_user: string, window: TimeWindow, _visits: unknown, out: Collector<string>) =>
        out.collect(`${window}`),
    };
    deepStrictEqual(await fired(options({ assigner, evaluation }), [visit(0, 1), visit(2, 5)]), [
      '[5, 15) @14',
      '[5, 16) @15',
    ]);
  });

  it('that extends one of ours is asked, too', async () => {
    class Doubled extends TumblingEventTimeWindows {
      override assignWindows(
        _value: unknown,
        timestampMs: number,
        context: WindowAssignerContext,
      ): TimeWindow[] {
        return super.assignWindows(_value, timestampMs * 2, context);
      }
    }
    const assigner = new (Doubled as unknown as new (grid: object) => Doubled)({
      sizeMs: 10,
      slideMs: 10,
      offsetMs: 0,
    });
    const evaluation = {
      kind: 'apply' as const,
      fn: (_user: string, window: TimeWindow, _visits: unknown, out: Collector<string>) =>
        out.collect(`${window}`),
    };
    deepStrictEqual(await fired(options({ assigner, evaluation }), [visit(1, 7)]), ['[10, 20) @19']);
  });

  it('that fails, answers nothing or later, is named', async () => {
    const base = new SectionDays();
    const fail = (): never => {
      throw new Error('no');
    };
    for (const [assignWindows, code] of [
      [fail, 'USER_FUNCTION_FAILED'],
      [() => undefined, 'RESULT_NOT_ALLOWED'],
      [() => Promise.resolve([]), 'PROMISE_NOT_EXPECTED'],
    ] as const) {
      const assigner = Object.assign(new SectionDays(), { assignWindows: assignWindows as never });
      const harness = await OperatorHarness.open(options({ assigner, evaluation: labelled }));
      throws(
        () => harness.process({ user: 'a', page: 'x', n: 1 }, 1),
        (error: Error) => hasCode(error, code) && /window assigner of operator 'visits'/.test(error.message),
      );
    }
    strictEqual(`${base}`, 'SectionDays');
  });

  it('whose windows end beyond time is refused, and one whose windows never end is not', async () => {
    class Odd extends Window {
      end = 0;
      override maxTimestamp(): number {
        return this.end;
      }
    }
    class Odds extends WindowAssigner<Visit, Odd> {
      readonly windowType = Types.POJO(Odd, { end: Types.DOUBLE });
      override assignWindows({ n }: Visit): Odd[] {
        return [Object.assign(new Odd(), { end: n })];
      }
      override getDefaultTrigger(): Trigger<unknown, Window> {
        return CountTrigger.of(1);
      }
      override isEventTime(): boolean {
        return true;
      }
    }
    const evaluation = {
      kind: 'apply' as const,
      fn: (_u: string, w: Odd, _v: unknown, out: Collector<number>) => out.collect(w.end),
    };
    for (const n of [MAX_WATERMARK + 1, 1.5]) {
      const refusing = await OperatorHarness.open(options({ assigner: new Odds(), evaluation }));
      throws(
        () => refusing.process({ user: 'a', page: 'x', n }, 1),
        (error) => hasCode(error, 'TIMESTAMP_INVALID'),
      );
    }
    const harness = await OperatorHarness.open(options({ assigner: new Odds(), evaluation }));
    harness.process({ user: 'a', page: 'x', n: MAX_WATERMARK }, 1);
    deepStrictEqual(harness.values, [MAX_WATERMARK]);
  });
});

/** Numbers from `low` to `high`; those that touch become one. Ends long after all tests, or at `end`. */
class Range extends Window {
  low = 0;
  high = 0;
  end = 1_000_000;

  static of(low: number, high = low): Range {
    return Object.assign(new Range(), { low, high });
  }

  override maxTimestamp(): number {
    return this.end;
  }
}

class Ranges extends MergingWindowAssigner<Visit, Range> {
  readonly windowType = Types.POJO(Range, { low: Types.INT, high: Types.INT, end: Types.LONG });

  override assignWindows({ n }: Visit): Range[] {
    return [Range.of(n)];
  }

  override mergeWindows(
    windows: readonly Range[],
    callback: (merged: readonly Range[], result: Range) => void,
  ): void {
    const left = [...windows].sort((a, b) => a.low - b.low || a.high - b.high);
    while (left.length > 0) {
      const group = [left.shift()!];
      let high = group[0]!.high;
      while (left.length > 0 && left[0]!.low <= high + 1) {
        high = Math.max(high, left[0]!.high);
        group.push(left.shift()!);
      }
      if (group.length > 1) callback(group, Range.of(group[0]!.low, high));
    }
  }

  override getDefaultTrigger(): Trigger<unknown, Window> {
    return EventTimeTrigger.create();
  }

  override isEventTime(): boolean {
    return true;
  }
}

const ranged = {
  kind: 'apply' as const,
  fn: (user: string, window: Range, visits: Iterable<Visit>, out: Collector<string>) =>
    out.collect(
      `${user} ${window.low}-${window.high}: ${[...visits]
        .map((each) => each.page)
        .sort()
        .join('')}`,
    ),
};

describe('a merging assigner of the user', () => {
  it('merges by its own rule', async () => {
    const steps = [
      visit(1, 1, 'a'),
      visit(3, 1, 'b'),
      visit(7, 1, 'c'),
      visit(2, 1, 'd'),
      visit(3, 1, 'e'),
      visit(8, 1, 'f'),
    ];
    const result = await fired(options({ assigner: new Ranges(), evaluation: ranged }), steps);
    deepStrictEqual(result.sort(), ['a 1-3: abde @1000000', 'a 7-8: cf @1000000']);
    const harness = await OperatorHarness.open(options({ assigner: new Ranges(), evaluation: ranged }));
    for (let n = 0; n < 60; n++) harness.process({ user: 'a', page: 'x', n: (n * 37) % 50 }, 1);
    harness.watermark(2_000_000);
    strictEqual(harness.stateEntries, 0);
  });

  it('keeps the state of triggers where one of the merged windows is the result', async () => {
    class Whole extends Ranges {
      override assignWindows({ n }: Visit): Range[] {
        return [n === 0 ? Range.of(0, 100) : Range.of(n)];
      }
    }
    const window = { assigner: new Whole(), trigger: CountTrigger.of(4), evaluation: ranged };
    const steps = [visit(1, 1, 'a'), visit(50, 1, 'b'), visit(0, 1, 'c'), visit(2, 1, 'd'), visit(3, 1, 'e')];
    deepStrictEqual(await fired(options(window), steps), ['a 0-100: abcd @1000000']);
  });

  it('must not let windows end in the past by merging, nor stop merging what it merged', async () => {
    const shrinking = Object.assign(new Ranges(), {
      mergeWindows: (
        windows: readonly Range[],
        callback: (merged: readonly Range[], result: Range) => void,
      ) => {
        if (windows.length > 1) callback(windows, Object.assign(Range.of(0, 9), { end: 5 }));
      },
    });
    const harness = await OperatorHarness.open(options({ assigner: shrinking, evaluation: ranged }));
    harness.watermark(100);
    harness.process({ user: 'a', page: 'x', n: 1 }, 101);
    throws(
      () => harness.process({ user: 'a', page: 'x', n: 2 }, 101),
      (error: Error) => hasCode(error, 'INVALID_ARGUMENT') && /'visits'.*mergeWindows/.test(error.message),
    );
    let isMerging = true;
    const fickle = Object.assign(new Ranges(), {
      mergeWindows: (
        windows: readonly Range[],
        callback: (merged: readonly Range[], result: Range) => void,
      ) => {
        if (isMerging && windows.length > 1) callback(windows, Range.of(40, 50));
      },
    });
    const other = await OperatorHarness.open(options({ assigner: fickle, evaluation: ranged }));
    for (const n of [1, 2]) other.process({ user: 'a', page: 'x', n }, 1);
    isMerging = false;
    throws(
      () => other.process({ user: 'a', page: 'x', n: 1 }, 1),
      (error) => hasCode(error, 'INVALID_ARGUMENT'),
    );
  });
});

const count = new ValueStateDescriptor('firings', Types.INT, 0);

/** Counts firings by window and by key. */
class Counting<W extends Window> extends ProcessWindowFunction<Visit, string, string, W> {
  override process(
    user: string,
    context: ProcessWindowContext<W>,
    visits: Iterable<Visit>,
    out: Collector<string>,
  ): void {
    const ofWindow = context.windowState().getState(count);
    const ofKey = context.globalState().getState(new ValueStateDescriptor('total', Types.INT, 0));
    ofWindow.update(ofWindow.value()! + 1);
    ofKey.update(ofKey.value()! + 1);
    out.collect(`${user} ${ofWindow.value()} of ${ofKey.value()}: ${[...visits].map((each) => each.n)}`);
  }

  override clear(context: ProcessWindowContext<W>): void {
    context.windowState().getState(count).clear();
  }
}

describe('window functions', () => {
  it('have state of windows of any kind and of the key', async () => {
    const steps = [visit(1, 1), visit(2, 2, 'y'), visit(3, 3), visit(4, 104)];
    const trigger = CountTrigger.of(1);
    const days = {
      assigner: new SectionDays(),
      trigger,
      evaluation: { kind: 'process' as const, fn: Counting<SectionDay> },
    };
    deepStrictEqual(await fired(options(days), steps), [
      'a 1 of 1: 1 @99',
      'a 1 of 2: 2 @99',
      'a 2 of 3: 1,3 @99',
      'a 1 of 4: 4 @199',
    ]);
    const global = {
      assigner: GlobalWindows.create(),
      trigger: PurgingTrigger.of(trigger),
      evaluation: { kind: 'process' as const, fn: Counting<GlobalWindow> },
    };
    deepStrictEqual(await fired(options(global), steps), [
      'a 1 of 1: 1',
      'a 2 of 2: 2',
      'a 3 of 3: 3',
      'a 4 of 4: 4',
    ]);
    const harness = await OperatorHarness.open(options(days));
    harness.process({ user: 'a', page: 'x', n: 1 }, 1);
    harness.watermark(1000);
    // The total of the key.
    strictEqual(harness.stateEntries, 1);
  });

  it('of a whole stream are called without key, by themselves or with their life', async () => {
    const opened: string[] = [];
    class OfStream extends ProcessAllWindowFunction<Visit, string, TimeWindow> {
      override open(): void {
        opened.push('open');
      }
      override process(
        context: ProcessWindowContext<TimeWindow>,
        visits: Iterable<Visit>,
        out: Collector<string>,
      ): void {
        const calls = context.windowState().getState(count);
        calls.update(calls.value()! + 1);
        out.collect(`${context.window()} ${calls.value()} ${[...visits].length}`);
      }
      override clear(context: ProcessWindowContext<TimeWindow>): void {
        context.windowState().getState(count).clear();
      }
    }
    const assigner = TumblingEventTimeWindows.of(10);
    const steps = [visit(1, 1), visit(2, 2), visit(3, 13)];
    const processed = options({ assigner, evaluation: { kind: 'process-all', fn: OfStream } });
    deepStrictEqual(await fired(processed, steps), ['[0, 10) 1 2 @9', '[10, 20) 1 1 @19']);
    strictEqual(opened.length > 0, true);
    const applied = options({
      assigner,
      evaluation: {
        kind: 'apply-all',
        fn: (window: TimeWindow, visits: Iterable<Visit>, out: Collector<string>) =>
          out.collect(`${window} ${[...visits].length}`),
      },
    });
    deepStrictEqual(await fired(applied, steps), ['[0, 10) 2 @9', '[10, 20) 1 @19']);
  });
});
