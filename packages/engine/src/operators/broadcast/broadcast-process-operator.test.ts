import { deepStrictEqual, match, ok, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ErrorCode, hasCode, MAX_WATERMARK } from '../../base/index.ts';
import {
  AggregatingStateDescriptor,
  type BroadcastState,
  ListStateDescriptor,
  MapStateDescriptor,
  ReducingStateDescriptor,
  type ValueState,
  ValueStateDescriptor,
} from '../../state/index.ts';
import {
  type HarnessOptions,
  type HarnessSnapshot,
  OperatorHarness,
} from '../../testing/operator-harness.ts';
import { runOperatorThroughAllModes } from '../../testing/operator-modes.ts';
import { Types } from '../../types/index.ts';
import type { Collector, RuntimeContext } from '../functions.ts';
import { OutputTag } from '../output-tag.ts';
import {
  type BroadcastContext,
  type BroadcastOnTimerContext,
  BroadcastProcessFunction,
  type KeyedBroadcastContext,
  KeyedBroadcastProcessFunction,
  type KeyedReadOnlyBroadcastContext,
  type ReadOnlyBroadcastContext,
} from './broadcast-functions.ts';
import { BroadcastProcessOperator, KeyedBroadcastProcessOperator } from './broadcast-process-operator.ts';

interface Order {
  readonly customer: string;
  readonly amount: number;
}

/** Orders above the limit of their customer's are told of; without amount, the limit is lifted. */
interface Limit {
  readonly customer: string;
  readonly amount?: number;
}

const limits = new MapStateDescriptor('limits', Types.STRING, Types.INT);
const spentState = new ValueStateDescriptor('spent', Types.INT, 0);
const lifted = new OutputTag<string>('lifted');

/** Adds up what customers spend; tells of those above their limit, at once or when a new limit comes. */
class Limits extends KeyedBroadcastProcessFunction<string, Order, Limit, string> {
  private spent!: ValueState<number>;

  override open(context: RuntimeContext): void {
    this.spent = context.getState(spentState);
  }

  override processElement(
    order: Order,
    context: KeyedReadOnlyBroadcastContext<string>,
    out: Collector<string>,
  ): void {
    const spent = this.spent.value()! + order.amount;
    this.spent.update(spent);
    const limit = context.getBroadcastState(limits).get(context.getCurrentKey());
    if (limit !== undefined && spent > limit) out.collect(`${order.customer} ${spent}>${limit}`);
    context.timerService().registerEventTimeTimer(context.timestamp()! + 10);
  }

  override processBroadcastElement(
    limit: Limit,
    context: KeyedBroadcastContext<string>,
    out: Collector<string>,
  ): void {
    const state = context.getBroadcastState(limits);
    if (limit.amount === undefined) {
      context.output(lifted, `${limit.customer} had ${state.get(limit.customer)}`);
      return state.remove(limit.customer);
    }
    state.put(limit.customer, limit.amount);
    context.applyToKeyedState(spentState, (customer, spent) => {
      if (customer === limit.customer && spent.value()! > limit.amount!)
        out.collect(`${customer} has ${spent.value()}>${limit.amount}`);
    });
  }

  override onTimer(at: number, context: BroadcastOnTimerContext<string>, out: Collector<string>): void {
    const states = [...context.getBroadcastState(limits).immutableEntries()].map((entry) => entry.join('='));
    out.collect(`${at} ${context.timeDomain()} ${context.getCurrentKey()}: ${states.join(',')}`);
  }
}

const keyed: HarnessOptions = {
  create: () => new KeyedBroadcastProcessOperator(Limits, [limits]),
  key: { selectors: [(order: Order) => order.customer, undefined], type: Types.STRING },
  name: 'limits',
};

const withCode =
  (code: ErrorCode, pattern: RegExp) =>
  (error: unknown): boolean => {
    match(String(error), pattern);
    return hasCode(error, code);
  };

