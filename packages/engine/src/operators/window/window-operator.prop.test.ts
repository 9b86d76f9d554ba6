/** Windows against simple models that see all elements at once. */
import { deepStrictEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type HarnessOptions, OperatorHarness } from '../../testing/operator-harness.ts';
import { Types } from '../../types/index.ts';
import type { Collector } from '../functions.ts';
import { OutputTag } from '../output-tag.ts';
import { TimeWindow } from './time-window.ts';
import {
  EventTimeSessionWindows,
  isMerging,
  SlidingEventTimeWindows,
  TumblingEventTimeWindows,
  type WindowAssigner,
} from './window-assigner.ts';
import { WindowOperator } from './window-operator.ts';

interface Hit {
  key: number;
  n: number;
}

type Event = { readonly hit: Hit; readonly at: number } | { readonly watermark: number };

const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      hit: fc.record({ key: fc.nat(3), n: fc.nat(100) }),
      at: fc.integer({ min: -60, max: 120 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ watermark: fc.integer({ min: -60, max: 120 }) }) },
);
const anyEvents = fc.array(anyEvent, { maxLength: 60 });

const late = new OutputTag<Hit>('late');

function options(assigner: WindowAssigner<Hit>, allowedLatenessMs: number): HarnessOptions {
  return {
    create: () =>
      new WindowOperator({
        assigner,
        allowedLatenessMs,
        lateTag: late,
        contents: { kind: 'elements' },
        evaluation: {
          kind: 'apply',
          fn: (key: number, window: TimeWindow, hits: Iterable<Hit>, out: Collector<string>) =>
            out.collect(
              line(
                key,
                window,
                [...hits].map((hit) => hit.n),
              ),
            ),
        },
      }),
    key: { selectors: [(hit: Hit) => hit.key], type: Types.INT },
    inputTypes: [Types.ROW({ key: Types.INT, n: Types.INT })],
  };
}

function line(key: number, window: TimeWindow, values: readonly number[]): string {
  return `${key} ${window} ${[...values].sort((a, b) => a - b)}`;
}

async function run(
  assigner: WindowAssigner<Hit>,
  allowedLatenessMs: number,
  events: readonly Event[],
  compiled: boolean,
) {
  const harness = await OperatorHarness.open({ ...options(assigner, allowedLatenessMs), compiled });
  for (const event of events) {
    if ('hit' in event) harness.process(event.hit, event.at);
    else harness.watermark(event.watermark);
  }
  await harness.finish();
  const result = {
    fired: (harness.values as string[]).sort(),
    late: (harness.side('late') as Hit[]).map((hit) => hit.n).sort((a, b) => a - b),
    entries: harness.stateEntries,
  };
  await harness.close();
  return result;
}

/** For assigners of event time. */
const NO_CLOCK = { getCurrentProcessingTime: () => Number.NaN };

interface ModelWindow {
  readonly key: number;
  window: TimeWindow;
  values: number[];
  /** Changed since it fired last. */
  isDirty: boolean;
}

/** One list of windows; at each watermark those that are over fire if they changed, then those that are gone are dropped. */
class Model {
  readonly fired: string[] = [];
  readonly late: number[] = [];
  private windows: ModelWindow[] = [];
  private watermark = Number.MIN_SAFE_INTEGER;
  private readonly assigner: WindowAssigner<Hit>;
  private readonly latenessMs: number;

  constructor(assigner: WindowAssigner<Hit>, latenessMs: number) {
    this.assigner = assigner;
    this.latenessMs = latenessMs;
  }

  add({ key, n }: Hit, at: number): void {
    let isTaken = false;
    for (const assigned of this.assigner.assignWindows({ key, n }, at, NO_CLOCK))
      isTaken = this.addTo(key, n, assigned) || isTaken;
    if (!isTaken && at + this.latenessMs <= this.watermark) this.late.push(n);
    this.fire();
  }

