import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { hasCode } from '../base/index.ts';
import { type Barrier, ElementKind } from './element.ts';
import {
  chooseLayout,
  createRing,
  type RingLayout,
  RingReader,
  RingWriter,
  ringSizeBytes,
  segmentsForTurn,
} from './ring.ts';

const SILENT = { ring() {} };
const LAYOUT: RingLayout = { segmentBytes: 64, segments: 4 };

/** The counters wrap from 2^31 - 1 to -2^31: rings that start here cross it after three elements. */
const BEFORE_THE_WRAP = 0x7fffffff - 2;

function ends(firstSequence = 0, layout = LAYOUT) {
  const ring = createRing(layout, firstSequence);
  return { ring, writer: new RingWriter(ring, SILENT), reader: new RingReader(ring, SILENT) };
}

function put(writer: RingWriter, byte: number, length = 1): void {
  const start = writer.begin();
  writer.view.u8.fill(byte, start, start + length);
  writer.publish(ElementKind.data, length);
}

function take(reader: RingReader): number[] {
  const bytes = [...reader.view.u8.subarray(reader.start, reader.start + reader.lengthBytes)];
  reader.release();
  return bytes;
}

describe('a ring', () => {
  it('hands elements over in order, with their kind and length', () => {
    const { writer, reader } = ends();
    assert.equal(reader.hasElement(), false);
    put(writer, 7, 3);
    writer.begin();
    writer.publish(ElementKind.barrier, 0);
    assert.equal(reader.backlog(), 2);
    assert.equal(reader.kind, ElementKind.data);
    assert.deepEqual(take(reader), [7, 7, 7]);
    assert.equal(reader.kind, ElementKind.barrier);
    assert.deepEqual(take(reader), []);
    assert.equal(reader.hasElement(), false);
    assert.equal(reader.sequence, 2);
  });

  it('is full after as many elements as it has segments, and takes one more for each that is released', () => {
    const { writer, reader } = ends(BEFORE_THE_WRAP);
    for (let i = 0; i < 4; i++) put(writer, i);
    assert.equal(writer.freeSegments(), 0);
    assert.throws(() => writer.begin(), /full ring/);
    assert.ok(reader.hasElement());
    assert.deepEqual(take(reader), [0]);
    assert.equal(writer.freeSegments(), 1);
    put(writer, 4);
    assert.equal(writer.hasFree(1), false);
    assert.equal(reader.backlog(), 4);
    assert.deepEqual(
      [1, 2, 3, 4].map(() => take(reader)[0]),
      [1, 2, 3, 4],
    );
  });

  it('releases nothing that it has not seen', () => {
    const { reader } = ends();
    assert.throws(() => reader.release(), /was not there/);
  });

  it('behaves as a bounded queue wherever its counters start', () => {
    const step = fc.oneof(
      fc.nat(255).map((byte) => ({ byte })),
      fc.constant('take' as const),
    );
    const start = fc.oneof(
      fc.constant(0),
      fc.integer({ min: BEFORE_THE_WRAP - 20, max: BEFORE_THE_WRAP + 3 }),
    );
    const check = (steps: ({ byte: number } | 'take')[], firstSequence: number) => {
      const { writer, reader } = ends(firstSequence);
      const model: number[] = [];
      let taken = 0;
      for (const each of steps) {
        assert.equal(writer.freeSegments(), 4 - model.length);
        assert.equal(writer.hasFree(2), model.length <= 2);
        assert.equal(reader.backlog(), model.length);
        if (each !== 'take' && model.length < 4) {
          put(writer, each.byte, each.byte % 64);
          model.push(each.byte);
        } else if (each === 'take' && model.length > 0) {
          const byte = model.shift()!;
          assert.ok(reader.hasElement());
          assert.deepEqual(take(reader), new Array(byte % 64).fill(byte));
          assert.equal(reader.sequence, ++taken);
        }
      }
    };
    fc.assert(fc.property(fc.array(step, { maxLength: 60 }), start, check), { numRuns: 200 });
  });

  it('rings the reader for each element, and the writer when half of the segments are free again', () => {
    const calls: string[] = [];
    const ring = createRing(LAYOUT, BEFORE_THE_WRAP);
    const writer = new RingWriter(ring, { ring: () => calls.push('reader') });
    const reader = new RingReader(ring, { ring: () => calls.push('writer') });
    for (let i = 0; i < 4; i++) put(writer, i);
    assert.deepEqual(calls.splice(0), ['reader', 'reader', 'reader', 'reader']);
    assert.ok(reader.hasElement());
    reader.release();
    assert.deepEqual(calls, []);
    reader.release();
    assert.deepEqual(calls, ['writer']);
    reader.release();
    assert.deepEqual(calls, ['writer']);
  });

  it('rings a writer that sleeps for lack of room, wherever between its ends the last look was', () => {
    for (const layout of [LAYOUT, { segmentBytes: 64, segments: 8 }]) {
      const { segments } = layout;
      const needed = segmentsForTurn(layout);
      for (let used = segments - needed + 1; used <= segments; used++) {
        let rung = false;
        const ring = createRing(layout);
        const writer = new RingWriter(ring, SILENT);
        const reader = new RingReader(ring, { ring: () => (rung = true) });
        // The reader has seen one element only; the others came later.
        put(writer, 0);
        assert.ok(reader.hasElement());
        for (let i = 1; i < used; i++) put(writer, i);
        assert.equal(writer.hasFree(needed), false);
        for (let left = used; left > 0; left--) reader.release();
        assert.ok(rung);
      }
    }
  });

  it('goes on where the counters stand when an end is made anew', () => {
    const { ring, writer, reader } = ends();
    put(writer, 1);
    put(writer, 2);
    assert.ok(reader.hasElement());
    reader.release();
    const later = new RingReader(ring, SILENT);
    assert.ok(later.hasElement());
    assert.deepEqual(take(later), [2]);
  });
});

