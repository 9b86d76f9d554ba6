/** A task with two inputs that reads real channels, fed by the writers of two other tasks. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { MAX_WATERMARK, NO_TIMESTAMP } from '../base/index.ts';
import type { CheckpointingMode } from '../checkpoint/index.ts';
import { type Barrier, ElementKind, RecordBatch, type RecordWriter } from '../exchange/index.ts';
import { createManualPlatform } from '../testing/manual-platform.ts';
import { Types } from '../types/index.ts';
import { allocateChannels, ChannelWiring } from './channel-wiring.ts';
import type { JobEdge, JobGraph, JobVertex } from './job-vertex.ts';
import type { OperatorContext, TwoInputOperator } from './operator.ts';
import { OperatorChain } from './operator-chain.ts';
import { Task } from './task.ts';
import type { CheckpointCut, TaskCheckpoint } from './task-checkpoint.ts';

const events: string[] = [];
let busy: Promise<void> | undefined;

/** Notes what it is told. */
class Both implements TwoInputOperator<string, string, string> {
  private context!: OperatorContext<string>;
  setup(context: OperatorContext<string>): void {
    this.context = context;
  }
  open(): void {}
  processElement1(value: string): void {
    events.push(value);
    if (value === 'enough') busy = new Promise(() => {});
    this.context.output.collect(value, NO_TIMESTAMP);
  }
  processElement2(value: string): void {
    this.processElement1(value);
  }
  processWatermark(watermarkMs: number): void {
    events.push(`watermark ${watermarkMs === MAX_WATERMARK ? 'max' : watermarkMs}`);
    this.context.output.emitWatermark(watermarkMs);
  }
  processWatermarkStatus(idle: boolean): void {
    events.push(idle ? 'idle' : 'active');
  }
  notifyCheckpointAborted(checkpointId: number): void {
    events.push(`told that ${checkpointId} is aborted`);
  }
  busy(): Promise<void> | undefined {
    return busy;
  }
  endInput(input: 0 | 1): void {
    events.push(`end of ${input}`);
  }
}

function vertex(index: number, inputCount: 0 | 1 | 2, create: (() => Both) | undefined): JobVertex {
  const name = `v${index}`;
  const operator = {
    uid: name,
    uidIsGenerated: false,
    name,
    kind: 'test',
    parent: -1,
    parentSideTag: undefined,
  };
  const operators = [{ ...operator, create: create as never, keyed: undefined, outputType: Types.STRING }];
  return { index, name, operators, source: undefined, inputCount, parallelism: 1, maxParallelism: 128 };
}

function edge(index: number, sourceVertex: number, targetVertex: number, targetInput: 0 | 1): JobEdge {
  const rest = {
    sourceOperator: 0,
    sideTag: undefined,
    partitioning: 'forward',
    key: undefined,
    valueType: Types.STRING,
  } as const;
  return { index, sourceVertex, targetVertex, targetInput, ...rest };
}

const GRAPH: JobGraph = {
  jobName: 'job',
  vertices: [
    vertex(0, 0, undefined),
    vertex(1, 0, undefined),
    vertex(2, 2, () => new Both()),
    vertex(3, 1, undefined),
  ],
  edges: [edge(0, 0, 2, 0), edge(1, 1, 2, 1), edge(2, 2, 3, 0)],
  planHash: '',
};

interface Fixture {
  readonly task: Task;
  readonly left: RecordWriter<unknown>;
  readonly right: RecordWriter<unknown>;
  /** Takes what the task has written: records, and the kinds of other elements. */
  received(): string[];
  /** Gives turns until one finds nothing to do. */
  work(): void;
}

