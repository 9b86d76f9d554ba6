/** The general encoding, reading and skipping; see write-value.ts for the layout. Trusts the bytes. */
import { readBigInt, skipBigInt } from './binary-codec.ts';
import { makeBinary } from './binary-kinds.ts';
import type { ByteView } from './byte-view.ts';
import { readString, skipString } from './string-codec.ts';
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

/** Reads the value at `p` and sets `view.pos` behind it. The value shares no memory with the view. */
export function readValue(view: ByteView, p: number): unknown {
  const tag = view.u8[p]!;
  switch (tag) {
    case TAG_STRING:
      return readString(view, view.u8, p + 1);
    case TAG_NUMBER:
      view.pos = p + 9;
      return view.dv.getFloat64(p + 1, true);
    case TAG_OBJECT:
      return readFields(view, p, {});
    case TAG_ARRAY:
      return readArray(view, p);
    case TAG_BIGINT:
      return readBigInt(view, p + 1);
    case TAG_DATE:
      view.pos = p + 9;
      return new Date(view.dv.getFloat64(p + 1, true));
    case TAG_BARE_OBJECT:
      return readFields(view, p, Object.create(null) as Record<string, unknown>);
    case TAG_MAP:
      return readMap(view, p);
    case TAG_SET:
      return readSet(view, p);
    case TAG_BINARY: {
      const end = endOf(view, p);
      view.pos = end;
      return makeBinary(view.u8[p + HEAD_BYTES]!, view.u8.slice(p + HEAD_BYTES + 1, end));
    }
    default:
      view.pos = p + 1;
      return readConstant(tag);
  }
}

function readConstant(tag: number): unknown {
  switch (tag) {
    case TAG_NULL:
      return null;
    case TAG_FALSE:
      return false;
    case TAG_TRUE:
      return true;
    case TAG_UNDEFINED:
    case TAG_HOLE:
      return undefined;
    default:
      throw new RangeError(`no kind of value has the tag ${tag}: the bytes are not an encoded value`);
  }
}

function endOf(view: ByteView, p: number): number {
  return p + HEAD_BYTES + view.dv.getUint32(p + 1, true);
}

function readFields(view: ByteView, p: number, object: Record<string, unknown>): Record<string, unknown> {
  const end = endOf(view, p);
  let q = p + HEAD_BYTES;
  while (q < end) {
    const name = readString(view, view.u8, q);
    const value = readValue(view, view.pos);
    q = view.pos;
    if (name === '__proto__') defineField(object, name, value);
    else object[name] = value;
  }
  view.pos = end;
  return object;
}

/** Assigning to __proto__ would change the prototype. */
export function defineField(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

function readArray(view: ByteView, p: number): unknown[] {
  const end = endOf(view, p);
  const array: unknown[] = [];
  let q = p + HEAD_BYTES;
  while (q < end) {
    if (view.u8[q] === TAG_HOLE) {
      array.length++;
      q++;
    } else {
      array.push(readValue(view, q));
      q = view.pos;
    }
  }
  view.pos = end;
  return array;
}

function readMap(view: ByteView, p: number): Map<unknown, unknown> {
  const end = endOf(view, p);
  const map = new Map<unknown, unknown>();
  let q = p + HEAD_BYTES;
  while (q < end) {
    const key = readValue(view, q);
    map.set(key, readValue(view, view.pos));
    q = view.pos;
  }
  view.pos = end;
  return map;
}

function readSet(view: ByteView, p: number): Set<unknown> {
  const end = endOf(view, p);
  const set = new Set<unknown>();
  let q = p + HEAD_BYTES;
  while (q < end) {
    set.add(readValue(view, q));
    q = view.pos;
  }
  view.pos = end;
  return set;
}

/** The position behind the value at `p`. */
export function skipValue(view: ByteView, p: number): number {
  const tag = view.u8[p]!;
  if (tag >= TAG_ARRAY) return endOf(view, p);
  switch (tag) {
    case TAG_STRING:
      return skipString(view, p + 1);
    case TAG_BIGINT:
      return skipBigInt(view, p + 1);
    case TAG_NUMBER:
    case TAG_DATE:
      return p + 9;
    default:
      return p + 1;
  }
}
