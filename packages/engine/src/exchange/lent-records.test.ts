import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../base/index.ts';
import { createSerializer, type TypeSerializer, Types } from '../types/index.ts';
import { ElementKind } from './element.ts';
import { InputGate } from './input-gate.ts';
import { canLend, LentRecords } from './lent-records.ts';
import { RecordBatch } from './record-batch.ts';
import { createRecordWriter, type RecordWriterOptions } from './record-writer.ts';
import { createRing, type RingLayout, RingReader, RingWriter } from './ring.ts';

const SILENT = { ring() {} };
const ORDER = Types.ROW({ id: Types.LONG, items: Types.LIST(Types.STRING), paidAt: Types.DATE });
const serializer = createSerializer(ORDER, 'test');

interface Order {
  id: number;
  items: string[];
  paidAt: Date;
}

const orderOf = (id: number, ...items: string[]): Order => ({ id, items, paidAt: new Date(id) });

function rig(
  layout: RingLayout,
  options: Partial<RecordWriterOptions<Order>> = {},
  valueSerializer = serializer as TypeSerializer<unknown>,
) {
  const ring = createRing(layout);
  const format = { valueSerializer, hashed: false };
  const lending = new LentRecords(layout, format);
  const writer = createRecordWriter<Order>({
    label: 'sender',
    partitioning: 'rebalance',
    valueSerializer: serializer as TypeSerializer<Order>,
    channels: [new RingWriter(ring, SILENT)],
    lending: [lending],
    unique: 'test',
    subtaskIndex: 0,
    ...options,
  });
  const reader = new RingReader(ring, SILENT);
  const gate = new InputGate({
    label: 'receiver',
    channels: [{ reader, lending, input: 0, edgeIndex: 0, senderSubtask: 0 }],
    edges: [{ edgeIndex: 0, ...format }],
    unique: 'test',
  });
  const batch = new RecordBatch();
  const read = (): unknown[] => {
    const values: unknown[] = [];
    while (gate.next() === 0) {
      gate.readBatch(0, batch);
      values.push(...batch.values.slice(0, batch.count));
      batch.clear();
    }
    return values;
  };
  return { writer, read, gate, reader };
}

describe('records that are lent', () => {
  it('arrive as they were when they were sent, whatever becomes of the original', () => {
    const { writer, read } = rig({ segmentBytes: 32_768, segments: 8 });
    const order = Object.assign(orderOf(1, 'tea'), { unknown: 'field' });
    writer.collect(order, 5);
    order.items.push('milk');
    order.paidAt.setTime(99);
    order.id = 2;
    writer.collect(order, 6);
    writer.flush();
    assert.deepEqual(read(), [orderOf(1, 'tea'), { ...orderOf(2, 'tea', 'milk'), paidAt: new Date(99) }]);
    assert.equal(writer.recordsOut, 2);
  });

  it('are refused in the words of the encoder, and leave nothing behind', () => {
    const { writer, read } = rig({ segmentBytes: 32_768, segments: 8 });
    writer.collect(orderOf(1, 'tea'), 0);
    assert.throws(
      () => writer.collect({ ...orderOf(2), items: [7 as unknown as string] }, 0),
      (error: Error) => hasCode(error, 'TYPE_MISMATCH') && /items\[0\]/.test(error.message),
    );
    writer.collect(orderOf(3, 'rice'), 0);
    writer.flush();
    assert.deepEqual(read(), [orderOf(1, 'tea'), orderOf(3, 'rice')]);
    assert.equal(writer.recordsOut, 2);
  });

  it('wait only as long as the ring has room: what a slow receiver leaves is bounded in bytes', () => {
    const { writer, read } = rig({ segmentBytes: 1024, segments: 4 }, { maxOverflowBytes: 64 * 1024 });
    let sent = 0;
    assert.throws(
      () => {
        for (; ; sent++) writer.collect(orderOf(sent, 'x'.repeat(100)), 0);
      },
      (error) => hasCode(error, 'EXCHANGE_OVERFLOW'),
    );
    assert.equal(writer.isAvailable(), false);
    assert.ok(sent < 64 * 10 + 4 * 8, `${sent} records of about 120 bytes`);
    const seen: unknown[] = [];
    for (let drained = false; !drained; ) {
      drained = writer.drain();
      seen.push(...read());
    }
    writer.flush();
    seen.push(...read());
    assert.deepEqual(
      seen.map((order) => (order as Order).id),
      Array.from({ length: sent }, (_, i) => i),
    );
  });

  it('are undeclared ones of a shape that was seen before; others of them are written, in their order', () => {
    const { writer, read, gate, reader } = rig(
      { segmentBytes: 1024, segments: 8 },
      { valueSerializer: createSerializer<unknown>(undefined, 'test') as TypeSerializer<Order> },
      createSerializer<unknown>(undefined, 'test'),
    );
    const kinds = new Set<ElementKind>();
    const sent: unknown[] = [];
    const got: unknown[] = [];
    for (let id = 0; id < 2000; id++) {
      const odd = [new Map([[id, id]]), null, 'x'.repeat(5000), new Uint8Array([1])];
      const value = id % 97 === 0 ? { id, odd: odd[id % 4] } : orderOf(id, 'tea', `${id}`);
      sent.push(structuredClone(value));
      writer.collect(value as Order, 0);
      (value as Order).id = -1;
      if (id % 10 !== 0) continue;
      writer.flush();
      if (gate.next() === 0) kinds.add(reader.kind);
      got.push(...read());
    }
    writer.flush();
    got.push(...read());
    assert.deepEqual(got, sent);
    assert.deepEqual([...kinds].sort(), [ElementKind.data, ElementKind.lent]);
  });

  it('are of types that generated code can copy', () => {
    const lends = (type: Parameters<typeof createSerializer>[0]): boolean =>
      canLend(createSerializer(type, 'test') as TypeSerializer<unknown>);
    assert.equal(lends(ORDER), true);
    assert.equal(lends(Types.STRING), true);
    assert.equal(lends(Types.LONG), true);
    assert.equal(lends(Types.BYTES), false, 'copied as bytes in any case');
    assert.equal(lends(Types.TUPLE(Types.GENERIC(), Types.LONG)), false);
    assert.equal(lends(undefined), true);
  });
});
