import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import fc from 'fast-check';
import type { Parking } from '../platform/index.ts';
import { COPIED_SAMPLE, type Sample } from '../testing/sample-records.ts';
import type { KeySerializer, TypeSerializer } from '../types/index.ts';
import { createDoorbells, Doorbell } from './doorbell.ts';
import { BARRIER_KINDS, ElementKind, type Partitioning } from './element.ts';
import { InputGate } from './input-gate.ts';
import { LentRecords } from './lent-records.ts';
import { RecordBatch } from './record-batch.ts';
import { createRecordWriter, type RecordWriter } from './record-writer.ts';
import { type Bell, createRing, type RingLayout, RingReader, RingWriter, type SharedRing } from './ring.ts';

/** The key of a record is its number; spreads neighbours, with both signs. */
const KEY: KeySerializer<unknown> = {
  ...(COPIED_SAMPLE as TypeSerializer<unknown>),
  hash: (key) => Math.imul(key as number, 0x9e3779b1),
  shortcut: 'number',
};

const MAX_PARALLELISM = 16;

/** Sends three records in a row to one receiver, then three to the next. */
const BY_THREES = {
  selector: (value: Sample) => Math.floor(value.id / 3),
  partitioner: (key: number, count: number) => key % count,
};
const SEED = 12345;

function makeWriter(
  partitioning: Partitioning,
  rings: readonly SharedRing[],
  bell: Bell,
  lending: readonly (LentRecords | undefined)[] = [],
): RecordWriter<Sample> {
  return createRecordWriter({
    label: "output of operator 'x'",
    partitioning,
    valueSerializer: COPIED_SAMPLE,
    channels: rings.map((ring) => new RingWriter(ring, bell)),
    lending,
    unique: 'test',
    subtaskIndex: 0,
    key:
      partitioning === 'hash'
        ? { selector: (value: Sample) => value.id, serializer: KEY, maxParallelism: MAX_PARALLELISM }
        : undefined,
    custom: partitioning === 'custom' ? BY_THREES : undefined,
    seed: partitioning === 'shuffle' ? SEED : undefined,
  });
}

function makeGate(
  rings: readonly SharedRing[],
  hashed: boolean,
  bell: Bell,
  lending: readonly (LentRecords | undefined)[] = [],
): InputGate {
  return new InputGate({
    label: "input of operator 'y'",
    channels: rings.map((ring, senderSubtask) => {
      const reader = new RingReader(ring, bell);
      return { reader, lending: lending[senderSubtask], input: 0, edgeIndex: 0, senderSubtask };
    }),
    edges: [{ edgeIndex: 0, valueSerializer: COPIED_SAMPLE as TypeSerializer<unknown>, hashed }],
    unique: 'test',
  });
}

/** Reads one step from the gate, as text by channel. False if there was nothing. */
function readStep(gate: InputGate, batch: RecordBatch, logs: string[][]): boolean {
  const channel = gate.next();
  if (channel === -1) return false;
  const log = logs[channel]!;
  const kind = gate.kind(channel);
  if (kind === ElementKind.data) {
    gate.readBatch(channel, batch);
    for (let i = 0; i < batch.count; i++) {
      const { id, size } = batch.values[i] as Sample;
      assert.equal(batch.timestamps[i], id * 2);
      log.push(`record ${id} ${size} ${batch.hashes[i]}`);
    }
    batch.clear();
    return true;
  }
  if (kind === ElementKind.watermark) log.push(`watermark ${gate.watermark(channel)}`);
  else if (kind === ElementKind.status) log.push(`idle ${gate.isIdleStatus(channel)}`);
  else if (kind === ElementKind.barrier) log.push(`barrier ${JSON.stringify(gate.barrier(channel))}`);
  else if (kind === ElementKind.cancelBarrier) log.push(`cancel ${gate.cancelledCheckpoint(channel)}`);
  else log.push('end');
  gate.consume(channel);
  return true;
}

type Step =
  | { readonly do: 'collect'; readonly size: number; readonly times: number }
  | { readonly do: 'flush' | 'watermark' | 'barrier' | 'cancel' | 'drain' }
  | { readonly do: 'status'; readonly idle: boolean }
  | { readonly do: 'read'; readonly channel: number; readonly steps: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('collect' as const),
      size: fc.oneof(fc.nat(20), fc.nat(90), fc.nat(700)),
      times: fc.integer({ min: 1, max: 6 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom(...(['flush', 'watermark', 'barrier', 'cancel', 'drain'] as const)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('status' as const), idle: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('read' as const), channel: fc.nat(2), steps: fc.nat(6) }),
  },
);

