import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import type { Parking } from '../platform/index.ts';
import { SAMPLE, type Sample } from '../testing/sample-records.ts';
import type { TypeSerializer } from '../types/index.ts';
import { createDoorbells, Doorbell } from './doorbell.ts';
import { type Barrier, ElementKind } from './element.ts';
import type { ChannelCapture, InFlightElement } from './in-flight.ts';
import { InputGate } from './input-gate.ts';
import { RecordBatch } from './record-batch.ts';
import { createRecordWriter } from './record-writer.ts';
import { createRing, RingReader, RingWriter, type SharedRing } from './ring.ts';

const FORMAT = { valueSerializer: SAMPLE as TypeSerializer<unknown>, hashed: false };
const RECORDS = 60_000;
const PAIRS = 50_000;

/** Small, so that it is full; large, so that threads that share a core do not wait for each other at each element. */
const LAYOUTS = {
  turns: { segmentBytes: 256, segments: 8 },
  pairs: { segmentBytes: 32, segments: 4096 },
} as const;

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
  readonly sends: 'turns' | 'pairs';
  readonly ring: SharedRing;
  readonly doorbells: SharedArrayBuffer;
}

/** Barriers carry their number in all fields, so that one that was read in halves is noticed. */
const barrierOf = (checkpointId: number): Barrier => ({
  checkpointId,
  timestampMs: checkpointId * 1.5,
  kind: 'checkpoint',
});

/** By checkpoint: the last record before its barrier, and what had not come into the ring. */
type Cuts = Map<number, { readonly last: number; readonly unsent: readonly InFlightElement[] }>;

/** Sizes that give whole segments, partial ones, and records of several segments. */
const sizeOf = (id: number) => (id % 97 === 0 ? 3000 : Math.imul(id, 7919) & 31);

/** The sending thread: turns of records, and between them barriers that overtake, at once or after they waited. */
async function sendTurns({ ring, doorbells }: ThreadData): Promise<Cuts> {
  const keepAlive = setInterval(() => {}, 1000);
  const mine = new Doorbell(doorbells, 1, parking);
  const writer = createRecordWriter({
    label: 'sender',
    partitioning: 'rebalance',
    valueSerializer: SAMPLE,
    channels: [new RingWriter(ring, new Doorbell(doorbells, 0, parking))],
    unique: 'test',
    subtaskIndex: 0,
  });
  const cuts: Cuts = new Map();
  const cut = (checkpointId: number, last: number, captures: readonly ChannelCapture[]) =>
    cuts.set(checkpointId, { last, unsent: captures.flatMap(({ elements }) => elements) });
  const canGoOn = () => writer.drain() && writer.isAvailable();
  let checkpointId = 0;
  for (let id = 1; id <= RECORDS; ) {
    for (let i = 0; i < 40 && id <= RECORDS; i++, id++) writer.collect({ id, size: sizeOf(id) }, id);
    const barrier = barrierOf(++checkpointId);
    if (checkpointId % 3 === 0) {
      writer.broadcastBarrier(barrier);
      const last = id - 1;
      cut(checkpointId, last, []);
      for (let i = 0; i < 20 && id <= RECORDS; i++, id++) writer.collect({ id, size: sizeOf(id) }, id);
      if (checkpointId % 2 === 0) writer.drain();
      if (checkpointId % 5 !== 0) cut(checkpointId, last, writer.overtakeWith(barrier));
    } else {
      cut(checkpointId, id - 1, writer.announceBarrier(barrier));
    }
    while (!canGoOn()) await mine.sleep(canGoOn, 500);
  }
  writer.broadcastEnd();
  const isDrained = () => writer.drain();
  while (!isDrained()) await mine.sleep(isDrained, 500);
  clearInterval(keepAlive);
  return cuts;
}

/** As fast as it can: each barrier is announced right before an element with its number is published. */
function sendPairs({ ring, doorbells }: ThreadData): void {
  const writer = new RingWriter(ring, new Doorbell(doorbells, 0, parking));
  for (let id = 1; id <= PAIRS; id++) {
    while (!writer.hasFree(1));
    writer.announce(barrierOf(id));
    writer.view.dv.setFloat64(writer.begin(), id, true);
    writer.publish(ElementKind.watermark, 8);
  }
}

/** The numbers of captured records, put together if they are in pieces. */
function idsOf(elements: readonly InFlightElement[]): number[] {
  const channel = {
    edgeIndex: 0,
    operator: 0,
    input: 0,
    sender: 0,
    watermarkMs: 0,
    format: FORMAT,
    elements,
  } as const;
  const gate = new InputGate({
    label: 'restored',
    channels: [],
    edges: [],
    restored: [channel],
    unique: 'test',
  });
  const batch = new RecordBatch();
  const ids: number[] = [];
  while (gate.next() !== -1) {
    gate.readBatch(0, batch);
    ids.push(...batch.values.slice(0, batch.count).map((value) => (value as Sample).id));
  }
  return ids;
}

