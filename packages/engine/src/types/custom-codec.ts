/**
 * The bytes of values that a serializer of the user writes. Called by generated codecs.
 *
 *     custom     [u32 length] [what `serialize` wrote]
 *
 * Invariants: as in string-codec.ts. The length lets a value be stepped over, and kept, without its serializer. Whatever
 * the user's code throws becomes an error that names the serializer.
 */
import { ignoreRejection, MillraceError } from '../base/index.ts';
import { ByteView } from './byte-view.ts';
import { type AnyCustomSerializer, EncodedCustom } from './custom-type.ts';
import { BytesInput, type DataInput } from './data-input.ts';
import { BytesOutput } from './data-output.ts';
import { hashBytes } from './hash-code.ts';
import { describeValue, PROMISE_ADVICE } from './type-mismatch.ts';
import { FULL, REFUSED, refuseAs } from './value-refusal.ts';

const HEAD_BYTES = 4;

/** Writes `value` at `p`; returns the position behind it, FULL, or REFUSED. Throws nothing. */
export function writeCustom(
  view: ByteView,
  serializer: AnyCustomSerializer | undefined,
  value: unknown,
  p: number,
  limit: number,
): number {
  const from = p + HEAD_BYTES;
  if (from > limit) return FULL;
  if (value instanceof EncodedCustom) return writeEncoded(view, value.bytes, p, limit);
  if (serializer === undefined) {
    return refuseWith('a serializer', value, 'Describe the type by Types.CUSTOM in the program that writes');
  }
  if (value instanceof Promise) return refuseWith(nameOf(serializer), value, PROMISE_ADVICE);
  const output = new BytesOutput(view, from, limit);
  try {
    const answer: unknown = serializer.serialize(value, output);
    if (answer instanceof Promise) {
      ignoreRejection(answer);
      return refuseWith(nameOf(serializer), value, 'Its serialize must write at once, not return a Promise');
    }
  } catch (error) {
    return refuseWith(nameOf(serializer), value, `Its serialize threw: ${messageOf(error)}`);
  }
  const { end } = output;
  if (end !== FULL) view.dv.setUint32(p, end - from, true);
  return end;
}

function writeEncoded(view: ByteView, bytes: Uint8Array, p: number, limit: number): number {
  const end = p + HEAD_BYTES + bytes.length;
  if (end > limit) return FULL;
  view.dv.setUint32(p, bytes.length, true);
  view.u8.set(bytes, p + HEAD_BYTES);
  return end;
}

/**
 * Reads the value at `p` and sets `view.pos` behind it. Without a serializer it is an EncodedCustom. Throws
 * SERIALIZER_FAILED; `usedBy` begins the message.
 */
export function readCustom(
  view: ByteView,
  serializer: AnyCustomSerializer | undefined,
  p: number,
  usedBy: string,
): unknown {
  const from = p + HEAD_BYTES;
  const end = from + view.dv.getUint32(p, true);
  let value: unknown;
  if (serializer === undefined) value = new EncodedCustom(view.u8.slice(from, end));
  else {
    const who = `${usedBy}: ${nameOf(serializer)}: its deserialize`;
    value = readAll(new BytesInput(view, from, end), who, (input) => serializer.deserialize(input));
  }
  view.pos = end;
  return value;
}

/** Reads what another version of the serializer wrote. Throws SERIALIZER_FAILED. */
export function readOldCustom(
  serializer: AnyCustomSerializer,
  savedVersion: number,
  { bytes }: EncodedCustom,
): unknown {
  const who = `${nameOf(serializer)}: its readOld of version ${savedVersion}`;
  return readAll(BytesInput.of(bytes), who, (input) => serializer.readOld!(input, savedVersion));
}

function readAll(input: BytesInput, who: string, read: (input: DataInput) => unknown): unknown {
  let value: unknown;
  try {
    value = read(input);
  } catch (cause) {
    throw failed(`${who} threw: ${messageOf(cause)}`, cause);
  }
  if (value instanceof Promise) {
    ignoreRejection(value);
    throw failed(`${who} must answer at once, not return a Promise`);
  }
  if (input.remaining > 0) {
    throw failed(`${who} left ${input.remaining} bytes unread; it must read all that was written`);
  }
  return value;
}

let scratch = ByteView.allocate(256);

/** Java's hashCode of a key; undefined if its serializer refuses it. */
export function hashCustom(serializer: AnyCustomSerializer | undefined, value: unknown): number | undefined {
  for (;;) {
    const end = writeCustom(scratch, serializer, value, 0, scratch.limit);
    if (end === REFUSED) return undefined;
    if (end === FULL) scratch = ByteView.allocate(scratch.limit * 2);
    else if (serializer?.hashCode === undefined) return hashBytes(scratch.u8, HEAD_BYTES, end);
    else break;
  }
  const code: unknown = serializer.hashCode(value);
  if (typeof code === 'number' && (code | 0) === code) return code;
  refuseWith(
    nameOf(serializer),
    value,
    `Its hashCode gave ${describeValue(code)}, not an integer of 32 bits`,
  );
  return undefined;
}

function refuseWith(expected: string, found: unknown, advice: string): typeof REFUSED {
  return refuseAs({ path: '', expected, found: describeValue(found), advice });
}

function nameOf({ name, version }: AnyCustomSerializer): string {
  return `CUSTOM(${name}, version ${version})`;
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}

function failed(why: string, cause?: unknown): MillraceError {
  return new MillraceError('SERIALIZER_FAILED', `${why}.`, { cause });
}
