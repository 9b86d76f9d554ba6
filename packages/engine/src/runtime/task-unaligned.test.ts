/**
 * A task whose barriers overtake: real channels, chain and snapshot, a test in place of its neighbours and of the slot.
 *
 *     left (one or two subtasks) ──hash──▶ input 0 ┐
 *                                                  ├── operator ──hash──▶ two receivers, which read when the test says so
 *     right ──────────────forward, or other──▶ input 1 ┘
 */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { MAX_WATERMARK, MIN_WATERMARK, NO_TIMESTAMP } from '../base/index.ts';
import { createCheckpointStreams, type TaskAcknowledgement } from '../checkpoint/index.ts';
import {
  type Barrier,
  type BarrierKind,
  decodeElements,
  ElementKind,
  InputGate,
  type Partitioning,
  RecordBatch,
  type RecordWriter,
  type RestoredChannel,
} from '../exchange/index.ts';
import { createManualPlatform } from '../testing/manual-platform.ts';
import { createSerializer, Types } from '../types/index.ts';
import { allocateChannels, ChannelWiring } from './channel-wiring.ts';
import type { JobEdge, JobGraph, JobVertex } from './job-vertex.ts';
import type { OperatorContext, TwoInputOperator } from './operator.ts';
import { OperatorChain } from './operator-chain.ts';
import { Task } from './task.ts';
import { TaskCheckpoint } from './task-checkpoint.ts';

const events: string[] = [];
let busy: Promise<void> | undefined;

/** Notes what it is told and hands records on; `flood` becomes more than the outputs hold. */
class Both implements TwoInputOperator<string, string, string> {
  private context!: OperatorContext<string>;
  setup(context: OperatorContext<string>): void {
    this.context = context;
  }
  open(): void {}
  processElement1(value: string): void {
    events.push(value);
    const count = value === 'flood' ? 40 : 1;
    for (let i = 0; i < count; i++)
      this.context.output.collect(count > 1 ? `drop-${i}` : value, NO_TIMESTAMP);
  }
  processElement2(value: string): void {
    this.processElement1(value);
  }
  processWatermark(watermarkMs: number): void {
    events.push(`watermark ${watermarkMs === MAX_WATERMARK ? 'max' : watermarkMs}`);
    this.context.output.emitWatermark(watermarkMs);
  }
  processWatermarkStatus(): void {}
  snapshotState(checkpointId: number): void {
    events.push(`snapshot ${checkpointId}`);
  }
  busy(): Promise<void> | undefined {
    return busy;
  }
}

function vertex(index: number, inputCount: 0 | 1 | 2, parallelism: number, create?: () => Both): JobVertex {
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
  return { index, name, operators, source: undefined, inputCount, parallelism, maxParallelism: 128 };
}

function edge(
  index: number,
  sourceVertex: number,
  targetVertex: number,
  targetInput: 0 | 1,
  partitioning: Partitioning,
): JobEdge {
  const key =
    partitioning === 'hash' ? { selector: (value: string) => value, type: Types.STRING } : undefined;
  const rest = { sourceOperator: 0, sideTag: undefined, key, valueType: Types.STRING };
  return { index, sourceVertex, targetVertex, targetInput, partitioning, ...rest };
}

interface Options {
  readonly alignedTimeoutMs?: number;
  readonly leftSubtasks?: number;
  readonly right?: Partitioning;
  readonly restored?: readonly RestoredChannel[];
  readonly segmentBytes?: number;
  readonly inFlightMaxBytes?: number;
}

const barrier = (checkpointId: number, kind: BarrierKind = 'checkpoint'): Barrier => ({
  checkpointId,
  timestampMs: 0,
  kind,
});