/** The next random number after `state`, from 1 to 2^32 - 1. */
function xorshift(state: number): number {
  let next = BigInt(state);
  next ^= (next << 13n) & 0xffffffffn;
  next ^= next >> 17n;
  next ^= (next << 5n) & 0xffffffffn;
  return Number(next);
}

/** What each receiver must see, written by hand from the rules. */
class Model {
  readonly logs: string[][];
  readonly #partitioning: Partitioning;
  #next = 0;
  #random = SEED;
  #idle = false;

  constructor(partitioning: Partitioning, channelCount: number) {
    this.#partitioning = partitioning;
    this.logs = Array.from({ length: channelCount }, () => []);
  }

  collect({ id, size }: Sample): void {
    const hash = this.#partitioning === 'hash' ? KEY.hash(id) : 0;
    const text = `record ${id} ${size} ${hash}`;
    if (this.#partitioning === 'broadcast') return this.all(text);
    const count = this.logs.length;
    let channel = 0;
    if (this.#partitioning === 'hash') channel = Math.floor(((Math.abs(hash) % 16) * count) / 16);
    if (this.#partitioning === 'rebalance' || this.#partitioning === 'rescale')
      channel = this.#next++ % count;
    if (this.#partitioning === 'custom') channel = Math.floor(id / 3) % count;
    if (this.#partitioning === 'shuffle') {
      this.#random = xorshift(this.#random);
      channel = Math.floor((this.#random * count) / 2 ** 32);
    }
    this.logs[channel]!.push(text);
  }

  status(idle: boolean): void {
    if (idle !== this.#idle) this.all(`idle ${idle}`);
    this.#idle = idle;
  }

  all(text: string): void {
    for (const log of this.logs) log.push(text);
  }
}

/** A receiver for each bit of `lends` that is set, where it is in the sender's thread. */
function lendingOf(
  rings: readonly SharedRing[],
  lends: number,
  hashed: boolean,
): (LentRecords | undefined)[] {
  const format = { valueSerializer: COPIED_SAMPLE as TypeSerializer<unknown>, hashed };
  return rings.map(({ layout }, i) => ((lends >> i) & 1 ? new LentRecords(layout, format) : undefined));
}

function runAgainstModel(
  partitioning: Partitioning,
  channelCount: number,
  layout: RingLayout,
  firstSequence: number,
  lends: number,
  steps: readonly Step[],
): void {
  const silent = { ring() {} };
  const rings = Array.from({ length: channelCount }, () => createRing(layout, firstSequence));
  const hashed = partitioning === 'hash';
  const lending = lendingOf(rings, lends, hashed);
  const writer = makeWriter(partitioning, rings, silent, lending);
  const gates = rings.map((ring, i) => makeGate([ring], hashed, silent, [lending[i]]));
  const model = new Model(partitioning, channelCount);
  const seen: string[][] = rings.map(() => []);
  const batch = new RecordBatch(3);
  const read = (channel: number) => readStep(gates[channel]!, batch, [seen[channel]!]);
  let id = 0;
  const run = (each: Step): void => {
    switch (each.do) {
      case 'collect':
        for (let i = 0; i < each.times; i++) {
          const sample = { id: ++id, size: each.size };
          writer.collect(sample, sample.id * 2);
          model.collect(sample);
        }
        return;
      case 'flush':
        return writer.flush();
      case 'watermark':
        writer.broadcastWatermark(++id);
        return model.all(`watermark ${id}`);
      case 'barrier': {
        const barrier = { checkpointId: ++id, timestampMs: id + 0.5, kind: BARRIER_KINDS[id % 4]! };
        writer.broadcastBarrier(barrier);
        return model.all(`barrier ${JSON.stringify(barrier)}`);
      }
      case 'cancel':
        writer.broadcastCancelBarrier(++id);
        return model.all(`cancel ${id}`);
      case 'status':
        writer.broadcastStatus(each.idle);
        return model.status(each.idle);
      case 'drain':
        assert.equal(writer.drain(), !(writer.overflowBytes > 0));
        return;
      case 'read':
        for (let i = 0; i < each.steps; i++) read(each.channel % channelCount);
    }
  };
  for (const each of steps) run(each);
  writer.broadcastEnd();
  model.all('end');
  for (let drained = false; !drained; ) {
    drained = writer.drain();
    for (let channel = 0; channel < channelCount; channel++) while (read(channel));
  }
  for (let channel = 0; channel < channelCount; channel++) while (read(channel));
  assert.deepEqual(seen, model.logs);
  assert.ok(gates.every((gate) => gate.allFinished));
  assert.equal(writer.overflowBytes, 0);
}

const parking: Parking = {
  async park(word, index, expected, timeoutMs) {
    const wait = Atomics.waitAsync(word, index, expected, timeoutMs);
    if (wait.async) await wait.value;
  },
  unpark(word, index) {
    Atomics.notify(word, index);
  },
};

interface ThreadData {
  readonly rings: readonly SharedRing[];
  readonly doorbells: SharedArrayBuffer;
  readonly partitioning: Partitioning;
}

const RECORDS = 60_000;

/** Sizes that give whole segments, partial ones, and records of several segments. */
const sizeOf = (id: number) => (id % 997 === 0 ? 3000 : Math.imul(id, 7919) & 31);

/** The sending thread: writes turns of records while there is room, sleeps while there is none. */
async function sendFromThread({ rings, doorbells, partitioning }: ThreadData): Promise<void> {
  const keepAlive = setInterval(() => {}, 1000);
  const mine = new Doorbell(doorbells, 1, parking);
  const writer = makeWriter(partitioning, rings, new Doorbell(doorbells, 0, parking));
  const canGoOn = () => writer.drain() && writer.isAvailable();
  for (let id = 1; id <= RECORDS; ) {
    while (!canGoOn()) await mine.sleep(canGoOn, 500);
    for (let i = 0; i < 500 && id <= RECORDS; i++, id++) {
      writer.collect({ id, size: sizeOf(id) }, id * 2);
      if (id % 1000 === 0) writer.broadcastWatermark(id);
    }
    if (Math.imul(id, 31) % 4 === 0) writer.flush();
  }
  writer.broadcastEnd();
  const isDrained = () => writer.drain();
  while (!isDrained()) await mine.sleep(isDrained, 500);
  clearInterval(keepAlive);
}

async function receiveFromThread(partitioning: Partitioning): Promise<void> {
  const layout = { segmentBytes: 256, segments: 8 };
  const rings = [createRing(layout, 0x7fffffff - 100), createRing(layout)];
  const data: ThreadData = { rings, doorbells: createDoorbells(2), partitioning };
  const worker = new Worker(new URL(import.meta.url), { workerData: data });
  const exited = new Promise((resolve, reject) => worker.once('exit', resolve).once('error', reject));
  const mine = new Doorbell(data.doorbells, 0, parking);
  const other = new Doorbell(data.doorbells, 1, parking);
  const gate = makeGate(rings, partitioning === 'hash', other);
  const seen: string[][] = [[], []];
  const batch = new RecordBatch();
  while (!gate.allFinished) {
    // A slow receiver from time to time: the rings run full, the sender must wait.
    for (let i = 0; i < 64 && readStep(gate, batch, seen); i++);
    if (!gate.allFinished) await mine.sleep(() => gate.hasElement(), 500);
  }
  const model = new Model(partitioning, 2);
  for (let id = 1; id <= RECORDS; id++) {
    model.collect({ id, size: sizeOf(id) });
    if (id % 1000 === 0) model.all(`watermark ${id}`);
  }
  model.all('end');
  assert.deepEqual(seen, model.logs);
  assert.equal(await exited, 0);
}

if (!isMainThread) {
  await sendFromThread(workerData as ThreadData);
} else {
  describe('an exchange', () => {
    for (const partitioning of [
      'forward',
      'hash',
      'rebalance',
      'rescale',
      'shuffle',
      'global',
      'custom',
      'broadcast',
    ] as const) {
      it(`by ${partitioning} loses, repeats and reorders nothing, whatever is sent and however slowly it is read`, () => {
        fc.assert(
          fc.property(
            fc.integer({ min: 1, max: 3 }),
            fc.constantFrom(32, 40, 64, 256, 1024),
            fc.constantFrom(4, 8),
            fc.constantFrom(0, 0x7fffffff - 5, -3),
            fc.nat(7),
            fc.array(step, { maxLength: 40 }),
            (channelCount, segmentBytes, segments, firstSequence, lends, steps) =>
              runAgainstModel(
                partitioning,
                partitioning === 'forward' ? 1 : channelCount,
                { segmentBytes, segments },
                firstSequence,
                lends,
                steps,
              ),
          ),
          { numRuns: 200 },
        );
      });
    }

    for (const partitioning of ['hash', 'broadcast', 'shuffle', 'custom'] as const) {
      it(`by ${partitioning} does so between two threads`, { timeout: 20_000 }, () =>
        receiveFromThread(partitioning),
      );
    }
  });
}