/** The receiving end: takes a checkpoint with each barrier that it hears of. */
class Receiver {
  readonly gate: InputGate;
  /** The last record that was read. */
  last = 0;
  announced = 0;
  readonly taken = new Map<
    number,
    { readonly last: number; readonly received: readonly InFlightElement[] }
  >();
  readonly #batch = new RecordBatch(5);
  #newest = 0;

  constructor(ring: SharedRing, other: Doorbell) {
    this.gate = new InputGate({
      label: 'receiver',
      channels: [{ reader: new RingReader(ring, other), input: 0, edgeIndex: 0, senderSubtask: 0 }],
      edges: [{ edgeIndex: 0, ...FORMAT }],
      unique: 'test',
    });
  }

  /** False if there was nothing. */
  step(): boolean {
    const { gate } = this;
    if (gate.nextAnnouncement() === 0) {
      this.announced++;
      this.#take(gate.takeAnnouncement(0));
    }
    if (gate.next() === -1) return false;
    const kind = gate.kind(0);
    if (kind === ElementKind.data) {
      gate.readBatch(0, this.#batch);
      for (const value of this.#batch.values.slice(0, this.#batch.count))
        assert.equal((value as Sample).id, ++this.last);
      this.#batch.clear();
      return true;
    }
    const barrier = kind === ElementKind.barrier ? gate.barrier(0) : undefined;
    gate.consume(0);
    // A barrier that was overtaken by a newer one, or announced itself, is over.
    if (barrier !== undefined && barrier.checkpointId > this.#newest) this.#take(barrier);
    return true;
  }

  #take(barrier: Barrier): void {
    assert.deepEqual(barrier, barrierOf(barrier.checkpointId));
    this.gate.startCapture(barrier.checkpointId, []);
    const received = this.gate.takeCapture().flatMap(({ elements }) => elements);
    this.#newest = barrier.checkpointId;
    this.taken.set(this.#newest, { last: this.last, received });
  }
}

/** Its thread ends with the test at the latest. */
function startSender(
  sends: ThreadData['sends'],
  test: TestContext,
): { readonly data: ThreadData; readonly answer: Promise<Cuts> } {
  const data: ThreadData = {
    sends,
    ring: createRing(LAYOUTS[sends], 0x7fffffff - 100),
    doorbells: createDoorbells(2),
  };
  const worker = new Worker(new URL(import.meta.url), { workerData: data });
  test.after(() => worker.terminate());
  const answer = new Promise<Cuts>((resolve, reject) =>
    worker.once('message', resolve).once('error', reject),
  );
  return { data, answer };
}

async function receiveTurns(test: TestContext): Promise<void> {
  const { data, answer } = startSender('turns', test);
  const mine = new Doorbell(data.doorbells, 0, parking);
  const receiver = new Receiver(data.ring, new Doorbell(data.doorbells, 1, parking));
  const { gate, taken } = receiver;
  const hasWork = () => gate.hasElement() || gate.hasAnnouncement();
  while (!gate.allFinished) {
    for (let i = 0; i < 64 && receiver.step(); i++);
    if (!gate.allFinished) await mine.sleep(hasWork, 500);
  }
  assert.equal(receiver.last, RECORDS);
  const cuts = await answer;
  let inFlight = 0;
  for (const [checkpointId, { last, received }] of taken) {
    const cut = cuts.get(checkpointId)!;
    const ids = idsOf([...received, ...cut.unsent]);
    const expected = Array.from({ length: cut.last - last }, (_, i) => last + 1 + i);
    assert.deepEqual(ids, expected, `checkpoint ${checkpointId}`);
    inFlight += ids.length;
  }
  // The test would show nothing if barriers had come in order, or overtaken nothing.
  assert.ok(
    receiver.announced > 50 && inFlight > 1000,
    `${receiver.announced} announced, ${inFlight} in flight`,
  );
}

async function receivePairs(test: TestContext): Promise<void> {
  const { data, answer } = startSender('pairs', test);
  const { gate } = new Receiver(data.ring, new Doorbell(data.doorbells, 1, parking));
  let known = 0;
  for (let read = 0; read < PAIRS; ) {
    if (gate.nextAnnouncement() === 0) {
      const barrier = gate.takeAnnouncement(0);
      assert.deepEqual(barrier, barrierOf(barrier.checkpointId));
      assert.ok(barrier.checkpointId > known);
      known = barrier.checkpointId;
    }
    if (gate.next() === -1) continue;
    assert.equal(gate.watermark(0), ++read);
    assert.ok(read <= known, `element ${read} was read before its barrier was heard of`);
    gate.consume(0);
  }
  await answer;
}

if (isMainThread) {
  describe('barriers that overtake between two threads', () => {
    it('cut the channel in one place, whenever they are seen', { timeout: 30_000 }, receiveTurns);

    it('are heard of before what is behind them, and never in halves', { timeout: 30_000 }, receivePairs);
  });
} else {
  const { parentPort } = await import('node:worker_threads');
  const data = workerData as ThreadData;
  if (data.sends === 'pairs') sendPairs(data);
  parentPort!.postMessage(data.sends === 'turns' ? await sendTurns(data) : undefined);
}
