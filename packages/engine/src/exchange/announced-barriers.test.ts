import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SAMPLE, type Sample } from '../testing/sample-records.ts';
import type { TypeSerializer } from '../types/index.ts';
import { type Barrier, ElementKind, overtakes, type Partitioning } from './element.ts';
import type { ChannelCapture } from './in-flight.ts';
import { InputGate } from './input-gate.ts';
import { RecordBatch } from './record-batch.ts';
import { createRecordWriter, type RecordWriter } from './record-writer.ts';
import { createRing, RingReader, RingWriter } from './ring.ts';

/** A record of this size fills a segment. */
const LAYOUT = { segmentBytes: 64, segments: 4 };
const FULL = 40;

const barrierOf = (checkpointId: number): Barrier => ({ checkpointId, timestampMs: 0, kind: 'checkpoint' });

interface Rig {
  readonly writers: RecordWriter<Sample>[];
  readonly gate: InputGate;
  /** Called when half of a ring is free again. */
  onRoom: () => void;
}

/** A gate with a channel from each of some writers. */
function rig(writerCount = 1, partitioning: Partitioning = 'rebalance'): Rig {
  const rings = Array.from({ length: writerCount }, () => createRing(LAYOUT));
  const made: Rig = {
    writers: rings.map((ring) => writerOf(partitioning, [new RingWriter(ring, { ring() {} })])),
    gate: new InputGate({
      label: 'receiver',
      channels: rings.map((ring, senderSubtask) => {
        const reader = new RingReader(ring, { ring: () => made.onRoom() });
        return { reader, input: 0, edgeIndex: 0, senderSubtask };
      }),
      edges: [{ edgeIndex: 0, valueSerializer: SAMPLE as TypeSerializer<unknown>, hashed: false }],
      unique: 'test',
    }),
    onRoom() {},
  };
  return made;
}

function writerOf(partitioning: Partitioning, channels: readonly RingWriter[]): RecordWriter<Sample> {
  return createRecordWriter({
    label: "output of operator 'x'",
    partitioning,
    custom:
      partitioning === 'custom'
        ? { selector: (value: Sample) => value.id, partitioner: (id: number, count) => id % count }
        : undefined,
    valueSerializer: SAMPLE,
    channels,
    unique: 'test',
    subtaskIndex: 0,
  });
}

function send(writer: RecordWriter<Sample>, ids: readonly number[], size = FULL): void {
  for (const id of ids) writer.collect({ id, size }, id);
  writer.flush();
}

/** Reads all that there is; of data the numbers, of other elements their kind in brackets. */
function readAll(gate: InputGate): unknown[] {
  const batch = new RecordBatch();
  const seen: unknown[] = [];
  for (let channel = gate.next(); channel !== -1; channel = gate.next()) {
    if (gate.kind(channel) === ElementKind.data) {
      gate.readBatch(channel, batch);
      seen.push(...batch.values.slice(0, batch.count).map((value) => (value as Sample).id));
    } else {
      seen.push(`[${gate.kind(channel)}]`);
      gate.consume(channel);
    }
  }
  return seen;
}

/** The numbers of records that fill an element each. */
const idsOf = (captures: readonly ChannelCapture[]) =>
  captures.map(({ channel, elements }) => [
    channel,
    ...elements.map(({ bytes }) => new DataView(bytes.buffer).getInt32(8, true)),
  ]);

