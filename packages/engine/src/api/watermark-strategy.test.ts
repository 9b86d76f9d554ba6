import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MIN_WATERMARK, NO_TIMESTAMP } from '../base/index.ts';
import { WatermarkStrategy } from './watermark-strategy.ts';

describe('a watermark strategy', () => {
  it('for bounded out-of-orderness stays that much and one millisecond behind the newest record', () => {
    const spec = WatermarkStrategy.forBoundedOutOfOrderness<number>('5 s').toSpec();
    assert.deepEqual(spec.inline, { kind: 'bounded', delayMs: 5000 });
    const generator = spec.createGenerator();
    assert.equal(generator.onPeriodicEmit(), MIN_WATERMARK);
    generator.onEvent(0, NO_TIMESTAMP);
    assert.equal(generator.onPeriodicEmit(), MIN_WATERMARK);
    generator.onEvent(0, 10_000);
    generator.onEvent(0, 7_000);
    assert.equal(generator.onPeriodicEmit(), 4999);
  });

  it('for monotonous timestamps has no delay, and without watermarks makes none', () => {
    const monotonous = WatermarkStrategy.forMonotonousTimestamps().toSpec();
    assert.deepEqual(monotonous.inline, { kind: 'bounded', delayMs: 0 });
    const none = WatermarkStrategy.noWatermarks().toSpec();
    assert.deepEqual(none.inline, { kind: 'none' });
    assert.equal(none.createGenerator().onPeriodicEmit(), MIN_WATERMARK);
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
    assert.throws(() => WatermarkStrategy.forGenerator(3 as never), /forGenerator: expected a function/);
  });
});
