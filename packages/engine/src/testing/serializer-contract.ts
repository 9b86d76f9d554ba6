/**
 * What every serializer must do, whatever its type: registered as tests by whoever makes a serializer. Generated and
 * general codecs, and keys, are held to the same rules.
 *
 * Invariants that are checked are those of ByteView (I1) and TypeSerializer. fast-check is loaded when the tests run:
 * whoever makes an arbitrary has it, and everybody else does not need it.
 */
import { deepStrictEqual, notStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Arbitrary } from 'fast-check';
import {
  ByteView,
  checkTypeDescription,
  createSerializer,
  decodeFromBytes,
  encodeToBytes,
  type TypeInformation,
  type TypeSerializer,
} from '../types/index.ts';

/** Room for one value; arbitraries must stay below it. */
const ROOM_BYTES = 1 << 16;
/** What memory holds before anything is written, to see what was. */
const UNTOUCHED = 0xa5;
const RUNS = 60;

/** Registers the contract's tests for serializers of `type`; `arbitrary` makes values of it. */
export function serializerContract<T>(
  name: string,
  type: TypeInformation<T> | undefined,
  arbitrary: Arbitrary<T>,
  create: (type: TypeInformation<T> | undefined) => TypeSerializer<T> = (t) => createSerializer(t, name),
): void {
  describe(`the serializer of ${name}`, () => {
    const serializer = create(type);
    const check = async (property: (value: T, offset: number) => void) => {
      const { default: fc } = await import('fast-check');
      fc.assert(fc.property(arbitrary, fc.integer({ min: 0, max: 9 }), property), { numRuns: RUNS });
    };

    it('gives the value back, in its own memory and in shared memory, at every offset', async () => {
      for (const buffer of [new ArrayBuffer(ROOM_BYTES), new SharedArrayBuffer(ROOM_BYTES)]) {
        const view = new ByteView(buffer);
        await check((value, offset) => expectRoundTrip(serializer, view, value, offset));
      }
    });

    it('answers false and leaves the position and what is behind the limit alone if a value does not fit', async () => {
      await check((value, offset) => expectNoOverflow(serializer, value, offset));
    });

    it('skips exactly what it decodes', async () => {
      await check((value) => {
        const view = ByteView.of(encodeToBytes(serializer, value));
        serializer.skip(view);
        strictEqual(view.pos, view.limit);
      });
    });

    it('copies values, if it copies, as encoding and decoding would, and shares nothing that can be changed', async () => {
      const { copy, copyGiven } = serializer;
      await check((value) => {
        const decoded = decodeFromBytes(serializer, encodeToBytes(serializer, value));
        for (const copied of [copy?.(decoded), copyGiven?.(value)]) {
          if (copied === undefined) continue;
          deepStrictEqual(copied, decoded);
          expectNothingShared(decoded, copied);
          expectNothingShared(value, copied);
        }
      });
    });

    it('says the size of its values if all have the same', async () => {
      if (serializer.fixedSizeBytes === undefined) return;
      await check((value) => strictEqual(encodeToBytes(serializer, value).length, serializer.fixedSizeBytes));
    });

    it('reads with a serializer made from its description as JSON what it wrote', async () => {
      const description: unknown = JSON.parse(JSON.stringify(serializer.description));
      deepStrictEqual(description, serializer.description);
      checkTypeDescription(description, name);
      const other = create({ description });
      await check((value) => {
        const bytes = encodeToBytes(serializer, value);
        deepStrictEqual(encodeToBytes(other, decodeFromBytes(other, bytes)), bytes);
      });
    });
  });
}

function expectRoundTrip<T>(serializer: TypeSerializer<T>, view: ByteView, value: T, offset: number): void {
  view.u8.fill(UNTOUCHED, 0, offset);
  view.pos = offset;
  view.limit = ROOM_BYTES;
  ok(serializer.encode(view, value));
  const end = view.pos;
  // Two in a row: a serializer must not read beyond its own value.
  ok(serializer.encode(view, value));
  const endOfBoth = view.pos;
  strictEqual(endOfBoth - end, end - offset);
  view.pos = offset;
  const first = serializer.decode(view);
  strictEqual(view.pos, end);
  const second = serializer.decode(view);
  strictEqual(view.pos, endOfBoth);
  ok(view.u8.subarray(0, offset).every((byte) => byte === UNTOUCHED));
  // What was decoded must not change with the memory it came from.
  view.u8.fill(UNTOUCHED, offset, endOfBoth);
  deepStrictEqual(first, value);
  deepStrictEqual(second, value);
}

/** The parts of the copy are no objects of the original; both are equal. */
function expectNothingShared(original: unknown, copy: unknown): void {
  if (typeof original !== 'object' || original === null) return;
  notStrictEqual(copy, original);
  if (original instanceof Map || original instanceof Set) {
    expectNothingShared([...original], [...(copy as Iterable<unknown>)]);
    return;
  }
  for (const [name, part] of Object.entries(original)) {
    expectNothingShared(part, (copy as Record<string, unknown>)[name]);
  }
}

function expectNoOverflow<T>(serializer: TypeSerializer<T>, value: T, offset: number): void {
  const size = encodeToBytes(serializer, value).length;
  const view = ByteView.allocate(offset + size + 16);
  // All limits below the size, or a sample of them if it is big.
  const step = Math.max(1, size >>> 6);
  for (let room = 0; room < size; room += step) {
    view.u8.fill(UNTOUCHED);
    view.pos = offset;
    view.limit = offset + room;
    strictEqual(serializer.encode(view, value), false, `fits ${room} bytes of ${size}`);
    strictEqual(view.pos, offset);
    ok(
      view.u8.subarray(view.limit).every((byte) => byte === UNTOUCHED),
      `wrote beyond a limit of ${room} bytes`,
    );
  }
  view.pos = offset;
  view.limit = offset + size;
  strictEqual(serializer.encode(view, value), true, `does not fit exactly ${size} bytes`);
}
