/**
 * The general encoding, writing: a value of any kind that is data, each with a tag of one byte before it (value-tags.ts).
 *
 *     undefined, null, false, true     [tag]
 *     number, date                     [tag] [float64]
 *     string, bigint                   [tag] [as in string-codec.ts, binary-codec.ts]
 *     array, map, set                  [tag] [u32 length of what follows] [values; of a map keys and values in turn]
 *     object                           [tag] [u32 length of what follows] [name as a string, value] ...
 *     binary                           [tag] [u32 length of what follows] [u8 kind] [bytes]
 *
 * Every value stands for itself: no table of names or references is shared between values or processes. A value is a
 * tree: an object that occurs twice comes back as two objects, and one that contains itself is refused.
 *
 * With `canonical` equal keys get equal bytes: names and entries of maps and sets sorted, 0 for -0, one NaN.
 */
import { writeBigInt } from './binary-codec.ts';
import { binaryKindOf, bytesOf, canonicalBinaryKind } from './binary-kinds.ts';
import type { ByteView } from './byte-view.ts';
import { writeString } from './string-codec.ts';
import { entryPath, fieldPath, KEYS_PATH } from './type-mismatch.ts';
import { FULL, REFUSED, refuse, refusedAt } from './value-refusal.ts';
import {
  HEAD_BYTES,
  TAG_ARRAY,
  TAG_BARE_OBJECT,
  TAG_BIGINT,
  TAG_BINARY,
  TAG_DATE,
  TAG_FALSE,
  TAG_HOLE,
  TAG_MAP,
  TAG_NULL,
  TAG_NUMBER,
  TAG_OBJECT,
  TAG_SET,
  TAG_STRING,
  TAG_TRUE,
  TAG_UNDEFINED,
} from './value-tags.ts';

/** Deeper values are refused: recursion must end before the stack does. */
const DEPTH_MAX = 1000;
/** From this depth on ancestors are remembered, to find a value that contains itself. Ordinary values pay nothing. */
const DEPTH_SUSPICIOUS = 32;

/** One writing of one value: what stays the same at every depth. */
interface Writing {
  readonly view: ByteView;
  readonly limit: number;
  readonly canonical: boolean;
  ancestors: object[] | undefined;
}

/** Writes `value` at `p`; returns the position behind it, FULL, or REFUSED. Throws only what getters throw. */
export function writeValue(
  view: ByteView,
  value: unknown,
  p: number,
  limit: number,
  canonical: boolean,
): number {
  // The common kinds need no state.
  if (typeof value === 'string') {
    if (p >= limit) return FULL;
    view.u8[p] = TAG_STRING;
    return writeString(view, view.u8, value, p + 1, limit);
  }
  return write({ view, limit, canonical, ancestors: undefined }, value, p, 0);
}

/** The same, not canonical, of a part of a value: `depth` says how deep it lies. For code that writes the value around it. */
export function writePart(view: ByteView, value: unknown, p: number, limit: number, depth: number): number {
  return write({ view, limit, canonical: false, ancestors: undefined }, value, p, depth);
}

/** Writes a number so that equal numbers have equal bytes: 0 for -0, and the one NaN that Java writes. */
export function writeKeyNumber(dv: DataView, p: number, value: number): void {
  if (Number.isNaN(value)) {
    // Which of the many NaNs setFloat64 would write is up to the engine.
    dv.setUint32(p, 0, true);
    dv.setUint32(p + 4, 0x7ff8_0000, true);
  } else dv.setFloat64(p, value + 0, true);
}

function write(w: Writing, value: unknown, p: number, depth: number): number {
  const { view, limit } = w;
  if (p >= limit) return FULL;
  switch (typeof value) {
    case 'string':
      view.u8[p] = TAG_STRING;
      return writeString(view, view.u8, value, p + 1, limit);
    case 'number':
      return writeNumber(w, TAG_NUMBER, value, p);
    case 'boolean':
      view.u8[p] = value ? TAG_TRUE : TAG_FALSE;
      return p + 1;
    case 'undefined':
      view.u8[p] = TAG_UNDEFINED;
      return p + 1;
    case 'bigint':
      view.u8[p] = TAG_BIGINT;
      return writeBigInt(view, value, p + 1, limit);
    case 'object':
      if (value !== null) return writeObject(w, value, p, depth);
      view.u8[p] = TAG_NULL;
      return p + 1;
    default:
      return refuse(value);
  }
}

function writeNumber(w: Writing, tag: number, value: number, p: number): number {
  if (p + 9 > w.limit) return FULL;
  w.view.u8[p] = tag;
  if (w.canonical) writeKeyNumber(w.view.dv, p + 1, value);
  else w.view.dv.setFloat64(p + 1, value, true);
  return p + 9;
}

