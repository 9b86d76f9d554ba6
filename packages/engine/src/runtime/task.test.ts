/** What a task does in which order with what comes from outside. Its parts are stand-ins that note their calls. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MAX_WATERMARK } from '../base/index.ts';
import { Task, type TaskParts } from './task.ts';
import type { CheckpointCut } from './task-checkpoint.ts';

/** A source task with one output that has room when the test says so. */
async function sourceTask(
  alignedTimeoutMs?: number,
  autoWatermarkIntervalMs = Number.POSITIVE_INFINITY,
  outputs?: readonly object[],
) {
  const calls: string[] = [];
  const output = {
    hasRoom: true,
    busy: undefined as Promise<void> | undefined,
    hasRecords: false,
    records: 0,
    asked: 0,
    isSynchronous: false,
    isWriting: false,
    /** When an operator wants to be called. */
    dueMs: Number.POSITIVE_INFINITY,
    /** A timer by processing time. */
    timerMs: Number.POSITIVE_INFINITY,
  };
  const parts = {
    key: { vertex: 0, subtask: 0 },
    vertex: { name: 'source' },
    chain: {
      open: async () => {},
      busy: () => output.busy,
      isDraining: false,
      nextScheduled: () => output.dueMs,
      runScheduled: (nowMs: number) => {
        if (output.dueMs > nowMs) return false;
        calls.push('call');
        return true;
      },
      firesTimers: () => true,
      processWatermark: (watermarkMs: number) => calls.push(`watermark ${watermarkMs}`),
      finish: async () => calls.push('finish'),
      nextProcessingTime: () => output.timerMs,
      advanceProcessingTime: (nowMs: number) => {
        calls.push(`timers at ${nowMs}`);
        output.timerMs = Number.POSITIVE_INFINITY;
      },
      flush() {},
    },
    source: {
      open: async () => {},
      addSplits: (splits: readonly { splitId: string }[]) =>
        calls.push(`splits ${splits.map((split) => split.splitId)}`),
      get recordsIn() {
        return output.records;
      },
      noMoreSplits: () => calls.push('no more splits'),
      end() {},
      emitWatermark: (monotonicMs: number) => calls.push(`periodic at ${monotonicMs}`),
      poll: (maxRecords: number) => {
        if (output.busy !== undefined) return calls.push('poll');
        output.asked = maxRecords;
        output.records += output.hasRecords ? maxRecords : 0;
        return output.hasRecords ? 'more' : 'nothing';
      },
    },
    inputs: undefined,
    outputs: outputs ?? [
      { writer: { isAvailable: () => output.hasRoom, drain: () => false, broadcastEnd() {} } },
    ],
    alignedTimeoutMs,
    checkpoint: {
      isCongested: () => output.isWriting,
      hasWork: () => false,
      abortAll() {},
      take: ({ barrier: { checkpointId }, leaves }: CheckpointCut) => {
        calls.push(`snapshot ${checkpointId}${leaves === 'ahead' ? ' ahead' : ''}`);
        output.isWriting = output.isSynchronous;
      },
    },
    autoWatermarkIntervalMs,
    events: {
      failed: (_task: unknown, error: unknown) => assert.fail(String(error)),
      wake() {},
      endOfData() {},
    },
  } as unknown as TaskParts;
  const task = new Task(parts);
  await task.open(new Map());
  return { task, calls, output };
}

const barrier = (checkpointId: number) => ({ checkpointId, timestampMs: 0, kind: 'checkpoint' }) as const;