describe('a writer whose barrier overtakes', () => {
  it('is one whose records may go to any receiver, or to one that can be asked for', () => {
    const all = [
      'forward',
      'hash',
      'rebalance',
      'rescale',
      'shuffle',
      'global',
      'custom',
      'broadcast',
    ] as const;
    assert.deepEqual(all.filter(overtakes), ['hash', 'rebalance', 'shuffle', 'global', 'custom']);
    for (const partitioning of ['forward', 'rescale', 'broadcast'] as const) {
      const [writer] = rig(1, partitioning).writers;
      assert.equal(writer!.overtakes, false);
      assert.throws(
        () => writer!.announceBarrier(barrierOf(1)),
        /output of operator 'x', which keep their channel/,
      );
      writer!.broadcastBarrier(barrierOf(1));
      assert.throws(() => writer!.overtakeWith(barrierOf(1)), /which keep their channel/);
    }
  });

  it('saves what waits in the overflow list of each channel, and sends it all the same', () => {
    const rings = [createRing(LAYOUT), createRing(LAYOUT), createRing(LAYOUT)];
    const bells: number[] = [];
    const writer = writerOf(
      'custom',
      rings.map((ring, i) => new RingWriter(ring, { ring: () => bells.push(i) })),
    );
    send(writer, [0, 3, 6, 9, 12, 15, 1, 2, 5, 8, 11, 14]);
    bells.splice(0);
    const captures = writer.announceBarrier(barrierOf(1));
    assert.deepEqual(idsOf(captures), [
      [0, 12, 15],
      [2, 14],
    ]);
    assert.deepEqual(bells, [0, 1, 2]);
    const [reader] = rings.map((ring) => new RingReader(ring, { ring() {} }));
    for (let i = 0; i < 4; i++) {
      assert.ok(reader!.hasElement());
      reader!.release();
    }
    writer.drain();
    assert.equal(reader!.backlog(), 2);
    // The segments of the overflow list are used again; what was saved is not.
    send(writer, [18, 21, 24, 27, 30]);
    assert.deepEqual(idsOf(captures)[0], [0, 12, 15]);
  });

  it('saves no control elements but watermarks and statuses', () => {
    const { writers } = rig();
    const writer = writers[0]!;
    send(writer, [1, 2, 3, 4]);
    writer.broadcastCancelBarrier(1);
    writer.broadcastWatermark(5);
    writer.broadcastBarrier(barrierOf(2));
    writer.broadcastStatus(true);
    writer.broadcastEnd();
    const [{ elements } = assert.fail()] = writer.announceBarrier(barrierOf(3));
    assert.deepEqual(
      elements.map((element) => element.kind),
      [ElementKind.watermark, ElementKind.status],
    );
  });

  it('lets a barrier that waits in the overflow list overtake what is before it, not what is behind', () => {
    const { writers, gate } = rig();
    const writer = writers[0]!;
    send(writer, [1, 2, 3, 4, 5]);
    writer.broadcastBarrier(barrierOf(1));
    send(writer, [6]);
    assert.equal(writer.barrierWaits(1), true);
    assert.equal(writer.barrierWaits(2), false);
    assert.deepEqual(idsOf(writer.overtakeWith(barrierOf(1))), [[0, 5]]);
    assert.equal(writer.barrierWaits(1), false);
    assert.deepEqual(writer.overtakeWith(barrierOf(1)), []);
    assert.equal(gate.nextAnnouncement(), 0);
    gate.takeAnnouncement(0);
    gate.startCapture(1, []);
    assert.deepEqual(idsOf(gate.takeCapture()), [[0, 1, 2, 3, 4]]);
  });

  it('announces a barrier that came into the ring meanwhile in the place where it lies', () => {
    const { writers, gate } = rig();
    const writer = writers[0]!;
    send(writer, [1, 2, 3, 4, 5]);
    writer.broadcastBarrier(barrierOf(1));
    send(writer, [6, 7, 8, 9]);
    const batch = new RecordBatch();
    for (let i = 0; i < 3; i++) gate.readBatch(gate.next(), batch);
    writer.drain();
    assert.equal(writer.barrierWaits(1), false);
    assert.deepEqual(writer.overtakeWith(barrierOf(1)), []);
    assert.equal(gate.nextAnnouncement(), 0);
    gate.takeAnnouncement(0);
    gate.startCapture(1, []);
    assert.deepEqual(idsOf(gate.takeCapture()), [[0, 4, 5]]);
    writer.drain();
    assert.deepEqual(readAll(gate), [4, 5, '[5]', 6]);
  });

  it('leaves an older barrier in its place when a newer one was sent', () => {
    const { writers, gate } = rig();
    const writer = writers[0]!;
    send(writer, [1, 2, 3, 4]);
    writer.broadcastBarrier(barrierOf(1));
    writer.announceBarrier(barrierOf(2));
    assert.equal(writer.barrierWaits(1), false);
    assert.deepEqual(writer.overtakeWith(barrierOf(1)), []);
    assert.equal(gate.nextAnnouncement(), 0);
    assert.deepEqual(gate.takeAnnouncement(0), barrierOf(2));
  });

  it('does not wait with a barrier that cannot overtake', () => {
    const [writer] = rig(1, 'forward').writers;
    send(writer!, [1, 2, 3, 4, 5]);
    writer!.broadcastBarrier(barrierOf(1));
    assert.ok(writer!.overflowBytes > 0);
    assert.equal(writer!.barrierWaits(1), false);
  });
});