  private addTo(key: number, n: number, window: TimeWindow): boolean {
    const merging = isMerging(this.assigner);
    const same = this.windows.filter(
      (each) => each.key === key && (merging ? each.window.intersects(window) : each.window.equals(window)),
    );
    const cover = same.reduce((whole, each) => whole.cover(each.window), window);
    if (this.isGone(cover)) return false;
    this.windows = this.windows.filter((each) => !same.includes(each));
    this.windows.push({
      key,
      window: cover,
      values: [...same.flatMap((each) => each.values), n],
      isDirty: true,
    });
    return true;
  }

  advance(watermark: number): void {
    if (watermark <= this.watermark) return;
    this.watermark = watermark;
    this.fire();
    this.windows = this.windows.filter((each) => !this.isGone(each.window));
  }

  private fire(): void {
    for (const each of this.windows) {
      if (!each.isDirty || each.window.maxTimestamp() > this.watermark) continue;
      each.isDirty = false;
      this.fired.push(line(each.key, each.window, each.values));
    }
  }

  private isGone(window: TimeWindow): boolean {
    return window.maxTimestamp() + this.latenessMs <= this.watermark;
  }
}

async function check(
  assigner: WindowAssigner<Hit>,
  latenessMs: number,
  events: readonly Event[],
): Promise<void> {
  const model = new Model(assigner, latenessMs);
  for (const event of events) {
    if ('hit' in event) model.add(event.hit, event.at);
    else model.advance(event.watermark);
  }
  model.advance(Number.MAX_SAFE_INTEGER);
  const expected = { fired: model.fired.sort(), late: model.late.sort((a, b) => a - b), entries: 0 };
  for (const compiled of [true, false])
    deepStrictEqual(await run(assigner, latenessMs, events, compiled), expected);
}

const anyLateness = fc.constantFrom(0, 1, 15);
const anyLength = fc.integer({ min: 1, max: 40 });

describe('windows of event time', () => {
  it('tumbling: fire and drop as the model does', async () => {
    await fc.assert(
      fc.asyncProperty(anyLength, fc.integer(), anyLateness, anyEvents, (sizeMs, seed, latenessMs, events) =>
        check(TumblingEventTimeWindows.of(sizeMs, seed % sizeMs), latenessMs, events),
      ),
    );
  });

  it('sliding: fire and drop as the model does', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyLength,
        fc.integer({ min: 3, max: 40 }),
        anyLateness,
        anyEvents,
        (sizeMs, slideMs, latenessMs, events) =>
          check(SlidingEventTimeWindows.of(sizeMs, slideMs), latenessMs, events),
      ),
    );
  });

  it('sessions: fire and drop as the model does', async () => {
    await fc.assert(
      fc.asyncProperty(anyLength, anyLateness, anyEvents, (gapMs, latenessMs, events) =>
        check(EventTimeSessionWindows.withGap(gapMs), latenessMs, events),
      ),
    );
  });

  it('sessions without late elements are those that sorting finds', async () => {
    const anyHits = fc.array(
      fc.record({ key: fc.nat(2), n: fc.nat(50), at: fc.integer({ min: -200, max: 200 }) }),
      { maxLength: 50 },
    );
    await fc.assert(
      fc.asyncProperty(anyLength, anyHits, async (gapMs, hits) => {
        const sessions: { key: number; window: TimeWindow; values: number[] }[] = [];
        for (const { key, n, at } of [...hits].sort((a, b) => a.key - b.key || a.at - b.at)) {
          const last = sessions.at(-1);
          if (last !== undefined && last.key === key && at <= last.window.end) {
            last.window = new TimeWindow(last.window.start, at + gapMs);
            last.values.push(n);
          } else {
            sessions.push({ key, window: new TimeWindow(at, at + gapMs), values: [n] });
          }
        }
        const expected = sessions.map((session) => line(session.key, session.window, session.values)).sort();
        const events = hits.map(({ key, n, at }) => ({ hit: { key, n }, at }));
        const { fired } = await run(EventTimeSessionWindows.withGap(gapMs), 0, events, true);
        deepStrictEqual(fired, expected);
      }),
    );
  });
});
