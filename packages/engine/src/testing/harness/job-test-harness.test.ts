/** The job harness as users see it: time, crashes and rescaling in ten lines. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Collector,
  hasCode,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type OnTimerContext,
  type RuntimeContext,
  type StreamExecutionEnvironment,
  TumblingEventTimeWindows,
  Types,
  type ValueState,
  ValueStateDescriptor,
  WatermarkStrategy,
} from '../../index.ts';
import { JobTestHarness } from './job-test-harness.ts';
import { TestSink } from './test-sink.ts';
import { TestSource } from './test-source.ts';

interface Order {
  customer: string;
  amount: number;
}

const ORDER = Types.ROW({ customer: Types.STRING, amount: Types.DOUBLE });

/** The running total of each customer; a minute after the last order it is forgotten. */
class Total extends KeyedProcessFunction<string, Order, string> {
  private total!: ValueState<number>;

  override open(context: RuntimeContext): void {
    this.total = context.getState(new ValueStateDescriptor('total', Types.DOUBLE));
  }

  processElement(order: Order, context: KeyedProcessContext<string>, out: Collector<string>): void {
    const total = (this.total.value() ?? 0) + order.amount;
    this.total.update(total);
    const timers = context.timerService();
    timers.registerProcessingTimeTimer(timers.currentProcessingTime() + 60_000);
    out.collect(`${order.customer}: ${total}`);
  }

  override onTimer(_: number, context: OnTimerContext<string>, out: Collector<string>): void {
    this.total.clear();
    out.collect(`${context.getCurrentKey()} is forgotten`);
  }
}

function totals() {
  const orders = new TestSource<Order>({ type: ORDER, partitions: 2 });
  const results = new TestSink<string>();
  const build = (env: StreamExecutionEnvironment): void => {
    env
      .fromSource(orders, WatermarkStrategy.noWatermarks(), 'orders')
      .uid('orders')
      .keyBy('customer')
      .process(new Total(), Types.STRING)
      .uid('total')
      .sinkTo(results)
      .uid('results');
  };
  return { orders, results, build };
}

