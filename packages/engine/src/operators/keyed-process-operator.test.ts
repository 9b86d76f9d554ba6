import { deepStrictEqual, rejects, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../base/index.ts';
import { ListStateDescriptor, type ValueState, ValueStateDescriptor } from '../state/index.ts';
import { type HarnessOptions, OperatorHarness } from '../testing/operator-harness.ts';
import { runOperatorThroughAllModes } from '../testing/operator-modes.ts';
import { Types } from '../types/index.ts';
import {
  type Collector,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type OnTimerContext,
  type RuntimeContext,
} from './functions.ts';
import { KeyedProcessOperator } from './keyed-process-operator.ts';
import { OutputTag } from './output-tag.ts';

interface Flight {
  airport: string;
  delay: number;
}

const silent = new OutputTag<string>('silent');

/** Sums delays per airport; a timer says that an airport was silent for 10 ms. */
class DelaySum extends KeyedProcessFunction<string, Flight, string> {
  private sum!: ValueState<number>;
  private timer!: ValueState<number>;

  override open(context: RuntimeContext): void {
    this.sum = context.getState(new ValueStateDescriptor('sum', Types.LONG, 0));
    this.timer = context.getState(new ValueStateDescriptor('timer', Types.LONG));
  }

  override processElement(
    flight: Flight,
    context: KeyedProcessContext<string>,
    out: Collector<string>,
  ): void {
    const sum = this.sum.value()! + flight.delay;
    this.sum.update(sum);
    const before = this.timer.value();
    if (before !== undefined) context.timerService().deleteEventTimeTimer(before);
    const next = context.timestamp()! + 10;
    context.timerService().registerEventTimeTimer(next);
    this.timer.update(next);
    out.collect(`${context.getCurrentKey()} ${sum}`);
  }

  override onTimer(timestampMs: number, context: OnTimerContext<string>, out: Collector<string>): void {
    context.output(silent, `${context.getCurrentKey()} since ${timestampMs} ${context.timeDomain()}`);
    this.timer.clear();
    out.collect(`timer ${context.getCurrentKey()} ${this.sum.value()} ${context.timestamp()}`);
  }
}

const flightType = Types.POJO('Flight', { airport: Types.STRING, delay: Types.INT });

function options(create: HarnessOptions['create']): HarnessOptions {
  return {
    create,
    name: 'delays',
    key: { selectors: [(flight: Flight) => flight.airport], type: Types.STRING },
    inputTypes: [flightType],
    outputType: Types.STRING,
  };
}

describe('a keyed process function', () => {
  it('keeps state per key and fires timers per key, in the order of time', async () => {
    const given = new DelaySum();
    const events = await runOperatorThroughAllModes(
      options(() => new KeyedProcessOperator(given)),
      [
        { value: { airport: 'JFK', delay: 5 }, timestampMs: 100 },
        { value: { airport: 'LAX', delay: 1 }, timestampMs: 101 },
        { value: { airport: 'JFK', delay: 7 }, timestampMs: 104 },
        { watermarkMs: 112 },
        { value: { airport: 'LAX', delay: 2 }, timestampMs: 113 },
        { watermarkMs: 500 },
      ],
    );
    const shown = events.map((event) => ('value' in event ? `${event.value}` : event.kind));
    deepStrictEqual(shown, [
      'JFK 5',
      'LAX 1',
      'JFK 12',
      'LAX since 111 EVENT_TIME',
      'timer LAX 1 111',
      'watermark',
      'LAX 3',
      'JFK since 114 EVENT_TIME',
      'timer JFK 12 114',
      'LAX since 123 EVENT_TIME',
      'timer LAX 3 123',
      'watermark',
      'watermark',
    ]);
  });

  it('fires timers of processing time when time is moved, results carry the time of the timer', async () => {
    const create = () =>
      new KeyedProcessOperator({
        processElement(value: number, context: KeyedProcessContext<number>) {
          context
            .timerService()
            .registerProcessingTimeTimer(context.timerService().currentProcessingTime() + value);
        },
        onTimer(at: number, context: OnTimerContext<number>, out: Collector<string>) {
          out.collect(`${context.getCurrentKey()} at ${at} ${context.timeDomain()}`);
        },
      });
    const keyed: HarnessOptions = {
      create,
      key: { selectors: [(n: number) => n], type: Types.INT },
      processingTimeMs: 1000,
    };
    const events = await runOperatorThroughAllModes(keyed, [
      { value: 20 },
      { value: 10 },
      { value: 10 },
      { processingTimeMs: 1010 },
      { processingTimeMs: 1019 },
      { processingTimeMs: 1100 },
    ]);
    deepStrictEqual(events.slice(0, 2), [
      { kind: 'record', value: '10 at 1010 PROCESSING_TIME', timestamp: 1010 },
      { kind: 'record', value: '20 at 1020 PROCESSING_TIME', timestamp: 1020 },
    ]);
  });

  it('gives each key to one subtask, with its state and timers, when the parallelism changes', async () => {
    const given = new DelaySum();
    const base = options(() => new KeyedProcessOperator(given));
    const airports = Array.from({ length: 40 }, (_, index) => `A${index}`);
    const one = await OperatorHarness.open(base);
    for (const airport of airports) one.process({ airport, delay: 3 }, 50);
    const snapshot = await one.snapshot();
    const three = await Promise.all(
      [0, 1, 2].map((subtaskIndex) =>
        OperatorHarness.open({ ...base, parallelism: 3, subtaskIndex }, [snapshot]),
      ),
    );
    for (const airport of airports) {
      const owners = three.filter((subtask) => subtask.owns({ airport, delay: 0 }));
      strictEqual(owners.length, 1);
      owners[0]!.process({ airport, delay: 1 }, 55);
    }
    const back = await OperatorHarness.open(
      base,
      await Promise.all(three.map((subtask) => subtask.snapshot())),
    );
    back.watermark(1000);
    const values = [...three.flatMap((subtask) => subtask.values), ...back.values];
    deepStrictEqual(
      values.sort(),
      airports.flatMap((airport) => [`${airport} 4`, `timer ${airport} 4 65`]).sort(),
    );
  });

  it('a snapshot holds the state of its moment, whatever comes while it is written', async () => {
    const given = new DelaySum();
    const base = options(() => new KeyedProcessOperator(given));
    const harness = await OperatorHarness.open(base);
    harness.process({ airport: 'JFK', delay: 5 }, 10);
    const finishSnapshot = harness.beginSnapshot();
    harness.process({ airport: 'JFK', delay: 100 }, 12);
    harness.process({ airport: 'LAX', delay: 100 }, 12);
    const restored = await OperatorHarness.open(base, [await finishSnapshot()]);
    restored.process({ airport: 'JFK', delay: 1 }, 11);
    restored.watermark(1000);
    deepStrictEqual(restored.values, ['JFK 6', 'timer JFK 6 21']);
  });

  it('fails at once when it changes what it read from state or what it emitted', async () => {
    const tags = new ListStateDescriptor<string>('tags');
    let state!: { get(): string[]; add(value: string): void };
    const read = () =>
      new KeyedProcessOperator({
        open(context: RuntimeContext) {
          state = context.getListState(tags);
        },
        processElement(_value: unknown) {
          state.add('a');
          state.get().push('b');
        },
      });
    const emitted = () =>
      new KeyedProcessOperator({
        processElement(_value: unknown, _context: unknown, out: Collector<{ n: number }>) {
          const result = { n: 1 };
          out.collect(result);
          result.n = 2;
        },
      });
    for (const create of [read, emitted]) {
      const harness = await OperatorHarness.open({ create, key: { selectors: [(n: unknown) => n] } });
      throws(
        () => harness.process(1),
        (error) => hasCode(error, 'USER_FUNCTION_FAILED'),
      );
    }
  });

  it('names the operator when a timer is asked for at no time, and when onTimer throws or returns a promise', async () => {
    const key = { selectors: [(n: unknown) => n] };
    const bad = (at: number, onTimer?: () => void) => () =>
      new KeyedProcessOperator({
        processElement(_value: unknown, context: KeyedProcessContext<unknown>) {
          context.timerService().registerEventTimeTimer(at);
        },
        onTimer,
      });
    const noTime = await OperatorHarness.open({ create: bad(Number.NaN), name: 'alarm', key });
    throws(
      () => noTime.process(1),
      (error: Error) => hasCode(error, 'TIMESTAMP_INVALID') && /'alarm'.*NaN/.test(error.message),
    );
    const throwing = () => {
      throw new Error('broken');
    };
    const failing = await OperatorHarness.open({ create: bad(5, throwing), name: 'alarm', key });
    failing.process(1);
    throws(
      () => failing.watermark(5),
      (error: Error) => /onTimer function.*'alarm'/.test(error.message),
    );
    const later = await OperatorHarness.open({ create: bad(5, () => Promise.resolve() as never), key });
    later.process(1);
    throws(
      () => later.watermark(5),
      (error) => hasCode(error, 'PROMISE_NOT_EXPECTED'),
    );
  });

  it('an object with private fields is refused to a second subtask of the thread, and a factory helps', async () => {
    class Hidden extends KeyedProcessFunction<unknown, unknown, number> {
      #count = 0;
      override processElement(_value: unknown, _context: unknown, out: Collector<number>): void {
        out.collect(++this.#count);
      }
    }
    const key = { selectors: [(n: unknown) => n] };
    const given = new Hidden();
    const shared: HarnessOptions = { create: () => new KeyedProcessOperator(given), parallelism: 2, key };
    const first = await OperatorHarness.open(shared);
    await rejects(OperatorHarness.open({ ...shared, subtaskIndex: 1 }), (error) =>
      hasCode(error, 'FUNCTION_SHARED'),
    );
    await first.close();
    const made: HarnessOptions = { ...shared, create: () => new KeyedProcessOperator(() => new Hidden()) };
    await Promise.all([OperatorHarness.open(made), OperatorHarness.open({ ...made, subtaskIndex: 1 })]);
  });
});