const BARRIER: Barrier = { checkpointId: 3, timestampMs: 8.5, kind: 'checkpoint' };

describe('an announcement', () => {
  it('tells where in the channel the barrier is, is taken once, and needs no room', () => {
    const { writer, reader } = ends(BEFORE_THE_WRAP);
    for (let i = 0; i < 3; i++) put(writer, i);
    assert.ok(reader.hasElement());
    for (let i = 0; i < 3; i++) take(reader);
    for (let i = 0; i < 4; i++) put(writer, i);
    assert.equal(reader.hasAnnouncement(), false);
    assert.equal(reader.announcement(), undefined);
    assert.equal(writer.sequence, 7);
    writer.announce(BARRIER);
    assert.equal(reader.hasAnnouncement(), true);
    assert.deepEqual(reader.announcement(), { barrier: BARRIER, sequence: 7 });
    assert.ok(reader.hasElement());
    take(reader);
    assert.deepEqual(reader.takeAnnouncement(), { barrier: BARRIER, sequence: 7 });
    assert.equal(reader.hasAnnouncement(), false);
    assert.equal(reader.announcement(), undefined);
    assert.throws(() => reader.takeAnnouncement(), /was not found/);
  });

  it('may name an element that was published before, but none that was not', () => {
    const { writer, reader } = ends(BEFORE_THE_WRAP);
    for (let i = 0; i < 4; i++) put(writer, i);
    writer.announce(BARRIER, 1);
    assert.equal(reader.announcement()?.sequence, 1);
    assert.throws(() => writer.announce(BARRIER, 5), /not there yet/);
  });

  it('replaces an older one that was not taken, also one that was found', () => {
    const { writer, reader } = ends();
    writer.announce({ ...BARRIER, checkpointId: 1 });
    assert.equal(reader.announcement()?.barrier.checkpointId, 1);
    put(writer, 1);
    writer.announce({ ...BARRIER, checkpointId: 2, kind: 'savepoint' });
    // What was found is taken; the newer one is there then.
    assert.equal(reader.takeAnnouncement().barrier.checkpointId, 1);
    assert.ok(reader.hasAnnouncement());
    writer.announce({ ...BARRIER, checkpointId: 4 });
    assert.deepEqual(reader.announcement(), { barrier: { ...BARRIER, checkpointId: 4 }, sequence: 1 });
    reader.takeAnnouncement();
    assert.equal(reader.hasAnnouncement(), false);
  });

  it('is not read while it is being replaced', () => {
    const { ring, writer, reader } = ends();
    writer.announce(BARRIER);
    const words = new Int32Array(ring.buffer);
    // As another thread would see a writer that has begun.
    words[65] = 2;
    words[66] = 77;
    assert.equal(reader.announcement(), undefined);
    assert.equal(reader.hasAnnouncement(), true);
    words[64] = 2;
    assert.equal(reader.announcement()?.sequence, 77);
  });

  it('rings the reader', () => {
    let rung = 0;
    const ring = createRing(LAYOUT);
    const writer = new RingWriter(ring, { ring: () => rung++ });
    writer.announce(BARRIER);
    assert.equal(rung, 1);
  });

  it('that was taken by an earlier end is not seen by a later one', () => {
    const { ring, writer } = ends();
    writer.announce(BARRIER);
    const later = new RingReader(ring, SILENT);
    assert.equal(later.hasAnnouncement(), false);
    writer.announce({ ...BARRIER, checkpointId: 4 });
    assert.equal(later.announcement()?.barrier.checkpointId, 4);
  });
});

