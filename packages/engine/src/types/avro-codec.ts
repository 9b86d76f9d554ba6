/**
 * The bytes of values that an Avro schema describes. Called by generated codecs.
 *
 *     avro     [u32 length] [the value in Avro's binary encoding]
 *
 * Invariants: as in string-codec.ts. What the library would write as something else (avro-lenient-values.ts) is refused.
 */
import { type LenientCheck, lenientCheckOf, type Misfit } from './avro-lenient-values.ts';
import { type AvroType, avroName, avroTypeOf, branchesOf } from './avro-schema.ts';
import type { ByteView } from './byte-view.ts';
import { describeValue, fieldPath, PROMISE_ADVICE } from './type-mismatch.ts';
import { FULL, type REFUSED, refuseAs } from './value-refusal.ts';

/** What writes the values of a schema. */
export interface AvroWriter {
  readonly type: AvroType;
  readonly check: LenientCheck | undefined;
}

/** Makes the writer for the schema of a description. */
export function avroWriterOf(schema: string): AvroWriter {
  const type = avroTypeOf(schema);
  return { type, check: lenientCheckOf(type) };
}

/** Writes `value` at `p`; returns the position behind it, FULL, or REFUSED. Throws only what getters throw. */
export function writeAvro(
  view: ByteView,
  writer: AvroWriter,
  value: unknown,
  p: number,
  limit: number,
): number {
  const from = p + 4;
  if (from > limit) return FULL;
  let size: number;
  try {
    const misfit = writer.check?.(value);
    if (misfit !== undefined) return refuseMisfit(misfit);
    size = writer.type.encode(value, view.buf.subarray(from, limit));
  } catch (error) {
    return refuseMisfit(misfitBehind(error, writer.type, value));
  }
  if (size < 0) return FULL;
  view.dv.setUint32(p, size, true);
  return from + size;
}

/** Reads the value at `p` and sets `view.pos` behind it. The value shares no memory with the view. */
export function readAvro(view: ByteView, type: AvroType, p: number): unknown {
  const end = p + 4 + view.dv.getUint32(p, true);
  view.pos = end;
  return type.fromBuffer(view.buf.subarray(p + 4, end));
}

function refuseMisfit({ path, found, expected }: Misfit): typeof REFUSED {
  const advice = adviceFor(expected, found);
  return refuseAs({ path, found: describeValue(found), expected: `Avro ${avroName(expected)}`, advice });
}

/** The place behind an error of the encoder; rethrows what is no misfit. Off the hot path. */
function misfitBehind(error: unknown, type: AvroType, value: unknown): Misfit {
  if (error instanceof RangeError || value instanceof Promise)
    return { path: '', found: value, expected: type };
  let first:
    | { readonly steps: readonly string[]; readonly found: unknown; readonly expected: AvroType }
    | undefined;
  try {
    type.isValid(value, {
      errorHook: (steps: readonly string[], found: unknown, expected: AvroType) => {
        first ??= { steps, found, expected };
      },
    });
  } catch {
    // A getter threw again.
  }
  if (first === undefined) throw error;
  return { path: pathOf(value, first.steps), found: first.found, expected: first.expected };
}

function pathOf(value: unknown, steps: readonly string[]): string {
  let path = '';
  let at = value;
  for (const step of steps) {
    path += Array.isArray(at) ? `[${step}]` : fieldPath(step);
    at = (at as Readonly<Record<string, unknown>> | undefined)?.[step];
  }
  return path;
}

function adviceFor(expected: AvroType, found: unknown): string {
  if (found instanceof Promise) return PROMISE_ADVICE;
  if (found === undefined)
    return 'Set it, give the field a default in the schema, or null in a union with null';
  if (found instanceof Map) return 'A map of Avro is an object: Object.fromEntries(map)';
  if (found instanceof Uint8Array && !Buffer.isBuffer(found)) {
    return 'Bytes of Avro are a Buffer: Buffer.from(bytes)';
  }
  if (expected.typeName === 'union:wrapped') {
    return `Wrap it in an object that names the branch, such as { ${JSON.stringify(branchesOf(expected)[0]!.branchName)}: ... }`;
  }
  if (expected.typeName === 'long' && typeof found === 'number' && Number.isInteger(found)) {
    return 'A long of Avro is a number here, which is exact up to 2^53 - 1';
  }
  return 'Change the value, or the schema; it may also be nested too deep or contain itself';
}
