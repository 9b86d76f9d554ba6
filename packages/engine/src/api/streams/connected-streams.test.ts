import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../../base/index.ts';
import {
  type Collector,
  CoProcessFunction,
  KeyedCoProcessFunction,
  type KeyedProcessContext,
  type OnTimerContext,
  type ProcessContext,
  RichCoFlatMapFunction,
  RichCoMapFunction,
  type RuntimeContext,
} from '../../operators/index.ts';
import {
  type MapState,
  MapStateDescriptor,
  type ValueState,
  ValueStateDescriptor,
} from '../../state/index.ts';
import { type HarnessStep, runOperatorThroughAllModes } from '../../testing/operator-modes.ts';
import { Types } from '../../types/index.ts';
import { StreamExecutionEnvironment } from '../stream-execution-environment.ts';
import { WatermarkStrategy } from '../watermark-strategy.ts';
import type { KeyedConnectedStreams } from './connected-streams.ts';
import type { SingleOutputStreamOperator } from './data-stream.ts';

const environment = (): StreamExecutionEnvironment =>
  StreamExecutionEnvironment.getExecutionEnvironment({ host: 'inline', parallelism: 1 });

interface Rate {
  readonly currency: string;
  readonly rate: number;
}

interface Order {
  readonly currency: string;
  readonly amount: number;
}

const rateType = Types.ROW({ currency: Types.STRING, rate: Types.DOUBLE });
const orderType = Types.ROW({ currency: Types.STRING, amount: Types.DOUBLE });

/** Runs the operator of a call through the harness. */
async function resultsOf<R>(
  make: (streams: KeyedConnectedStreams<Order, Rate, string>) => SingleOutputStreamOperator<R>,
  steps: readonly HarnessStep[],
): Promise<unknown[]> {
  const env = environment();
  const orders = env.fromCollection<Order>([], orderType);
  const rates = env.fromCollection<Rate>([], rateType);
  const { spec, outputType } = make(orders.connect(rates).keyBy('currency', 'currency')).origins[0]!.node;
  const events = await runOperatorThroughAllModes(
    { create: spec.create!, key: spec.keyed!, inputTypes: [orderType, rateType], outputType },
    steps,
  );
  return events.flatMap((event) => (event.kind === 'record' ? [[event.value, event.timestamp]] : []));
}

const order = (currency: string, amount: number, timestampMs: number): HarnessStep => ({
  value: { currency, amount },
  timestampMs,
  input: 0,
});
const rate = (currency: string, value: number, timestampMs: number): HarnessStep => ({
  value: { currency, rate: value },
  timestampMs,
  input: 1,
});

/** Converts at the newest rate that has come. */
class Converted extends RichCoMapFunction<Order, Rate, string> {
  private rate!: ValueState<number>;

  override open(context: RuntimeContext): void {
    this.rate = context.getState(new ValueStateDescriptor('rate', Types.DOUBLE, 1));
  }

  map1(order: Order): string {
    return `${order.amount * this.rate.value()!} of ${order.currency}`;
  }

  map2(rate: Rate): string {
    this.rate.update(rate.rate);
    return `rate ${rate.rate}`;
  }
}

/** The same with nothing for rates, and twice for orders. */
class ConvertedTwice extends RichCoFlatMapFunction<Order, Rate, string> {
  private readonly one = new Converted();

  override open(context: RuntimeContext): void {
    this.one.open(context);
  }

  flatMap1(order: Order, out: Collector<string>): string[] {
    out.collect(this.one.map1(order));
    return ['again'];
  }

  flatMap2(rate: Rate): void {
    this.one.map2(rate);
  }
}

const SCRIPT = [order('a', 5, 1), rate('a', 2, 2), order('a', 5, 3), order('b', 5, 4)];

