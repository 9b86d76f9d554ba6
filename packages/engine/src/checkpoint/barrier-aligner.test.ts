import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { CheckpointBarrier } from './barrier.ts';
import { type AlignerAction, BarrierAligner } from './barrier-aligner.ts';

const barrier = (checkpointId: number): CheckpointBarrier => ({
  checkpointId,
  timestampMs: 0,
  kind: 'checkpoint',
});
const aligner = (channels: number, mode: 'EXACTLY_ONCE' | 'AT_LEAST_ONCE' = 'EXACTLY_ONCE') =>
  new BarrierAligner({ channels, mode });

/** `block 0`, `aligned 5`: what a list of actions says. */
function words(actions: readonly AlignerAction[]): string {
  return actions
    .map((action) => {
      if (action.type === 'block') return `block ${action.channel}`;
      if (action.type === 'aligned') return `aligned ${action.barrier.checkpointId}`;
      if (action.type === 'started') return `started ${action.checkpointId}`;
      return action.type === 'aborted' ? `aborted ${action.checkpointId} ${action.reason}` : action.type;
    })
    .join(', ');
}

test('channels are blocked one by one, and all are unblocked when the last barrier arrives', () => {
  const task = aligner(3);
  assert.equal(words(task.barrier(1, barrier(1))), 'started 1, block 1');
  assert.equal(words(task.barrier(0, barrier(1))), 'block 0');
  assert.deepEqual(task.missingChannels(), [2]);
  assert.equal(words(task.barrier(2, barrier(1))), 'unblock-all, aligned 1');
  assert.equal(task.pendingCheckpointId, undefined);
});

test('with one channel the first barrier is the last', () => {
  assert.equal(words(aligner(1).barrier(0, barrier(7))), 'started 7, aligned 7');
});

test('at-least-once aligns without blocking', () => {
  const task = aligner(2, 'AT_LEAST_ONCE');
  assert.equal(words(task.barrier(0, barrier(1))), 'started 1');
  assert.equal(words(task.barrier(1, barrier(1))), 'aligned 1');
});

test('a barrier of a newer checkpoint aborts the pending one', () => {
  const task = aligner(2);
  task.barrier(0, barrier(1));
  assert.equal(
    words(task.barrier(1, barrier(2))),
    'unblock-all, aborted 1 newer-barrier, started 2, block 1',
  );
  assert.equal(words(task.barrier(0, barrier(2))), 'unblock-all, aligned 2');
});

test('a late barrier of an older checkpoint, seen or never seen, is ignored', () => {
  const task = aligner(2);
  task.barrier(0, barrier(5));
  assert.equal(words(task.barrier(1, barrier(4))), '');
  assert.equal(words(task.barrier(1, barrier(5))), 'unblock-all, aligned 5');
  assert.equal(words(task.barrier(1, barrier(5))), '');
});

test('a cancellation barrier aborts the pending checkpoint, and its late barriers are ignored', () => {
  const task = aligner(2);
  task.barrier(0, barrier(1));
  assert.equal(words(task.cancelBarrier(1)), 'unblock-all, aborted 1 cancellation-barrier');
  assert.equal(words(task.cancelBarrier(1)), '');
  assert.equal(words(task.barrier(1, barrier(1))), '');
});

test('a cancellation barrier that comes before any barrier is passed on once', () => {
  const task = aligner(2);
  assert.equal(words(task.cancelBarrier(3)), 'aborted 3 cancellation-barrier');
  assert.equal(words(task.barrier(0, barrier(3))), '');
  assert.equal(words(task.barrier(1, barrier(4))), 'started 4, block 1');
});

test('a cancellation barrier of a newer checkpoint aborts both', () => {
  const task = aligner(2);
  task.barrier(0, barrier(1));
  assert.equal(
    words(task.cancelBarrier(2)),
    'unblock-all, aborted 1 newer-barrier, aborted 2 cancellation-barrier',
  );
});

