import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MAX_WATERMARK } from '../base/index.ts';
import { SAMPLE, type Sample } from '../testing/sample-records.ts';
import { ByteView, type TypeSerializer } from '../types/index.ts';
import { ElementKind, writeNumber, writeStatus } from './element.ts';
import type { InFlightElement, RestoredChannel } from './in-flight.ts';
import { InputGate } from './input-gate.ts';
import { RecordBatch } from './record-batch.ts';
import { createRecordWriter, type RecordWriter } from './record-writer.ts';
import { createRing, RingReader, RingWriter } from './ring.ts';

const SILENT = { ring() {} };
const PLAIN = { valueSerializer: SAMPLE as TypeSerializer<unknown>, hashed: false };
const HASHED = { ...PLAIN, hashed: true };

function element(kind: ElementKind, write: (view: ByteView) => void): InFlightElement {
  const view = ByteView.allocate(500);
  write(view);
  return { kind, bytes: view.u8.slice(0, view.pos) };
}

const data = (...ids: number[]) =>
  element(ElementKind.data, (view) => {
    for (const id of ids) {
      writeNumber(view, id);
      SAMPLE.encode(view, { id, size: 3 });
    }
  });

const hashedData = (hash: number, id: number) =>
  element(ElementKind.data, (view) => {
    view.dv.setInt32(0, hash, true);
    view.pos = 4;
    writeNumber(view, id);
    SAMPLE.encode(view, { id, size: 3 });
  });

const WATERMARK = element(ElementKind.watermark, (view) => writeNumber(view, 77));
const IDLE = element(ElementKind.status, (view) => writeStatus(view, true));

const restored = (
  elements: readonly InFlightElement[],
  more: Partial<RestoredChannel> = {},
): RestoredChannel => ({
  edgeIndex: 0,
  operator: 0,
  input: 0,
  sender: 0,
  watermarkMs: MAX_WATERMARK,
  format: PLAIN,
  elements,
  ...more,
});

/** A gate with one real channel, in which a record and a watermark wait. */
function rig(channels: readonly RestoredChannel[]): { gate: InputGate; writer: RecordWriter<Sample> } {
  const ring = createRing({ segmentBytes: 64, segments: 4 });
  const writer = createRecordWriter({
    label: 'sender',
    partitioning: 'rebalance',
    valueSerializer: SAMPLE,
    channels: [new RingWriter(ring, SILENT)],
    unique: 'test',
    subtaskIndex: 0,
  });
  writer.collect({ id: 100, size: 0 }, 100);
  writer.broadcastWatermark(1);
  const gate = new InputGate({
    label: 'receiver',
    channels: [{ reader: new RingReader(ring, SILENT), input: 0, edgeIndex: 0, senderSubtask: 0 }],
    edges: [{ edgeIndex: 0, ...PLAIN }],
    restored: channels,
    unique: 'test',
  });
  return { gate, writer };
}

/** Reads until there is nothing, at most two records at a time: each with its channel. */
function readAll(gate: InputGate): unknown[][] {
  const batch = new RecordBatch(2);
  const seen: unknown[][] = [];
  for (let channel = gate.next(); channel !== -1; channel = gate.next()) {
    assert.equal(gate.hasElement(), true);
    const kind = gate.kind(channel);
    if (kind === ElementKind.data) {
      gate.readBatch(channel, batch);
      for (let i = 0; i < batch.count; i++)
        seen.push([channel, (batch.values[i] as Sample).id, batch.timestamps[i], batch.hashes[i]]);
    } else {
      if (kind === ElementKind.watermark) seen.push([channel, 'watermark', gate.watermark(channel)]);
      else seen.push([channel, 'idle', gate.isIdleStatus(channel)]);
      gate.consume(channel);
    }
  }
  return seen;
}

