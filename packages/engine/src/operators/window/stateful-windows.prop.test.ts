/** Triggers with state and evictors against simple models that keep everything in plain objects; with restarts in between. */
import { deepStrictEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type HarnessOptions, OperatorHarness } from '../../testing/operator-harness.ts';
import { Types } from '../../types/index.ts';
import type { Collector } from '../functions.ts';
import { ContinuousEventTimeTrigger } from './continuous-trigger.ts';
import { CountTrigger } from './count-trigger.ts';
import { CountEvictor, DeltaEvictor, TimeEvictor } from './evictor.ts';
import { GlobalWindows } from './global-windows.ts';
import { PurgingTrigger } from './purging-trigger.ts';
import type { Window } from './window.ts';
import { EventTimeSessionWindows, TumblingEventTimeWindows } from './window-assigner.ts';
import { WindowOperator, type WindowOptions } from './window-operator.ts';

interface Hit {
  key: number;
  n: number;
}

interface TimedHit {
  readonly hit: Hit;
  readonly at: number;
}

type Event = TimedHit | { readonly watermark: number } | 'restart';

const anyTimedHit: fc.Arbitrary<TimedHit> = fc.record({
  hit: fc.record({ key: fc.nat(2), n: fc.nat(99) }),
  at: fc.integer({ min: -40, max: 120 }),
});
const anyEvents: fc.Arbitrary<Event[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: anyTimedHit },
    { weight: 2, arbitrary: fc.record({ watermark: fc.integer({ min: -40, max: 160 }) }) },
    { weight: 1, arbitrary: fc.constant('restart' as const) },
  ),
  { maxLength: 50 },
);
const anyCount = fc.integer({ min: 1, max: 6 });
const anyLength = fc.integer({ min: 1, max: 40 });
const anyLateness = fc.constantFrom(0, 7, 30);
const RUNS = { numRuns: 60 };

type Settings<W extends Window> = Pick<
  WindowOptions<number, Hit, never, Hit, string, W>,
  'assigner' | 'trigger' | 'evictor' | 'allowedLatenessMs'
>;

function options<W extends Window>(settings: Settings<W>): HarnessOptions {
  return {
    create: () =>
      new WindowOperator<number, Hit, never, Hit, string, W>({
        ...settings,
        contents: { kind: 'elements' },
        evaluation: {
          kind: 'apply',
          fn: (key: number, _window: W, hits: Iterable<Hit>, out: Collector<string>) =>
            out.collect(line(key, [...hits])),
        },
      }),
    key: { selectors: [(hit: Hit) => hit.key], type: Types.INT },
    inputTypes: [Types.ROW({ key: Types.INT, n: Types.INT })],
  };
}

function line(key: number, hits: readonly Hit[]): string {
  return `${key}: ${hits.map((hit) => hit.n)}`;
}

/** What fired, sorted by key: the order between keys is not of interest, that within a key is. */
async function run<W extends Window>(settings: Settings<W>, events: readonly Event[]): Promise<string[]> {
  let harness = await OperatorHarness.open(options(settings));
  const fired: unknown[] = [];
  let watermark = Number.MIN_SAFE_INTEGER;
  for (const event of events) {
    if (event === 'restart') {
      fired.push(...harness.values);
      const restored = await OperatorHarness.open(options(settings), [await harness.snapshot()]);
      restored.resumeTime(harness);
      await harness.close();
      harness = restored;
    } else if ('watermark' in event) {
      watermark = Math.max(watermark, event.watermark);
      harness.watermark(watermark);
    } else harness.process(event.hit, event.at);
  }
  await harness.finish();
  fired.push(...harness.values);
  await harness.close();
  return byKey(fired as string[]);
}

function byKey(lines: readonly string[]): string[] {
  return [...lines].sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
}

function hitsOf(events: readonly Event[]): TimedHit[] {
  return events.flatMap((event) => (typeof event === 'object' && 'hit' in event ? [event] : []));
}

/** Windows without end, by key: `fire` says what is evaluated of those that have come, after each. */
function evaluatedByKey(
  events: readonly Event[],
  fire: (soFar: readonly TimedHit[]) => readonly TimedHit[] | undefined,
): string[] {
  const lists = new Map<number, TimedHit[]>();
  const lines: string[] = [];
  for (const each of hitsOf(events)) {
    const { key } = each.hit;
    const list = lists.get(key) ?? [];
    lists.set(key, list);
    list.push(each);
    const evaluated = fire(list);
    if (evaluated !== undefined)
      lines.push(
        line(
          key,
          evaluated.map(({ hit }) => hit),
        ),
      );
  }
  return byKey(lines);
}

