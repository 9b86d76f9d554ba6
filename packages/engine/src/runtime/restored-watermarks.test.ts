/** What the senders of an earlier run had promised. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MAX_WATERMARK, MIN_WATERMARK } from '../base/index.ts';
import { RestoredWatermarks } from './restored-watermarks.ts';

describe('restored watermarks', () => {
  it('are the minimum over the senders of an edge, as it was saved and as elements raise it', () => {
    const restored = new RestoredWatermarks([
      { edgeIndex: 0, watermarkMs: 10 },
      { edgeIndex: 0, watermarkMs: 20 },
      { edgeIndex: 3, watermarkMs: 5 },
    ]);
    assert.deepEqual([restored.minimumOf(0), restored.minimumOf(3)], [10, 5]);
    restored.onWatermark(0, 30);
    assert.equal(restored.minimumOf(0), 20);
    restored.onWatermark(1, 15);
    assert.equal(restored.minimumOf(0), 20, 'it never goes back');
    assert.equal(restored.watermarkOf(0), 30);
  });

  it('say nothing of an edge with a sender that had promised nothing, or with none that is waited for', () => {
    const restored = new RestoredWatermarks([
      { edgeIndex: 0, watermarkMs: MIN_WATERMARK },
      { edgeIndex: 0, watermarkMs: 20 },
      { edgeIndex: 1, watermarkMs: MAX_WATERMARK },
      { edgeIndex: undefined, watermarkMs: 1 },
    ]);
    assert.deepEqual(
      [0, 1, 2].map((edge) => restored.minimumOf(edge)),
      [undefined, undefined, undefined],
    );
  });

  it('do not wait for a sender while it is idle, nor for one that has ended', () => {
    const restored = new RestoredWatermarks([
      { edgeIndex: 0, watermarkMs: 10 },
      { edgeIndex: 0, watermarkMs: 20 },
    ]);
    restored.onStatus(0, true);
    assert.deepEqual([restored.minimumOf(0), restored.watermarkOf(0)], [20, MAX_WATERMARK]);
    restored.onStatus(0, false);
    assert.equal(restored.minimumOf(0), 10);
    restored.onWatermark(0, MAX_WATERMARK);
    assert.equal(restored.minimumOf(0), 20);
  });
});
