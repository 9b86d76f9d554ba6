/** What a task does in which order with what comes from outside. Its parts are stand-ins that note their calls. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Task, type TaskParts } from './task.ts';

/** A source task with one output that has room when the test says so. */
async function sourceTask() {
  const calls: string[] = [];
  const output = { hasRoom: true };
  const parts = {
    key: { vertex: 0, subtask: 0 },
    vertex: { name: 'source' },
    chain: {
      open: async () => {},
      busy: () => undefined,
      nextProcessingTime: () => Number.POSITIVE_INFINITY,
      flush() {},
    },
    source: {
      open: async () => {},
      addSplits: (splits: readonly { splitId: string }[]) =>
        calls.push(`splits ${splits.map((split) => split.splitId)}`),
      noMoreSplits: () => calls.push('no more splits'),
      poll: () => 'nothing',
    },
    gate: undefined,
    channelInputs: [],
    writers: [{ isAvailable: () => output.hasRoom, drain: () => false }],
    checkpoint: {
      isCongested: () => false,
      take: ({ checkpointId }: { checkpointId: number }) => calls.push(`snapshot ${checkpointId}`),
    },
    autoWatermarkIntervalMs: Number.POSITIVE_INFINITY,
    events: { failed: (_task: unknown, error: unknown) => assert.fail(String(error)) },
  } as unknown as TaskParts;
  const task = new Task(parts);
  await task.open(new Map());
  return { task, calls, output };
}

const barrier = (checkpointId: number) => ({ checkpointId, timestampMs: 0, kind: 'checkpoint' }) as const;

describe('a source task', () => {
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

  it('takes splits that came before a trigger into its snapshot', async () => {
    const { task, calls } = await sourceTask();
    task.addSplits([{ splitId: 'early' }]);
    task.trigger(barrier(1));
    task.addSplits([{ splitId: 'late' }]);
    task.trigger(barrier(2));
    for (let turn = 0; turn < 4; turn++) task.turn(turn, turn);
    assert.deepEqual(calls, ['splits early', 'snapshot 1', 'splits late', 'snapshot 2']);
  });
});