describe('a keyed process function beside a broadcast stream', () => {
  it('reads in its records and timers what broadcast records left, in every way it is hosted', async () => {
    const events = await runOperatorThroughAllModes(keyed, [
      { value: { customer: 'a', amount: 5 }, timestampMs: 1 },
      { value: { customer: 'a', amount: 4 }, timestampMs: 2, input: 1 },
      { value: { customer: 'b', amount: 3 }, timestampMs: 3, input: 1 },
      { value: { customer: 'b', amount: 3 }, timestampMs: 4 },
      { value: { customer: 'a', amount: 1 }, timestampMs: 5 },
      { watermarkMs: 11, input: 0 },
      { watermarkMs: 20, input: 1 },
      { watermarkMs: 20, input: 0 },
      { value: { customer: 'a' }, timestampMs: 21, input: 1 },
      { value: { customer: 'a', amount: 9 }, timestampMs: 22 },
      { value: { customer: 'b', amount: 1 }, timestampMs: 23 },
    ]);
    const seen = events.map((event) => {
      if (event.kind === 'status') return 'status';
      if (event.kind === 'watermark') return event.timestamp;
      return `${event.kind} ${event.timestamp} ${event.value}`;
    });
    deepStrictEqual(seen, [
      'record 2 a has 5>4',
      'record 5 a 6>4',
      'record 11 11 EVENT_TIME a: a=4,b=3',
      11,
      'record 14 14 EVENT_TIME b: a=4,b=3',
      'record 15 15 EVENT_TIME a: a=4,b=3',
      20,
      'side 21 a had 4',
      'record 23 b 4>3',
      'record 32 32 EVENT_TIME a: b=3',
      'record 33 33 EVENT_TIME b: b=3',
      MAX_WATERMARK,
    ]);
  });

  it('has after a restore at any parallelism the same broadcast state in every subtask, and each key in one', async () => {
    const customers = Array.from({ length: 30 }, (_, i) => `customer ${i}`);
    let snapshots: HarnessSnapshot[] = [];
    let spent = 0;
    for (const [round, parallelism] of [2, 5, 1, 3, 3].entries()) {
      const subtasks = await Promise.all(
        Array.from({ length: parallelism }, (_, subtaskIndex) =>
          OperatorHarness.open({ ...keyed, subtaskIndex, parallelism, maxParallelism: 16 }, snapshots),
        ),
      );
      for (const subtask of subtasks)
        subtask.process({ customer: `customer ${round}`, amount: round }, round, 1);
      spent++;
      for (const customer of customers) {
        const owners = subtasks.filter((subtask) => subtask.owns({ customer, amount: 0 }));
        strictEqual(owners.length, 1);
        owners[0]!.process({ customer, amount: 1 }, round);
      }
      for (const subtask of subtasks) subtask.watermark(round + 10);
      const expected = Array.from({ length: round + 1 }, (_, i) => `customer ${i}=${i}`).join(',');
      for (const customer of customers) {
        const timers = subtasks.flatMap(({ values }) =>
          values.filter((value) => `${value}`.includes(`E ${customer}:`)),
        );
        deepStrictEqual(timers.at(-1), `${round + 10} EVENT_TIME ${customer}: ${expected}`);
      }
      for (let i = 1; i < round; i++)
        ok(
          subtasks.some(({ values }) => values.includes(`customer ${i} ${spent}>${i}`)),
          `${i} in round ${round}`,
        );
      snapshots = await Promise.all(subtasks.map((subtask) => subtask.snapshot()));
      for (const subtask of subtasks) await subtask.close();
    }
  });

  it('reaches all keys of its subtask and their state of any kind, and may change it', async () => {
    const sum = {
      createAccumulator: () => 0,
      add: (a: number, b: number) => a + b,
      getResult: (a: number) => a,
    };
    const value = new ValueStateDescriptor('value', Types.INT);
    const list = new ListStateDescriptor('list', Types.INT);
    const map = new MapStateDescriptor('map', Types.STRING, Types.INT);
    const reducing = new ReducingStateDescriptor('reducing', (a, b) => a + b, Types.INT);
    const merge = (a: number, b: number): number => a + b;
    const aggregating = new AggregatingStateDescriptor('aggregating', { ...sum, merge }, Types.INT);
    const unused = new ValueStateDescriptor('unused', Types.INT);
    class All extends KeyedBroadcastProcessFunction<string, string, string, string> {
      override processElement(key: string): void {
        const context = this.getRuntimeContext();
        context.getState(value).update(1);
        if (key === 'b') return;
        context.getListState(list).addAll([1, 2]);
        context.getMapState(map).putAll([
          ['x', 1],
          ['y', 2],
        ]);
        context.getReducingState(reducing).add(4);
        context.getAggregatingState(aggregating).add(5);
      }

      override processBroadcastElement(
        what: string,
        context: KeyedBroadcastContext<string>,
        out: Collector<string>,
      ): void {
        const tell = (key: string, found: unknown): void => out.collect(`${key} ${JSON.stringify(found)}`);
        context.applyToKeyedState(unused, tell);
        context.applyToKeyedState(value, (key, state) => {
          tell(key, state.value());
          if (what === 'grow') for (let i = 0; i < 50; i++) state.update((state.value() ?? 0) + 1);
          if (what === 'clear') state.clear();
        });
        context.applyToKeyedState(list, (key, state) => tell(key, state.get()));
        context.applyToKeyedState(map, (key, state) => tell(key, [...state.keys()].sort()));
        context.applyToKeyedState(reducing, (key, state) => tell(key, state.get()));
        context.applyToKeyedState(aggregating, (key, state) => tell(key, state.get()));
      }
    }
    const harness = await OperatorHarness.open({
      create: () => new KeyedBroadcastProcessOperator(new All(), [limits]),
      key: { selectors: [(key: string) => key, undefined], type: Types.STRING },
    });
    for (const key of ['a', 'b']) harness.process(key);
    harness.process('grow', 0, 1);
    const rest = ['a [1,2]', 'a ["x","y"]', 'a 4', 'a 5'];
    const last = (count: number): unknown[] => harness.values.slice(-count).sort();
    deepStrictEqual(last(6), [...rest, 'a 1', 'b 1'].sort());
    harness.process('clear', 0, 1);
    deepStrictEqual(last(6), [...rest, 'a 51', 'b 51'].sort());
    harness.process('look', 0, 1);
    strictEqual(harness.values.length, 16);
    deepStrictEqual(last(4), rest.toSorted());
  });

  it('has no current key while a broadcast record is processed, whatever key was before', async () => {
    for (const use of ['state', 'key', 'timer'] as const) {
      class Careless extends KeyedBroadcastProcessFunction<string, string, string, string> {
        private kept!: KeyedReadOnlyBroadcastContext<string>;

        override processElement(_value: string, context: KeyedReadOnlyBroadcastContext<string>): void {
          this.kept = context;
        }

        override processBroadcastElement(): void {
          if (use === 'state') this.getRuntimeContext().getState(spentState).update(1);
          if (use === 'key') this.kept.getCurrentKey();
          if (use === 'timer') this.kept.timerService().registerEventTimeTimer(5);
        }
      }
      const harness = await OperatorHarness.open({
        ...keyed,
        create: () => new KeyedBroadcastProcessOperator(new Careless(), [limits]),
      });
      harness.process({ customer: 'a' }, 0);
      throws(() => harness.process('x', 0, 1), withCode('STATE_WITHOUT_KEY', /limits/), use);
      strictEqual(harness.stateEntries, 0);
    }
  });

  it('names the method that failed or answered with a promise', async () => {
    const fail = (what: string): never => {
      throw new Error(what);
    };
    const methods = {
      spent: undefined as ValueState<number> | undefined,
      open(context: RuntimeContext): void {
        this.spent = context.getState(spentState);
      },
      processElement(): void {
        this.spent!.update(1);
      },
      processBroadcastElement: (what: string, context: KeyedBroadcastContext<string>): unknown => {
        if (what === 'throw') fail('broken');
        if (what === 'promise') return Promise.resolve();
        context.applyToKeyedState(spentState, () => (what === 'apply' ? fail('broken') : Promise.resolve()));
        return undefined;
      },
    };
    for (const [what, code, pattern] of [
      ['throw', 'USER_FUNCTION_FAILED', /processBroadcastElement function of operator 'limits'.*broken/],
      ['promise', 'PROMISE_NOT_EXPECTED', /processBroadcastElement function of operator 'limits'/],
      ['apply', 'USER_FUNCTION_FAILED', /function of applyToKeyedState of operator 'limits'.*broken/],
      ['apply promise', 'PROMISE_NOT_EXPECTED', /function of applyToKeyedState of operator 'limits'/],
    ] as const) {
      const harness = await OperatorHarness.open({
        ...keyed,
        create: () => new KeyedBroadcastProcessOperator(methods as never as Limits, [limits]),
      });
      harness.process({ customer: 'a' });
      throws(() => harness.process(what, 0, 1), withCode(code, pattern));
    }
    const asynchronous = { ...methods, processBroadcastElement: async () => {} };
    throws(
      () => new KeyedBroadcastProcessOperator(asynchronous as never as Limits, [limits]),
      withCode('PROMISE_NOT_EXPECTED', /processBroadcastElement/),
    );
  });
});

