/** What users give to windows and is none: each is refused by an error that says what, where the operator is known with its name. */
import { deepStrictEqual, rejects, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ErrorCode, hasCode } from '../../base/index.ts';
import { OperatorHarness } from '../../testing/operator-harness.ts';
import { Types } from '../../types/index.ts';
import { CountTrigger } from './count-trigger.ts';
import { DeltaTrigger } from './delta-trigger.ts';
import { DeltaEvictor } from './evictor.ts';
import { GlobalWindows } from './global-windows.ts';
import { EventTimeTrigger } from './time-trigger.ts';
import { TIME_WINDOW_TYPE, type TimeWindow } from './time-window.ts';
import { EventTimeSessionWindows, TumblingEventTimeWindows, WindowAssigner } from './window-assigner.ts';
import { WindowOperator } from './window-operator.ts';

/** Whatever the compiler says: users may have none. */
type Given = Readonly<Record<string, unknown>>;

const LARGEST = Number.MAX_SAFE_INTEGER;

function create(given: Given): WindowOperator<number, number, unknown, number, number> {
  return new WindowOperator({ contents: { kind: 'elements' }, ...given } as never);
}

async function run(given: Given, records: readonly (readonly [value: number, timestampMs: number])[]) {
  const harness = await OperatorHarness.open({
    create: () => create(given),
    name: 'visits',
    key: { selectors: [() => 0], type: Types.INT },
  });
  for (const [value, timestampMs] of records) harness.process(value, timestampMs);
  harness.watermark(100);
}

function failed(code: ErrorCode, message: RegExp): (error: Error) => boolean {
  return (error) => hasCode(error, code) && message.test(error.message);
}

describe('windows', () => {
  it('refuse what is no assigner, trigger, evictor or aggregate function before any record comes', () => {
    const assigner = TumblingEventTimeWindows.of(10);
    const aggregate = { kind: 'aggregate', aggregate: undefined };
    for (const [given, message] of [
      [{ assigner: undefined }, /window assigner must be an object with the methods .*found undefined/],
      [{ assigner: '5 s' }, /window assigner must be an object .*found the string "5 s"/],
      [{ assigner: {} }, /method assignWindows of the window assigner must be a function/],
      [{ assigner, trigger: CountTrigger }, /trigger must be an object with the methods/],
      [{ assigner, trigger: null }, /trigger must be an object .*found null/],
      [{ assigner, evictor: null }, /evictor must be an object with the methods .*found null/],
      [{ assigner, contents: aggregate }, /aggregate function must be an object .*found undefined/],
    ] as const) {
      throws(() => create(given), failed('INVALID_ARGUMENT', message));
    }
  });

  it('that go beyond the first or the last timestamp are refused', async () => {
    const beyond = failed('TIMESTAMP_INVALID', /'visits'.*goes beyond the timestamps that there are/);
    const assigner = TumblingEventTimeWindows.of(4096);
    await rejects(run({ assigner }, [[1, LARGEST - 10]]), beyond);
    await rejects(run({ assigner }, [[1, 10 - LARGEST]]), beyond);
  });

  it('that are no windows are refused with the name of the operator', async () => {
    class Plain extends WindowAssigner<number> {
      readonly windowType = TIME_WINDOW_TYPE;
      override assignWindows(): TimeWindow[] {
        return [{ start: 0, end: 5 } as TimeWindow];
      }
      override getDefaultTrigger(): EventTimeTrigger {
        return EventTimeTrigger.create();
      }
      override isEventTime(): boolean {
        return true;
      }
    }
    const message = /window assigner of operator 'visits' must return windows, which extend Window, found/;
    await rejects(run({ assigner: new Plain() }, [[1, 1]]), failed('RESULT_NOT_ALLOWED', message));
  });

  it('of a gap that is none name the operator', async () => {
    const assigner = EventTimeSessionWindows.withDynamicGap((n: number) => n);
    const message =
      /operator 'visits'.*the gap must be a positive integer \(milliseconds\), found the number -1/;
    await rejects(run({ assigner }, [[-1, 1]]), failed('USER_FUNCTION_FAILED', message));
  });
});

describe('a distance that is no number', () => {
  for (const [name, distance] of [
    ['undefined', () => undefined],
    ['the number NaN', () => Number.NaN],
    ['an instance of Promise', () => Promise.reject(new Error('too late'))],
  ] as const) {
    const records = [
      [1, 1],
      [2, 2],
    ] as const;
    const assigner = GlobalWindows.create();
    const found = (what: string) =>
      failed(
        'USER_FUNCTION_FAILED',
        new RegExp(`operator 'visits'.*delta function of ${what} must return a number, found ${name}`),
      );

    it(`is an error that names trigger and operator: ${name}`, async () => {
      const trigger = DeltaTrigger.of<number>(1, distance as never);
      await rejects(run({ assigner, trigger }, records), found('DeltaTrigger'));
    });

    it(`is an error that names evictor and operator: ${name}`, async () => {
      const evictor = DeltaEvictor.of<number>(1, distance as never);
      await rejects(run({ assigner, trigger: CountTrigger.of(2), evictor }, records), found('DeltaEvictor'));
    });
  }
});

it('a promise that is refused is not an unhandled rejection', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => {
    unhandled.push(reason);
  };
  process.on('unhandledRejection', note);
  try {
    const fn = () => Promise.reject(new Error('too late'));
    const given = { assigner: TumblingEventTimeWindows.of(10), evaluation: { kind: 'apply', fn } };
    await rejects(
      run(given, [[1, 1]]),
      failed('PROMISE_NOT_EXPECTED', /window function of operator 'visits'/),
    );
    // Node.js looks for them when the microtasks are done.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off('unhandledRejection', note);
  }
  deepStrictEqual(unhandled, []);
});
