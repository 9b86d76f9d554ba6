/** The operator harness as users see it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Collector,
  type DataStream,
  EventTimeSessionWindows,
  hasCode,
  KeyedCoProcessFunction,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type OnTimerContext,
  OutputTag,
  type RuntimeContext,
  Types,
  type ValueState,
  ValueStateDescriptor,
} from '../../index.ts';
import { OperatorTestHarness } from './operator-test-harness.ts';

interface Click {
  user: string;
  page: string;
}

const CLICK = Types.ROW({ user: Types.STRING, page: Types.STRING });
const SLOW = new OutputTag<string>('slow', Types.STRING);

/** Counts the clicks of each user; tells 10 s after the last. */
class Count extends KeyedProcessFunction<string, Click, string> {
  private count!: ValueState<number>;

  override open(context: RuntimeContext): void {
    this.count = context.getState(new ValueStateDescriptor('count', Types.INT));
  }

  processElement(click: Click, context: KeyedProcessContext<string>, out: Collector<string>): void {
    const count = (this.count.value() ?? 0) + 1;
    this.count.update(count);
    if (click.page === 'slow') context.output(SLOW, click.user);
    context
      .timerService()
      .registerProcessingTimeTimer(context.timerService().currentProcessingTime() + 10_000);
    out.collect(`${click.user} ${count}`);
  }

  override onTimer(_: number, context: OnTimerContext<string>, out: Collector<string>): void {
    out.collect(`${context.getCurrentKey()} has left after ${this.count.value()}`);
  }
}

const count = (clicks: DataStream<Click>) => clicks.keyBy('user').process(new Count(), Types.STRING);

describe('an operator in the harness', () => {
  it('processes records, fires timers, fills side outputs', async () => {
    const harness = await OperatorTestHarness.open(count, { inputType: CLICK });
    harness.processElement({ user: 'ann', page: 'home' }, 5);
    harness.processElement({ user: 'ann', page: 'slow' });
    assert.deepEqual(harness.records, [
      { value: 'ann 1', timestamp: 5 },
      { value: 'ann 2', timestamp: undefined },
    ]);
    assert.deepEqual(harness.getSideOutput(SLOW), ['ann']);
    harness.advanceTime(9999);
    assert.equal(harness.output.length, 2);
    harness.advanceTime(1);
    assert.equal(harness.output.at(-1), 'ann has left after 2');
    assert.equal(harness.stateEntries, 1);
    await harness.close();
  });

  it('is restored at every other parallelism', async () => {
    const users = Array.from({ length: 20 }, (_, i) => `user ${i}`);
    const first = await OperatorTestHarness.open(count, { inputType: CLICK, parallelism: 2 });
    for (const user of users) first.processElement({ user, page: 'home' });
    const snapshot = await first.snapshot();
    for (const parallelism of [1, 3]) {
      const restored = await OperatorTestHarness.restoreFrom(snapshot, count, {
        inputType: CLICK,
        parallelism,
      });
      for (const user of users) restored.processElement({ user, page: 'home' });
      assert.deepEqual(restored.output.toSorted(), users.map((user) => `${user} 2`).toSorted());
    }
  });

  it('has two inputs, and windows', async () => {
    const both = await OperatorTestHarness.openTwo((first: DataStream<Click>, second: DataStream<string>) =>
      first
        .keyBy('user')
        .connect(second.keyBy((name) => name))
        .process(
          new (class extends KeyedCoProcessFunction<string, Click, string, string> {
            processElement1(click: Click, _: unknown, out: Collector<string>): void {
              out.collect(`1 ${click.page}`);
            }
            processElement2(name: string, _: unknown, out: Collector<string>): void {
              out.collect(`2 ${name}`);
            }
          })(),
        ),
    );
    both.processElement({ user: 'ann', page: 'home' });
    both.processElement2('ann');
    assert.deepEqual(both.output, ['1 home', '2 ann']);
    const sessions = await OperatorTestHarness.open((clicks: DataStream<Click>) =>
      clicks
        .keyBy('user')
        .window(EventTimeSessionWindows.withGap('1 min'))
        .aggregate({
          createAccumulator: () => 0,
          add: (_, sum) => sum + 1,
          getResult: (sum) => sum,
          merge: (a, b) => a + b,
        }),
    );
    sessions.processElement({ user: 'ann', page: 'a' }, 0);
    sessions.processElement({ user: 'ann', page: 'b' }, 30_000);
    sessions.advanceWatermark(90_000);
    assert.deepEqual(sessions.output, [2]);
    sessions.processElement({ user: 'ann', page: 'c' }, 0);
    assert.equal(sessions.counter('numLateRecordsDropped'), 1);
  });

  it('refuses changes of records, and more than one operator', async () => {
    const changing = await OperatorTestHarness.open((clicks: DataStream<Click>) =>
      clicks.map((click) => {
        click.page = 'other';
        return click;
      }),
    );
    assert.throws(
      () => changing.processElement({ user: 'ann', page: 'home' }),
      (error) => hasCode(error, 'USER_FUNCTION_FAILED') && /read only/.test(String(error)),
    );
    await assert.rejects(
      OperatorTestHarness.open((clicks: DataStream<Click>) => clicks.map((c) => c).map((c) => c)),
      (error) => hasCode(error, 'INVALID_ARGUMENT') && /adds 2/.test(String(error)),
    );
    await assert.rejects(
      OperatorTestHarness.openTwo((a: DataStream<Click>, b: DataStream<Click>) => a.union(b).map((c) => c)),
      (error) => hasCode(error, 'INVALID_ARGUMENT') && /'Map' has 1 inputs.*opened for 2/.test(String(error)),
    );
    for (const parallelism of [0, 1.5, 129]) {
      await assert.rejects(
        OperatorTestHarness.open((clicks: DataStream<Click>) => clicks.map((c) => c), { parallelism }),
        (error) => hasCode(error, 'INVALID_ARGUMENT') && /from 1 to 128/.test(String(error)),
      );
    }
  });
});