describe('broadcast state', () => {
  /** What may be done wrong, by the name of the record that does it. */
  class Wrong extends KeyedBroadcastProcessFunction<string, string, string, string> {
    private kept!: BroadcastState<string, number>;

    override processElement(what: string, context: KeyedReadOnlyBroadcastContext<string>): void {
      const state = context.getBroadcastState(limits) as BroadcastState<string, number>;
      if (what === 'put') state.put('x', 1);
      if (what === 'putAll') state.putAll([['x', 1]]);
      if (what === 'remove') state.remove('a');
      if (what === 'clear') state.clear();
      if (what === 'kept') this.kept.put('x', 1);
      if (what === 'timer') context.timerService().registerEventTimeTimer(5);
      if (what === 'remember') this.getRuntimeContext().getState(spentState).update(1);
      if (what === 'other')
        context.getBroadcastState(new MapStateDescriptor('limit', Types.STRING, Types.INT));
      if (what === 'otherType')
        context.getBroadcastState(new MapStateDescriptor('limits', Types.INT, Types.INT));
    }

    override processBroadcastElement(what: string, context: KeyedBroadcastContext<string>): void {
      this.kept = context.getBroadcastState(new MapStateDescriptor('limits', Types.STRING, Types.INT));
      if (what === 'apply') context.applyToKeyedState(spentState, () => this.kept.put('x', 1));
      else this.kept.put('a', 1);
    }

    override onTimer(_at: number, context: BroadcastOnTimerContext<string>): void {
      (context.getBroadcastState(limits) as BroadcastState<string, number>).clear();
    }
  }

  const other = new MapStateDescriptor('other', Types.STRING, Types.STRING);
  const options: HarnessOptions = {
    ...keyed,
    create: () => new KeyedBroadcastProcessOperator(new Wrong(), [limits, other]),
    key: { selectors: [(what: string) => what, undefined], type: Types.STRING },
  };

  it('can be changed in processBroadcastElement only', async () => {
    const harness = await OperatorHarness.open(options);
    harness.process('first', 0, 1);
    const { state } = await harness.snapshot();
    deepStrictEqual(
      state.operator.map(({ name, mode, offsets }) => [name, mode, offsets.length]),
      [
        ['limits', 'broadcast', 1],
        ['other', 'broadcast', 0],
      ],
    );
    const refused = withCode('INVALID_ARGUMENT', /'limits' changes the broadcast state "limits" outside of/);
    for (const what of ['put', 'putAll', 'remove', 'clear', 'kept', 'timer', 'apply']) {
      const wrong = await OperatorHarness.open(options);
      wrong.process('first', 0, 1);
      wrong.process('remember', 0);
      if (what === 'timer') wrong.process('timer', 0);
      throws(() => {
        if (what === 'timer') wrong.watermark(5);
        else wrong.process(what, 0, what === 'apply' ? 1 : 0);
      }, refused);
    }
  });

  it('must have been declared, with the types that it is asked for', async () => {
    for (const [what, code, pattern] of [
      [
        'other',
        'INVALID_ARGUMENT',
        /asks for the broadcast state "limit", .* declared are "limits", "other"/,
      ],
      ['otherType', 'STATE_DESCRIPTOR_CONFLICT', /limits/],
    ] as const) {
      const harness = await OperatorHarness.open(options);
      throws(() => harness.process(what, 0), withCode(code, pattern));
    }
  });

  it('is declared by descriptors of maps that have names of their own', () => {
    const same = new MapStateDescriptor('limits', Types.INT, Types.INT);
    for (const [descriptors, pattern] of [
      [[limits, same], /two descriptors have the name "limits"/],
      [[spentState], /found the descriptor of a value state/],
      [['limits'], /found string/],
      [[undefined], /found undefined/],
    ] as const) {
      throws(
        () => new KeyedBroadcastProcessOperator(new Wrong(), descriptors as never),
        withCode('INVALID_ARGUMENT', pattern),
      );
    }
  });
});