function writeObject(w: Writing, value: object, p: number, depth: number): number {
  if (depth >= DEPTH_SUSPICIOUS) {
    const why = whyTooDeep(w, value, depth);
    if (why !== undefined) return refuse(value, why);
  }
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype === Object.prototype) return writeFields(w, TAG_OBJECT, value, p, depth);
  if (Array.isArray(value)) return isPlainArray(prototype) ? writeArray(w, value, p, depth) : refuse(value);
  if (prototype === null) return writeFields(w, w.canonical ? TAG_OBJECT : TAG_BARE_OBJECT, value, p, depth);
  if (prototype === Map.prototype) return writeMap(w, value as Map<unknown, unknown>, p, depth);
  if (prototype === Set.prototype) return writeSet(w, value as Set<unknown>, p, depth);
  if (prototype === Date.prototype) return writeNumber(w, TAG_DATE, (value as Date).getTime(), p);
  const kind = binaryKindOf(prototype);
  if (kind !== undefined) return writeBinary(w, kind, value as ArrayBufferView, p);
  // An object literal of another realm (node:vm, as test runners use it).
  if (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf')) {
    return writeFields(w, TAG_OBJECT, value, p, depth);
  }
  return refuse(value);
}

function isPlainArray(prototype: object | null): boolean {
  return prototype === Array.prototype || prototype?.constructor?.name === 'Array';
}

function whyTooDeep(w: Writing, value: object, depth: number): string | undefined {
  const ancestors = (w.ancestors ??= []);
  // Deeper entries are left over from a part that is finished.
  ancestors.length = depth - DEPTH_SUSPICIOUS;
  if (ancestors.includes(value)) return 'It contains itself: keep an id instead of the object';
  if (depth >= DEPTH_MAX) return `Values are nested ${DEPTH_MAX} deep at most: keep a list instead`;
  ancestors.push(value);
  return undefined;
}

/** Writes tag and length before the contents that end at `end`. */
function finish(w: Writing, tag: number, p: number, end: number): number {
  w.view.u8[p] = tag;
  w.view.dv.setUint32(p + 1, end - p - HEAD_BYTES, true);
  return end;
}

function writeFields(w: Writing, tag: number, value: object, p: number, depth: number): number {
  const { view, limit } = w;
  if (p + HEAD_BYTES > limit) return FULL;
  if (Object.getOwnPropertySymbols(value).length > 0) {
    return refuse(value, 'Leave out its properties that are named by symbols: they cannot be kept or sent');
  }
  const names = Object.keys(value);
  if (w.canonical) names.sort();
  let q = p + HEAD_BYTES;
  for (const name of names) {
    q = writeString(view, view.u8, name, q, limit);
    if (q < 0) return q;
    q = write(w, (value as Record<string, unknown>)[name], q, depth + 1);
    if (q < 0) return q === REFUSED ? refusedAt(fieldPath(name)) : q;
  }
  return finish(w, tag, p, q);
}

function writeArray(w: Writing, value: readonly unknown[], p: number, depth: number): number {
  let q = p + HEAD_BYTES;
  if (q > w.limit) return FULL;
  for (let i = 0; i < value.length; i++) {
    const element = value[i];
    const isHole = element === undefined && !w.canonical && !(i in value);
    q = write(w, element, q, depth + 1);
    if (q < 0) return q === REFUSED ? refusedAt(`[${i}]`) : q;
    if (isHole) w.view.u8[q - 1] = TAG_HOLE;
  }
  return finish(w, TAG_ARRAY, p, q);
}

function writeMap(w: Writing, value: ReadonlyMap<unknown, unknown>, p: number, depth: number): number {
  let q = p + HEAD_BYTES;
  if (q > w.limit) return FULL;
  const starts: number[] = [];
  for (const [key, element] of value) {
    if (w.canonical) starts.push(q);
    q = write(w, key, q, depth + 1);
    if (q < 0) return q === REFUSED ? refusedAt(KEYS_PATH) : q;
    q = write(w, element, q, depth + 1);
    if (q < 0) return q === REFUSED ? refusedAt(entryPath(key)) : q;
  }
  if (w.canonical) sortEntries(w.view.u8, starts, q);
  return finish(w, TAG_MAP, p, q);
}

function writeSet(w: Writing, value: ReadonlySet<unknown>, p: number, depth: number): number {
  let q = p + HEAD_BYTES;
  if (q > w.limit) return FULL;
  const starts: number[] = [];
  for (const element of value) {
    if (w.canonical) starts.push(q);
    q = write(w, element, q, depth + 1);
    if (q < 0) return q === REFUSED ? refusedAt(KEYS_PATH) : q;
  }
  if (w.canonical) sortEntries(w.view.u8, starts, q);
  return finish(w, TAG_SET, p, q);
}

/** Puts the entries that begin at `starts`, one behind the other up to `end`, in the order of their bytes. */
function sortEntries(u8: Uint8Array, starts: readonly number[], end: number): void {
  const entries = starts.map((start, i) => u8.slice(start, starts[i + 1] ?? end));
  entries.sort((a, b) => Buffer.compare(a, b));
  let q = starts[0] ?? end;
  for (const entry of entries) {
    u8.set(entry, q);
    q += entry.length;
  }
}

function writeBinary(w: Writing, kind: number, value: ArrayBuffer | ArrayBufferView, p: number): number {
  const bytes = bytesOf(value);
  const end = p + HEAD_BYTES + 1 + bytes.length;
  if (end > w.limit) return FULL;
  w.view.u8[p + HEAD_BYTES] = w.canonical ? canonicalBinaryKind(kind) : kind;
  w.view.u8.set(bytes, p + HEAD_BYTES + 1);
  return finish(w, TAG_BINARY, p, end);
}
