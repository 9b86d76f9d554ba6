/** Tests of the combination of watermarks. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MAX_WATERMARK, MIN_WATERMARK } from '../base/index.ts';
import { WatermarkValve } from './watermark-valve.ts';

describe('watermark valve', () => {
  it('gives the minimum of all channels, once each has a watermark', () => {
    const valve = new WatermarkValve(2);
    assert.equal(valve.onWatermark(0, 10), undefined);
    assert.equal(valve.onWatermark(1, 7), 7);
    assert.equal(valve.onWatermark(1, 20), 10);
    assert.equal(valve.watermark, 10);
  });

  it('ignores a watermark that goes back', () => {
    const valve = new WatermarkValve(1);
    assert.equal(valve.onWatermark(0, 10), 10);
    assert.equal(valve.onWatermark(0, 9), undefined);
    assert.equal(valve.watermark, 10);
  });

  it('goes on without an idle channel', () => {
    const valve = new WatermarkValve(2);
    valve.onWatermark(0, 10);
    assert.deepEqual(valve.onStatus(1, true), { watermark: 10, idle: undefined });
  });

  it('never goes back when a channel that was idle returns behind the others', () => {
    const valve = new WatermarkValve(2);
    valve.onStatus(1, true);
    valve.onWatermark(0, 10);
    assert.deepEqual(valve.onStatus(1, false), { watermark: undefined, idle: undefined });
    assert.equal(valve.onWatermark(1, 5), undefined);
    assert.equal(valve.watermark, 10);
    valve.onWatermark(0, 30);
    assert.equal(valve.onWatermark(1, 20), 20);
  });

  it('is idle when all channels are, and keeps its watermark', () => {
    const valve = new WatermarkValve(2);
    valve.onWatermark(0, 10);
    valve.onWatermark(1, 4);
    valve.onStatus(0, true);
    assert.deepEqual(valve.onStatus(1, true), { watermark: undefined, idle: true });
    assert.equal(valve.watermark, 4);
    assert.deepEqual(valve.onStatus(0, false), { watermark: 10, idle: false });
  });

  it('does not take the end of the active channels for the end of time while others are idle', () => {
    const valve = new WatermarkValve(3);
    for (const channel of [0, 1, 2]) valve.onWatermark(channel, 10);
    valve.onStatus(1, true);
    assert.deepEqual(valve.onEnd(0), { watermark: undefined, idle: undefined });
    assert.equal(valve.onWatermark(2, 12), 12);
    assert.deepEqual(valve.onEnd(2), { watermark: undefined, idle: true });
    assert.deepEqual(valve.onStatus(1, false), { watermark: undefined, idle: false });
    assert.equal(valve.onWatermark(1, 15), 15);
    assert.deepEqual(valve.onEnd(1), { watermark: MAX_WATERMARK, idle: undefined });
    assert.deepEqual(valve.onEnd(1), { watermark: undefined, idle: undefined });
  });

  it('is at the end of time when the last channel ends, idle or not', () => {
    const valve = new WatermarkValve(2);
    valve.onStatus(0, true);
    valve.onStatus(1, true);
    valve.onEnd(0);
    assert.deepEqual(valve.onEnd(1), { watermark: MAX_WATERMARK, idle: false });
  });

  it('agrees with the plain definition over random channels', () => {
    const event = fc.record({
      channel: fc.nat(2),
      watermark: fc.option(fc.integer({ min: 0, max: 50 }), { nil: undefined }),
      idle: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const valve = new WatermarkValve(3);
        const own = [MIN_WATERMARK, MIN_WATERMARK, MIN_WATERMARK];
        const idle = [false, false, false];
        let combined = MIN_WATERMARK;
        for (const { channel, watermark, idle: becomesIdle } of events) {
          if (watermark === undefined) {
            idle[channel] = becomesIdle;
            valve.onStatus(channel, becomesIdle);
          } else {
            own[channel] = Math.max(own[channel]!, watermark);
            valve.onWatermark(channel, watermark);
          }
          const active = own.filter((_, index) => !idle[index]);
          if (active.length > 0) combined = Math.max(combined, Math.min(...active));
          assert.equal(valve.watermark, combined);
        }
      }),
    );
  });
});