async function fixture({
  alignedTimeoutMs = 0,
  leftSubtasks = 1,
  right = 'forward',
  restored,
  segmentBytes = 32,
  inFlightMaxBytes = 1e6,
}: Options = {}) {
  const platform = createManualPlatform();
  const graph: JobGraph = {
    jobName: 'job',
    vertices: [
      vertex(0, 0, leftSubtasks),
      vertex(1, 0, 1),
      vertex(2, 2, 1, () => new Both()),
      vertex(3, 1, 2),
    ],
    edges: [edge(0, 0, 2, 0, 'hash'), edge(1, 1, 2, 1, right), edge(2, 2, 3, 0, 'hash')],
    planHash: '',
  };
  const wiring = new ChannelWiring(
    graph,
    allocateChannels(graph, 1, { segmentBytes, segments: 4 }),
    platform,
  );
  const [source, other, both, after] = graph.vertices;
  const outputs = wiring.outputsOf(both!, 0);
  const host = { jobName: 'job', subtaskIndex: 0, attemptNumber: 0, services: { platform } as never };
  const chain = new OperatorChain(both!, outputs, {
    ...host,
    processingTimeMs: () => 0,
    monotonicMs: () => 0,
    wake() {},
    fail: assert.fail,
  });
  const streams = createCheckpointStreams(platform);
  const answers: string[] = [];
  const acknowledged: TaskAcknowledgement[] = [];
  const checkpoint = new TaskCheckpoint({
    key: { vertex: 2, subtask: 0 },
    attemptNumber: 0,
    clock: platform.clock,
    triggeredMs: () => 0,
    async: true,
    inFlightMaxBytes,
    openStream: async (checkpointId, name) =>
      streams.createStream({ kind: 'memory', checkpointId, maxStateSizeBytes: 1e6 }, name, 'v2'),
    acknowledge: (acknowledgement) => {
      answers.push(`acknowledge ${acknowledgement.checkpointId}`);
      acknowledged.push(acknowledgement);
    },
    decline: ({ checkpointId, message }) => answers.push(`decline ${checkpointId}: ${message}`),
    wake() {},
  });
  const task = new Task({
    key: { vertex: 2, subtask: 0 },
    vertex: both!,
    chain,
    source: undefined,
    inputs: wiring.inputsOf(both!, 0, restored)!,
    outputs,
    checkpoint,
    batch: new RecordBatch(),
    mode: 'EXACTLY_ONCE',
    alignedTimeoutMs,
    autoWatermarkIntervalMs: 200,
    events: { endOfData() {}, failed: (_, error) => assert.fail(String(error)), wake() {} },
  });
  await task.open(new Map());
  const lefts = Array.from({ length: leftSubtasks }, (_, i) => wiring.outputsOf(source!, i)[0]!.writer);
  const rightWriter = wiring.outputsOf(other!, 0)[0]!.writer;
  const receivers = [0, 1].map((subtask) => wiring.inputsOf(after!, subtask)!.gate);
  /** Turns until one finds nothing to do, and whatever goes on beside them. */
  const work = async (): Promise<void> => {
    for (const writer of [...lefts, rightWriter]) {
      writer.drain();
      writer.flush();
    }
    for (let turn = 0; turn < 3; turn++) {
      while (task.turn(0, platform.clock.monotonicMs())) checkpoint.advance();
      checkpoint.advance();
      await platform.settle();
    }
  };
  return {
    ...{ platform, task, checkpoint, answers, acknowledged, receivers, work },
    ...{ left: lefts[0]!, left1: lefts[1]!, right: rightWriter },
    /** What was saved, by edge, sender, receiver and part. */
    saved: () =>
      Object.fromEntries(
        (acknowledged.at(-1)?.inFlight ?? []).map((state) => [nameOf(state), contentsOf(state)]),
      ),
  };
}

type State = NonNullable<TaskAcknowledgement['inFlight']>[number];

const nameOf = ({ edge: { sourceUid, targetUid }, sender, receiver, part, watermarkMs }: State): string =>
  `${sourceUid}.${sender} > ${targetUid}.${receiver} ${part}${watermarkMs === undefined ? '' : ` at ${watermarkMs === MIN_WATERMARK ? '-' : watermarkMs}`}`;

function contentsOf({ stream, edge: { sourceUid } }: State): string {
  assert.ok(stream.kind === 'inline');
  const { format, ...channel } = restoredOf(decodeElements(stream.bytes));
  // Of the edges of the test only those from v1 are not partitioned by hash.
  return textOf({ ...channel, format: { ...format, hashed: sourceUid !== 'v1' } });
}