test('what the coordinator has given up is not aligned any more', () => {
  const task = aligner(2);
  task.barrier(0, barrier(1));
  assert.equal(words(task.abortedByCoordinator(1)), 'unblock-all');
  assert.equal(words(task.barrier(1, barrier(1))), '');
  assert.equal(words(task.abortedByCoordinator(2)), '');
  assert.equal(words(task.barrier(1, barrier(2))), '');
  assert.equal(words(task.barrier(1, barrier(3))), 'started 3, block 1');
});

test('a channel that is closed for good is not waited for', () => {
  const task = aligner(3);
  task.close(0);
  assert.equal(words(task.barrier(1, barrier(1))), 'started 1, block 1');
  assert.equal(words(task.close(2)), 'unblock-all, aligned 1');
  assert.equal(words(task.barrier(1, barrier(2))), 'started 2, unblock-all, aligned 2');
});

/**
 * The model: each channel is a queue of records and barriers. A task takes from a random unblocked channel. For each
 * aligned checkpoint the records taken so far must be exactly those before its barrier, of every channel.
 */
test('an aligned checkpoint holds exactly the records before its barriers (property)', () => {
  const queues = fc
    .record({
      channels: fc.integer({ min: 1, max: 4 }),
      checkpoints: fc.integer({ min: 1, max: 5 }),
      records: fc.array(fc.nat(3), { minLength: 30, maxLength: 30 }),
      skipped: fc.array(fc.boolean(), { minLength: 30, maxLength: 30 }),
      order: fc.array(fc.nat(), { minLength: 200, maxLength: 200 }),
    })
    .map(({ channels, checkpoints, records, skipped, order }) => {
      const queue = (channel: number) =>
        Array.from({ length: checkpoints }, (_, i) => {
          const at = channel * checkpoints + i;
          const before = Array.from({ length: records[at]! }, (): 'record' => 'record');
          // The last checkpoint is complete; of others any channel may lack the barrier.
          const isThere = i === checkpoints - 1 || !skipped[at];
          return isThere ? [...before, i + 1] : before;
        }).flat();
      return { queues: Array.from({ length: channels }, (_, channel) => queue(channel)), order };
    });
  fc.assert(
    fc.property(queues, ({ queues: all, order }) => {
      const task = aligner(all.length);
      const rest = all.map((queue) => [...queue]);
      const blocked = new Set<number>();
      const taken = all.map(() => 0);
      let ended = 0;
      const aligned: number[] = [];
      for (let turn = 0; rest.some((queue) => queue.length > 0); turn++) {
        const open = [...rest.keys()].filter((channel) => rest[channel]!.length > 0 && !blocked.has(channel));
        assert.ok(open.length > 0, 'a deadlock');
        const channel = open[order[turn % order.length]! % open.length]!;
        const element = rest[channel]!.shift()!;
        if (element === 'record') {
          taken[channel]!++;
          continue;
        }
        for (const action of task.barrier(channel, barrier(element))) {
          if (action.type === 'block') blocked.add(action.channel);
          else if (action.type === 'unblock-all') blocked.clear();
          else if (action.type === 'aborted') ended = rising(ended, action.checkpointId);
          else if (action.type === 'aligned') {
            ended = rising(ended, action.barrier.checkpointId);
            aligned.push(ended);
            assert.deepEqual(
              taken,
              all.map((queue) => recordsBefore(queue, ended)),
            );
          }
        }
      }
      assert.equal(aligned.at(-1), Math.max(...all[0]!.filter((element) => typeof element === 'number')));
      assert.equal(blocked.size, 0);
    }),
    { numRuns: 500 },
  );
});

function rising(before: number, after: number): number {
  assert.ok(after > before, 'ids that end rise');
  return after;
}

function recordsBefore(queue: readonly (number | 'record')[], checkpointId: number): number {
  const end = queue.indexOf(checkpointId);
  assert.ok(end >= 0, 'aligned without a barrier of this channel');
  return queue.slice(0, end).filter((element) => element === 'record').length;
}
