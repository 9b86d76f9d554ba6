import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  buildManifest,
  type ChannelState,
  type CompletedSnapshot,
  type EdgeDescription,
  formatMetadata,
  parseMetadata,
  type TaskAcknowledgement,
} from '../checkpoint/index.ts';
import {
  channelEnds,
  ElementKind,
  encodeElements,
  filterElements,
  type InFlightElement,
  type RestoredChannel,
} from '../exchange/index.ts';
import { type JobGraph, openRestoredInFlight } from '../runtime/index.ts';
import { keyGroupOf, subtaskOf } from '../state/index.ts';
import { planJob } from '../testing/manual-job.ts';
import { createManualPlatform } from '../testing/manual-platform.ts';
import { ByteView, createKeySerializer, createSerializer, Types } from '../types/index.ts';
import { describeEdges, describeOperators, restoreExecution } from './restore.ts';

const KINDS = ['hash', 'custom', 'rebalance', 'shuffle', 'global', 'rescale', 'forward'] as const;

/** A job of two operators: how many of each, and what is between them. */
interface Shape {
  readonly kind: (typeof KINDS)[number];
  readonly senders: number;
  readonly receivers: number;
  readonly maxParallelism: number;
  /** Types of keys: another type has other hashes. */
  readonly keys: 'text' | 'number';
}

/** A record. Its run, sender and receiver are those of the channel that it lay in first. */
interface Item {
  readonly id: number;
  readonly run: number;
  readonly sender: number;
  readonly receiver: number;
  readonly key: string;
  /** Long enough for a record that goes in pieces. */
  readonly text: string;
}

const ITEM = Types.row({
  id: Types.LONG,
  run: Types.LONG,
  sender: Types.LONG,
  receiver: Types.LONG,
  key: Types.STRING,
  text: Types.STRING,
});
const ITEMS = createSerializer<Item>(ITEM, 'items');
const platform = createManualPlatform();

function partition(key: string, count: number): number {
  return (key.length * 7 + key.charCodeAt(1)) % count;
}

function keyOf(shape: Shape, item: Item): unknown {
  return shape.keys === 'text' ? item.key : item.key.charCodeAt(1);
}

const graphs = new Map<string, JobGraph>();

function graphOf(shape: Shape): JobGraph {
  const name = JSON.stringify(shape);
  const known = graphs.get(name);
  if (known !== undefined) return known;
  const { graph } = planJob((env) => {
    const items = env
      .fromSequence(0, 9)
      .setParallelism(shape.senders)
      .map((id): Item => ({ id, run: 0, sender: 0, receiver: 0, key: 'k', text: '' }), ITEM)
      .uid('from')
      .setParallelism(shape.senders);
    const { kind } = shape;
    const keyType = shape.keys === 'text' ? Types.STRING : Types.LONG;
    const stream =
      kind === 'hash'
        ? items.keyBy<unknown>((item) => keyOf(shape, item), keyType)
        : kind === 'custom'
          ? items.partitionCustom(partition, 'key')
          : items[kind]();
    stream
      .map((item) => item, ITEM)
      .uid('to')
      .setParallelism(shape.receivers)
      .setMaxParallelism(shape.maxParallelism)
      .print();
  });
  graphs.set(name, graph);
  return graph;
}

function edgeOf(graph: JobGraph): EdgeDescription {
  return describeEdges(graph).find(
    ({ identity }) => identity.sourceUid === 'from' && identity.targetUid === 'to',
  )!;
}

const keySerializers = {
  text: createKeySerializer<unknown>(Types.STRING as never, 'key'),
  number: createKeySerializer<unknown>(Types.LONG as never, 'key'),
};

function hashOf(shape: Shape, item: Item): number {
  return keySerializers[shape.keys].hash(keyOf(shape, item));
}

