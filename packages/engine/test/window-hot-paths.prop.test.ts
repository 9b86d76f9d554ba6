/**
 * The hot paths of windows against the general way: the same records, watermarks and restarts give the same results and the
 * same state; and each goes on from the other's snapshot.
 */
import { deepStrictEqual, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Collector } from '../src/operators/functions.ts';
import { OutputTag } from '../src/operators/output-tag.ts';
import { EventTimeTrigger } from '../src/operators/window/time-trigger.ts';
import type { TimeWindow } from '../src/operators/window/time-window.ts';
import {
  EventTimeSessionWindows,
  SlidingEventTimeWindows,
  TumblingEventTimeWindows,
  type WindowAssigner,
} from '../src/operators/window/window-assigner.ts';
import { WindowOperator } from '../src/operators/window/window-operator.ts';
import { type HarnessOptions, OperatorHarness } from '../src/testing/operator-harness.ts';
import { type TypeInformation, Types } from '../src/types/index.ts';
import { type AnyContents, anyContents, type Hit } from './hit-contents.ts';

/** Does as its parent does, but the operator does not know it: all goes the general way. */
class UnknownTrigger extends EventTimeTrigger {}

const anyLength = fc.integer({ min: 1, max: 40 });
const anyAssigner: fc.Arbitrary<WindowAssigner<Hit>> = fc.oneof(
  anyLength.map((sizeMs) => TumblingEventTimeWindows.of(sizeMs)),
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.integer({ min: 2, max: 8 }), fc.integer({ min: 1, max: 10 }))
      .map(([count, slideMs]) => SlidingEventTimeWindows.of(count * slideMs, slideMs)),
  },
  fc.tuple(anyLength, anyLength).map(([sizeMs, slideMs]) => SlidingEventTimeWindows.of(sizeMs, slideMs)),
  anyLength.map((gapMs) => EventTimeSessionWindows.withGap(gapMs)),
  anyLength.map((gapMs) => EventTimeSessionWindows.withDynamicGap<Hit>(({ n }) => 1 + (n % gapMs))),
);

type Event =
  | { readonly n: number; readonly key: number; readonly behindMs: number }
  | 'watermark'
  | 'over'
  | 'restart'
  | 'swap';

/** Records mostly come a little later than the one before; some are late. */
const anyEvents: fc.Arbitrary<Event[]> = fc.array(
  fc.oneof(
    {
      weight: 20,
      arbitrary: fc.record({
        n: fc.nat(50),
        key: fc.nat(2),
        behindMs: fc.oneof({ weight: 2, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.nat(15) }),
      }),
    },
    { weight: 2, arbitrary: fc.constant('watermark' as const) },
    { weight: 1, arbitrary: fc.constant('over' as const) },
    { weight: 1, arbitrary: fc.constant('restart' as const) },
    { weight: 1, arbitrary: fc.constant('swap' as const) },
  ),
  // By itself fast-check makes few that are longer than ten.
  { maxLength: 100, size: 'max' },
);

const KEYS: Readonly<
  Record<string, { readonly type: TypeInformation<unknown> | undefined; of(n: number): number | string }>
> = {
  numbers: { type: Types.LONG, of: (n) => n },
  strings: { type: Types.STRING, of: (n) => `key-${n}` },
  undeclared: { type: undefined, of: (n) => (n % 2 === 0 ? n : `key-${n}`) },
};

/** All windows of records are over then. */
const AHEAD_MS = 100;
/** Windows that are kept for ever have no clean-up timer: one that has fired has no timer at all. */
const FOR_EVER_MS = Number.MAX_SAFE_INTEGER;

const late = new OutputTag<Hit>('late');

function optionsOf(
  assigner: WindowAssigner<Hit>,
  contents: AnyContents,
  allowedLatenessMs: number,
  keyType: TypeInformation<unknown> | undefined,
  isFast: boolean,
): HarnessOptions {
  return {
    create: () =>
      new WindowOperator<unknown, Hit, unknown, unknown, string, TimeWindow>({
        assigner,
        ...(isFast ? {} : { trigger: new UnknownTrigger() }),
        allowedLatenessMs,
        lateTag: late,
        contents,
        evaluation: {
          kind: 'apply',
          fn: (key, window, contentsOfWindow, out: Collector<string>) =>
            out.collect(`${key} ${window} ${JSON.stringify([...contentsOfWindow])}`),
        },
      }),
    key: { selectors: [(hit: Hit) => hit.key], ...(keyType === undefined ? {} : { type: keyType }) },
  };
}

describe('the hot path of windows', () => {
  it('gives the results, the late records and the state of the general way, at each step', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyAssigner,
        anyContents,
        fc.constantFrom(0, 3, 30, FOR_EVER_MS),
        fc.constantFrom(...Object.keys(KEYS)),
        fc.nat(5),
        anyEvents,
        async (assigner, contents, latenessMs, keys, lagMs, events) => {
          const { type, of } = KEYS[keys]!;
          const open = (isFast: boolean, from?: OperatorHarness) =>
            reopen(optionsOf(assigner, contents, latenessMs, type, isFast), from);
          let fast = await open(true);
          let general = await open(false);
          let compared = 0;
          const compare = (): void => {
            deepStrictEqual(fast.events.slice(compared), general.events.slice(compared));
            compared = fast.events.length;
            deepStrictEqual(fast.stateEntries, general.stateEntries);
          };
          let nowMs = 0;
          let watermarkMs = Number.NEGATIVE_INFINITY;
          for (const event of events) {
            if (event === 'restart' || event === 'swap') {
              const isSwapped = event === 'swap';
              const restored = [
                await open(true, isSwapped ? general : fast),
                await open(false, isSwapped ? fast : general),
              ] as const;
              await fast.close();
              await general.close();
              [fast, general] = restored;
              compared = 0;
              watermarkMs = Number.NEGATIVE_INFINITY;
            } else if (event === 'watermark' || event === 'over') {
              const reachedMs = event === 'over' ? nowMs + AHEAD_MS : nowMs - lagMs;
              watermarkMs = Math.max(watermarkMs, reachedMs);
              for (const harness of [fast, general]) harness.watermark(watermarkMs);
            } else {
              const at = ++nowMs - event.behindMs;
              for (const harness of [fast, general]) harness.process({ key: of(event.key), n: event.n }, at);
            }
            compare();
          }
          for (const harness of [fast, general]) await harness.finish();
          compare();
          ok(latenessMs === FOR_EVER_MS || fast.stateEntries === 0);
          await fast.close();
          await general.close();
        },
      ),
      { numRuns: 200 },
    );
  });
});

/**
 * Without `from`, begins with nothing. The watermark begins anew, as it does in a job: windows that had fired may get records
 * before it is there again.
 */
async function reopen(options: HarnessOptions, from: OperatorHarness | undefined): Promise<OperatorHarness> {
  return OperatorHarness.open(options, from === undefined ? [] : [await from.snapshot()]);
}