describe('connected streams with keys', () => {
  it('map by an object, its class, or a function that makes it, with the state of the key', async () => {
    for (const given of [new Converted(), Converted, () => new Converted()]) {
      assert.deepEqual(await resultsOf((streams) => streams.map(given, Types.STRING), SCRIPT), [
        ['5 of a', 1],
        ['rate 2', 2],
        ['10 of a', 3],
        ['5 of b', 4],
      ]);
    }
    const plain = await resultsOf(
      (streams) =>
        streams.map<number>(
          ({ amount }) => amount,
          (each) => each.rate,
          Types.DOUBLE,
        ),
      SCRIPT,
    );
    assert.deepEqual(plain, [
      [5, 1],
      [2, 2],
      [5, 3],
      [5, 4],
    ]);
  });

  it('flatMap by an object that collects or returns', async () => {
    assert.deepEqual(await resultsOf((streams) => streams.flatMap(ConvertedTwice), SCRIPT), [
      ['5 of a', 1],
      ['again', 1],
      ['10 of a', 3],
      ['again', 3],
      ['5 of b', 4],
      ['again', 4],
    ]);
  });

  it('process by a CoProcessFunction, which then has timers', async () => {
    class Delayed extends CoProcessFunction<Order, Rate, string> {
      processElement1(_order: Order, context: ProcessContext): void {
        context.timerService().registerEventTimeTimer(context.timestamp()! + 1);
      }
      processElement2(): void {}
      override onTimer(timestampMs: number, _context: OnTimerContext<unknown>, out: Collector<string>): void {
        out.collect(`at ${timestampMs}`);
      }
    }
    assert.deepEqual(await resultsOf((streams) => streams.process(Delayed), SCRIPT), [
      ['at 2', 2],
      ['at 4', 4],
      ['at 5', 5],
    ]);
  });

  it('refuse what is not such an object, and promises', async () => {
    for (const [make, code] of [
      [(streams) => streams.map({ map1: (each: Order) => each } as never), 'INVALID_ARGUMENT'],
      [(streams) => streams.map(((each: Order) => each) as never), 'INVALID_ARGUMENT'],
      [(streams) => streams.flatMap({} as never), 'INVALID_ARGUMENT'],
      [
        (streams) => streams.map({ map1: async (each: Order) => each, map2: () => 0 } as never),
        'PROMISE_NOT_EXPECTED',
      ],
      [
        (streams) => streams.map({ map1: (each: Order) => Promise.resolve(each), map2: () => 0 } as never),
        'PROMISE_NOT_EXPECTED',
      ],
    ] as readonly (readonly [
      (streams: KeyedConnectedStreams<Order, Rate, string>) => SingleOutputStreamOperator<unknown>,
      'INVALID_ARGUMENT' | 'PROMISE_NOT_EXPECTED',
    ])[]) {
      await assert.rejects(
        async () => resultsOf(make, SCRIPT),
        (error) => hasCode(error, code),
        String(make),
      );
    }
  });
});

/** The rate that was valid when an order was placed: both are kept until the watermark says that no earlier rate can come. */
class ValidRate extends KeyedCoProcessFunction<string, Order, Rate, number> {
  private rates!: MapState<number, number>;
  private orders!: MapState<number, number[]>;

  override open(context: RuntimeContext): void {
    this.rates = context.getMapState(new MapStateDescriptor('rates', Types.LONG, Types.DOUBLE));
    this.orders = context.getMapState(new MapStateDescriptor('orders', Types.LONG, Types.LIST(Types.DOUBLE)));
  }

  override processElement1(order: Order, context: KeyedProcessContext<string>): void {
    const atMs = context.timestamp()!;
    this.orders.put(atMs, [...(this.orders.get(atMs) ?? []), order.amount]);
    context.timerService().registerEventTimeTimer(atMs);
  }

  override processElement2(rate: Rate, context: KeyedProcessContext<string>): void {
    this.rates.put(context.timestamp()!, rate.rate);
    context.timerService().registerEventTimeTimer(context.timestamp()!);
  }

  override onTimer(timestampMs: number, _context: OnTimerContext<string>, out: Collector<number>): void {
    let validMs = Number.MIN_SAFE_INTEGER;
    for (const atMs of this.rates.keys()) if (atMs <= timestampMs && atMs > validMs) validMs = atMs;
    for (const amount of this.orders.get(timestampMs) ?? [])
      out.collect(amount * (this.rates.get(validMs) ?? 0));
    this.orders.remove(timestampMs);
    for (const atMs of [...this.rates.keys()]) if (atMs < validMs) this.rates.remove(atMs);
  }
}

describe('the versioned lookup of orders and rates', () => {
  it('takes the rate that was valid at the time of the order, whatever comes first, in all modes', async () => {
    const results = await resultsOf(
      (streams) => streams.process(ValidRate, Types.DOUBLE),
      [
        order('eur', 1, 15),
        rate('eur', 10, 10),
        order('usd', 1, 16),
        rate('eur', 20, 20),
        rate('usd', 3, 16),
        order('eur', 2, 25),
        { watermarkMs: 14 },
        rate('eur', 11, 15),
        { watermarkMs: 20 },
        order('eur', 3, 24),
        rate('eur', 30, 25),
        order('gbp', 7, 30),
      ],
    );
    assert.deepEqual(results, [
      [11, 15],
      [3, 16],
      [60, 24],
      [60, 25],
      [0, 30],
    ]);
  });

  it('runs as a job', async () => {
    const env = environment();
    const timed = <T extends { readonly at: number }>() =>
      WatermarkStrategy.forBoundedOutOfOrderness<T>(20).withTimestampAssigner((each: T) => each.at);
    const orders = env
      .fromCollection([15, 5, 25, 10].map((at) => ({ currency: 'eur', amount: 1, at })))
      .assignTimestampsAndWatermarks(timed());
    const rates = env
      .fromCollection([20, 10].map((at) => ({ currency: 'eur', rate: at, at })))
      .assignTimestampsAndWatermarks(timed());
    const results = await orders
      .connect(rates)
      .keyBy('currency', 'currency')
      .process(ValidRate)
      .executeAndCollect();
    assert.deepEqual(results, [0, 10, 10, 20]);
  });
});