/** Where the job sends a record; undefined: to any of its channels. */
function receiverOf(shape: Shape, item: Item): number | undefined {
  const { kind, receivers, maxParallelism } = shape;
  if (receivers === 1 || kind === 'global') return 0;
  if (kind === 'custom') return partition(item.key, receivers);
  if (kind === 'hash')
    return subtaskOf(keyGroupOf(hashOf(shape, item), maxParallelism), receivers, maxParallelism);
  return undefined;
}

/** What a generated number decides: independent choices, one after the other. */
class Choices {
  private state: number;

  constructor(seed: number) {
    this.state = seed | 1;
  }

  below(count: number): number {
    this.state = (Math.imul(this.state, 1103515245) + 12345) & 0x7fffffff;
    return (this.state >>> 8) % count;
  }
}

function recordBytes(item: Item, hash: number | undefined): Uint8Array {
  const view = ByteView.allocate(1024);
  if (hash !== undefined) {
    view.dv.setInt32(0, hash, true);
    view.pos = 4;
  }
  view.dv.setFloat64(view.pos, item.id, true);
  view.pos += 8;
  assert.ok(ITEMS.encode(view, item));
  return view.u8.slice(0, view.pos);
}

/** The records as they might lie in a channel: some in pieces, some together, with watermarks between. */
function elementsOf(records: readonly Uint8Array[], choices: Choices): InFlightElement[] {
  const elements: InFlightElement[] = [];
  let together: Uint8Array[] = [];
  const flush = (): void => {
    if (together.length > 0) elements.push({ kind: ElementKind.data, bytes: Buffer.concat(together) });
    together = [];
  };
  for (const record of records) {
    const choice = choices.below(5);
    if (choice === 0) {
      flush();
      const cut = 1 + choices.below(record.length - 1);
      elements.push({ kind: ElementKind.spanPart, bytes: record.subarray(0, cut) });
      elements.push({ kind: ElementKind.spanEnd, bytes: record.subarray(cut) });
    } else {
      together.push(record);
      if (choice === 1) flush();
    }
    if (choice === 2) {
      flush();
      const watermark = ByteView.allocate(8);
      watermark.dv.setFloat64(0, choices.below(100), true);
      elements.push({ kind: ElementKind.watermark, bytes: watermark.u8 });
    }
  }
  flush();
  return elements;
}

/** What the tasks of a run save: some records in each of some channels. Adds them to `all`. */
function capture(shape: Shape, run: number, all: Map<number, Item>, choices: Choices): ChannelState[] {
  const graph = graphOf(shape);
  const edge = edgeOf(graph);
  const states: ChannelState[] = [];
  for (const { sender, receiver } of channelEnds(edge.partitioning, shape.senders, shape.receivers)) {
    const items = Array.from({ length: choices.below(6) }, (): Item => {
      const key = `k${String.fromCharCode(97 + choices.below(20))}`;
      return { id: 0, run, sender, receiver, key, text: 'x'.repeat(choices.below(40)) };
    })
      .filter((item) => (receiverOf(shape, item) ?? receiver) === receiver)
      .map((item) => ({ ...item, id: all.size + run * 1000 }))
      .map((item, index) => ({ ...item, id: item.id + index }));
    for (const item of items) {
      all.set(item.id, item);
      places.set(item.id, receiver);
    }
    const isHashed = edge.partitioning === 'hash';
    const records = items.map((item) => recordBytes(item, isHashed ? hashOf(shape, item) : undefined));
    const elements = elementsOf(records, choices);
    const cut = choices.below(elements.length + 1);
    const base = { edge: edge.identity, sender, receiver };
    states.push({ ...base, part: 'received', watermarkMs: run, stream: inline(elements.slice(0, cut)) });
    states.push({ ...base, part: 'unsent', watermarkMs: undefined, stream: inline(elements.slice(cut)) });
  }
  return states;
}

function inline(elements: readonly InFlightElement[]): ChannelState['stream'] {
  return { kind: 'inline', bytes: encodeElements(elements) };
}

