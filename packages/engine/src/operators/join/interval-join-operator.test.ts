import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { hasCode } from '../../base/index.ts';
import { type HarnessOptions, OperatorHarness } from '../../testing/operator-harness.ts';
import { type HarnessStep, runOperatorThroughAllModes } from '../../testing/operator-modes.ts';
import { Types } from '../../types/index.ts';
import { OutputTag } from '../output-tag.ts';
import { IntervalJoinOperator, type IntervalJoinOptions } from './interval-join-operator.ts';
import { processJoinFunction } from './join-call.ts';

interface Item {
  readonly key: string;
  readonly id: number;
}

const itemType = Types.ROW({ key: Types.STRING, id: Types.INT });
const leftLate = new OutputTag<Item>('left-late');
const rightLate = new OutputTag<Item>('right-late');
const same = (item: Item): string => item.key;

/** Results are `left id-right id@left time,right time`. */
function options(given: Partial<IntervalJoinOptions<Item, Item>>, described = true): HarnessOptions {
  const type = described ? itemType : undefined;
  const join = { lowerBoundMs: 0, upperBoundMs: 0, leftType: type, rightType: type, ...given };
  return {
    create: () =>
      new IntervalJoinOperator<Item, Item, string>(
        {
          processElement(left, right, context, out) {
            const [leftMs, rightMs] = [context.getLeftTimestamp(), context.getRightTimestamp()];
            assert.equal(context.getTimestamp(), Math.max(leftMs, rightMs));
            out.collect(`${left.id}-${right.id}@${leftMs},${rightMs}`);
          },
        },
        join,
      ),
    name: 'join',
    key: { selectors: [same, same], type: Types.STRING },
    inputTypes: [type, type],
    outputType: Types.STRING,
  };
}

const left = (id: number, timestampMs: number, key = 'k'): HarnessStep => ({
  value: { key, id },
  timestampMs,
  input: 0,
});
const right = (id: number, timestampMs: number, key = 'k'): HarnessStep => ({
  value: { key, id },
  timestampMs,
  input: 1,
});