async function fixture(mode: CheckpointingMode = 'EXACTLY_ONCE'): Promise<Fixture> {
  const platform = createManualPlatform();
  const wiring = new ChannelWiring(GRAPH, allocateChannels(GRAPH, 1), platform);
  const [, , both, after] = GRAPH.vertices;
  const outputs = wiring.outputsOf(both!, 0);
  const inputs = wiring.inputsOf(both!, 0)!;
  const host = { jobName: 'job', subtaskIndex: 0, attemptNumber: 0, services: { platform } as never };
  const chain = new OperatorChain(both!, outputs, {
    ...host,
    processingTimeMs: () => 0,
    monotonicMs: () => 0,
    wake() {},
    fail: assert.fail,
  });
  const checkpoint = {
    isCongested: () => false,
    hasWork: () => false,
    abort() {},
    take({ barrier: { checkpointId } }: CheckpointCut) {
      events.push(`snapshot ${checkpointId}`);
      for (const { writer } of outputs) writer.broadcastBarrier(barrier(checkpointId));
    },
    decline: (checkpointId: number, reason: string) => events.push(`decline ${checkpointId}: ${reason}`),
  };
  const task = new Task({
    key: { vertex: 2, subtask: 0 },
    vertex: both!,
    chain,
    source: undefined,
    inputs,
    outputs,
    checkpoint: checkpoint as unknown as TaskCheckpoint,
    batch: new RecordBatch(),
    mode,
    alignedTimeoutMs: undefined,
    autoWatermarkIntervalMs: 200,
    events: {
      endOfData: () => events.push('end of data'),
      failed: (_, error) => assert.fail(String(error)),
      wake: () => events.push('wake'),
    },
  });
  await task.open(new Map());
  const sink = wiring.inputsOf(after!, 0)!.gate;
  const left = wiring.outputsOf(GRAPH.vertices[0]!, 0)[0]!.writer;
  const right = wiring.outputsOf(GRAPH.vertices[1]!, 0)[0]!.writer;
  return {
    task,
    left,
    right,
    work: () => {
      for (const writer of [left, right]) writer.flush();
      while (task.turn(0, 0));
    },
    received: () => {
      task.flushOutputs();
      const found: string[] = [];
      const batch = new RecordBatch();
      while (sink.next() >= 0) {
        const kind = sink.kind(0);
        if (kind === ElementKind.data) {
          sink.readBatch(0, batch);
          found.push(...(batch.values.slice(0, batch.count) as string[]));
          batch.clear();
        } else {
          found.push(`kind ${kind}`);
          sink.consume(0);
        }
      }
      return found;
    },
  };
}

const barrier = (checkpointId: number): Barrier => ({ checkpointId, timestampMs: 0, kind: 'checkpoint' });

