import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { hasCode } from '../base/index.ts';
import { ElementKind } from './element.ts';
import type { InFlightElement } from './in-flight.ts';
import { decodeElements, encodeElements } from './in-flight-bytes.ts';

const PAGE = readFileSync(new URL('../../../../docs/formats/in-flight.md', import.meta.url), 'utf8');

const hex = (text: string) => Uint8Array.from(Buffer.from(text.replaceAll(/\s/g, ''), 'hex'));

const EXAMPLE: readonly InFlightElement[] = [
  { kind: ElementKind.spanPart, bytes: hex('0a0b0c') },
  { kind: ElementKind.spanEnd, bytes: hex('0d') },
  { kind: ElementKind.data, bytes: hex('000000000000f03f 0141') },
  { kind: ElementKind.watermark, bytes: hex('000000000000f03f') },
  { kind: ElementKind.status, bytes: hex('01') },
];

const isCorrupt = (message: RegExp) => (error: Error) => {
  assert.match(error.message, message);
  return hasCode(error, 'SNAPSHOT_CORRUPT');
};

describe('data in flight as bytes', () => {
  it('are the example of docs/formats/in-flight.md', () => {
    const golden = hex(/## Example[\s\S]*?```\n([\s\S]*?)```/.exec(PAGE)![1]!);
    assert.deepEqual(encodeElements(EXAMPLE), golden);
    assert.deepEqual(decodeElements(golden), EXAMPLE);
  });

  it('are read as they were written, wherever they lie in a buffer', () => {
    const kind: fc.Arbitrary<ElementKind> = fc.constantFrom(0, 1, 2, 3, 4);
    const element = fc.record({ kind, bytes: fc.uint8Array({ maxLength: 300 }) }, { noNullPrototype: true });
    fc.assert(
      fc.property(fc.array(element, { maxLength: 10 }), fc.nat(9), (elements, before) => {
        const encoded = encodeElements(elements);
        const buffer = new Uint8Array(before + encoded.length + 3).fill(255);
        buffer.set(encoded, before);
        assert.deepEqual(decodeElements(buffer.subarray(before, before + encoded.length)), elements);
      }),
    );
  });

  it('are refused wherever they are cut off within an element', () => {
    const encoded = encodeElements(EXAMPLE);
    const ends = new Set(EXAMPLE.map((_, i) => encodeElements(EXAMPLE.slice(0, i)).length));
    for (let length = 0; length < encoded.length; length++) {
      const part = encoded.subarray(0, length);
      if (ends.has(length)) assert.doesNotThrow(() => decodeElements(part));
      else
        assert.throws(
          () => decodeElements(part),
          isCorrupt(/byte \d+: an element (is cut off|has \d+ bytes)/),
        );
    }
  });

  it('hold no barriers and no ends', () => {
    for (const kind of [ElementKind.barrier, ElementKind.cancelBarrier, ElementKind.endOfData, 8, 255]) {
      const element = { kind: kind as ElementKind, bytes: hex('') };
      assert.throws(() => encodeElements([element]), /is not kept in checkpoints/);
      const bytes = Uint8Array.of(kind, 0, 0, 0, 0);
      assert.throws(
        () => decodeElements(bytes),
        isCorrupt(new RegExp(`byte 0: there is no element of kind ${kind} `)),
      );
    }
  });
});
