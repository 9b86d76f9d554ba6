import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { hasCode } from '../base/index.ts';
import { SAMPLE, type Sample } from '../testing/sample-records.ts';
import { ByteView, type TypeSerializer } from '../types/index.ts';
import { ElementKind } from './element.ts';
import type { InFlightElement, RecordFormat } from './in-flight.ts';
import { changeHashes, filterElements } from './in-flight-filter.ts';

const formatOf = (hashed: boolean): RecordFormat => ({
  valueSerializer: SAMPLE as TypeSerializer<unknown>,
  hashed,
});

const hashOf = (id: number) => Math.imul(id, 0x9e3779b1);

/** The bytes of records as they lie in a segment; their timestamp is twice their number. */
function segment(hashed: boolean, ...ids: number[]): Uint8Array {
  const view = ByteView.allocate(1000);
  for (const id of ids) {
    if (hashed) view.dv.setInt32(view.pos, hashOf(id), true);
    if (hashed) view.pos += 4;
    view.dv.setFloat64(view.pos, 2 * id, true);
    view.pos += 8;
    SAMPLE.encode(view, { id, size: id % 7 });
  }
  return view.u8.slice(0, view.pos);
}

const data = (hashed: boolean, ...ids: number[]): InFlightElement => ({
  kind: ElementKind.data,
  bytes: segment(hashed, ...ids),
});

/** One record in pieces that end at the places given. */
function pieces(hashed: boolean, id: number, ...ends: number[]): InFlightElement[] {
  const bytes = segment(hashed, id);
  const starts = [0, ...ends];
  return starts.map((start, i) => ({
    kind: i === ends.length ? ElementKind.spanEnd : ElementKind.spanPart,
    bytes: bytes.subarray(start, ends[i] ?? bytes.length),
  }));
}

const WATERMARK: InFlightElement = { kind: ElementKind.watermark, bytes: new Uint8Array(8) };
const idOf = (value: unknown) => (value as Sample).id;

describe('records in flight that are given to a receiver', () => {
  it('are those that it is asked to keep, without being encoded again', () => {
    const elements = [
      data(true, 1, 2, 3, 4),
      WATERMARK,
      data(true, 5),
      data(true, 6, 8),
      ...pieces(true, 9, 3, 11),
    ];
    const asked: number[][] = [];
    const kept = filterElements(elements, formatOf(true), (value, hash) => {
      asked.push([idOf(value), hash]);
      return idOf(value) % 2 === 0;
    });
    assert.deepEqual(kept, [data(true, 2, 4), WATERMARK, data(true, 6, 8)]);
    assert.equal(kept[2], elements[3]);
    assert.deepEqual(
      asked,
      [1, 2, 3, 4, 5, 6, 8, 9].map((id) => [id, hashOf(id)]),
    );
  });

  it('have no hash on an edge without', () => {
    const kept = filterElements([data(false, 1, 2)], formatOf(false), (value, hash) => {
      assert.equal(hash, 0);
      return idOf(value) === 2;
    });
    assert.deepEqual(kept, [data(false, 2)]);
  });

  it('stay in the pieces in which they are, or go with all of them', () => {
    const elements = [...pieces(true, 7, 5), ...pieces(true, 8, 1, 20), data(true, 9)];
    const keepOnly = (id: number) => filterElements(elements, formatOf(true), (value) => idOf(value) === id);
    assert.deepEqual(keepOnly(8), elements.slice(2, 5));
    assert.deepEqual(keepOnly(9), elements.slice(5));
    assert.deepEqual(keepOnly(1), []);
  });

  it('are refused if they are no records of the edge', () => {
    const [first, ...rest] = pieces(false, 3, 10);
    const cut = { kind: ElementKind.data, bytes: segment(false, 1, 2).slice(0, -1) };
    for (const [elements, message] of [
      [[first!], /a record in pieces has no end/],
      [[first!, data(false, 1), ...rest], /a record in pieces has no end/],
      [[first!, WATERMARK, ...rest], /a record in pieces has no end/],
      [[cut], /the record at byte 17 of an element/],
      [
        [{ kind: ElementKind.data, bytes: Uint8Array.of(1, 2) }],
        /the record at byte 0 of an element cannot be read/,
      ],
    ] as const) {
      assert.throws(
        () => filterElements(elements, formatOf(false), () => true),
        (error: Error) => {
          assert.match(error.message, message);
          return hasCode(error, 'SNAPSHOT_CORRUPT');
        },
      );
    }
  });

  it('are each kept by exactly one of the receivers that share them', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.nat(500), { minLength: 1, maxLength: 8 }), { maxLength: 6 }),
        (groups) => {
          const elements = groups.flatMap((ids) =>
            ids.length === 1 ? pieces(true, ids[0]!, 9) : data(true, ...ids),
          );
          const seen = [0, 1, 2].map((receiver) => {
            const ids: number[] = [];
            const kept = filterElements(elements, formatOf(true), (value) => idOf(value) % 3 === receiver);
            filterElements(kept, formatOf(true), (value) => ids.push(idOf(value)) > 0);
            return ids;
          });
          for (const [receiver, ids] of seen.entries())
            assert.deepEqual(
              ids,
              groups.flat().filter((id) => id % 3 === receiver),
            );
        },
      ),
    );
  });
});

describe('records in flight whose edge has other hashes now', () => {
  it('get or lose them, whole again if they were in pieces', () => {
    const inPieces = (hashed: boolean) => [data(hashed, 1, 2), WATERMARK, ...pieces(hashed, 3, 2, 9)];
    const whole = (hashed: boolean) => [
      data(hashed, 1, 2),
      WATERMARK,
      { kind: ElementKind.spanEnd, bytes: segment(hashed, 3) },
    ];
    const ofValue = (value: unknown) => hashOf(idOf(value));
    assert.deepEqual(changeHashes(inPieces(false), formatOf(false), ofValue), whole(true));
    assert.deepEqual(changeHashes(inPieces(true), formatOf(true), undefined), whole(false));
    // The key selector of a job may change: hashes are those of this run.
    const other = changeHashes([data(true, 3)], formatOf(true), () => hashOf(99));
    assert.equal(new DataView(other[0]!.bytes.buffer).getInt32(0, true), hashOf(99));
    assert.deepEqual(changeHashes(other, formatOf(true), ofValue), [data(true, 3)]);
  });
});