describe('a job in the harness', () => {
  it('processes what the test emits, commits at a checkpoint, and finishes when the source ends', async () => {
    const { orders, results, build } = totals();
    const job = await JobTestHarness.start(build);
    orders.emit({ customer: 'ann', amount: 1 }).emit({ customer: 'ann', amount: 2 });
    await job.process();
    assert.deepEqual(results.values, ['ann: 1', 'ann: 3']);
    assert.deepEqual(results.committed, []);
    await job.checkpoint();
    assert.deepEqual(results.committed, ['ann: 1', 'ann: 3']);
    orders.emit({ customer: 'bob', amount: 5 });
    await job.finish();
    assert.equal(job.getJobStatus(), 'FINISHED');
    assert.deepEqual(results.committed, ['ann: 1', 'ann: 3', 'bob: 5']);
  });

  it('counts each record once when it is killed, at another parallelism too', async () => {
    const { orders, results, build } = totals();
    const job = await JobTestHarness.start(build, { parallelism: 2 });
    const names = ['ann', 'bob', 'cleo', 'dan'];
    for (const name of names) orders.emit({ customer: name, amount: 1 }, undefined, name.length % 2);
    await job.checkpoint();
    for (const name of names) orders.emit({ customer: name, amount: 10 });
    await job.process();
    assert.equal(results.values.length, 8);
    for (const parallelism of [3, 1]) {
      await job.kill({ parallelism });
      assert.equal(results.committed.length, 4);
      assert.deepEqual(results.values.toSorted(), [
        'ann: 1',
        'ann: 11',
        'bob: 1',
        'bob: 11',
        'cleo: 1',
        'cleo: 11',
        'dan: 1',
        'dan: 11',
      ]);
    }
    await job.finish();
    assert.equal(results.committed.length, 8);
  });

  it('moves processing time, over a day in a moment', async () => {
    const { orders, results, build } = totals();
    const job = await JobTestHarness.start(build, { startTimeMs: 0 });
    orders.emit({ customer: 'ann', amount: 1 });
    await job.advanceTime(59_000);
    assert.deepEqual(results.values, ['ann: 1']);
    await job.advanceTime(1000);
    assert.deepEqual(results.values, ['ann: 1', 'ann is forgotten']);
    await job.advanceTime(86_400_000);
    assert.equal(job.timeMs, 86_460_000);
    await job.close();
  });

  it('goes on from a snapshot with a changed job, while the first one goes another way', async () => {
    const { orders, results, build } = totals();
    const job = await JobTestHarness.start(build);
    orders.emit({ customer: 'ann', amount: 1 });
    const snapshot = await job.snapshot();
    const others = new TestSink<string>();
    const second = await JobTestHarness.restoreFrom(
      snapshot,
      (env) => {
        env
          .fromSource(orders, WatermarkStrategy.noWatermarks(), 'orders')
          .uid('orders')
          .map((order) => ({ ...order, amount: order.amount * 100 }), ORDER)
          .keyBy('customer')
          .process(new Total(), Types.STRING)
          .uid('total')
          .sinkTo(others)
          .uid('results');
      },
      { parallelism: 2 },
    );
    orders.emit({ customer: 'ann', amount: 2 });
    await job.process();
    await second.process();
    assert.deepEqual(results.values, ['ann: 1', 'ann: 3']);
    // What the first job had not committed when the snapshot was taken is in it too.
    assert.deepEqual(others.values, ['ann: 1', 'ann: 201']);
  });

  it('moves event time: of the test, or of the strategy of the job', async () => {
    const orders = new TestSource<Order>({ type: ORDER });
    const results = new TestSink<number>();
    const job = await JobTestHarness.start((env) => {
      env
        .fromSource(orders, WatermarkStrategy.forBoundedOutOfOrderness<Order>(1000), 'orders')
        .keyBy('customer')
        .window(TumblingEventTimeWindows.of('10 s'))
        .reduce((a, b) => ({ customer: a.customer, amount: a.amount + b.amount }))
        .map((order) => order.amount, Types.DOUBLE)
        .sinkTo(results);
    });
    orders.emit({ customer: 'ann', amount: 1 }, 1000).emit({ customer: 'ann', amount: 2 }, 9000);
    await job.process();
    assert.deepEqual(results.values, []);
    await job.advanceWatermark(9999);
    assert.deepEqual(results.values, [3]);
    orders.emit({ customer: 'ann', amount: 5 }, 15_000).emit({ customer: 'ann', amount: 7 }, 31_001);
    await job.process();
    assert.deepEqual(results.values, [3, 5]);
  });

  it('fails when a function changes what it emitted, or what it read from state', async () => {
    const numbers = new TestSource<{ n: number }>();
    const build = (change: (value: { n: number }) => void) => (env: StreamExecutionEnvironment) => {
      env
        .fromSource(numbers, WatermarkStrategy.noWatermarks(), 'numbers')
        .map((value) => ({ ...value }))
        .map((value) => {
          change(value);
          return value;
        })
        .sinkTo(new TestSink());
    };
    const job = await JobTestHarness.start(build((value) => (value.n += 1)));
    numbers.emit({ n: 1 });
    await assert.rejects(
      job.process(),
      (error) => hasCode(error, 'USER_FUNCTION_FAILED') && /read only|not extensible/i.test(String(error)),
    );
    assert.equal(job.getJobStatus(), 'FAILED');
    numbers.end();
  });

  it('refuses a snapshot that does not fit', async () => {
    const { orders, build } = totals();
    const job = await JobTestHarness.start(build);
    orders.emit({ customer: 'ann', amount: 1 });
    const snapshot = await job.snapshot();
    await assert.rejects(
      JobTestHarness.restoreFrom(snapshot, (env) => {
        env
          .fromSource(orders, WatermarkStrategy.noWatermarks(), 'orders')
          .uid('orders')
          .sinkTo(new TestSink());
      }),
      (error) => hasCode(error, 'RESTORE_MISMATCH'),
    );
    orders.end();
    assert.throws(() => orders.emit({ customer: 'ann', amount: 1 }), /it has ended/);
  });

  it('takes the end of time as a watermark, and refuses what is none', async () => {
    const numbers = new TestSource<number>();
    const sums = new TestSink<number>();
    const job = await JobTestHarness.start((env) => {
      env
        .fromSource(numbers, WatermarkStrategy.noWatermarks(), 'numbers')
        .keyBy(() => 1)
        .window(TumblingEventTimeWindows.of('1 s'))
        .reduce((a, b) => a + b)
        .sinkTo(sums);
    });
    numbers.emit(1, 10).emit(2, 20);
    await job.advanceWatermark(Number.MAX_SAFE_INTEGER);
    assert.deepEqual(sums.values, [3]);
    const isRefused = (error: unknown): boolean => hasCode(error, 'INVALID_ARGUMENT');
    for (const watermarkMs of [Number.NaN, Number.POSITIVE_INFINITY, 0.5])
      await assert.rejects(job.advanceWatermark(watermarkMs), isRefused);
    await assert.rejects(job.advanceWatermark(1, new TestSource<never>()), isRefused);
    for (const byMs of [-1, Number.NaN]) await assert.rejects(job.advanceTime(byMs), isRefused);
    await job.close();
  });

  it('says why a job cannot be started', async () => {
    const start = (build: (env: StreamExecutionEnvironment) => void) => JobTestHarness.start(build);
    const hasNoSink = (error: unknown): boolean => hasCode(error, 'JOB_HAS_NO_SINK');
    await assert.rejects(
      start((env) => void env.fromSequence(1, 2)),
      hasNoSink,
    );
    await assert.rejects(
      start(() => {}),
      (error) => hasCode(error, 'JOB_HAS_NO_SOURCE'),
    );
  });

  it('does not kill a job that has finished, which would give everything again', async () => {
    const { orders, results, build } = totals();
    const options = { parallelism: 2 };
    const job = await JobTestHarness.start(build, options);
    orders.emit({ customer: 'ann', amount: 1 });
    await job.kill({ parallelism: 1 });
    assert.deepEqual(options, { parallelism: 2 });
    await job.finish();
    await assert.rejects(job.kill(), (error) => hasCode(error, 'INVALID_ARGUMENT'));
    assert.deepEqual(results.committed, ['ann: 1']);
  });

  it('refuses another source that has less than the snapshot says was read; new partitions are read', async () => {
    const before = totals();
    const job = await JobTestHarness.start(before.build);
    before.orders.emitAll([
      { customer: 'ann', amount: 1 },
      { customer: 'bob', amount: 1 },
    ]);
    const snapshot = await job.snapshot();
    const restored = (orders: TestSource<Order>, results = new TestSink<Order>()) =>
      JobTestHarness.restoreFrom(snapshot, (env) => {
        env.configure({ restore: { allowNonRestoredState: true } });
        const read = env.fromSource(orders, WatermarkStrategy.noWatermarks(), 'orders').uid('orders');
        read.sinkTo(results);
      });
    const empty = new TestSource<Order>({ type: ORDER, partitions: 3 });
    await assert.rejects(restored(empty), /after 2 records of partition 0, but this TestSource has 0/);
    const wider = new TestSource<Order>({ type: ORDER, partitions: 3 });
    wider.emitAll([
      { customer: 'ann', amount: 1 },
      { customer: 'bob', amount: 1 },
    ]);
    const results = new TestSink<Order>();
    const next = await restored(wider, results);
    wider.emit({ customer: 'cleo', amount: 3 }, undefined, 2);
    await next.process();
    assert.deepEqual(results.values, [{ customer: 'cleo', amount: 3 }]);
  });

  it('fails when a function changes a record of the source, which would be read again as it is then', async () => {
    const numbers = new TestSource<{ n: number }>();
    const job = await JobTestHarness.start((env) => {
      const read = env.fromSource(numbers, WatermarkStrategy.noWatermarks(), 'numbers');
      read.map((value) => Object.assign(value, { n: 2 })).sinkTo(new TestSink());
    });
    numbers.emit({ n: 1 });
    await assert.rejects(job.process(), (error) => hasCode(error, 'USER_FUNCTION_FAILED'));
  });
});
