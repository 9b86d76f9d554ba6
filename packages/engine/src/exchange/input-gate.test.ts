import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../base/index.ts';
import type { ByteView, TypeSerializer } from '../types/index.ts';
import { ElementKind } from './element.ts';
import { InputGate, type InputGateOptions } from './input-gate.ts';
import { RecordBatch } from './record-batch.ts';
import { createRecordWriter, type RecordWriter } from './record-writer.ts';
import { createRing, RingReader, RingWriter } from './ring.ts';

const SILENT = { ring() {} };

/** Numbers as f64, after `padding` bytes: two edges with different paddings need their own decoders. */
const numbers = (padding: number): TypeSerializer<number> => ({
  description: { kind: 'double' },
  fixedSizeBytes: padding + 8,
  encode(view: ByteView, value: number): boolean {
    if (view.pos + padding + 8 > view.limit) return false;
    view.dv.setFloat64(view.pos + padding, value, true);
    view.pos += padding + 8;
    return true;
  },
  decode(view: ByteView): number {
    const value = view.dv.getFloat64(view.pos + padding, true);
    view.pos += padding + 8;
    return value;
  },
  skip(view: ByteView): void {
    view.pos += padding + 8;
  },
});

interface Rig {
  readonly gate: InputGate;
  /** One for each channel. */
  readonly writers: RecordWriter<number>[];
}

/** A gate with one channel for each entry: the padding of its edge. Equal paddings are one edge. */
function rig(paddings: readonly number[], options: Partial<InputGateOptions> = {}): Rig {
  const rings = paddings.map(() => createRing({ segmentBytes: 128, segments: 8 }));
  const gate = new InputGate({
    label: "input of operator 'y'",
    channels: rings.map((ring, index) => ({
      reader: new RingReader(ring, SILENT),
      input: paddings[index] === 0 ? 0 : 1,
      edgeIndex: paddings[index]!,
      senderSubtask: index,
    })),
    edges: [...new Set(paddings)].map((padding) => ({
      edgeIndex: padding,
      valueSerializer: numbers(padding) as TypeSerializer<unknown>,
      hashed: false,
    })),
    unique: 'test',
    ...options,
  });
  const writers = rings.map((ring, index) =>
    createRecordWriter({
      label: "output of operator 'x'",
      partitioning: 'forward',
      valueSerializer: numbers(paddings[index]!),
      channels: [new RingWriter(ring, SILENT)],
      unique: 'test',
      subtaskIndex: index,
    }),
  );
  return { gate, writers };
}

function send(writer: RecordWriter<number>, ...values: number[]): void {
  for (const value of values) writer.collect(value, value * 10);
  writer.flush();
}