function restoredOf(
  elements: RestoredChannel['elements'],
  more: Partial<RestoredChannel> = {},
): RestoredChannel {
  const format = { valueSerializer: createSerializer(Types.STRING, 'test'), hashed: true };
  return {
    edgeIndex: 0,
    operator: 0,
    input: 0,
    sender: 0,
    watermarkMs: MIN_WATERMARK,
    format,
    ...more,
    elements,
  };
}

/** Reads elements as a task would. */
function textOf(channel: RestoredChannel): string {
  const gate = new InputGate({ label: 'test', channels: [], edges: [], unique: 'test', restored: [channel] });
  return readAll(gate).join(' ');
}

function readAll(gate: InputGate): string[] {
  const found: string[] = [];
  const batch = new RecordBatch();
  for (let channel = gate.next(); channel >= 0; channel = gate.next()) {
    const kind = gate.kind(channel);
    if (kind === ElementKind.data) {
      gate.readBatch(channel, batch);
      found.push(...(batch.values.slice(0, batch.count) as string[]));
      batch.clear();
      continue;
    }
    if (kind === ElementKind.watermark) found.push(`w${gate.watermark(channel)}`);
    if (kind === ElementKind.barrier) found.push(`barrier ${gate.barrier(channel).checkpointId}`);
    gate.consume(channel);
  }
  return found;
}

function send(writer: RecordWriter<unknown>, ...values: string[]): void {
  for (const value of values) {
    writer.collect(value, NO_TIMESTAMP);
    writer.flush();
  }
}

/** Elements as a sender saves what waits for room: nobody reads. */
async function elementsOf(...values: (string | number)[]): Promise<RestoredChannel['elements']> {
  const { left } = await fixture();
  send(left, 'a', 'b', 'c', 'd');
  for (const value of values) {
    if (typeof value === 'number') left.broadcastWatermark(value);
    else send(left, value);
  }
  return left.announceBarrier(barrier(1))[0]!.elements;
}

