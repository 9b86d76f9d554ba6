import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BufferPool } from './buffer-pool.ts';

describe('a pool of buffers', () => {
  const pool = (): BufferPool<Uint8Array> => new BufferPool(() => new Uint8Array(8), 10);
  const burst = (from: BufferPool<Uint8Array>, count: number): Set<Uint8Array> => {
    const taken = Array.from({ length: count }, () => from.take());
    for (const buffer of taken) from.give(buffer);
    return new Set(taken);
  };
  const common = (a: Set<Uint8Array>, b: Set<Uint8Array>): number =>
    [...a].filter((each) => b.has(each)).length;

  it('keeps what was given back, and lends nothing twice', () => {
    const buffers = pool();
    const first = burst(buffers, 5);
    assert.equal(first.size, 5);
    assert.deepEqual(burst(buffers, 5), first);
  });

  it('does not keep what two bursts did not need', () => {
    const buffers = pool();
    const many = burst(buffers, 5);
    burst(buffers, 1);
    assert.equal(common(many, burst(buffers, 5)), 5, 'the last but one needed them');
    burst(buffers, 1);
    burst(buffers, 1);
    assert.equal(common(many, burst(buffers, 5)), 1);
  });

  it('keeps no more than its bound', () => {
    const buffers = pool();
    const many = burst(buffers, 100);
    assert.equal(common(many, burst(buffers, 100)), 10);
  });

  it('goes on with a burst until all is back', () => {
    const buffers = pool();
    const held = buffers.take();
    const many = burst(buffers, 5);
    for (let i = 0; i < 5; i++) burst(buffers, 1);
    assert.deepEqual(burst(buffers, 5), many);
    assert.ok(!many.has(held));
  });
});
