/** Windows that lose elements as they fire. */
import { deepStrictEqual, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../../base/index.ts';
import { type HarnessOptions, OperatorHarness } from '../../testing/operator-harness.ts';
import { type HarnessStep, runOperatorThroughAllModes } from '../../testing/operator-modes.ts';
import { Types } from '../../types/index.ts';
import type { Collector } from '../functions.ts';
import { CountTrigger } from './count-trigger.ts';
import { CountEvictor, DeltaEvictor, Evictor, type EvictorContext, TimeEvictor } from './evictor.ts';
import { GlobalWindows } from './global-windows.ts';
import { PurgingTrigger } from './purging-trigger.ts';
import type { TimestampedValue } from './timestamped-value.ts';
import type { Window } from './window.ts';
import { EventTimeSessionWindows, TumblingEventTimeWindows } from './window-assigner.ts';
import { WindowOperator, type WindowOptions } from './window-operator.ts';

interface Item {
  key: string;
  n: number;
}

const itemType = Types.ROW({ key: Types.STRING, n: Types.INT });

function harnessOf<Acc, Content, W extends Window>(
  window: WindowOptions<string, Item, Acc, Content, string, W>,
): HarnessOptions {
  return {
    create: () => new WindowOperator(window),
    name: 'items',
    key: { selectors: [(item: Item) => item.key], type: Types.STRING },
    inputTypes: [itemType],
  };
}

type Settings<W extends Window> = Pick<
  WindowOptions<string, Item, never, Item, string, W>,
  'assigner' | 'trigger' | 'evictor' | 'allowedLatenessMs'
>;

const show = (_key: string, _window: unknown, items: Iterable<unknown>, out: Collector<string>): void =>
  out.collect(`${[...items].map((item) => (item as Item).n ?? item)}`);

function listing<W extends Window>(settings: Settings<W>): HarnessOptions {
  return harnessOf<never, Item, W>({
    ...settings,
    contents: { kind: 'elements', type: itemType },
    evaluation: { kind: 'apply', fn: show },
  });
}

function item(n: number, timestampMs?: number, key = 'a'): HarnessStep {
  const value = { key, n };
  return timestampMs === undefined ? { value } : { value, timestampMs };
}

async function fired(options: HarnessOptions, steps: readonly HarnessStep[]): Promise<string[]> {
  const events = await runOperatorThroughAllModes(options, steps);
  return events.flatMap((event) => (event.kind === 'record' ? [String(event.value)] : []));
}

const everySecond = { assigner: GlobalWindows.create(), trigger: CountTrigger.of(2) };
const six = [1, 2, 3, 4, 5, 6].map((n) => item(n, n));

describe('CountEvictor', () => {
  it('keeps the last elements, before the function sees them or after', async () => {
    deepStrictEqual(await fired(listing({ ...everySecond, evictor: CountEvictor.of(3) }), six), [
      '1,2',
      '2,3,4',
      '4,5,6',
    ]);
    deepStrictEqual(await fired(listing({ ...everySecond, evictor: CountEvictor.of(3, true) }), six), [
      '1,2',
      '1,2,3,4',
      '2,3,4,5,6',
    ]);
  });

  it('of none leaves the function with nothing', async () => {
    deepStrictEqual(await fired(listing({ ...everySecond, evictor: CountEvictor.of(0) }), six), ['', '', '']);
  });

  it('refuses what is no count', () => {
    throws(
      () => CountEvictor.of(-1),
      (error) => hasCode(error, 'INVALID_ARGUMENT'),
    );
  });
});

describe('TimeEvictor', () => {
  it('keeps the elements less than the time before the latest, whatever their order', async () => {
    const steps = [item(1, 10), item(2, 25), item(3, 16), item(4, 20), item(5, 26), item(6, 5)];
    deepStrictEqual(await fired(listing({ ...everySecond, evictor: TimeEvictor.of(10) }), steps), [
      '2',
      '2,3,4',
      '2,4,5',
    ]);
    deepStrictEqual(await fired(listing({ ...everySecond, evictor: TimeEvictor.of(10, true) }), steps), [
      '1,2',
      '2,3,4',
      '2,3,4,5,6',
    ]);
  });

  it('keeps elements that have no timestamps', async () => {
    const steps = [item(1), item(2), item(3), item(4)];
    deepStrictEqual(await fired(listing({ ...everySecond, evictor: TimeEvictor.of(1) }), steps), [
      '1,2',
      '1,2,3,4',
    ]);
  });
});

describe('DeltaEvictor', () => {
  it('keeps the elements nearer to the newest than the threshold', async () => {
    const distance = (old: Item, newest: Item): number => Math.abs(newest.n - old.n);
    const steps = [item(1, 1), item(5, 2), item(20, 3), item(8, 4), item(11, 5), item(9, 6)];
    deepStrictEqual(await fired(listing({ ...everySecond, evictor: DeltaEvictor.of(5, distance) }), steps), [
      '1,5',
      '5,8',
      '5,8,11,9',
    ]);
    throws(
      () => DeltaEvictor.of(1, (async () => 1) as never),
      (error) => hasCode(error, 'PROMISE_NOT_EXPECTED'),
    );
  });
});

/** Removes odd numbers before, and the first of what is left after. */
class OddEvictor extends Evictor<Item> {
  override evictBefore(
    elements: TimestampedValue<Item>[],
    size: number,
    _window: Window,
    context: EvictorContext,
  ): void {
    strictEqual(size, elements.length);
    context.getMetricGroup().counter('asked').inc();
    for (let i = elements.length - 1; i >= 0; i--) {
      if (elements[i]!.getValue().n % 2 === 1) elements.splice(i, 1);
    }
  }

  override evictAfter(elements: TimestampedValue<Item>[], size: number): void {
    strictEqual(size, elements.length);
    elements.shift();
  }
}

describe('an evictor of the user', () => {
  it('removes before and after', async () => {
    deepStrictEqual(await fired(listing({ ...everySecond, evictor: new OddEvictor() }), six), [
      '2',
      '4',
      '6',
    ]);
    const harness = await OperatorHarness.open(listing({ ...everySecond, evictor: new OddEvictor() }));
    for (const n of [1, 2, 3, 4]) harness.process({ key: 'a', n }, n);
    strictEqual(harness.counter('asked'), 2);
  });

  it('that fails or answers later is named', async () => {
    const fail = (): void => {
      throw new Error('no');
    };
    for (const [methods, code] of [
      [{ evictBefore: fail }, 'USER_FUNCTION_FAILED'],
      [{ evictAfter: fail }, 'USER_FUNCTION_FAILED'],
      [{ evictAfter: () => Promise.resolve() }, 'PROMISE_NOT_EXPECTED'],
    ] as const) {
      const evictor = Object.assign(new OddEvictor(), methods);
      const harness = await OperatorHarness.open(listing({ ...everySecond, evictor }));
      harness.process({ key: 'a', n: 1 }, 1);
      throws(
        () => harness.process({ key: 'a', n: 2 }, 1),
        (error: Error) => hasCode(error, code) && /evictor.* of operator 'items'/.test(error.message),
      );
    }
    const declared = Object.assign(new OddEvictor(), { evictBefore: async () => {} });
    throws(
      () => listing({ ...everySecond, evictor: declared }).create(),
      (error) => hasCode(error, 'PROMISE_NOT_EXPECTED'),
    );
  });
});

it('an evictor that returns what is left instead of changing the array is refused by name', async () => {
  const kept = (elements: TimestampedValue<unknown>[]): unknown => elements.filter((_, i) => i > 0);
  for (const method of ['evictBefore', 'evictAfter']) {
    const evictor = Object.assign(new OddEvictor(), { [method]: kept });
    const harness = await OperatorHarness.open(listing({ ...everySecond, evictor }));
    harness.process({ key: 'a', n: 1 }, 1);
    throws(
      () => harness.process({ key: 'a', n: 2 }, 1),
      (error: Error) =>
        hasCode(error, 'RESULT_NOT_ALLOWED') &&
        error.message.startsWith(`The method ${method} of the evictor OddEvictor of operator 'items'`) &&
        /must return nothing .*elements\.splice.*found an instance of Array/.test(error.message),
    );
  }
});

describe('windows with an evictor', () => {
  const evictor = CountEvictor.of(2);

  it('reduce and aggregate what is left when they fire', async () => {
    const reduce = (left: Item, right: Item): Item => ({ key: left.key, n: left.n + right.n });
    const reduced = harnessOf<never, Item, Window>({
      ...(everySecond as never as { assigner: never }),
      evictor,
      contents: { kind: 'reduce', reduce, type: itemType },
      evaluation: { kind: 'apply', fn: show },
    });
    deepStrictEqual(await fired(reduced, six), ['3', '7', '11']);
    const aggregate = {
      createAccumulator: () => ({ sum: 0 }),
      add: (value: Item, accumulator: { sum: number }) => ({ sum: accumulator.sum + value.n }),
      getResult: ({ sum }: { sum: number }) => sum,
      merge: (a: { sum: number }, b: { sum: number }) => ({ sum: a.sum + b.sum }),
    };
    const aggregated = (count: number): HarnessOptions =>
      harnessOf<{ sum: number }, number, Window>({
        ...(everySecond as never as { assigner: never }),
        evictor: CountEvictor.of(count),
        contents: { kind: 'aggregate', aggregate, type: itemType },
        evaluation: { kind: 'apply', fn: show },
      });
    deepStrictEqual(await fired(aggregated(2), six), ['3', '7', '11']);
    deepStrictEqual(await fired(aggregated(0), six), ['0', '0', '0']);
  });

  it('do not call the function where there is nothing left to reduce', async () => {
    const options = harnessOf<never, Item, Window>({
      ...(everySecond as never as { assigner: never }),
      evictor: CountEvictor.of(0),
      contents: { kind: 'reduce', reduce: (left) => left, type: itemType },
      evaluation: { kind: 'apply', fn: show },
    });
    deepStrictEqual(await fired(options, six), []);
    const harness = await OperatorHarness.open(options);
    for (const n of [1, 2]) harness.process({ key: 'a', n }, n);
    strictEqual(harness.stateEntries, 0);
  });

  it('merge, with the timestamps of their elements', async () => {
    const settings = { assigner: EventTimeSessionWindows.withGap(10), evictor: TimeEvictor.of(12) };
    const steps = [item(1, 0), item(2, 15), item(3, 8), item(4, 40), item(5, 3, 'b')];
    deepStrictEqual((await fired(listing(settings), steps)).sort(), ['2,3', '4', '5']);
  });

  it('end with their time, fire for late elements with what was kept, and leave nothing', async () => {
    const settings = { assigner: TumblingEventTimeWindows.of(10), evictor, allowedLatenessMs: 5 };
    const steps = [
      item(1, 1),
      item(2, 2),
      item(3, 3),
      { watermarkMs: 9 },
      item(4, 4),
      { watermarkMs: 13 },
      item(5, 5),
      { watermarkMs: 14 },
      item(6, 6),
    ];
    deepStrictEqual(await fired(listing(settings), steps), ['2,3', '3,4', '4,5']);
    const harness = await OperatorHarness.open(listing(settings));
    for (const n of [1, 2, 3]) harness.process({ key: 'a', n }, n);
    harness.watermark(1000);
    strictEqual(harness.stateEntries, 0);
  });

  it('are emptied by a trigger that purges', async () => {
    const settings = {
      assigner: GlobalWindows.create(),
      trigger: PurgingTrigger.of(CountTrigger.of(3)),
      evictor: CountEvictor.of(2),
    };
    deepStrictEqual(await fired(listing(settings), six), ['2,3', '5,6']);
  });
});