describe('count windows', () => {
  it('one after the other hold so many records each', async () => {
    await fc.assert(
      fc.asyncProperty(anyCount, anyEvents, async (size, events) => {
        const settings = {
          assigner: GlobalWindows.create(),
          trigger: PurgingTrigger.of(CountTrigger.of(size)),
        };
        const expected = evaluatedByKey(events, (list) =>
          list.length % size === 0 ? list.slice(-size) : undefined,
        );
        deepStrictEqual(await run(settings, events), expected);
      }),
      RUNS,
    );
  });

  it('sliding hold the last records, before or after each slide', async () => {
    await fc.assert(
      fc.asyncProperty(anyCount, anyCount, fc.boolean(), anyEvents, async (size, slide, after, events) => {
        const settings = {
          assigner: GlobalWindows.create(),
          trigger: CountTrigger.of(slide),
          evictor: CountEvictor.of(size, after),
        };
        const expected = evaluatedByKey(events, (list) => {
          if (list.length % slide !== 0) return undefined;
          return list.slice(after ? -(Math.min(size, list.length - slide) + slide) : -size);
        });
        deepStrictEqual(await run(settings, events), expected);
      }),
      RUNS,
    );
  });
});

describe('evictors', () => {
  it('by time keep what is near the latest of what was kept', async () => {
    await fc.assert(
      fc.asyncProperty(anyCount, anyLength, anyEvents, async (slide, lengthMs, events) => {
        const settings = {
          assigner: GlobalWindows.create(),
          trigger: CountTrigger.of(slide),
          evictor: TimeEvictor.of(lengthMs),
        };
        const gone = new Set<TimedHit>();
        const expected = evaluatedByKey(events, (list) => {
          if (list.length % slide !== 0) return undefined;
          const kept = list.filter((each) => !gone.has(each));
          const latest = Math.max(...kept.map(({ at }) => at));
          for (const each of kept) if (each.at <= latest - lengthMs) gone.add(each);
          return list.filter((each) => !gone.has(each));
        });
        deepStrictEqual(await run(settings, events), expected);
      }),
      RUNS,
    );
  });

  it('by distance keep what is near the newest', async () => {
    const distance = (a: Hit, b: Hit): number => Math.abs(a.n - b.n);
    await fc.assert(
      fc.asyncProperty(anyCount, anyLength, anyEvents, async (slide, threshold, events) => {
        const settings = {
          assigner: GlobalWindows.create(),
          trigger: CountTrigger.of(slide),
          evictor: DeltaEvictor.of(threshold, distance),
        };
        const gone = new Set<TimedHit>();
        const expected = evaluatedByKey(events, (list) => {
          if (list.length % slide !== 0) return undefined;
          const newest = list.at(-1)!.hit;
          for (const each of list) if (distance(each.hit, newest) >= threshold) gone.add(each);
          return list.filter((each) => !gone.has(each));
        });
        deepStrictEqual(await run(settings, events), expected);
      }),
      RUNS,
    );
  });
});

/** A session of the model. What triggers keep is in it, and merges with it. */
interface Session {
  readonly key: number;
  readonly start: number;
  readonly end: number;
  readonly hits: readonly Hit[];
  /** Of CountTrigger. */
  readonly count: number;
  /** Of ContinuousEventTimeTrigger: the next early result. */
  readonly next: number;
}

/** Sessions in a list; a subclass says when they fire. `next` is Infinity where there is none. */
abstract class SessionModel {
  readonly lines: string[] = [];
  protected watermark = Number.MIN_SAFE_INTEGER;
  private sessions: Session[] = [];
  private readonly gapMs: number;
  protected readonly latenessMs: number;

  constructor(gapMs: number, latenessMs: number) {
    this.gapMs = gapMs;
    this.latenessMs = latenessMs;
  }

  play(events: readonly Event[]): string[] {
    for (const event of events) {
      // The watermark comes again, and with it the timers that were set for a time it had passed already.
      if (event === 'restart') this.advance(this.watermark);
      else if ('hit' in event) this.add(event);
      else if (event.watermark > this.watermark) this.advance(event.watermark);
    }
    this.advance(Number.MAX_SAFE_INTEGER);
    return byKey(this.lines);
  }

  protected abstract element(session: Session, at: number): Session;
  protected abstract timers(session: Session, upTo: number, from: number): Session;

  protected fire({ key, hits }: Session): void {
    this.lines.push(
      line(
        key,
        [...hits].sort((a, b) => a.n - b.n),
      ),
    );
  }

  private add({ hit, at }: TimedHit): void {
    const touched = this.sessions.filter(
      (each) => each.key === hit.key && each.start <= at + this.gapMs && at <= each.end,
    );
    const merged: Session = {
      key: hit.key,
      start: Math.min(at, ...touched.map(({ start }) => start)),
      end: Math.max(at + this.gapMs, ...touched.map(({ end }) => end)),
      hits: [...touched.flatMap(({ hits }) => hits), hit],
      count: touched.reduce((sum, { count }) => sum + count, 0),
      next: Math.min(Number.POSITIVE_INFINITY, ...touched.map(({ next }) => next)),
    };
    if (merged.end - 1 + this.latenessMs <= this.watermark) return;
    this.sessions = this.sessions.filter((each) => !touched.includes(each));
    this.sessions.push(this.element(merged, at));
  }

