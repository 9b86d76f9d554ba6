/** Keys that cannot be compared or stored, and timestamps that are no time. */
import { describe, it } from 'node:test';
import {
  type Collector,
  GeneratorSource,
  type KeyedProcessContext,
  KeyedProcessFunction,
  StreamExecutionEnvironment,
  TumblingEventTimeWindows,
  Types,
  WatermarkStrategy,
} from '@millrace/engine';
import { assertRefused } from '../refusal.ts';

function environment(): StreamExecutionEnvironment {
  return StreamExecutionEnvironment.getExecutionEnvironment({ host: 'inline' });
}

describe('a key of a forbidden kind', () => {
  const keys: readonly (readonly [string, () => unknown, RegExp])[] = [
    ['undefined', () => undefined, /undefined/],
    ['null', () => null, /null/],
    ['a function', () => () => 1, /function/],
    ['a symbol', () => Symbol('key'), /symbol/i],
    ['an object of a class', () => new URL('file:///x'), /URL/],
    ['an object that holds itself', cyclic, /itself|cycl|circular/i],
  ];
  for (const [what, key, found] of keys) {
    it(`${what} is refused, naming the operator and what was found`, async () => {
      const stream = environment()
        .fromElements(1, 2)
        .keyBy(key)
        .reduce((a, b) => a + b)
        .name('sum');
      await assertRefused(stream.executeAndCollect('keys'), 'KEY_NOT_ALLOWED', /sum/, found);
    });
  }

  it('a key of another type than was declared is refused, naming both', async () => {
    const stream = environment()
      .fromElements<unknown>(1, 'two')
      .keyBy((value) => value as number, Types.INT)
      .reduce((a) => a)
      .name('count');
    await assertRefused(stream.executeAndCollect('keys'), 'TYPE_MISMATCH', /count/, /INT/i, /two/);
  });

  it('a map described as key is refused where it is given', async () => {
    const stream = environment().fromElements(1);
    await assertRefused(
      () =>
        stream
          .keyBy(() => new Map<string, number>(), Types.MAP(Types.STRING, Types.INT))
          .reduce((a) => a)
          .executeAndCollect(),
      'TYPE_INVALID',
      /MAP/,
    );
  });
});

function cyclic(): object {
  const key: { self?: unknown } = {};
  key.self = key;
  return key;
}

describe('a timestamp that is no time', () => {
  const notTimes: readonly unknown[] = [Number.NaN, Number.POSITIVE_INFINITY, 1.5, 2 ** 60, '12', undefined];
  for (const found of notTimes) {
    it(`${String(found)} from a timestamp assigner is refused, naming the source, the value and the record`, async () => {
      const strategy = WatermarkStrategy.forMonotonousTimestamps<{ order: number }>();
      const stream = environment().fromSource(
        new GeneratorSource((order) => ({ order: order + 40 }), { count: 5 }),
        strategy.withTimestampAssigner(() => found as number),
        'orders',
      );
      const shown = new RegExp(String(found).replaceAll(/[.+]/g, '\\$&'));
      await assertRefused(
        stream.executeAndCollect('times'),
        'TIMESTAMP_INVALID',
        /orders/,
        shown,
        /"order":40/,
      );
    });
  }

  it('is refused in an operator that assigns timestamps too', async () => {
    const strategy = WatermarkStrategy.forMonotonousTimestamps<number>().withTimestampAssigner(
      () => Number.NaN,
    );
    const stream = environment().fromElements(1, 2).assignTimestampsAndWatermarks(strategy).name('stamp');
    await assertRefused(stream.executeAndCollect('times'), 'TIMESTAMP_INVALID', /stamp/, /NaN/);
  });

  it('is refused for a timer', async () => {
    const stream = environment()
      .fromElements(1, 2)
      .keyBy((value) => value, Types.LONG)
      .process(TimerAtNan)
      .name('timers');
    await assertRefused(stream.executeAndCollect('times'), 'TIMESTAMP_INVALID', /timers/, /NaN/);
  });

  it('a record without one is refused by an event-time window, with what to do', async () => {
    const stream = environment()
      .fromElements(1, 2)
      .keyBy((value) => value, Types.LONG)
      .window(TumblingEventTimeWindows.of('1 s'))
      .reduce((a, b) => a + b)
      .name('per second');
    const how = /assignTimestampsAndWatermarks|WatermarkStrategy/;
    await assertRefused(stream.executeAndCollect('times'), 'TIMESTAMP_MISSING', /per second/, how);
  });
});

class TimerAtNan extends KeyedProcessFunction<number, number, number> {
  override processElement(value: number, context: KeyedProcessContext<number>, out: Collector<number>): void {
    context.timerService().registerEventTimeTimer(Number.NaN);
    out.collect(value);
  }
}