/** Through the text of a manifest and back. */
function snapshotOf(shape: Shape, inFlight: readonly ChannelState[]): CompletedSnapshot {
  const graph = graphOf(shape);
  const acknowledgement: TaskAcknowledgement = {
    ...{
      vertexIndex: 0,
      subtaskIndex: 0,
      attemptNumber: 0,
      checkpointId: 1,
      operators: [],
      files: [],
      inFlight,
    },
    metrics: {
      ...{ startDelayMs: 0, alignmentMs: 0, syncMs: 0, asyncMs: 0 },
      ...{ stateSizeBytes: 0, checkpointedBytes: 0, processedBytes: 0, persistedBytes: 0 },
    },
  };
  const written = buildManifest({
    ...{ checkpointId: 1, kind: 'checkpoint', timestampMs: 0, jobName: 'j', jobId: 'j', lineageId: 'l' },
    ...{ planHash: graph.planHash, millraceVersion: '0', coordinatorStates: [] },
    operators: describeOperators(graph),
    edges: describeEdges(graph),
    acknowledgements: [acknowledgement],
  });
  const manifest = parseMetadata(formatMetadata(written, platform), 'm', platform);
  return { checkpointId: 1, kind: 'checkpoint', directory: undefined, manifest, metadataBytes: 0 };
}

/** What each subtask of the receiving operator begins with. */
async function restore(snapshot: CompletedSnapshot, shape: Shape): Promise<RestoredChannel[][]> {
  const graph = graphOf(shape);
  const options = { allowNonRestoredState: false, dropStateOf: [] };
  const { subtasks } = restoreExecution(snapshot, graph, options, platform.logger);
  const vertex = graph.vertices.findIndex(({ operators }) => operators.some(({ uid }) => uid === 'to'));
  const own = subtasks.filter(({ task }) => task.vertex === vertex);
  assert.equal(own.length, shape.receivers);
  assert.ok(subtasks.every(({ task, inFlight }) => task.vertex === vertex || inFlight.length === 0));
  return Promise.all(
    own.map(({ task, inFlight }) => openRestoredInFlight(platform, undefined, graph, task, inFlight)),
  );
}

/** The records of a restored channel, each with the hash before it. */
function read({ elements, format }: RestoredChannel): { readonly item: Item; readonly hash: number }[] {
  const found: { item: Item; hash: number }[] = [];
  filterElements(elements, format, (item, hash) => found.push({ item: item as Item, hash }) > 0);
  return found;
}

function assertRightlyRestored(
  run: number,
  shape: Shape,
  restored: readonly RestoredChannel[][],
  all: Map<number, Item>,
): void {
  const chained =
    shape.senders === shape.receivers &&
    (shape.senders === 1 || shape.kind === 'forward' || shape.kind === 'rescale');
  const seen = new Set<number>();
  for (const [subtask, channels] of restored.entries()) {
    const newest = new Map<string, Item>();
    const begun = new Set<number>();
    for (const channel of channels) {
      assert.equal(channel.edgeIndex === undefined, chained);
      assert.equal(channel.format.hashed, shape.kind === 'hash' && !chained);
      for (const { item, hash } of read(channel)) {
        assert.deepEqual(item, all.get(item.id));
        assert.ok(!seen.has(item.id), `record ${item.id} was restored twice`);
        seen.add(item.id);
        assert.equal(
          receiverOf(shape, item) ?? subtask,
          subtask,
          `record ${item.id} came to subtask ${subtask}`,
        );
        assert.equal(hash, channel.format.hashed ? hashOf(shape, item) : 0);
        // Records of one key and channel go the same ways.
        const order = `${item.run} ${item.sender} ${item.receiver} ${item.key}`;
        const before = newest.get(order);
        assert.ok(before === undefined || before.id < item.id, `record ${item.id} came after ${before?.id}`);
        newest.set(order, item);
        const place = places.get(item.id)!;
        if (item.run === run) begun.add(place);
        else
          assert.ok(!begun.has(place), `record ${item.id}, left of run ${item.run}, came after newer ones`);
      }
    }
  }
  assert.deepEqual(
    [...seen].sort((a, b) => a - b),
    [...all.keys()].sort((a, b) => a - b),
  );
}