describe('an interval join', () => {
  for (const described of [true, false]) {
    it(`pairs records of one key within the bounds, ${described ? 'described' : 'undescribed'}`, async () => {
      const events = await runOperatorThroughAllModes(
        options({ lowerBoundMs: -2, upperBoundMs: 1 }, described),
        [
          left(1, 10),
          right(1, 8),
          right(2, 7),
          right(3, 11),
          right(4, 12),
          right(5, 10, 'other'),
          left(2, 9),
          { watermarkMs: 8 },
          right(6, 9),
          left(3, 10),
        ],
      );
      const records = events.flatMap((event) =>
        event.kind === 'record' ? [[event.value, event.timestamp]] : [],
      );
      assert.deepEqual(records, [
        ['1-1@10,8', 10],
        ['1-3@10,11', 11],
        ['2-2@9,7', 9],
        ['2-1@9,8', 9],
        ['2-6@9,9', 9],
        ['1-6@10,9', 10],
        ['3-1@10,8', 10],
        ['3-6@10,9', 10],
        ['3-3@10,11', 11],
      ]);
    });
  }

  it('hands on what is late to the side output of its side, or counts it', async () => {
    const steps = [left(1, 5), right(1, 5)];
    const tagged = options({ leftLateTag: leftLate, rightLateTag: rightLate });
    const events = await runOperatorThroughAllModes(tagged, [{ watermarkMs: 6 }, ...steps]);
    assert.deepEqual(
      events.flatMap((event) => (event.kind === 'side' ? [[event.tag, event.value, event.timestamp]] : [])),
      [
        ['left-late', { key: 'k', id: 1 }, 5],
        ['right-late', { key: 'k', id: 1 }, 5],
      ],
    );
    const harness = await OperatorHarness.open(options({}));
    harness.watermark(6);
    for (const step of steps) {
      if ('value' in step) harness.process(step.value, step.timestampMs, step.input);
    }
    harness.process({ key: 'k', id: 2 }, 6, 1);
    assert.equal(harness.counter('numLateRecordsDropped'), 2);
    assert.deepEqual(harness.values, []);
  });

  it('keeps nothing that the watermark is past', async () => {
    const harness = await OperatorHarness.open(options({ lowerBoundMs: -5, upperBoundMs: 10 }));
    harness.process({ key: 'k', id: 1 }, 100, 0);
    harness.process({ key: 'k', id: 2 }, 100, 1);
    const both = harness.stateEntries;
    const entries = (watermarkMs: number): number => {
      harness.watermark(watermarkMs);
      return harness.stateEntries;
    };
    assert.deepEqual([104, 105, 109, 110].map(entries), [both, both / 2, both / 2, 0]);
  });

  it('takes records at the ends of time', async () => {
    const harness = await OperatorHarness.open(options({ lowerBoundMs: -5, upperBoundMs: 2 ** 50 }));
    harness.process({ key: 'k', id: 1 }, Number.MAX_SAFE_INTEGER - 2, 0);
    harness.process({ key: 'k', id: 2 }, Number.MAX_SAFE_INTEGER - 1, 1);
    harness.process({ key: 'k', id: 3 }, Number.MIN_SAFE_INTEGER + 1, 1);
    assert.equal(harness.values.length, 1);
    await harness.finish();
  });

  it('refuses records without timestamp, naming the operator', async () => {
    for (const input of [0, 1] as const) {
      const harness = await OperatorHarness.open(options({}));
      assert.throws(
        () => harness.process({ key: 'k', id: 1 }, undefined, input),
        (error: Error) => hasCode(error, 'TIMESTAMP_MISSING') && /'join'/.test(error.message),
      );
    }
  });

  it('names the operator in what its function throws, and refuses promises', async () => {
    for (const [fn, code] of [
      [
        () => {
          throw new Error('no');
        },
        'USER_FUNCTION_FAILED',
      ],
      [() => Promise.resolve(1), 'PROMISE_NOT_EXPECTED'],
    ] as const) {
      const harness = await OperatorHarness.open({
        ...options({}),
        create: () =>
          new IntervalJoinOperator<Item, Item, unknown>(processJoinFunction<Item, Item, unknown>(fn), {
            lowerBoundMs: 0,
            upperBoundMs: 0,
          }),
      });
      harness.process({ key: 'k', id: 1 }, 1, 0);
      assert.throws(
        () => harness.process({ key: 'k', id: 1 }, 1, 1),
        (error: Error) => hasCode(error, code) && /'join'/.test(error.message),
      );
    }
  });

  it('emits to side outputs with the time of the pair', async () => {
    const tag = new OutputTag<number>('sum', Types.INT);
    const events = await runOperatorThroughAllModes(
      {
        ...options({}),
        create: () =>
          new IntervalJoinOperator<Item, Item, never>(
            processJoinFunction<Item, Item, never>((one, other, context, _out) =>
              context.output(tag, one.id + other.id),
            ),
            { lowerBoundMs: 0, upperBoundMs: 5 },
          ),
      },
      [left(1, 1), right(2, 4)],
    );
    assert.deepEqual(
      events.filter((event) => event.kind === 'side'),
      [{ kind: 'side', tag: 'sum', value: 3, timestamp: 4 }],
    );
  });
});

type Arrival =
  | { readonly side: 0 | 1; readonly key: string; readonly atMs: number }
  | { readonly watermarkMs: number };

const record = fc.record({ side: fc.constantFrom(0, 1), key: fc.constantFrom('a', 'b'), atMs: fc.nat(20) });
const watermark = fc.record({ watermarkMs: fc.nat(22) });

/** Watermarks do not go back. */
const arrivals = fc
  .array(
    fc.oneof({ weight: 4, arbitrary: record }, { weight: 1, arbitrary: watermark }) as fc.Arbitrary<Arrival>,
    { maxLength: 40 },
  )
  .map((script) => {
    let watermarkMs = -1;
    return script.filter((step) => {
      if (!('watermarkMs' in step)) return true;
      const isHigher = step.watermarkMs > watermarkMs;
      if (isHigher) watermarkMs = step.watermarkMs;
      return isHigher;
    });
  });
