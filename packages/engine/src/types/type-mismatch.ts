/**
 * The message for a value that is not of its declared type: where it was used, where in the value, what was expected,
 * what was found, what to do. Off the hot path: called once before an error is thrown.
 */
import { ignoreRejection, MillraceError } from '../base/index.ts';
import { avroTypeOf } from './avro-schema.ts';
import { formatType } from './type-description.ts';
import type { TypeDescription } from './type-information.ts';

const TEXT_MAX = 40;
/** The path into a value that contains itself has no end. */
const PATH_MAX = 120;

/**
 * Names a value in a message: its type and, if it is short, itself. Never throws, whatever the value is. Values that are
 * named were refused.
 */
export function describeValue(value: unknown): string {
  ignoreRejection(value);
  switch (typeof value) {
    case 'string':
      return `string ${quoted(value)}`;
    case 'number':
      return `number ${Object.is(value, -0) ? '-0' : value}`;
    case 'bigint':
      return `bigint ${shortened(`${value}n`)}`;
    case 'boolean':
      return `boolean ${value}`;
    case 'function':
      return value.name === '' ? 'a function' : `function ${shortened(value.name)}`;
    case 'object':
      return value === null ? 'null' : describeObject(value);
    default:
      return typeof value === 'symbol' ? 'a symbol' : 'undefined';
  }
}

function describeObject(value: object): string {
  if (Array.isArray(value)) return `array of ${value.length}`;
  try {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== null && prototype !== Object.prototype) {
      const name = (prototype as { constructor?: { name?: unknown } }).constructor?.name;
      if (typeof name === 'string' && name !== '' && name !== 'Object')
        return `instance of ${shortened(name)}`;
    }
    return `object { ${shortened(Object.keys(value).join(', '))} }`;
  } catch {
    return 'an object';
  }
}

function quoted(text: string): string {
  const whole = text.length <= TEXT_MAX;
  return (
    JSON.stringify(whole ? text : `${text.slice(0, TEXT_MAX)}...`) +
    (whole ? '' : ` of length ${text.length}`)
  );
}

function shortened(text: string): string {
  return text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX)}...`;
}

/** Adds a field's name to a path: `order` and `price` give `order.price`. */
export function fieldPath(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

/** Adds the key of a map to a path: `prices` and "eur" give `prices["eur"]`. */
export function entryPath(key: unknown): string {
  if (typeof key === 'string') return `[${quoted(key)}]`;
  const plain = typeof key === 'number' || typeof key === 'bigint' || typeof key === 'boolean';
  return `[${plain ? shortened(String(key)) : describeValue(key)}]`;
}

/** Adds the keys of a map to a path, where one of them is what does not fit. */
export const KEYS_PATH = '.keys()';

/** What the whole value is called at the head of a path: its pojo's name, as a variable of that type would be. */
export function rootPath(type: TypeDescription): string {
  const name = nameOf(type);
  if (!/^[A-Za-z_$][\w$]*$/.test(name)) return 'value';
  return name.charAt(0).toLowerCase() + name.slice(1);
}

function nameOf(type: TypeDescription): string {
  if (type.kind === 'pojo') return type.name;
  if (type.kind !== 'avro') return '';
  return avroTypeOf(type.schema).name?.split('.').at(-1) ?? '';
}

/** The error for a value that does not fit. `root` is the whole value, `found` the part of it at `path`. */
export function typeMismatch(
  usedBy: string,
  path: string,
  expected: TypeDescription,
  found: unknown,
  root: unknown,
): MillraceError {
  const isPromise = root instanceof Promise;
  ignoreRejection(root);
  return mismatchError('TYPE_MISMATCH', {
    usedBy,
    path: isPromise ? 'the value' : path,
    expected: formatType(expected),
    found: isPromise ? 'a Promise' : describeValue(found),
    advice: isPromise ? PROMISE_ADVICE : advise(expected, found),
  });
}

/** What to do about a promise where a value is expected. */
export const PROMISE_ADVICE = 'Functions answer at once: use mapAsync instead of map to wait for the result';

/** The facts of a mismatch, already put into words. `advice` is a sentence without its full stop. */
export interface MismatchFacts {
  readonly usedBy: string;
  readonly path: string;
  readonly expected: string;
  readonly found: string;
  readonly advice: string;
}

/** The error for facts. Details hold usedBy, path, expected and found. */
export function mismatchError(
  code: 'TYPE_MISMATCH' | 'KEY_NOT_ALLOWED',
  facts: MismatchFacts,
): MillraceError {
  const { usedBy, expected, found, advice } = facts;
  const path = facts.path.length <= PATH_MAX ? facts.path : `${facts.path.slice(0, PATH_MAX)}...`;
  return new MillraceError(code, `${usedBy}: ${path} must be ${expected} but is ${found}. ${advice}.`, {
    details: { usedBy, path, expected, found },
  });
}

function advise(expected: TypeDescription, found: unknown): string {
  const type = formatType(expected);
  if (found === undefined) return `Set it, or describe it as Types.OPTIONAL(${type}) if it may be missing`;
  if (found === null) return `Set it, or describe it as Types.NULLABLE(${type}) if it may be null`;
  if (found instanceof Promise) return 'Await it before it gets here';
  if (typeof found === 'number') {
    if (expected.kind === 'long' && Number.isInteger(found)) {
      return 'A LONG is exact up to 2^53 - 1; describe it as Types.BIGINT or Types.DOUBLE';
    }
    if (expected.kind === 'long') return 'Round it, or describe it as Types.DOUBLE';
    if (expected.kind === 'int' && Number.isSafeInteger(found)) return 'Describe it as Types.LONG';
    if (expected.kind === 'int') return 'Round it, or describe it as Types.DOUBLE';
  }
  if (typeof found === 'bigint' && (expected.kind === 'long' || expected.kind === 'int')) {
    return 'Convert it by Number(...), or describe it as Types.BIGINT';
  }
  if (expected.kind === 'map' && typeof found === 'object') {
    return 'A MAP is a JavaScript Map; for an object use Types.ROW (fixed fields) or Types.RECORD (any fields)';
  }
  if (expected.kind === 'record' && found instanceof Map)
    return 'A RECORD is a plain object; for a Map use Types.MAP';
  if (expected.kind === 'set' && Array.isArray(found))
    return 'A SET is a JavaScript Set; for an array use Types.LIST';
  const isListed = expected.kind === 'enum' || expected.kind === 'literal';
  if (isListed && typeof found !== 'object') return `Add it to the values of the ${expected.kind}`;
  return 'Change the value, or the description of its type';
}