describe('a task whose barriers overtake', () => {
  beforeEach(() => {
    events.length = 0;
    busy = undefined;
  });

  it('reads on however fast they come: those that have passed already take no turn', async () => {
    const { left, right, task, checkpoint, platform } = await fixture({ right: 'rebalance' });
    let checkpointId = 0;
    const oneTurn = async (): Promise<void> => {
      checkpointId++;
      for (const writer of [left, right]) {
        writer.broadcastBarrier(barrier(checkpointId));
        writer.overtakeWith(barrier(checkpointId));
        writer.drain();
        writer.flush();
      }
      task.turn(0, platform.clock.monotonicMs());
      checkpoint.advance();
      await platform.settle();
    };
    for (let turn = 0; turn < 10; turn++) await oneTurn();
    send(left, 'a');
    send(right, 'b');
    for (let turn = 0; turn < 5; turn++) await oneTurn();
    assert.deepEqual(events.filter((each) => !each.startsWith('snapshot')).sort(), ['a', 'b']);
  });

  it('takes an announced barrier while its outputs are full, and saves what lies before it, there and here', async () => {
    const { left, right, task, work, saved, receivers, answers } = await fixture({ right: 'rebalance' });
    send(left, 'flood');
    await work();
    assert.ok(task.isBackPressured);
    send(left, 'a', 'b');
    left.broadcastWatermark(7);
    assert.equal(task.hasWork(), false);
    left.announceBarrier(barrier(1));
    assert.equal(task.hasWork(), true);
    await work();
    assert.deepEqual(events, ['flood', 'snapshot 1']);
    assert.deepEqual(answers, [], 'the other channel is recorded');
    right.announceBarrier(barrier(1));
    await work();
    assert.deepEqual(answers, ['acknowledge 1']);
    const { 'v0.0 > v2.0 received at -': received, 'v1.0 > v2.0 received at -': other, ...unsent } = saved();
    assert.equal(received, 'a b w7');
    assert.equal(other, '', 'its watermark holds back that of others');
    assert.deepEqual(Object.keys(unsent), ['v2.0 > v3.0 unsent', 'v2.0 > v3.1 unsent']);
    const inRings = receivers.map((gate) => {
      assert.equal(gate.takeAnnouncement(gate.nextAnnouncement()).checkpointId, 1);
      return readAll(gate);
    });
    const drops = [...inRings.flat(), ...Object.values(unsent).flatMap((text) => text.split(' '))];
    assert.deepEqual(drops.sort(), Array.from({ length: 40 }, (_, i) => `drop-${i}`).sort());
  });

  it('records what a channel brings until its barrier comes, in order or announced, and goes on working', async () => {
    const { left, left1, right, work, saved, answers } = await fixture({
      leftSubtasks: 2,
      right: 'rebalance',
    });
    left.announceBarrier(barrier(1));
    await work();
    send(left1, 'x');
    left1.broadcastWatermark(3);
    send(right, 'y');
    send(left, 'behind');
    await work();
    assert.deepEqual(events.splice(0).sort(), ['behind', 'snapshot 1', 'x', 'y']);
    send(left1, 'z');
    left1.announceBarrier(barrier(1));
    right.broadcastBarrier(barrier(1));
    send(right, 'later');
    await work();
    assert.deepEqual(answers, ['acknowledge 1']);
    assert.deepEqual(saved(), {
      'v0.1 > v2.0 received at -': 'x w3 z',
      'v1.0 > v2.0 received at -': 'y',
      'v0.0 > v2.0 received at -': '',
    });
    assert.deepEqual(events.sort(), ['later', 'z'], 'what was saved is processed all the same');
  });

  it('waits for the channels that cannot be overtaken, and takes nothing from those that have delivered', async () => {
    const { left, right, work, saved, answers } = await fixture();
    send(left, 'a');
    left.announceBarrier(barrier(1));
    send(left, 'behind');
    send(right, 'b');
    await work();
    assert.deepEqual(events.splice(0), ['b']);
    send(right, 'c');
    right.broadcastBarrier(barrier(1));
    await work();
    assert.deepEqual(events, ['c', 'snapshot 1', 'a', 'behind']);
    assert.deepEqual(answers, ['acknowledge 1']);
    assert.deepEqual(saved(), { 'v0.0 > v2.0 received at -': 'a' });
  });

  it('begins in order, and overtakes once the budget is spent, also what no barrier was seen of', async () => {
    const { left, left1, right, work, saved, task, answers, acknowledged, platform } = await fixture({
      alignedTimeoutMs: 500,
      leftSubtasks: 2,
    });
    right.broadcastBarrier(barrier(1));
    send(left, 'a');
    left.broadcastBarrier(barrier(1));
    send(left, 'behind');
    await work();
    assert.deepEqual(events.splice(0), ['a'], 'aligning');
    platform.advance(500);
    assert.equal(task.hasWork(), false);
    task.budgetSpent(1);
    assert.equal(task.hasWork(), true);
    await work();
    assert.deepEqual(events.splice(0), ['snapshot 1', 'behind']);
    send(left1, 'b');
    await work();
    platform.advance(200);
    send(left1, 'c');
    left1.broadcastBarrier(barrier(1));
    left1.overtakeWith(barrier(1));
    await work();
    assert.deepEqual(answers, ['acknowledge 1']);
    assert.deepEqual(saved(), { 'v0.1 > v2.0 received at -': 'b c', 'v0.0 > v2.0 received at -': '' });
    const { startDelayMs, alignmentMs, lastChannel, persistedBytes, processedBytes } =
      acknowledged[0]!.metrics;
    assert.deepEqual([startDelayMs, alignmentMs, lastChannel], [0, 700, "input 0 from subtask 1 of 'v0'"]);
    assert.ok(persistedBytes > 20 && processedBytes > 20, `${persistedBytes} ${processedBytes}`);
  });

  it('overtakes with the first barrier that comes after the budget is spent', async () => {
    const { left, right, work, task } = await fixture({ alignedTimeoutMs: 500, right: 'rebalance' });
    task.budgetSpent(1);
    await work();
    send(left, 'a');
    left.broadcastBarrier(barrier(1));
    await work();
    assert.deepEqual(events, ['a', 'snapshot 1']);
    right.broadcastBarrier(barrier(1));
    left.broadcastBarrier(barrier(2));
    await work();
    assert.deepEqual(events, ['a', 'snapshot 1'], 'the budget of the next one is not spent');
  });

  /** A checkpoint whose barrier waits for room: what operators emit before it may go beyond the room there is. */
  async function waitingBarrier() {
    const parts = await fixture({ alignedTimeoutMs: 500, segmentBytes: 64 });
    const { task, left, right, work, answers } = parts;
    const { chain } = task;
    const prepare = chain.prepareSnapshot.bind(chain);
    chain.prepareSnapshot = (id) => {
      for (let i = 0; i < 40; i++) chain.headContext.output.collect(`late-${i}`, NO_TIMESTAMP);
      prepare(id);
    };
    for (const writer of [left, right]) writer.broadcastBarrier(barrier(1));
    await work();
    assert.deepEqual(events.splice(0), ['snapshot 1']);
    assert.deepEqual(answers, [], 'its barrier waits');
    assert.equal(task.hasWork(), false);
    const late = Array.from({ length: 40 }, (_, i) => `late-${i}`).sort();
    return { ...parts, late };
  }

  it('acknowledges when its barrier has found room in the outputs', async () => {
    const { task, work, answers, saved, receivers, late } = await waitingBarrier();
    const got: string[] = [];
    for (let i = 0; i < 30 && answers.length === 0; i++) {
      got.push(...receivers.flatMap(readAll));
      if (task.hasWork()) await work();
    }
    assert.deepEqual(answers, ['acknowledge 1']);
    assert.deepEqual(saved(), {});
    got.push(...receivers.flatMap(readAll));
    assert.deepEqual(got.sort(), ['barrier 1', 'barrier 1', ...late]);
    // Nothing is left to be saved when the budget is spent.
    task.budgetSpent(1);
    await work();
    assert.deepEqual(answers, ['acknowledge 1']);
    for (const gate of receivers) assert.equal(gate.nextAnnouncement(), -1, 'the barrier is known');
  });

  it('saves what is before a barrier that waits for room when its budget is spent', async () => {
    const { task, work, answers, saved, receivers, late } = await waitingBarrier();
    task.budgetSpent(1);
    await work();
    assert.deepEqual(answers, ['acknowledge 1']);
    const inRings = receivers.flatMap((gate) => {
      assert.equal(gate.takeAnnouncement(gate.nextAnnouncement()).checkpointId, 1);
      return readAll(gate);
    });
    const unsent = Object.values(saved()).flatMap((text) => text.split(' '));
    assert.ok(unsent.length > 0 && inRings.length > 0);
    assert.deepEqual([...inRings, ...unsent].sort(), late);
  });

  it('takes the checkpoint while an operator is busy and while it fires the timers of a watermark', async () => {
    const { left, right, work, task, saved, answers } = await fixture({ right: 'rebalance' });
    const { chain } = task;
    let slices = 3;
    chain.processWatermark = () => {
      events.push('slice');
      return --slices === 0;
    };
    for (const writer of [left, right]) writer.broadcastWatermark(10);
    while (!events.includes('slice')) task.turn(0, 0);
    send(left, 'a');
    for (const writer of [left, right]) writer.announceBarrier(barrier(1));
    task.turn(0, 0);
    assert.deepEqual(events, ['slice', 'snapshot 1', 'slice'], 'between two slices');
    busy = new Promise(() => {});
    await work();
    assert.deepEqual(answers, ['acknowledge 1']);
    assert.deepEqual(saved(), { 'v0.0 > v2.0 received at 10': 'a', 'v1.0 > v2.0 received at 10': '' });
    for (const writer of [left, right]) writer.announceBarrier(barrier(2));
    await work();
    assert.deepEqual(events.slice(3), ['slice', 'snapshot 2']);
  });

  it('goes on with barriers after the end of its data', async () => {
    const { left, right, work, task, receivers, saved, answers } = await fixture();
    for (const writer of [left, right]) {
      writer.broadcastWatermark(MAX_WATERMARK);
      writer.broadcastEnd();
    }
    await work();
    await new Promise(setImmediate);
    assert.ok(task.isFinished);
    left.announceBarrier(barrier(1));
    right.broadcastBarrier(barrier(1));
    await work();
    assert.deepEqual(answers, ['acknowledge 1']);
    assert.deepEqual(saved(), {});
    for (const gate of receivers) assert.ok(gate.hasAnnouncement());
  });

  it('gives a checkpoint that is recorded up for a newer one, and says which barrier was missing', async () => {
    const { left, right, work, answers, saved } = await fixture({ right: 'rebalance' });
    left.announceBarrier(barrier(1));
    await work();
    send(right, 'a');
    await work();
    left.announceBarrier(barrier(2));
    send(right, 'b');
    await work();
    assert.deepEqual(answers, [
      "decline 1: its barriers did not all arrive: newer-barrier; missing is that of input 1 from subtask 0 of 'v1'",
    ]);
    send(right, 'c');
    right.announceBarrier(barrier(2));
    await work();
    assert.equal(answers.at(-1), 'acknowledge 2');
    assert.deepEqual(saved(), { 'v1.0 > v2.0 received at -': 'b c', 'v0.0 > v2.0 received at -': '' });
  });

  it('lets go of a checkpoint that the coordinator gives up while it is recorded', async () => {
    const { left, right, work, answers, task } = await fixture({ right: 'rebalance' });
    left.announceBarrier(barrier(1));
    await work();
    task.abortCheckpoint(1);
    right.announceBarrier(barrier(1));
    await work();
    assert.deepEqual(answers, []);
    for (const writer of [left, right]) writer.announceBarrier(barrier(2));
    await work();
    assert.deepEqual(answers, ['acknowledge 2']);
  });
});