const bounds = fc.tuple(fc.integer({ min: -6, max: 6 }), fc.integer({ min: -6, max: 6 }));

/** What the operator's documentation says, by lists: results and late records, in order. */
function model(script: readonly Arrival[], [lowerMs, upperMs]: readonly [number, number]): string[] {
  const results: string[] = [];
  let kept: { id: number; side: 0 | 1; key: string; atMs: number }[] = [];
  let watermarkMs = Number.NEGATIVE_INFINITY;
  for (const [id, step] of script.entries()) {
    if ('watermarkMs' in step) {
      watermarkMs = step.watermarkMs;
      kept = kept.filter(
        ({ side, atMs }) => atMs + Math.max(0, side === 0 ? upperMs : -lowerMs) > watermarkMs,
      );
      continue;
    }
    if (step.atMs < watermarkMs) {
      results.push(`late ${id}`);
      continue;
    }
    const others = kept.filter(({ side, key }) => side !== step.side && key === step.key);
    for (const other of others.sort((a, b) => a.atMs - b.atMs || a.id - b.id)) {
      const [one, two] = step.side === 0 ? [{ ...step, id }, other] : [other, { ...step, id }];
      const distance = two.atMs - one.atMs;
      if (distance >= lowerMs && distance <= upperMs)
        results.push(`${one.id}-${two.id}@${one.atMs},${two.atMs}`);
    }
    kept.push({ ...step, id });
  }
  return results;
}

function steps(script: readonly Arrival[]): HarnessStep[] {
  return script.map((step, id) =>
    'watermarkMs' in step ? step : { value: { key: step.key, id }, timestampMs: step.atMs, input: step.side },
  );
}

function shown(events: readonly { kind: string; value?: unknown }[]): string[] {
  return events.flatMap(({ kind, value }) =>
    kind === 'record' ? [value as string] : kind === 'side' ? [`late ${(value as Item).id}`] : [],
  );
}

describe('an interval join of records in any order', () => {
  const tags = { leftLateTag: leftLate, rightLateTag: rightLate };

  it('agrees with lists, for all bounds, with late records, in all modes', async () => {
    await fc.assert(
      fc.asyncProperty(arrivals, bounds, async (script, ends) => {
        const [lowerBoundMs, upperBoundMs] = ends.sort((a, b) => a - b) as [number, number];
        const events = await runOperatorThroughAllModes(
          options({ lowerBoundMs, upperBoundMs, ...tags }),
          steps(script),
        );
        assert.deepEqual(shown(events), model(script, [lowerBoundMs, upperBoundMs]));
      }),
      { numRuns: 25 },
    );
  });

  it('gives every pair within the bounds once, if all records come after the watermark', async () => {
    await fc.assert(
      fc.asyncProperty(arrivals, bounds, async (given, ends) => {
        const [lowerBoundMs, upperBoundMs] = ends.sort((a, b) => a - b) as [number, number];
        let watermarkMs = -1;
        const script = given.filter((step) => {
          if (!('watermarkMs' in step)) return step.atMs > watermarkMs;
          watermarkMs = step.watermarkMs;
          return true;
        });
        const records = script.flatMap((step, id) => ('watermarkMs' in step ? [] : [{ ...step, id }]));
        const pairs = records.flatMap((one) =>
          records
            .filter((two) => one.side === 0 && two.side === 1 && one.key === two.key)
            .filter((two) => two.atMs - one.atMs >= lowerBoundMs && two.atMs - one.atMs <= upperBoundMs)
            .map((two) => `${one.id}-${two.id}@${one.atMs},${two.atMs}`),
        );
        const harness = await OperatorHarness.open(options({ lowerBoundMs, upperBoundMs }));
        for (const step of steps(script)) {
          if ('value' in step) harness.process(step.value, step.timestampMs, step.input);
          else if ('watermarkMs' in step) harness.watermark(step.watermarkMs);
        }
        await harness.finish();
        assert.deepEqual((harness.values as string[]).sort(), pairs.sort());
        assert.equal(harness.stateEntries, 0);
        await harness.close();
      }),
      { numRuns: 100 },
    );
  });
});