describe('a task with two inputs', () => {
  beforeEach(() => {
    events.length = 0;
    busy = undefined;
  });

  const send = (writer: RecordWriter<unknown>, ...values: string[]): void => {
    for (const value of values) writer.collect(value, NO_TIMESTAMP);
  };

  it('holds back what follows a barrier until the other one is there', async () => {
    const { left, right, work } = await fixture();
    send(left, 'a');
    left.broadcastBarrier(barrier(1));
    send(left, 'b');
    send(right, 'x');
    work();
    assert.deepEqual(events.splice(0).sort(), ['a', 'x']);
    send(right, 'y');
    right.broadcastBarrier(barrier(1));
    send(right, 'z');
    work();
    assert.deepEqual(events.slice(0, 2), ['y', 'snapshot 1']);
    assert.deepEqual(events.slice(2).sort(), ['b', 'z']);
  });

  it('holds nothing back if each record may be counted twice', async () => {
    const { left, right, work } = await fixture('AT_LEAST_ONCE');
    left.broadcastBarrier(barrier(1));
    send(left, 'b');
    work();
    right.broadcastBarrier(barrier(1));
    work();
    assert.deepEqual(events, ['b', 'snapshot 1']);
  });

  it('gives a checkpoint up for a newer one, tells downstream, and leaves it to the coordinator to tell operators', async () => {
    const { left, right, work, task } = await fixture();
    left.broadcastBarrier(barrier(1));
    send(left, 'a');
    work();
    right.broadcastBarrier(barrier(2));
    work();
    assert.deepEqual(events, ['decline 1: newer-barrier', 'a']);
    task.abortCheckpoint(1);
    left.broadcastBarrier(barrier(2));
    work();
    assert.deepEqual(events.slice(2), ['told that 1 is aborted', 'snapshot 2']);
  });

  it('gives a checkpoint up when a cancellation barrier comes', async () => {
    const { left, right, work } = await fixture();
    left.broadcastBarrier(barrier(1));
    send(left, 'a');
    work();
    assert.deepEqual(events, []);
    right.broadcastCancelBarrier(1);
    work();
    assert.deepEqual(events, ['decline 1: cancellation-barrier', 'a']);
  });

  it('goes on when the coordinator gives a checkpoint up, and ignores its late barrier', async () => {
    const { left, right, work, task } = await fixture();
    left.broadcastBarrier(barrier(1));
    send(left, 'a');
    work();
    task.abortCheckpoint(1);
    work();
    right.broadcastBarrier(barrier(1));
    send(right, 'x');
    work();
    assert.deepEqual(events, ['told that 1 is aborted', 'a', 'x']);
  });

  it('takes checkpoints when one input has ended, and when both have', async () => {
    const { left, right, work, task } = await fixture();
    left.broadcastWatermark(MAX_WATERMARK);
    left.broadcastEnd();
    left.broadcastBarrier(barrier(1));
    send(right, 'x');
    right.broadcastBarrier(barrier(1));
    work();
    assert.deepEqual(events.splice(0), ['x', 'end of 0', 'snapshot 1']);
    right.broadcastWatermark(MAX_WATERMARK);
    right.broadcastEnd();
    work();
    await new Promise(setImmediate);
    assert.deepEqual(events.splice(0), ['watermark max', 'end of 1', 'end of data', 'wake']);
    assert.ok(task.isFinished);
    for (const writer of [left, right]) writer.broadcastBarrier(barrier(2));
    work();
    assert.deepEqual(events, ['snapshot 2']);
  });

  it('does not let an idle input hold back event time', async () => {
    const { left, right, work } = await fixture();
    left.broadcastWatermark(10);
    work();
    assert.deepEqual(events, []);
    right.broadcastStatus(true);
    work();
    assert.deepEqual(events, ['watermark 10']);
  });

  it('does not take the end of one input for the end of time while the other one is idle', async () => {
    const { left, right, work } = await fixture();
    right.broadcastWatermark(5);
    right.broadcastStatus(true);
    left.broadcastWatermark(10);
    work();
    left.broadcastWatermark(MAX_WATERMARK);
    left.broadcastEnd();
    work();
    assert.deepEqual(events.splice(0), ['watermark 5', 'watermark 10', 'idle', 'end of 0']);
    right.broadcastStatus(false);
    right.broadcastWatermark(20);
    work();
    assert.deepEqual(events.splice(0), ['active', 'watermark 20']);
    right.broadcastWatermark(MAX_WATERMARK);
    right.broadcastEnd();
    work();
    assert.deepEqual(events, ['watermark max', 'end of 1']);
  });

  it('stops when its output is full and goes on when there is room, with nothing lost', async () => {
    const { left, work, task, received } = await fixture();
    const sent: string[] = [];
    const got: string[] = [];
    for (let round = 0; round < 40; round++) {
      for (let i = 0; i < 100; i++) sent.push(`${round}-${i}-${'long '.repeat(40)}`);
      if (left.isAvailable()) send(left, ...sent.slice(-100));
      else sent.length -= 100;
      work();
    }
    assert.ok(task.isBackPressured);
    assert.ok(!left.isAvailable(), 'the pressure reaches the sender');
    assert.equal(task.hasWork(), false, 'it sleeps');
    assert.ok(events.length < sent.length);
    for (let i = 0; i < 100 && got.length < sent.length; i++) {
      got.push(...received());
      assert.ok(got.length === sent.length || task.hasWork(), 'it is woken for the room it was given');
      work();
    }
    assert.deepEqual(got, sent);
  });

  it('lets barriers, watermarks and status pass while an operator is busy, but none of them a record', async () => {
    const { left, right, work, task } = await fixture();
    busy = new Promise(() => {});
    for (const writer of [left, right]) {
      writer.broadcastWatermark(10);
      writer.broadcastBarrier(barrier(1));
    }
    work();
    assert.deepEqual(events.splice(0), ['watermark 10', 'snapshot 1']);
    send(left, 'a');
    left.broadcastBarrier(barrier(2));
    right.broadcastBarrier(barrier(2));
    work();
    assert.deepEqual(events, [], 'the record is before the barrier');
    assert.equal(task.hasWork(), false, 'the loop may sleep');
    right.broadcastStatus(true);
    task.abortCheckpoint(2);
    assert.equal(task.hasWork(), true, 'a status can be read');
  });

  it('takes no further batch when an operator has become busy', async () => {
    const { left, work } = await fixture();
    send(left, 'a', 'enough');
    left.flush();
    send(left, 'b');
    work();
    assert.deepEqual(events, ['a', 'enough']);
  });

  it('goes on with time and barriers while it waits for the last results of an operator', async () => {
    const { left, right, work, task } = await fixture();
    const pause = Promise.withResolvers<void>();
    for (const writer of [left, right]) {
      writer.broadcastWatermark(MAX_WATERMARK);
      writer.broadcastEnd();
    }
    busy = pause.promise;
    work();
    task.chain.headContext.schedule(7, (nowMs) => void events.push(`called at ${nowMs}`));
    assert.deepEqual(events.splice(0), ['end of 0', 'watermark max', 'end of 1']);
    assert.equal(task.idleForMs(0, 2), 5);
    task.turn(0, 8);
    for (const writer of [left, right]) writer.broadcastBarrier(barrier(1));
    assert.equal(task.hasWork(), true);
    work();
    assert.deepEqual(events.splice(0), ['called at 8', 'snapshot 1']);
    assert.equal(task.isFinished, false);
    busy = undefined;
    pause.resolve();
    await new Promise(setImmediate);
    assert.ok(task.isFinished);
    assert.deepEqual(events, ['wake', 'end of data', 'wake']);
  });

  it('does nothing while an operator is busy, and is woken afterwards', async () => {
    const { left, work, task } = await fixture();
    const pause = Promise.withResolvers<void>();
    busy = pause.promise;
    send(left, 'a');
    work();
    assert.deepEqual(events, []);
    assert.equal(task.hasWork(), false, 'the loop may sleep');
    assert.equal(task.idleForMs(0, 0), Number.POSITIVE_INFINITY);
    busy = undefined;
    pause.resolve();
    await new Promise(setImmediate);
    assert.equal(task.hasWork(), true);
    work();
    assert.deepEqual(events, ['wake', 'a']);
  });
});