describe('unread elements', () => {
  it('can be looked at and copied while they stay', () => {
    const { writer, reader } = ends(BEFORE_THE_WRAP);
    for (let i = 0; i < 4; i++) put(writer, i, i + 1);
    assert.ok(reader.hasElement());
    take(reader);
    put(writer, 4, 2);
    assert.deepEqual([...reader.copyAt(0)], [1, 1]);
    assert.deepEqual([...reader.copyAt(3)], [4, 4]);
    assert.equal(reader.kindAt(3), ElementKind.data);
    assert.throws(() => reader.copyAt(4), /is not there/);
    assert.deepEqual(take(reader), [1, 1]);
  });
});

describe('the layout of a ring', () => {
  it('lies in memory as docs/formats/exchange.md draws it', () => {
    const { ring, writer, reader } = ends(5, { segmentBytes: 64, segments: 8 });
    assert.equal(ring.buffer.byteLength, 384 + 8 * 8 + 8 * 64);
    put(writer, 0xaa, 2);
    put(writer, 0xbb, 1);
    assert.ok(reader.hasElement());
    reader.release();
    const words = new Int32Array(ring.buffer);
    const bytes = new Uint8Array(ring.buffer);
    assert.deepEqual([words[0], words[32]], [7, 6]);
    assert.deepEqual([...words.subarray(96 + 5 * 2, 96 + 7 * 2)], [0, 2, 0, 1]);
    assert.deepEqual([...bytes.subarray(448 + 5 * 64, 448 + 5 * 64 + 3)], [0xaa, 0xaa, 0]);
    assert.equal(bytes[448 + 6 * 64], 0xbb);
    writer.announce(BARRIER);
    assert.deepEqual([...words.subarray(64, 67)], [1, 1, 7]);
    const view = new DataView(ring.buffer);
    assert.deepEqual(
      [view.getFloat64(268, true), view.getFloat64(276, true), view.getInt32(284)],
      [3, 8.5, 0],
    );
    assert.deepEqual([...new Set(bytes.subarray(288, 384))], [0]);
  });

  it('is 32 KB x 8, and shrinks with the number of channels so that memory stays bounded', () => {
    assert.deepEqual(chooseLayout(1), { segmentBytes: 32_768, segments: 8 });
    assert.deepEqual(chooseLayout(512), { segmentBytes: 32_768, segments: 8 });
    assert.deepEqual(chooseLayout(513), { segmentBytes: 16_384, segments: 8 });
    assert.deepEqual(chooseLayout(65_536), { segmentBytes: 4_096, segments: 4 });
    for (let count = 1; count <= 8192; count *= 2) {
      assert.ok(count * ringSizeBytes(chooseLayout(count)) < 132 * 1024 * 1024);
    }
    assert.throws(() => chooseLayout(65_537), /Lower the parallelism/);
    const small = { segmentBytes: 128, segments: 4 };
    assert.deepEqual(chooseLayout(65_536, small), small);
    const large = { segmentBytes: 1024 * 1024, segments: 8 };
    assert.deepEqual(chooseLayout(16, large), large);
    assert.deepEqual(chooseLayout(17, large), { segmentBytes: 32_768, segments: 8 });
  });

  it('is refused if slots could not be found across the wrap', () => {
    for (const layout of [
      { segmentBytes: 64, segments: 6 },
      { segmentBytes: 64, segments: 2 },
      { segmentBytes: 60, segments: 4 },
      { segmentBytes: 8, segments: 4 },
    ]) {
      assert.throws(
        () => createRing(layout),
        (error) => hasCode(error, 'INVALID_ARGUMENT'),
      );
    }
  });
});