describe('a process function without keys beside a broadcast stream', () => {
  const rates = new MapStateDescriptor('rates', Types.STRING, Types.DOUBLE);

  class Convert extends BroadcastProcessFunction<[string, number], [string, number], string> {
    override processElement(
      [currency, amount]: [string, number],
      context: ReadOnlyBroadcastContext,
      out: Collector<string>,
    ): void {
      const rate = context.getBroadcastState(rates).get(currency);
      const times = `${context.timestamp()} ${context.currentWatermark()} ${context.currentProcessingTime()}`;
      if (rate === undefined) context.output(lifted, currency);
      else out.collect(`${amount * rate} at ${times}`);
    }

    override processBroadcastElement([currency, rate]: [string, number], context: BroadcastContext): void {
      context.getBroadcastState(rates).put(currency, rate);
    }
  }

  it('works in every way it is hosted', async () => {
    const events = await runOperatorThroughAllModes(
      { create: () => new BroadcastProcessOperator(new Convert(), [rates]), compare: 'records' },
      [
        { value: ['EUR', 2], timestampMs: 1 },
        { value: ['EUR', 1.5], timestampMs: 2, input: 1 },
        { processingTimeMs: 70 },
        { watermarkMs: 2 },
        { value: ['EUR', 4], timestampMs: 3 },
        { value: ['EUR', 2], input: 1 },
        { value: ['EUR', 4], timestampMs: 4 },
      ],
    );
    deepStrictEqual(
      events.map((event) => 'value' in event && event.value),
      ['EUR', '6 at 3 2 70', '8 at 4 2 70'],
    );
  });

  it('may not ask for keyed state', async () => {
    class Keyed extends Convert {
      override open(context: RuntimeContext): void {
        context.getState(spentState);
      }
    }
    await OperatorHarness.open({ create: () => new BroadcastProcessOperator(Keyed, [rates]) }).then(
      () => ok(false),
      (error: unknown) => ok(hasCode(error, 'INVALID_ARGUMENT'), String(error)),
    );
  });
});
