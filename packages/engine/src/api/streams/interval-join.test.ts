import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../../base/index.ts';
import {
  type Collector,
  OutputTag,
  type ProcessJoinContext,
  ProcessJoinFunction,
} from '../../operators/index.ts';
import { OperatorHarness } from '../../testing/operator-harness.ts';
import { Types } from '../../types/index.ts';
import { StreamExecutionEnvironment } from '../stream-execution-environment.ts';
import { WatermarkStrategy } from '../watermark-strategy.ts';
import type { IntervalJoin } from './interval-join.ts';

interface Event {
  readonly key: string;
  readonly at: number;
}

const eventType = Types.ROW({ key: Types.STRING, at: Types.LONG });
const strategy = WatermarkStrategy.forMonotonousTimestamps<Event>().withTimestampAssigner(({ at }) => at);

class Pair extends ProcessJoinFunction<Event, Event, string> {
  processElement(left: Event, right: Event, context: ProcessJoinContext, out: Collector<string>): void {
    out.collect(`${left.at}-${right.at}@${context.getTimestamp()}`);
  }
}

/** Events at these times, all of one key. */
function join(lefts: readonly number[], rights: readonly number[]): IntervalJoin<Event, Event, string> {
  const env = StreamExecutionEnvironment.getExecutionEnvironment({ host: 'inline', parallelism: 1 });
  const [left, right] = [lefts, rights].map((times) =>
    env
      .fromCollection(
        times.map((at) => ({ key: 'k', at })),
        eventType,
      )
      .assignTimestampsAndWatermarks(strategy)
      .keyBy('key'),
  );
  return left!.intervalJoin(right!);
}

const minutes = (count: number): number => count * 60_000;

describe('the bounds of an interval join', () => {
  it('are milliseconds or texts, negative for older, inclusive unless they are exclusive', async () => {
    const [lefts, rights] = [[minutes(10)], [5, 6, 10, 11].map(minutes)];
    const pairs = (from: string | number, to: string | number) => join(lefts, rights).between(from, to);
    const found = async (joined: ReturnType<typeof pairs>): Promise<number[]> => {
      const results = await joined.process((_left, right) => right.at / minutes(1)).executeAndCollect();
      return results.sort((a, b) => a - b);
    };
    assert.deepEqual(await found(pairs('-5 min', '1 min')), [5, 6, 10, 11]);
    assert.deepEqual(await found(pairs(-minutes(5), minutes(1)).lowerBoundExclusive()), [6, 10, 11]);
    assert.deepEqual(await found(pairs('- 5 min', '60 s').upperBoundExclusive()), [5, 6, 10]);
    assert.deepEqual(await found(pairs('-4 min', '-1 ms')), [6]);
    assert.deepEqual(await found(pairs(0, 0)), [10]);
  });

  it('are refused if they are none, or leave nothing between them', () => {
    const pairs = join([1], [1]);
    for (const [call, message] of [
      [() => pairs.between(1, 0), /between\(1, 0\): the lower bound must not be above the upper one/],
      [() => pairs.between('soon', 0), /lower bound.*"soon"/],
      [() => pairs.between('--1 s', 0), /lower bound/],
      [() => pairs.between(0, 0.5), /upper bound.*0.5/],
      [() => pairs.between(0, Number.NaN), /upper bound.*NaN/],
      [() => pairs.between(0, undefined as never), /upper bound.*undefined/],
      [
        () => pairs.between(0, 1).lowerBoundExclusive().upperBoundExclusive().process(Pair),
        /no time lies between them/,
      ],
      [() => pairs.inProcessingTime().between(0, 1), /event time only/],
    ] as const) {
      assert.throws(
        call,
        (error: Error) => hasCode(error, 'INVALID_ARGUMENT') && message.test(error.message),
        String(message),
      );
    }
  });
});

describe('an interval join', () => {
  it('takes objects, classes and plain functions; results have the later timestamp', async () => {
    for (const process of [
      (pairs: ReturnType<typeof between>) => pairs.process(new Pair()),
      (pairs: ReturnType<typeof between>) => pairs.process(Pair, Types.STRING),
      (pairs: ReturnType<typeof between>) =>
        pairs.process((left, right, context, out: Collector<string>) =>
          out.collect(`${left.at}-${right.at}@${context.getTimestamp()}`),
        ),
    ]) {
      assert.deepEqual((await process(between()).executeAndCollect()).sort(), ['1-3@3', '4-3@4']);
    }
    function between() {
      return join([1, 4], [3]).inEventTime().between(-2, 2);
    }
  });

  it('has side outputs for late data of both sides, and those of its function', async () => {
    const [left, right, seen] = ['left', 'right', 'seen'].map((id) => new OutputTag<Event>(id, eventType));
    const { spec } = join([], [])
      .between(0, 0)
      .sideOutputLeftLateData(left!)
      .sideOutputRightLateData(right!)
      .process<never>((one, _two, context, _out) => context.output(seen!, one)).origins[0]!.node;
    const harness = await OperatorHarness.open({ create: spec.create!, key: spec.keyed! });
    harness.watermark(5);
    for (const [at, input] of [
      [9, 0],
      [9, 1],
      [1, 0],
      [2, 1],
    ] as const) {
      harness.process({ key: 'k', at }, at, input);
    }
    const times = ['left', 'right', 'seen'].map((id) => harness.side(id).map((event) => (event as Event).at));
    assert.deepEqual(times, [[1], [2], [9]]);
    await harness.close();
  });

  it('refuses async functions and records without timestamps', async () => {
    assert.throws(
      () =>
        join([1], [1])
          .between(0, 1)
          .process(async (one, _two) => one),
      (error) => hasCode(error, 'PROMISE_NOT_EXPECTED'),
    );
    const env = StreamExecutionEnvironment.getExecutionEnvironment({
      host: 'inline',
      parallelism: 1,
      configuration: { 'restart-strategy.type': 'none' },
    });
    const events = env.fromCollection([{ key: 'k', at: 1 }], eventType).keyBy('key');
    const result = events.intervalJoin(events).between(0, 1).process(Pair).name('pairs');
    await assert.rejects(result.executeAndCollect(), (error: Error) =>
      /'pairs'.*timestamps/.test(String(error)),
    );
  });
});