describe('an input gate', () => {
  it('says that there is nothing', () => {
    const { gate } = rig([0, 0]);
    assert.equal(gate.next(), -1);
    assert.equal(gate.hasElement(), false);
    assert.equal(gate.backlog(), 0);
  });

  it('reads each edge of a union with the serializer of that edge', () => {
    const { gate, writers } = rig([0, 5]);
    send(writers[0]!, 1, 2);
    send(writers[1]!, 3);
    const batch = new RecordBatch();
    assert.equal(gate.next(), 0);
    assert.equal(gate.readBatch(0, batch), false);
    assert.deepEqual(batch.values.slice(0, batch.count), [1, 2]);
    assert.equal(gate.next(), 1);
    assert.equal(gate.readBatch(1, batch), false);
    assert.deepEqual(batch.values.slice(0, batch.count), [3]);
    assert.deepEqual([...batch.timestamps.subarray(0, 1)], [30]);
    const { input, edgeIndex, senderSubtask } = gate.channel(1);
    assert.deepEqual({ input, edgeIndex, senderSubtask }, { input: 1, edgeIndex: 5, senderSubtask: 1 });
  });

  it('gives every channel its turn, whatever waits in the others', () => {
    const { gate, writers } = rig([0, 0, 0]);
    for (let i = 0; i < 4; i++) send(writers[0]!, i);
    send(writers[1]!, 10);
    for (let i = 20; i < 22; i++) send(writers[2]!, i);
    const batch = new RecordBatch();
    const order: unknown[] = [];
    for (let channel = gate.next(); channel !== -1; channel = gate.next()) {
      gate.readBatch(channel, batch);
      order.push(batch.values[0]);
    }
    assert.deepEqual(order, [0, 10, 20, 1, 21, 2, 3]);
  });

  it('goes on in a segment where the last batch ended, and gives the segment back after the last', () => {
    const { gate, writers } = rig([0]);
    send(writers[0]!, 1, 2, 3, 4, 5);
    const batch = new RecordBatch(2);
    const read = () => {
      const hasMore = gate.readBatch(0, batch);
      return [hasMore, gate.sequence(0), ...batch.values.slice(0, batch.count)];
    };
    assert.equal(gate.next(), 0);
    assert.deepEqual(read(), [true, 0, 1, 2]);
    assert.equal(gate.next(), 0);
    assert.deepEqual(read(), [true, 0, 3, 4]);
    assert.deepEqual(read(), [false, 1, 5]);
    assert.equal(gate.next(), -1);
  });

  it('passes over blocked channels until they are unblocked', () => {
    const { gate, writers } = rig([0, 0]);
    send(writers[0]!, 1);
    send(writers[1]!, 2);
    gate.block(0);
    assert.equal(gate.isBlocked(0), true);
    const batch = new RecordBatch();
    assert.equal(gate.next(), 1);
    gate.readBatch(1, batch);
    assert.equal(gate.next(), -1);
    assert.equal(gate.hasElement(), false);
    assert.equal(gate.backlog(), 1);
    gate.unblockAll();
    assert.equal(gate.isBlocked(0), false);
    assert.equal(gate.hasElement(), true);
    assert.equal(gate.next(), 0);
  });

  it('knows the position of a barrier in its channel', () => {
    const { gate, writers } = rig([0]);
    send(writers[0]!, 1);
    writers[0]!.broadcastWatermark(4);
    send(writers[0]!, 2);
    writers[0]!.broadcastBarrier({ checkpointId: 1, timestampMs: 0, kind: 'checkpoint' });
    const batch = new RecordBatch();
    while (gate.next() === 0 && gate.kind(0) !== ElementKind.barrier) {
      if (gate.kind(0) === ElementKind.data) gate.readBatch(0, batch);
      else gate.consume(0);
    }
    assert.equal(gate.sequence(0), 3);
    assert.equal(gate.backlog(0), 1);
    assert.equal(gate.usage(), 1 / 8);
  });

  it('counts the channels that have ended', () => {
    const { gate, writers } = rig([0, 0]);
    for (const [index, writer] of writers.entries()) {
      writer.broadcastEnd();
      assert.equal(gate.next(), index);
      assert.equal(gate.isFinished(index), false);
      gate.consume(index);
      assert.equal(gate.isFinished(index), true);
      assert.equal(gate.finishedCount, index + 1);
    }
    assert.equal(gate.allFinished, true);
  });

  it('refuses to take one kind of element for another', () => {
    const { gate, writers } = rig([0]);
    send(writers[0]!, 1);
    gate.next();
    assert.throws(() => gate.consume(0), /consumed records as a control element/);
    assert.throws(() => gate.watermark(0), /input of operator 'y' took element 0 for 3/);
    gate.readBatch(0, new RecordBatch());
    writers[0]!.broadcastWatermark(1);
    gate.next();
    assert.throws(() => gate.readBatch(0, new RecordBatch()), /element 3/);
    assert.throws(() => gate.barrier(0), /took element 3 for 5/);
    assert.throws(() => gate.kind(1), /no channel 1/);
  });

  it('notices a decoder that does not fit the encoder', () => {
    const { gate, writers } = rig([0], {
      edges: [{ edgeIndex: 0, valueSerializer: numbers(3) as TypeSerializer<unknown>, hashed: false }],
    });
    send(writers[0]!, 1);
    gate.next();
    assert.throws(() => gate.readBatch(0, new RecordBatch()), /read 3 bytes beyond a segment/);
  });

  it('is refused if a channel belongs to no edge', () => {
    assert.throws(() => rig([0], { edges: [] }), /a channel of edge 0/);
  });
});

describe('a record in pieces', () => {
  it('is put together as the pieces come', () => {
    const { gate, writers } = rig([2000]);
    send(writers[0]!, 42);
    const batch = new RecordBatch();
    let rounds = 0;
    while (gate.next() !== -1) {
      assert.equal(gate.kind(0), ElementKind.data);
      assert.equal(batch.count, 0);
      assert.equal(gate.readBatch(0, batch), false);
      writers[0]!.drain();
      rounds++;
    }
    assert.equal(rounds, 2);
    assert.deepEqual([batch.count, batch.values[0], batch.timestamps[0]], [1, 42, 420]);
    assert.equal(gate.sequence(0), 16);
  });

  it('is refused beyond the limit of the receiver', () => {
    const { gate, writers } = rig([500], { maxRecordBytes: 300 });
    send(writers[0]!, 1);
    gate.next();
    assert.throws(
      () => gate.readBatch(0, new RecordBatch()),
      (error: Error) => {
        assert.match(error.message, /input of operator 'y' has more than 300 bytes/);
        return hasCode(error, 'RECORD_TOO_LARGE');
      },
    );
  });
});

describe('a batch', () => {
  it('lets go of its values when it is cleared', () => {
    const batch = new RecordBatch(4);
    batch.values[0] = {};
    batch.count = 1;
    batch.clear();
    assert.deepEqual([batch.count, batch.values[0], batch.capacity], [0, undefined, 4]);
  });
});