  private advance(watermark: number): void {
    const from = this.watermark;
    this.watermark = watermark;
    this.sessions = this.sessions
      .map((each) => this.timers(each, watermark, from))
      .filter(({ end }) => end - 1 + this.latenessMs > watermark);
  }
}

class CountModel extends SessionModel {
  readonly target: number;

  constructor(gapMs: number, latenessMs: number, target: number) {
    super(gapMs, latenessMs);
    this.target = target;
  }

  protected override element(session: Session): Session {
    if (session.count + 1 < this.target) return { ...session, count: session.count + 1 };
    this.fire(session);
    return { ...session, count: 0 };
  }

  protected override timers(session: Session): Session {
    return session;
  }
}

class ContinuousModel extends SessionModel {
  readonly intervalMs: number;

  constructor(gapMs: number, latenessMs: number, intervalMs: number) {
    super(gapMs, latenessMs);
    this.intervalMs = intervalMs;
  }

  protected override element(session: Session, at: number): Session {
    if (session.end - 1 <= this.watermark) this.fire(session);
    else if (session.next === Number.POSITIVE_INFINITY) {
      return { ...session, next: (Math.floor(at / this.intervalMs) + 1) * this.intervalMs };
    }
    return session;
  }

  /** Early results up to the end, then the one of the end, if it was still to come. */
  protected override timers(session: Session, upTo: number, from: number): Session {
    const last = session.end - 1;
    let { next } = session;
    for (; next < last && next <= upTo; next += this.intervalMs) this.fire(session);
    if (last > from && last <= upTo) this.fire(session);
    return { ...session, next: next <= upTo ? Number.POSITIVE_INFINITY : next };
  }
}

/** An early result that is due when its record comes, before a restart. */
const TIMER_BEHIND_THE_WATERMARK: [number, number, number, Event[]] = [
  3,
  0,
  1,
  [{ watermark: 0 }, { hit: { key: 1, n: 0 }, at: -1 }, 'restart', { hit: { key: 1, n: 0 }, at: 0 }],
];

/** Within a session the order of what merged is not of interest. */
function sortedValues(lines: readonly string[]): string[] {
  return lines
    .map((each) => {
      const [key, values] = each.split(': ');
      const sorted = values!.split(',').sort((a, b) => Number(a) - Number(b));
      return `${key}: ${sorted}`;
    })
    .sort();
}

describe('sessions', () => {
  it('with a count trigger fire by the counts of what merged', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyLength,
        anyLateness,
        anyCount,
        anyEvents,
        async (gapMs, latenessMs, target, events) => {
          const settings = {
            assigner: EventTimeSessionWindows.withGap(gapMs),
            trigger: CountTrigger.of(target),
            allowedLatenessMs: latenessMs,
          };
          const expected = new CountModel(gapMs, latenessMs, target).play(events);
          deepStrictEqual(sortedValues(await run(settings, events)), sortedValues(expected));
        },
      ),
      RUNS,
    );
  });

  it('with a continuous trigger fire at multiples of its interval, and at their end', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyLength,
        anyLateness,
        anyLength,
        anyEvents,
        async (gapMs, latenessMs, intervalMs, events) => {
          const settings = {
            assigner: EventTimeSessionWindows.withGap(gapMs),
            trigger: ContinuousEventTimeTrigger.of(intervalMs),
            allowedLatenessMs: latenessMs,
          };
          const expected = new ContinuousModel(gapMs, latenessMs, intervalMs).play(events);
          deepStrictEqual(sortedValues(await run(settings, events)), sortedValues(expected));
        },
      ),
      { ...RUNS, examples: [TIMER_BEHIND_THE_WATERMARK] },
    );
  });
});

describe('tumbling windows', () => {
  it('with a purging count trigger and an evictor hold what came since, and nothing is left', async () => {
    await fc.assert(
      fc.asyncProperty(anyLength, anyCount, anyCount, anyEvents, async (sizeMs, target, kept, events) => {
        const settings = {
          assigner: TumblingEventTimeWindows.of(sizeMs),
          trigger: PurgingTrigger.of(CountTrigger.of(target)),
          evictor: CountEvictor.of(kept),
        };
        const lists = new Map<string, Hit[]>();
        const lines: string[] = [];
        let watermark = Number.MIN_SAFE_INTEGER;
        for (const event of events) {
          if (event === 'restart') continue;
          if ('watermark' in event) {
            watermark = Math.max(watermark, event.watermark);
            continue;
          }
          const window = Math.floor(event.at / sizeMs);
          if ((window + 1) * sizeMs - 1 <= watermark) continue;
          const id = `${event.hit.key} ${window}`;
          const list = [...(lists.get(id) ?? []), event.hit];
          lists.set(id, list.length === target ? [] : list);
          if (list.length === target) lines.push(line(event.hit.key, list.slice(-kept)));
        }
        deepStrictEqual(await run(settings, events), byKey(lines));
        const harness = await OperatorHarness.open(options(settings));
        for (const { hit, at } of hitsOf(events)) harness.process(hit, at);
        harness.watermark(1000);
        deepStrictEqual(harness.stateEntries, 0);
      }),
      RUNS,
    );
  });
});