describe('a task that begins with data in flight', () => {
  beforeEach(() => {
    events.length = 0;
    busy = undefined;
  });

  it('processes it before anything that arrives, and gives new senders what the old ones had promised', async () => {
    const restored = [
      restoredOf(await elementsOf('p', 30, 'q'), { sender: 0, watermarkMs: 20 }),
      restoredOf(await elementsOf('r', 25, 's'), { sender: 5, watermarkMs: 10 }),
    ];
    events.length = 0;
    const { left, right, work, task, receivers } = await fixture({ restored });
    send(left, 'new');
    right.broadcastWatermark(15);
    left.broadcastWatermark(12);
    assert.equal(task.hasWork(), true);
    await work();
    assert.deepEqual(events.splice(0), ['p', 'q', 'r', 's', 'new', 'watermark 15']);
    for (const gate of receivers) readAll(gate);
    right.broadcastWatermark(100);
    await work();
    assert.deepEqual(
      events.splice(0),
      ['watermark 25'],
      'a sender that is behind holds nothing back that was promised',
    );
    left.broadcastWatermark(40);
    await work();
    assert.deepEqual(events, ['watermark 40']);
  });

  it('saves what is left of it with the next checkpoint, before what has come since', async () => {
    const restored = [
      restoredOf(await elementsOf('p', 30, 'q'), { sender: 0, watermarkMs: 20 }),
      restoredOf(await elementsOf('r'), { sender: 5, watermarkMs: 10 }),
    ];
    events.length = 0;
    const { left, right, work, task, saved, answers } = await fixture({ restored, right: 'rebalance' });
    // An aligned barrier stands behind it.
    send(left, 'new');
    for (const writer of [left, right]) writer.broadcastBarrier(barrier(1, 'savepoint'));
    task.turn(0, 0);
    task.turn(0, 0);
    assert.deepEqual(events.splice(0), ['p']);
    for (const writer of [left, right]) writer.announceBarrier(barrier(2));
    task.turn(0, 0);
    assert.equal(events[0], 'snapshot 2');
    await work();
    assert.deepEqual(events, ['snapshot 2', 'q', 'r', 'new']);
    assert.deepEqual(answers, ['acknowledge 2']);
    assert.deepEqual(saved(), {
      'v0.0 > v2.0 restored at 30': 'q',
      'v0.5 > v2.0 restored at 10': 'r',
      'v0.0 > v2.0 received at 10': 'new',
      'v1.0 > v2.0 received at -': '',
    });
  });

  it('may be more than is kept of one checkpoint: only what has come since is limited', async () => {
    const restored = [4, 5].map(async (sender) =>
      restoredOf(await elementsOf(...Array.from({ length: 20 }, (_, i) => `${sender}-${i}`)), { sender }),
    );
    const channels = await Promise.all(restored);
    events.length = 0;
    const parts = await fixture({ restored: channels, right: 'rebalance', inFlightMaxBytes: 60 });
    const { left, right, work, task, saved, answers, acknowledged } = parts;
    for (const writer of [left, right]) writer.announceBarrier(barrier(1));
    task.turn(0, 0);
    assert.equal(events[0], 'snapshot 1');
    await work();
    assert.deepEqual(answers.splice(0), ['acknowledge 1']);
    assert.ok(acknowledged[0]!.metrics.persistedBytes > 200);
    assert.deepEqual(Object.keys(saved()).slice(0, 2), [
      'v0.4 > v2.0 restored at -',
      'v0.5 > v2.0 restored at -',
    ]);
    send(left, ...Array.from({ length: 20 }, (_, i) => `new-${i}`));
    for (const writer of [left, right]) writer.announceBarrier(barrier(2));
    task.turn(0, 0);
    await work();
    assert.match(answers.join(), /^decline 2: The barriers of this checkpoint overtook/);
  });

  it('forgets nothing of what the old senders had promised if a barrier overtakes all of it', async () => {
    const restored = [
      restoredOf(await elementsOf('p'), { sender: 0, watermarkMs: 20 }),
      restoredOf([], { sender: 5, watermarkMs: 10 }),
    ];
    events.length = 0;
    const { left, right, task, work, saved } = await fixture({ restored, right: 'rebalance' });
    for (const writer of [left, right]) writer.announceBarrier(barrier(1));
    task.turn(0, 0);
    assert.deepEqual(events.slice(0, 1), ['snapshot 1']);
    await work();
    assert.deepEqual(saved(), {
      'v0.0 > v2.0 restored at 20': 'p',
      'v0.0 > v2.0 received at 10': '',
      'v1.0 > v2.0 received at -': '',
    });
  });

  it('lets a barrier that overtakes pass it, also where it comes in order and nothing else is before it', async () => {
    const restored = [restoredOf(await elementsOf('flood', 'p'), { sender: 4, watermarkMs: 1 })];
    events.length = 0;
    const { left, right, work, task, saved, answers } = await fixture({ restored });
    await work();
    assert.ok(task.isBackPressured);
    right.broadcastBarrier(barrier(1));
    assert.equal(task.hasWork(), true);
    await work();
    assert.equal(task.hasWork(), false);
    assert.deepEqual(events.splice(0), ['flood', 'snapshot 1']);
    left.announceBarrier(barrier(1));
    await work();
    assert.deepEqual(answers, ['acknowledge 1']);
    const { 'v0.4 > v2.0 restored at 1': left4, 'v0.0 > v2.0 received at 1': left0, ...unsent } = saved();
    assert.deepEqual([left4, left0], ['p', '']);
    assert.deepEqual(Object.keys(unsent), ['v2.0 > v3.0 unsent', 'v2.0 > v3.1 unsent']);
    right.broadcastBarrier(barrier(2, 'savepoint'));
    await work();
    assert.deepEqual(events, [], 'no other barrier does');
    assert.equal(task.hasWork(), false);
  });

  it('lets it wait, with what is behind it, while an operator is busy', async () => {
    const restored = [restoredOf(await elementsOf(30, 'p'))];
    events.length = 0;
    busy = new Promise(() => {});
    const { right, work, task } = await fixture({ restored });
    right.broadcastWatermark(50);
    await work();
    assert.deepEqual(events, []);
    assert.equal(task.hasWork(), false, 'the loop may sleep');
  });
});
