import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { channelEnds } from './channel-pattern.ts';

const pairs = (ends: ReturnType<typeof channelEnds>): string =>
  ends.map(({ sender, receiver }) => `${sender}-${receiver}`).join(' ');

const parallelism = fc.integer({ min: 1, max: 40 });

describe('the channels of an exchange', () => {
  it('of rescale are those of Flink', () => {
    assert.equal(pairs(channelEnds('rescale', 2, 4)), '0-0 0-1 1-2 1-3');
    assert.equal(pairs(channelEnds('rescale', 4, 2)), '0-0 1-0 2-1 3-1');
    assert.equal(pairs(channelEnds('rescale', 2, 3)), '0-0 0-1 1-2');
    assert.equal(pairs(channelEnds('rescale', 3, 2)), '0-0 1-1 2-1');
    assert.equal(pairs(channelEnds('rescale', 5, 3)), '0-0 1-1 2-1 3-2 4-2');
  });

  it('of rescale give each sender a receiver and each receiver a sender, in runs of about equal length', () => {
    fc.assert(
      fc.property(parallelism, parallelism, (senders, receivers) => {
        const ends = channelEnds('rescale', senders, receivers);
        assert.equal(ends.length, Math.max(senders, receivers));
        const narrow = Math.min(senders, receivers);
        const end = senders <= receivers ? 'sender' : 'receiver';
        const runs = Array.from({ length: narrow }, (_, i) => ends.filter((each) => each[end] === i).length);
        assert.ok(Math.max(...runs) - Math.min(...runs) <= 1, `runs of ${runs}`);
        const other = end === 'sender' ? 'receiver' : 'sender';
        assert.deepEqual(
          ends.map((each) => each[other]),
          ends.map((_, index) => index),
        );
        assert.deepEqual(
          ends.map((each) => each[end]),
          ends.map((each) => each[end]).sort((a, b) => a - b),
        );
      }),
    );
  });

  it('of forward connect equal subtasks, those of all others each with each', () => {
    assert.equal(pairs(channelEnds('forward', 3, 3)), '0-0 1-1 2-2');
    for (const partitioning of ['hash', 'rebalance', 'shuffle', 'global', 'custom', 'broadcast'] as const)
      assert.equal(pairs(channelEnds(partitioning, 2, 3)), '0-0 0-1 0-2 1-0 1-1 1-2');
  });
});
