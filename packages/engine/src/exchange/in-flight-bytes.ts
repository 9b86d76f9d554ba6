/**
 * The bytes of data in flight in a checkpoint: elements one after the other, each as
 *
 *     | kind u8 | length u32 | length bytes ... |
 *
 * little-endian, as docs/formats/in-flight.md draws it. Called by whoever writes and restores checkpoints; knows no file.
 */
import { assert, MillraceError } from '../base/index.ts';
import { type ElementKind, isInFlight } from './element.ts';
import type { InFlightElement } from './in-flight.ts';

const HEADER_BYTES = 5;

/** The elements in order, as bytes. Only records, watermarks and statuses. */
export function encodeElements(elements: readonly InFlightElement[]): Uint8Array {
  const sizeBytes = elements.reduce((sum, { bytes }) => sum + HEADER_BYTES + bytes.length, 0);
  const encoded = new Uint8Array(sizeBytes);
  const view = new DataView(encoded.buffer);
  let pos = 0;
  for (const { kind, bytes } of elements) {
    assert(isInFlight(kind), `an element of kind ${kind} is not kept in checkpoints`);
    view.setUint8(pos, kind);
    view.setUint32(pos + 1, bytes.length, true);
    encoded.set(bytes, pos + HEADER_BYTES);
    pos += HEADER_BYTES + bytes.length;
  }
  return encoded;
}

/**
 * The elements that `encodeElements` wrote. Their bytes are those of `bytes`, not copies. Throws SNAPSHOT_CORRUPT with the
 * place in `bytes`; which file and channel they are from the caller has to say.
 */
export function decodeElements(bytes: Uint8Array): InFlightElement[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const elements: InFlightElement[] = [];
  let pos = 0;
  while (pos < bytes.length) {
    if (pos + HEADER_BYTES > bytes.length) throw corrupt(`byte ${pos}: an element is cut off in its header`);
    const kind = view.getUint8(pos);
    const lengthBytes = view.getUint32(pos + 1, true);
    const start = pos + HEADER_BYTES;
    if (!isInFlight(kind as ElementKind))
      throw corrupt(`byte ${pos}: there is no element of kind ${kind} in flight`);
    if (lengthBytes > bytes.length - start)
      throw corrupt(`byte ${pos}: an element has ${lengthBytes} bytes, ${bytes.length - start} are there`);
    pos = start + lengthBytes;
    elements.push({ kind: kind as ElementKind, bytes: bytes.subarray(start, pos) });
  }
  return elements;
}

/** SNAPSHOT_CORRUPT; `what` continues the sentence. */
export function corrupt(what: string, cause?: unknown): MillraceError {
  return new MillraceError('SNAPSHOT_CORRUPT', `Data in flight of this snapshot is damaged: ${what}.`, {
    cause,
  });
}
