/** Windows of streams in whole jobs, in this thread. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { hasCode } from '../../base/index.ts';
import {
  type Collector,
  CountEvictor,
  CountTrigger,
  EventTimeSessionWindows,
  GlobalWindows,
  OutputTag,
  ProcessAllWindowFunction,
  type ProcessWindowContext,
  ProcessWindowFunction,
  type TimeWindow,
  TumblingEventTimeWindows,
} from '../../operators/index.ts';
import { type Infer, Types } from '../../types/index.ts';
import { RestartStrategies } from '../restart-strategies.ts';
import { StreamExecutionEnvironment } from '../stream-execution-environment.ts';
import { WatermarkStrategy } from '../watermark-strategy.ts';
import type { DataStream, KeyedStream } from './data-stream.ts';

const saleType = Types.ROW({ shop: Types.STRING, amount: Types.INT, at: Types.LONG });
type Sale = Infer<typeof saleType>;

const SALES: readonly Sale[] = [
  ['a', 5, 1],
  ['b', 1, 2],
  ['a', 3, 4],
  ['b', 7, 8],
  ['a', 5, 12],
  ['a', 9, 13],
  ['b', 2, 25],
].map(([shop, amount, at]) => ({ shop, amount, at }) as Sale);

let sales: DataStream<Sale>;
let byShop: KeyedStream<Sale, string>;

beforeEach(() => {
  const env = StreamExecutionEnvironment.getExecutionEnvironment({
    host: 'inline',
    parallelism: 2,
    restartStrategy: RestartStrategies.noRestart(),
  });
  sales = env
    .fromCollection(SALES, saleType)
    .assignTimestampsAndWatermarks(
      WatermarkStrategy.forMonotonousTimestamps<Sale>().withTimestampAssigner((sale) => sale.at),
    )
    .setParallelism(1);
  byShop = sales.keyBy('shop');
});

async function sorted<T>(stream: DataStream<T>): Promise<string[]> {
  const results = await stream.executeAndCollect();
  return results.map((result) => (typeof result === 'string' ? result : JSON.stringify(result))).sort();
}

const amounts = (sums: Iterable<Sale>): string => [...sums].map((sale) => sale.amount).join(',');
const tens = TumblingEventTimeWindows.of(10);

describe('windows of keys', () => {
  it('are added up, and give least and greatest, by a field', async () => {
    assert.deepEqual(await sorted(byShop.window(tens).sum('amount')), [
      '{"shop":"a","amount":14,"at":12}',
      '{"shop":"a","amount":8,"at":1}',
      '{"shop":"b","amount":2,"at":25}',
      '{"shop":"b","amount":8,"at":2}',
    ]);
  });

  for (const [aggregation, expected] of [
    ['min', ['{"shop":"a","amount":3,"at":1}', '{"shop":"b","amount":1,"at":2}']],
    ['max', ['{"shop":"a","amount":9,"at":1}', '{"shop":"b","amount":7,"at":2}']],
    ['minBy', ['{"shop":"a","amount":3,"at":4}', '{"shop":"b","amount":1,"at":2}']],
    ['maxBy', ['{"shop":"a","amount":9,"at":13}', '{"shop":"b","amount":7,"at":8}']],
  ] as const) {
    it(`give ${aggregation} of a field`, async () => {
      const windows = byShop.window(GlobalWindows.createWithEndOfStreamTrigger());
      assert.deepEqual(await sorted(windows[aggregation]('amount')), expected);
    });
  }

  it('refuse a field that is not there where it is written', () => {
    assert.throws(
      () => byShop.window(tens).sum('price' as never),
      (error) => hasCode(error, 'INVALID_ARGUMENT'),
    );
  });

  it('are handed to a plain function', async () => {
    const results = byShop
      .window(EventTimeSessionWindows.withGap(5))
      .apply((shop: string, window: TimeWindow, items, out: Collector<string>) =>
        out.collect(`${shop} ${window} ${amounts(items)}`),
      );
    assert.deepEqual(await sorted(results), [
      'a [1, 9) 5,3',
      'a [12, 18) 5,9',
      'b [2, 7) 1',
      'b [25, 30) 2',
      'b [8, 13) 7',
    ]);
  });

  it('lose records to an evictor before they are reduced, with a function after it', async () => {
    class Named extends ProcessWindowFunction<Sale, string, string, TimeWindow> {
      override process(
        shop: string,
        context: ProcessWindowContext<TimeWindow>,
        items: Iterable<Sale>,
        out: Collector<string>,
      ): void {
        out.collect(`${shop} ${context.window().start} ${amounts(items)}`);
      }
    }
    const results = byShop
      .window(TumblingEventTimeWindows.of(100))
      .evictor(CountEvictor.of(3))
      .reduce(({ shop, at, amount }, right) => ({ shop, at, amount: amount + right.amount }), Named);
    assert.deepEqual(await sorted(results), ['a 0 17', 'b 0 10']);
  });

  it('of a number of records hold so many of each key', async () => {
    const results = byShop
      .countWindow(2)
      .apply((shop, window, items, out: Collector<string>) =>
        out.collect(`${shop} ${window} ${amounts(items)}`),
      );
    assert.deepEqual(await sorted(results), [
      'a GlobalWindow 5,3',
      'a GlobalWindow 5,9',
      'b GlobalWindow 1,7',
    ]);
  });

  it('of a number of records may slide', async () => {
    const results = byShop
      .countWindow(3, 1)
      .apply((shop, _window, items, out: Collector<string>) => out.collect(`${shop} ${amounts(items)}`));
    assert.deepEqual(await sorted(results), [
      'a 3,5,9',
      'a 5',
      'a 5,3',
      'a 5,3,5',
      'b 1',
      'b 1,7',
      'b 1,7,2',
    ]);
  });

  it('of a number of records refuse what is no number', () => {
    for (const count of [
      () => byShop.countWindow(0),
      () => byShop.countWindow(1.5),
      () => byShop.countWindow(2, 0),
      () => sales.countWindowAll(Number.NaN),
    ]) {
      assert.throws(
        count,
        (error) => hasCode(error, 'INVALID_ARGUMENT') && /countWindow/.test(String(error)),
      );
    }
  });
});

describe('windows of a whole stream', () => {
  it('take all records in one subtask, by time', async () => {
    class Listing extends ProcessAllWindowFunction<Sale, string, TimeWindow> {
      override process(
        context: ProcessWindowContext<TimeWindow>,
        items: Iterable<Sale>,
        out: Collector<string>,
      ): void {
        out.collect(`${context.window()} ${amounts(items)}`);
      }
    }
    const windows = sales.windowAll(tens);
    assert.deepEqual(await sorted(windows.process(Listing)), [
      '[0, 10) 5,1,3,7',
      '[10, 20) 5,9',
      '[20, 30) 2',
    ]);
  });

  it('are reduced, aggregated, added up, handed to a function', async () => {
    const sum = (left: Sale, right: Sale): Sale => ({ ...left, amount: left.amount + right.amount });
    const reduced = sales
      .windowAll(tens)
      .reduce(sum)
      .map((sale) => `reduced ${sale.amount}`);
    const summed = sales
      .windowAll(tens)
      .sum('amount')
      .map((sale) => `summed ${sale.amount}`);
    const aggregate = {
      createAccumulator: () => 0,
      add: (_sale: Sale, count: number) => count + 1,
      getResult: (count: number) => count,
      merge: (a: number, b: number) => a + b,
    };
    const aggregated = sales
      .windowAll(tens)
      .aggregate(aggregate, { accumulator: Types.LONG, result: Types.LONG })
      .map((count) => `aggregated ${count}`);
    const named = sales.windowAll(tens).aggregate(aggregate, {
      process: (context, counts: Iterable<number>, out: Collector<string>) =>
        out.collect(`named ${context.window().end} ${[...counts]}`),
    });
    const applied = sales
      .windowAll(tens)
      .apply((window, items, out: Collector<string>) =>
        out.collect(`applied ${window.end} ${amounts(items)}`),
      );
    const chosen = sales
      .windowAll(tens)
      .maxBy('amount')
      .map((sale) => `chosen ${sale.shop}`);
    assert.deepEqual(await sorted(reduced.union(summed, aggregated, named, applied, chosen)), [
      'aggregated 1',
      'aggregated 2',
      'aggregated 4',
      'applied 10 5,1,3,7',
      'applied 20 5,9',
      'applied 30 2',
      'chosen a',
      'chosen b',
      'chosen b',
      'named 10 4',
      'named 20 2',
      'named 30 1',
      'reduced 14',
      'reduced 16',
      'reduced 2',
      'summed 14',
      'summed 16',
      'summed 2',
    ]);
  });

  it('count the records of the stream, one after the other or sliding', async () => {
    const list = (_window: unknown, items: Iterable<Sale>, out: Collector<string>): void =>
      out.collect(amounts(items));
    assert.deepEqual(await sorted(sales.countWindowAll(3).apply(list)), ['5,1,3', '7,5,9']);
  });

  it('count the records of the stream and slide', async () => {
    const results = sales
      .countWindowAll(4, 2)
      .apply((_window, items, out: Collector<string>) => out.collect(amounts(items)));
    assert.deepEqual(await sorted(results), ['3,7,5,9', '5,1', '5,1,3,7']);
  });

  it('have a trigger, late records, and one subtask only', async () => {
    const late = new OutputTag<Sale>('late', saleType);
    const triggered = sales
      .windowAll(tens)
      .trigger(CountTrigger.of(2))
      .allowedLateness(5)
      .sideOutputLateData(late)
      .apply((_window, items, out: Collector<string>) => out.collect(amounts(items)));
    assert.throws(
      () => triggered.setParallelism(2),
      (error: Error) => hasCode(error, 'INVALID_ARGUMENT') && /parallelism must be 1/.test(error.message),
    );
    triggered.setParallelism(1);
    assert.deepEqual(await sorted(triggered), ['5,1', '5,1,3,7', '5,9']);
  });
});