describe('a source task', () => {
  it('asks for fewer records while its functions are slow, so that barriers need not wait for them', async () => {
    const { task, output } = await sourceTask();
    task.start();
    for (let turn = 0; turn < 10; turn++) task.addTime(0.1, 0);
    output.hasRecords = true;
    task.turn(0, 0);
    assert.ok(output.asked < 100, 'nobody knows yet how fast they are');
    const askedAfter = (busyMs: number, turns: number): number => {
      for (let turn = 0; turn < turns; turn++) {
        task.turn(0, 0);
        task.addTime(busyMs, 0);
      }
      task.turn(0, 0);
      return output.asked;
    };
    assert.equal(askedAfter(0.1, 10), 1000);
    // A millisecond a record: about five of them.
    assert.equal(askedAfter(1000, 1), 5);
    assert.equal(askedAfter(5, 10), 5);
    assert.equal(askedAfter(50, 3), 1);
    assert.equal(askedAfter(0.1, 10), 1000);
  });

  it('sends what its other outputs hold when one has sent a segment, where there is room', async () => {
    const outputs = Array.from({ length: 3 }, () => {
      const writer = {
        bytesOut: 0,
        held: 0,
        hasRoom: true,
        isAvailable: () => writer.hasRoom,
        drain: () => true,
        flush: () => {
          writer.bytesOut += writer.held;
          writer.held = 0;
        },
      };
      return { writer };
    });
    const [dense, sparse, full] = outputs.map(({ writer }) => writer);
    const { task, output } = await sourceTask(undefined, undefined, outputs);
    task.start();
    output.hasRecords = true;
    const sent = (): number[] => outputs.map(({ writer }) => writer.bytesOut);
    for (const writer of [dense!, sparse!, full!]) writer.held = 5;
    task.turn(0, 0);
    assert.deepEqual(sent(), [0, 0, 0]);
    dense!.bytesOut = 1000;
    const { flush } = dense!;
    dense!.flush = () => assert.fail('it has sent, and goes on filling its segments');
    // It becomes full within the turn.
    full!.isAvailable = () => sparse!.bytesOut === 0;
    task.turn(1, 1);
    assert.deepEqual(sent(), [1000, 5, 0]);
    dense!.flush = flush;
    task.turn(2, 2);
    assert.deepEqual(sent(), [1000, 5, 0], 'nothing was sent in this turn');
  });

  it('keeps splits out of the snapshot whose trigger came before them, however long its output is full', async () => {
    const { task, calls, output } = await sourceTask();
    output.hasRoom = false;
    task.trigger(barrier(1));
    task.addSplits([{ splitId: 'late' }]);
    task.noMoreSplits();
    task.turn(0, 0);
    assert.deepEqual(calls, []);
    output.hasRoom = true;
    for (let turn = 0; turn < 4; turn++) task.turn(turn, turn);
    assert.deepEqual(calls, ['snapshot 1', 'splits late', 'no more splits']);
  });

  it('reads between two messages: triggers that come one upon the other do not keep it from that', async () => {
    for (const alignedTimeoutMs of [undefined, 0]) {
      const { task, output } = await sourceTask(alignedTimeoutMs);
      task.start();
      output.hasRecords = true;
      output.isSynchronous = true;
      for (let id = 0; id < 6; id++) {
        // It may go on when a snapshot is written, and then the next one is there already.
        task.trigger(barrier(id));
        output.isWriting = false;
        task.turn(id, id);
      }
      assert.ok(output.records > 0, `aligned for ${alignedTimeoutMs} ms`);
    }
  });

  it('makes a call that is due between two messages, and takes a message between two calls', async () => {
    for (const alignedTimeoutMs of [undefined, 0]) {
      const { task, calls, output } = await sourceTask(alignedTimeoutMs);
      task.start();
      // Nothing is read: an operator is busy until it is called, again and again.
      output.busy = new Promise(() => {});
      output.dueMs = 0;
      output.isSynchronous = true;
      for (let id = 0; id < 6; id++) {
        task.trigger(barrier(id));
        output.isWriting = false;
        task.turn(id, id);
      }
      const called = calls.filter((call) => call === 'call').length;
      assert.ok(called >= 2, `aligned for ${alignedTimeoutMs} ms: ${calls}`);
      assert.ok(calls.length - called >= 2, `aligned for ${alignedTimeoutMs} ms: ${calls}`);
    }
  });

  it('goes by monotonic time in all but processing-time timers, and says how long it may be left alone', async () => {
    const { task, calls, output } = await sourceTask(undefined, 200);
    task.start();
    task.turn(5000, 10);
    assert.deepEqual(calls.splice(0), ['periodic at 10']);
    assert.equal(task.idleForMs(5000, 10), 200);
    assert.equal(task.idleForMs(1, 60), 150, 'the wall clock was set back');
    output.dueMs = 100;
    assert.equal(task.idleForMs(1, 60), 40);
    output.timerMs = 31;
    assert.equal(task.idleForMs(1, 60), 30);
    task.turn(99, 31);
    assert.deepEqual(calls.splice(0), ['timers at 99']);
    task.turn(0, 210);
    assert.deepEqual(calls, ['call', 'periodic at 210']);
  });

  it('takes splits that came before a trigger into its snapshot', async () => {
    const { task, calls } = await sourceTask();
    task.addSplits([{ splitId: 'early' }]);
    task.trigger(barrier(1));
    task.addSplits([{ splitId: 'late' }]);
    task.trigger(barrier(2));
    for (let turn = 0; turn < 4; turn++) task.turn(turn, turn);
    assert.deepEqual(calls, ['splits early', 'snapshot 1', 'splits late', 'snapshot 2']);
  });

  it('takes a checkpoint whose barrier overtakes while its output is full, and what was assigned before it', async () => {
    const { task, calls, output } = await sourceTask(500);
    task.start();
    output.hasRoom = false;
    task.addSplits([{ splitId: 'early' }]);
    task.trigger(barrier(1));
    task.addSplits([{ splitId: 'late' }]);
    task.turn(0, 0);
    assert.deepEqual([calls, task.hasWork()], [[], false]);
    task.budgetSpent(1);
    assert.equal(task.hasWork(), true);
    task.turn(0, 0);
    assert.deepEqual(calls, ['splits early', 'snapshot 1 ahead']);
    assert.equal(task.hasWork(), false, 'the loop may sleep');
    task.trigger(barrier(2));
    assert.equal(task.hasWork(), false, 'the budget of the next one is not spent');
  });

  it('lets no barrier overtake a savepoint or the end that were asked for before', async () => {
    const { task, calls, output } = await sourceTask(0);
    output.hasRoom = false;
    task.trigger({ ...barrier(1), kind: 'savepoint' });
    task.trigger(barrier(2));
    task.turn(0, 0);
    assert.deepEqual([calls, task.hasWork()], [[], false]);
    output.hasRoom = true;
    for (let turn = 0; turn < 2; turn++) task.turn(0, 0);
    assert.deepEqual(calls, ['snapshot 1', 'snapshot 2 ahead']);
    output.hasRoom = false;
    task.drain();
    task.trigger(barrier(3));
    assert.equal(task.hasWork(), false);
  });

  it('polls nothing and fires no timers while an operator is busy, and takes checkpoints', async () => {
    const { task, calls, output } = await sourceTask();
    const pause = Promise.withResolvers<void>();
    output.busy = pause.promise;
    task.start();
    task.trigger(barrier(1));
    task.drain();
    task.trigger(barrier(2));
    for (let turn = 0; turn < 4; turn++) task.turn(turn, turn);
    assert.deepEqual(calls, ['snapshot 1'], 'the end of time would fire timers, and what follows it waits');
    assert.equal(task.hasWork(), false, 'the loop may sleep');
    output.busy = undefined;
    pause.resolve();
    await new Promise(setImmediate);
    for (let turn = 4; turn < 6; turn++) task.turn(turn, turn);
    assert.deepEqual(calls.slice(1, 3), [`watermark ${MAX_WATERMARK}`, 'finish']);
  });
});
