/**
 * A value as a short text, for messages about the record at which something failed. Called when an error is on its way only.
 *
 * Invariants:
 * I1 It never throws and runs no code of the user's: getters are not called, `toString` and `toJSON` neither. (Traps of a
 *    proxy cannot be avoided; what they throw is caught.)
 * I2 The text has at most `maxLength` characters, and reading stops when it is full; of bytes it only says how many.
 */

/** Deeper objects are named only. */
const DEPTH_MAX = 4;

/** `{id: 7, name: "x", items: [1, 2]}`. What does not fit ends with `…`. */
export function elementText(value: unknown, maxLength = 200): string {
  const text = new BoundedText(maxLength);
  append(text, value, 0);
  return text.toString();
}

class BoundedText {
  private readonly maxLength: number;
  private text = '';

  constructor(maxLength: number) {
    this.maxLength = maxLength;
  }

  get isFull(): boolean {
    return this.text.length > this.maxLength;
  }

  add(part: string): void {
    if (!this.isFull) this.text += part;
  }

  toString(): string {
    return this.isFull ? `${this.text.slice(0, this.maxLength - 1)}…` : this.text;
  }
}

function append(text: BoundedText, value: unknown, depth: number): void {
  switch (typeof value) {
    case 'string':
      // Longer than any text may be.
      return text.add(JSON.stringify(value.slice(0, 1000)));
    case 'bigint':
      // Written out, a great number takes long.
      return text.add(BigInt.asIntN(1024, value) === value ? `${value}n` : 'a large bigint');
    case 'symbol':
      return text.add('a symbol');
    case 'function':
      return text.add('a function');
    case 'object':
      if (value === null) return text.add('null');
      try {
        return appendObject(text, value, depth);
      } catch {
        return text.add('an object that cannot be read');
      }
    default:
      return text.add(Object.is(value, -0) ? '-0' : String(value));
  }
}

function appendObject(text: BoundedText, value: object, depth: number): void {
  if (value instanceof Date) {
    const timeMs = Date.prototype.getTime.call(value);
    return text.add(Number.isNaN(timeMs) ? 'an invalid Date' : new Date(timeMs).toISOString());
  }
  if (ArrayBuffer.isView(value)) return text.add(`${nameOf(value)}(${value.byteLength} bytes)`);
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer)
    return text.add(`${nameOf(value)}(${value.byteLength} bytes)`);
  const name = nameOf(value);
  if (depth === DEPTH_MAX) return text.add(Array.isArray(value) ? '[…]' : `${name} {…}`.trimStart());
  if (Array.isArray(value)) return appendArray(text, value, depth);
  if (value instanceof Map) {
    return appendList(text, `${name} {`, Map.prototype.entries.call(value), '}', ([key, item]) => {
      append(text, key, depth + 1);
      text.add(' => ');
      append(text, item, depth + 1);
    });
  }
  if (value instanceof Set) {
    return appendList(text, `${name} {`, Set.prototype.values.call(value), '}', (item) =>
      append(text, item, depth + 1),
    );
  }
  const keys = value instanceof Error ? ['message', ...Object.keys(value)] : Object.keys(value);
  appendList(text, name === '' ? '{' : `${name} {`, keys, '}', (key) => appendField(text, value, key, depth));
}

function appendArray(text: BoundedText, value: readonly unknown[], depth: number): void {
  const indices = (function* () {
    for (let index = 0; index < value.length; index++) yield index;
  })();
  appendList(text, '[', indices, ']', (index) => appendValue(text, value, String(index), depth));
}

function appendList<T>(
  text: BoundedText,
  open: string,
  items: Iterable<T>,
  close: string,
  add: (item: T) => void,
): void {
  text.add(open);
  let isFirst = true;
  for (const item of items) {
    if (text.isFull) return;
    if (!isFirst) text.add(', ');
    isFirst = false;
    add(item);
  }
  text.add(close);
}

function appendField(text: BoundedText, object: object, key: string, depth: number): void {
  text.add(
    /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key)
      ? `${key}: `
      : `${JSON.stringify(key.slice(0, 1000))}: `,
  );
  appendValue(text, object, key, depth);
}

/** I1 */
function appendValue(text: BoundedText, object: object, key: string, depth: number): void {
  const property = Object.getOwnPropertyDescriptor(object, key);
  if (property?.get === undefined) append(text, property?.value, depth + 1);
  else text.add('a getter');
}

/** Of its class; empty for plain objects and what has none. */
function nameOf(value: object): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (typeof prototype !== 'object' || prototype === null || prototype === Object.prototype) return '';
  const made: unknown = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value;
  const name = typeof made === 'function' ? Object.getOwnPropertyDescriptor(made, 'name')?.value : '';
  return typeof name === 'string' && name !== 'Object' ? name.slice(0, 60) : '';
}