describe('a gate to which a barrier was announced', () => {
  it('reads nothing of the channel before the announcement was taken', () => {
    const { writers, gate } = rig(2);
    send(writers[0]!, [1]);
    send(writers[1]!, [2]);
    assert.equal(gate.hasAnnouncement(), false);
    assert.equal(gate.nextAnnouncement(), -1);
    writers[0]!.announceBarrier(barrierOf(1));
    writers[0]!.broadcastWatermark(3);
    assert.equal(gate.hasAnnouncement(), true);
    assert.deepEqual(readAll(gate), [2]);
    assert.equal(gate.hasElement(), false);
    assert.equal(gate.nextControl(), -1);
    assert.equal(gate.nextAnnouncement(), 0);
    assert.deepEqual(gate.takeAnnouncement(0), barrierOf(1));
    assert.equal(gate.hasAnnouncement(), false);
    assert.deepEqual(readAll(gate), [1, '[3]']);
  });

  it('reads no piece of a large record behind it, though the record has begun', () => {
    const made = rig();
    const { gate } = made;
    const writer = made.writers[0]!;
    send(writer, [7], 5 * LAYOUT.segmentBytes);
    let unsent: readonly ChannelCapture[] = [];
    made.onRoom = () => {
      made.onRoom = () => {};
      unsent = writer.announceBarrier(barrierOf(1));
      writer.drain();
    };
    // Two of the pieces in the ring are read; then others get room there.
    assert.deepEqual(gate.readBatch(gate.next(), new RecordBatch()), false);
    assert.equal(gate.next(), -1);
    assert.equal(gate.nextAnnouncement(), 0);
    gate.takeAnnouncement(0);
    gate.block(0);
    gate.startCapture(1, []);
    const received = gate.takeCapture();
    const lengths = [...received, ...unsent].map(({ elements }) => elements.map(({ bytes }) => bytes.length));
    assert.deepEqual(lengths, [
      [128, 64, 64],
      [64, 16],
    ]);
    gate.unblockAll();
    assert.deepEqual(readAll(gate), [7]);
  });

  it('says nothing of a barrier that was read in order before', () => {
    const { writers, gate } = rig();
    send(writers[0]!, [1]);
    writers[0]!.broadcastBarrier(barrierOf(1));
    assert.deepEqual(readAll(gate), [1, '[5]']);
    writers[0]!.overtakeWith(barrierOf(1));
    send(writers[0]!, [2]);
    assert.equal(gate.nextAnnouncement(), -1);
    assert.deepEqual(readAll(gate), [2]);
  });

  it('tells of the newest only', () => {
    const { writers, gate } = rig();
    writers[0]!.announceBarrier(barrierOf(1));
    writers[0]!.announceBarrier(barrierOf(3));
    assert.equal(gate.nextAnnouncement(), 0);
    assert.deepEqual(gate.takeAnnouncement(0), barrierOf(3));
    assert.equal(gate.nextAnnouncement(), -1);
  });
});

describe('a capture', () => {
  it('is one at a time, ends with the last recorded channel, and can be given up', () => {
    const { writers, gate } = rig(2);
    assert.throws(() => gate.takeCapture(), /has no capture/);
    assert.throws(() => gate.endCapture(0), /had not begun/);
    gate.startCapture(1, [1]);
    assert.throws(() => gate.startCapture(2, []), /began to capture twice/);
    assert.throws(() => gate.takeCapture(), /channel 1 is recorded/);
    assert.throws(() => gate.endCapture(0), /channel 0 is not recorded/);
    send(writers[0]!, [1]);
    send(writers[1]!, [2]);
    readAll(gate);
    assert.equal(gate.capturedBytes, 8 + 8 + FULL);
    gate.cancelCapture();
    assert.equal(gate.capturedBytes, 0);
    gate.cancelCapture();
    gate.startCapture(2, [0, 1]);
    gate.endCapture(0);
    send(writers[0]!, [3]);
    send(writers[1]!, [4]);
    readAll(gate);
    gate.endCapture(1);
    assert.deepEqual(idsOf(gate.takeCapture()), [[1, 4]]);
    assert.throws(() => gate.startCapture(3, [2]), /no real channel 2/);
  });

  it('does not record a channel whose barrier has come', () => {
    const { writers, gate } = rig();
    writers[0]!.announceBarrier(barrierOf(1));
    gate.nextAnnouncement();
    gate.takeAnnouncement(0);
    assert.throws(() => gate.startCapture(1, [0]), /recorded although its barrier has come/);
  });

  it('holds what was taken of a recorded channel until its barrier, read in order', () => {
    const { writers, gate } = rig(2);
    writers[0]!.announceBarrier(barrierOf(1));
    gate.nextAnnouncement();
    gate.takeAnnouncement(0);
    gate.startCapture(1, [1]);
    send(writers[0]!, [1]);
    send(writers[1]!, [2]);
    writers[1]!.broadcastBarrier(barrierOf(1));
    send(writers[1]!, [3]);
    const batch = new RecordBatch();
    while (gate.next() !== 1 || gate.kind(1) !== ElementKind.barrier) {
      for (const channel of [0, 1])
        if (gate.backlog(channel) > 0 && gate.kind(channel) === ElementKind.data)
          gate.readBatch(channel, batch);
    }
    gate.consume(1);
    gate.endCapture(1);
    readAll(gate);
    assert.deepEqual(idsOf(gate.takeCapture()), [[1, 2]]);
  });
});