describe('restored channels', () => {
  it('are read before all real ones, one after the other, whatever of them is empty', () => {
    const { gate } = rig([
      restored([]),
      restored([data(1, 2, 3), WATERMARK, data(4)]),
      restored([]),
      restored([IDLE, data(5)]),
      restored([]),
    ]);
    assert.equal(gate.channelCount, 1);
    assert.equal(gate.hasRestored, true);
    assert.deepEqual(readAll(gate), [
      [2, 1, 1, 0],
      [2, 2, 2, 0],
      [2, 3, 3, 0],
      [2, 'watermark', 77],
      [2, 4, 4, 0],
      [4, 'idle', true],
      [4, 5, 5, 0],
      [0, 100, 100, 0],
      [0, 'watermark', 1],
    ]);
    assert.equal(gate.hasRestored, false);
    assert.equal(gate.hasElement(), false);
  });

  it('are known by their sender, their edge and the operator where they enter', () => {
    const { gate } = rig([
      restored([data(1)], { sender: 7 }),
      restored([data(2)], { edgeIndex: undefined, operator: 3, input: 1, sender: 2 }),
    ]);
    assert.deepEqual(
      [0, 1, 2].map((channel) => gate.channel(channel)),
      [
        { isRestored: false, operator: 0, input: 0, edgeIndex: 0, senderSubtask: 0 },
        { isRestored: true, operator: 0, input: 0, edgeIndex: 0, senderSubtask: 7 },
        { isRestored: true, operator: 3, input: 1, edgeIndex: undefined, senderSubtask: 2 },
      ],
    );
    assert.throws(() => gate.channel(3), /no channel 3/);
    assert.throws(() => gate.block(1), /no real channel 1/);
  });

  it('are read each in its own format, by a gate without real channels, too', () => {
    const gate = new InputGate({
      label: 'chain of a source',
      channels: [],
      edges: [],
      restored: [
        restored([hashedData(-5, 1)], { format: HASHED }),
        restored([data(2)]),
        restored([hashedData(6, 3)], { format: { ...HASHED } }),
      ],
      unique: 'test',
    });
    assert.deepEqual(
      readAll(gate).map(([channel, id, , hash]) => [channel, id, hash]),
      [
        [0, 1, -5],
        [1, 2, -5],
        [2, 3, 6],
      ],
    );
    assert.equal(gate.usage(), 0);
    assert.equal(gate.nextAnnouncement(), -1);
  });

  it('put a record together whose pieces come from both ends of the old channel', () => {
    const { bytes } = data(9);
    const cut = (kind: ElementKind, start: number, end?: number) => ({
      kind,
      bytes: bytes.subarray(start, end),
    });
    const { gate } = rig([
      restored([
        cut(ElementKind.spanPart, 0, 2),
        cut(ElementKind.spanPart, 2, 15),
        cut(ElementKind.spanEnd, 15),
      ]),
    ]);
    assert.deepEqual(readAll(gate)[0], [1, 9, 9, 0]);
  });

  it('give control elements while no records may be read, and keep those of real channels back', () => {
    const { gate } = rig([restored([data(1), WATERMARK])]);
    assert.equal(gate.nextControl(), -1);
    gate.readBatch(1, new RecordBatch());
    assert.equal(gate.nextControl(), 1);
    gate.consume(1);
    assert.equal(gate.nextControl(), -1);
    gate.readBatch(0, new RecordBatch());
    assert.equal(gate.nextControl(), 0);
  });

  it('are captured with what is left of them, before real ones, though these were announced', () => {
    const { gate, writer } = rig([restored([data(1, 2, 3)]), restored([data(4), WATERMARK, IDLE])]);
    const batch = new RecordBatch(2);
    assert.equal(gate.readBatch(gate.next(), batch), true);
    writer.announceBarrier({ checkpointId: 1, timestampMs: 0, kind: 'checkpoint' });
    assert.equal(gate.nextAnnouncement(), 0);
    assert.equal(gate.next(), 1);
    gate.takeAnnouncement(0);
    gate.block(0);
    gate.startCapture(1, []);
    gate.unblockAll();
    assert.equal(readAll(gate).length, 6);
    const captures = gate.takeCapture();
    assert.deepEqual(captures.slice(0, 2), [
      { channel: 1, elements: [data(3)] },
      { channel: 2, elements: [data(4), WATERMARK, IDLE] },
    ]);
    assert.deepEqual(
      captures.slice(2).map(({ channel, elements }) => [channel, elements.map(({ kind }) => kind)]),
      [[0, [ElementKind.data, ElementKind.watermark]]],
    );
  });
});
