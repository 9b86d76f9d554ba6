/**
 * The bytes of a string. Called by generated codecs and by the general codec, once a string: the hottest code here.
 *
 *     n < 24, every unit < 256     [n] [n bytes, one a unit]
 *     n < 86                       [128 + form] [u8 length in bytes] [bytes]
 *     otherwise                    [132 + form] [u32 length in bytes] [bytes]
 *
 * where n counts UTF-16 code units and form is 0 ASCII, 1 UTF-8, 2 UTF-16 (strings with a lone surrogate, which UTF-8
 * would lose).
 *
 * Invariants:
 * I1 Nothing is written at or beyond `limit`.
 * I2 Equal strings have equal bytes and different strings different bytes: the form depends on the string alone, never
 *    on the room. Keys are compared by their bytes.
 */
import { generateCode } from '../base/index.ts';
import type { ByteView } from './byte-view.ts';

/** Strings below this length are written in a loop: a call into C++ costs more than 24 iterations. */
const SHORT_UNITS = 24;
/** Below this length even three bytes a unit fit the one byte of length. */
const MEDIUM_UNITS = 86;

const FORM_ASCII = 0;
const FORM_UTF8 = 1;
const FORM_UTF16 = 2;
const MEDIUM = 128;
const LONG = 132;

/**
 * Writes `s` at `p` and returns the position behind it, or -1 if it does not fit below `limit`. `u8` is `view.u8`,
 * which the caller holds already.
 */
export function writeString(view: ByteView, u8: Uint8Array, s: string, p: number, limit: number): number {
  const n = s.length;
  if (n < SHORT_UNITS) {
    const end = p + 1 + n;
    // No form is shorter than one byte a unit.
    if (end > limit) return -1;
    const q = p + 1;
    let all = 0;
    for (let i = 0; i < n; i++) {
      const unit = s.charCodeAt(i);
      u8[q + i] = unit;
      all |= unit;
    }
    if (all < 256) {
      u8[p] = n;
      return end;
    }
  }
  return writeLongString(view, s, p, limit);
}

function writeLongString(view: ByteView, s: string, p: number, limit: number): number {
  const n = s.length;
  const start = p + (n < MEDIUM_UNITS ? 2 : 5);
  const room = limit - start;
  if (n > room) return -1;
  if (n * 3 <= room) {
    const bytes = view.buf.utf8Write(s, start, n * 3);
    if (bytes === n) return writeHead(view, FORM_ASCII, n, bytes, p);
    if (s.isWellFormed()) return writeHead(view, FORM_UTF8, n, bytes, p);
    return writeUtf16(view, s, p, start, room);
  }
  if (!s.isWellFormed()) return writeUtf16(view, s, p, start, room);
  const bytes = Buffer.byteLength(s, 'utf8');
  if (bytes > room) return -1;
  view.buf.utf8Write(s, start, bytes);
  return writeHead(view, bytes === n ? FORM_ASCII : FORM_UTF8, n, bytes, p);
}

function writeUtf16(view: ByteView, s: string, p: number, start: number, room: number): number {
  const bytes = s.length * 2;
  if (bytes > room) return -1;
  view.buf.ucs2Write(s, start, bytes);
  return writeHead(view, FORM_UTF16, s.length, bytes, p);
}

function writeHead(view: ByteView, form: number, units: number, bytes: number, p: number): number {
  if (units < MEDIUM_UNITS) {
    view.u8[p] = MEDIUM + form;
    view.u8[p + 1] = bytes;
    return p + 2 + bytes;
  }
  view.u8[p] = LONG + form;
  view.dv.setUint32(p + 1, bytes, true);
  return p + 5 + bytes;
}

/** Reads the string at `p` and sets `view.pos` behind it. `u8` is `view.u8`. */
export const readString = compileReader();

/**
 * String.fromCharCode with all units in one call, chosen by a switch on the length, is two to four times faster than
 * any loop, slice or TextDecoder; writing out 24 cases by hand would only be longer.
 */
function compileReader(): (view: ByteView, u8: Uint8Array, p: number) => string {
  let cases = `case 0: return '';\n`;
  for (let n = 1; n < SHORT_UNITS; n++) {
    const units = Array.from({ length: n }, (_, i) => (i === 0 ? 'u8[q]' : `u8[q + ${i}]`));
    cases += `case ${n}: return fromCharCode(${units.join(', ')});\n`;
  }
  const body = `return function readString(view, u8, p) {
  const n = u8[p];
  if (n < ${SHORT_UNITS}) {
    const q = p + 1;
    view.pos = q + n;
    switch (n) {\n${cases}}
  }
  return readLong(view, p, n);
};`;
  return generateCode(
    'string decoder',
    { fromCharCode: String.fromCharCode, readLong: readLongString },
    body,
  );
}

function readLongString(view: ByteView, p: number, head: number): string {
  const isLong = head >= LONG;
  const start = p + (isLong ? 5 : 2);
  const end = start + (isLong ? view.dv.getUint32(p + 1, true) : view.u8[p + 1]!);
  view.pos = end;
  const form = head - (isLong ? LONG : MEDIUM);
  if (form === FORM_ASCII) return view.buf.latin1Slice(start, end);
  if (form === FORM_UTF8) return view.buf.utf8Slice(start, end);
  return view.buf.ucs2Slice(start, end);
}

/** The position behind the string at `p`. */
export function skipString(view: ByteView, p: number): number {
  const head = view.u8[p]!;
  if (head < SHORT_UNITS) return p + 1 + head;
  return head < LONG ? p + 2 + view.u8[p + 1]! : p + 5 + view.dv.getUint32(p + 1, true);
}