/** The subtask that each record was on its way to when the last checkpoint was taken. */
const places = new Map<number, number>();

/** What the tasks save when they take a checkpoint before they have read all: the ends of what was restored. */
function captureRest(
  shape: Shape,
  restored: readonly RestoredChannel[][],
  all: Map<number, Item>,
  choices: Choices,
): ChannelState[] {
  const edge = edgeOf(graphOf(shape)).identity;
  return restored.flatMap((channels, receiver) =>
    channels.map((channel): ChannelState => {
      const { sender, watermarkMs, elements } = channel;
      let cut = choices.below(elements.length + 1);
      // Pieces of a record that was begun are saved, too.
      while (cut > 0 && elements[cut - 1]!.kind === ElementKind.spanPart) cut--;
      for (const { item } of read({ ...channel, elements: elements.slice(0, cut) })) all.delete(item.id);
      for (const { item } of read({ ...channel, elements: elements.slice(cut) }))
        places.set(item.id, receiver);
      const stream = inline(elements.slice(cut));
      return { edge, sender, receiver, part: 'restored', watermarkMs, stream };
    }),
  );
}

const parallelism = fc.integer({ min: 1, max: 4 });
const shapes: fc.Arbitrary<Shape> = fc
  .record({
    kind: fc.constantFrom(...KINDS),
    senders: parallelism,
    receivers: parallelism,
    maxParallelism: fc.constantFrom(4, 128),
    keys: fc.constantFrom<Shape['keys'][]>('text', 'text', 'number'),
  })
  .map((shape) => (shape.kind === 'forward' ? { ...shape, receivers: shape.senders } : shape));

test('each record in flight is restored once, where the new job would send it, in order (property)', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(shapes, { minLength: 2, maxLength: 4 }), fc.nat(), async (runs, seed) => {
      const choices = new Choices(seed);
      const all = new Map<number, Item>();
      places.clear();
      let left: ChannelState[] = [];
      for (const [run, shape] of runs.slice(0, -1).entries()) {
        const next = runs[run + 1]!;
        // What was left of earlier runs comes before what is new.
        const saved = [...left, ...capture(shape, run, all, choices)];
        const restored = await restore(snapshotOf(shape, saved), next);
        assertRightlyRestored(run, next, restored, all);
        left = captureRest(next, restored, all, choices);
      }
    }),
    { numRuns: 300 },
  );
});

test('with the same job each subtask gets back what was on its way to it, by any partitioning', async () => {
  for (const kind of KINDS) {
    const shape: Shape = { kind, senders: 3, receivers: 3, maxParallelism: 128, keys: 'text' };
    const all = new Map<number, Item>();
    const saved = capture(shape, 0, all, new Choices(kind.length * 1000));
    const ids = (channels: readonly RestoredChannel[]) =>
      channels
        .flatMap(read)
        .map(({ item }) => item.id)
        .sort();
    const restored = await restore(snapshotOf(shape, saved), shape);
    assert.ok(all.size > 0);
    for (const [subtask, channels] of restored.entries()) {
      const own = saved.filter(({ receiver }) => receiver === subtask);
      const expected = own.map(({ stream }) => stream.kind === 'inline' && stream.bytes.length);
      const sizes = channels.map(({ elements }) => encodeElements(elements).length);
      assert.equal(
        sizes.reduce((a, b) => a + b, 0),
        expected.reduce<number>((a, b) => a + Number(b), 0),
        kind,
      );
      assert.ok(channels.every(({ sender, watermarkMs }) => sender < 3 && watermarkMs === 0));
    }
    assert.equal(restored.flatMap(ids).length, all.size);
  }
});
