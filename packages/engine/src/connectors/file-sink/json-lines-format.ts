/**
 * Records as JSON lines (one JSON value a line). Pure. `FileSource.forJsonLines` with the type reads them back.
 *
 * | value | written as |
 * | --- | --- |
 * | string, boolean, null, finite number | itself |
 * | bigint | a string of digits: JSON numbers above 2^53 are read wrongly by most programs |
 * | Date | an ISO 8601 string |
 * | bytes | a base64 string |
 * | Map with string keys | an object |
 * | other Map | an array of [key, value] |
 * | Set | an array |
 * | a field that is undefined | left out |
 * | an object with toJSON | what toJSON gives |
 *
 * NaN and infinite numbers, undefined elsewhere, functions, symbols, invalid dates and cycles are refused: JSON.stringify
 * would silently change them.
 */
import { type RowFormat, UnwritableRecord } from './row-format.ts';

const DEPTH_MAX = 100;

/** The format. */
export function jsonLinesFormat<T>(): RowFormat<T> {
  return {
    name: 'JSON lines',
    suffix: '.jsonl',
    header: undefined,
    encode: (value) => `${JSON.stringify(isPlain(value, 0) ? value : toPlain(value, '', 0))}\n`,
  };
}

/** True if JSON.stringify writes `value` as the table says. The common case, without a copy. */
function isPlain(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object':
      break;
    default:
      return false;
  }
  if (value === null) return true;
  if (depth > DEPTH_MAX) return false;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (!isPlain(value[i], depth + 1)) return false;
    return true;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && (prototype === null || !isPlainClass(value))) return false;
  for (const name in value) {
    const field = (value as Record<string, unknown>)[name];
    if (field !== undefined && !isPlain(field, depth + 1)) return false;
  }
  return typeof (value as { toJSON?: unknown }).toJSON !== 'function';
}

/** An object of a class of the user, as opposed to one of JavaScript's own with contents that are no fields. */
function isPlainClass(value: object): boolean {
  return Object.prototype.toString.call(value) === '[object Object]';
}

function toPlain(value: unknown, at: string, depth: number): unknown {
  if (depth > DEPTH_MAX) throw refused(at, `deeper than ${DEPTH_MAX} (a cycle?)`);
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (Number.isFinite(value)) return value;
      throw refused(at, `${value}, which JSON cannot hold`);
    case 'bigint':
      return value.toString();
    case 'object':
      return value === null ? null : objectToPlain(value, at, depth);
    default:
      throw refused(at, value === undefined ? 'undefined' : `a ${typeof value}`);
  }
}

function objectToPlain(value: object, at: string, depth: number): unknown {
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw refused(at, 'an invalid date');
    return value.toISOString();
  }
  if (value instanceof Uint8Array)
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  if (value instanceof Map) return mapToPlain(value, at, depth);
  if (value instanceof Set) return [...value].map((item, i) => toPlain(item, `${at}[${i}]`, depth + 1));
  if (Array.isArray(value)) return Array.from(value, (item, i) => toPlain(item, `${at}[${i}]`, depth + 1));
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return toPlain(toJSON.call(value), at, depth + 1);
  if (!isPlainClass(value)) throw refused(at, `a ${value.constructor?.name ?? 'object'}`);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(
    fields.map(([name, field]) => [name, toPlain(field, fieldAt(at, name), depth + 1)]),
  );
}

function mapToPlain(map: ReadonlyMap<unknown, unknown>, at: string, depth: number): unknown {
  const entries = [...map];
  if (entries.every(([key]) => typeof key === 'string')) {
    return Object.fromEntries(
      entries.map(([key, item]) => [key, toPlain(item, fieldAt(at, String(key)), depth + 1)]),
    );
  }
  return entries.map(([key, item]) => [
    toPlain(key, `${at} key`, depth + 1),
    toPlain(item, `${at} value`, depth + 1),
  ]);
}

function fieldAt(at: string, name: string): string {
  return at === '' ? name : `${at}.${name}`;
}

function refused(at: string, found: string): UnwritableRecord {
  return new UnwritableRecord(
    `${at === '' ? 'the record' : `"${at}"`} is ${found}; expected what JSON can hold`,
  );
}
