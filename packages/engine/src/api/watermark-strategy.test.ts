import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MIN_WATERMARK, NO_TIMESTAMP } from '../base/index.ts';
import { TumblingEventTimeWindows } from '../operators/index.ts';
import { GeneratedWatermarks, type WatermarkGenerator } from '../runtime/index.ts';
import { JobTestHarness, TestSink, TestSource } from '../testing/index.ts';
import { WatermarkStrategy } from './watermark-strategy.ts';

describe('a watermark strategy', () => {
  it('for bounded out-of-orderness stays that much and one millisecond behind the newest record', () => {
    const spec = WatermarkStrategy.forBoundedOutOfOrderness<number>('5 s').toSpec();
    assert.deepEqual(spec.inline, { kind: 'bounded', delayMs: 5000 });
    const run = new GeneratedWatermarks(spec.createGenerator() as WatermarkGenerator, () => 'numbers');
    const watermarkAfter = (...timestamps: readonly number[]): number => {
      for (const timestampMs of timestamps) run.generator.onEvent(0, timestampMs, run);
      run.ask();
      return run.watermarkMs;
    };
    assert.equal(watermarkAfter(), MIN_WATERMARK);
    assert.equal(watermarkAfter(NO_TIMESTAMP), MIN_WATERMARK);
    assert.equal(watermarkAfter(10_000, 7_000), 4999);
  });

  it('for monotonous timestamps has no delay, and without watermarks makes none', () => {
    const monotonous = WatermarkStrategy.forMonotonousTimestamps().toSpec();
    assert.deepEqual(monotonous.inline, { kind: 'bounded', delayMs: 0 });
    const none = WatermarkStrategy.noWatermarks().toSpec();
    assert.deepEqual(none.inline, { kind: 'none' });
    const run = new GeneratedWatermarks(none.createGenerator(), () => 'numbers');
    run.ask();
    assert.equal(run.watermarkMs, MIN_WATERMARK);
  });

  it('is not changed by what is derived from it', () => {
    const plain = WatermarkStrategy.forMonotonousTimestamps<{ at: number }>();
    const assigned = plain.withTimestampAssigner((value) => value.at).withIdleness('1 min');
    assert.equal(plain.toSpec().assigner, undefined);
    assert.equal(plain.toSpec().idleTimeoutMs, undefined);
    assert.equal(assigned.toSpec().assigner?.({ at: 3 }, NO_TIMESTAMP), 3);
    assert.equal(assigned.toSpec().idleTimeoutMs, 60_000);
  });

  it('of your own makes a generator for each subtask', () => {
    const spec = WatermarkStrategy.forGenerator(() => ({ onEvent() {}, onPeriodicEmit: () => 5 })).toSpec();
    assert.notEqual(spec.createGenerator(), spec.createGenerator());
    assert.equal(spec.inline, undefined);
  });

  it('with wrong parameters is refused', () => {
    assert.throws(
      () => WatermarkStrategy.forBoundedOutOfOrderness('-1 s'),
      /forBoundedOutOfOrderness: expected a duration/,
    );
    assert.throws(
      () => WatermarkStrategy.noWatermarks().withIdleness(0),
      /withIdleness: the time must not be 0/,
    );
    assert.throws(
      () => WatermarkStrategy.noWatermarks().withWatermarkAlignment('', 5),
      /withWatermarkAlignment: the group must be a text/,
    );
    assert.throws(
      () => WatermarkStrategy.noWatermarks().withWatermarkAlignment('a', 5, 0),
      /the update interval must not be 0/,
    );
    assert.throws(() => WatermarkStrategy.forGenerator(3 as never), /forGenerator: expected a function/);
  });

  interface Reading {
    readonly at: number;
    readonly isMark: boolean;
  }

  for (const where of ['at the source', 'within the stream'] as const) {
    it(`of your own emits watermarks at records, behind them, and says when it is idle, ${where}`, async () => {
      const marks = WatermarkStrategy.forGenerator<Reading>(() => ({
        onEvent(reading, _timestampMs, output) {
          if (reading.isMark) output.emitWatermark(reading.at);
          if (reading.at === 0) output.markIdle();
        },
        onPeriodicEmit() {},
      })).withTimestampAssigner((reading) => reading.at);
      const [marked, other] = [new TestSource<Reading>(), new TestSource<Reading>()];
      const windows = new TestSink<number>();
      const job = await JobTestHarness.start((env) => {
        const read = (source: TestSource<Reading>, name: string) =>
          where === 'at the source'
            ? env.fromSource(source, marks, name)
            : env
                .fromSource(source, WatermarkStrategy.noWatermarks(), name)
                .assignTimestampsAndWatermarks(marks);
        read(marked, 'marked')
          .union(read(other, 'other'))
          .keyBy(() => 0)
          .window(TumblingEventTimeWindows.of(10))
          .aggregate({
            createAccumulator: () => 0,
            add: (_, n) => n + 1,
            getResult: (n) => n,
            merge: (a, b) => a + b,
          })
          .sinkTo(windows);
      });
      marked.emit({ at: 3, isMark: false }).emit({ at: 9, isMark: true });
      await job.process();
      assert.deepEqual(windows.values, [], 'the other source has no watermark yet');
      other.emit({ at: 0, isMark: false });
      await job.process();
      assert.deepEqual(windows.values, [3], 'the other source is idle');
      other.emit({ at: 30, isMark: true });
      marked.emit({ at: 15, isMark: false }).emit({ at: 31, isMark: true });
      await job.process();
      assert.deepEqual(windows.values, [3, 1]);
      await job.close();
    });
  }

  it('whose generator gives no number is refused with the name of the operator', async () => {
    const numbers = new TestSource<number>().emit(1);
    const wrong = WatermarkStrategy.forGenerator<number>(() => ({ onEvent() {}, onPeriodicEmit: () => 1.5 }));
    await assert.rejects(
      JobTestHarness.start((env) => {
        env.fromSource(numbers, wrong, 'numbers').sinkTo(new TestSink());
      }),
      /TIMESTAMP_INVALID|watermark generator of operator 'numbers' must give a whole number/,
    );
  });
});

describe('a job with aligned sources', () => {
  it('does not read on from the fast source until the slow one has come near, and finishes', async () => {
    const [fast, slow] = [new TestSource<number>(), new TestSource<number>()];
    const results = new TestSink<number>();
    const strategy = WatermarkStrategy.forMonotonousTimestamps<number>()
      .withTimestampAssigner((value) => value)
      .withWatermarkAlignment('both', 100, 10);
    const job = await JobTestHarness.start((env) => {
      env
        .fromSource(fast, strategy, 'fast')
        .union(env.fromSource(slow, strategy, 'slow'))
        .sinkTo(results);
    });
    slow.emit(1000);
    fast.emit(5000);
    await job.advanceTime(50);
    assert.deepEqual(results.values.toSorted(), [1000, 5000]);
    fast.emit(5001);
    await job.advanceTime(50);
    assert.deepEqual(results.values.toSorted(), [1000, 5000], 'the fast source was read on');
    slow.emit(4950);
    await job.advanceTime(50);
    assert.deepEqual(results.values.toSorted(), [1000, 4950, 5000, 5001]);
    fast.emit(9000).emit(9001);
    await job.advanceTime(50);
    slow.end();
    await job.advanceTime(50);
    await job.finish();
    assert.deepEqual(results.committed.toSorted(), [1000, 4950, 5000, 5001, 9000, 9001]);
  });
});
