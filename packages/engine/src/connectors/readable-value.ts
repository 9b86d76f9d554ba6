/** A value as text for people: what the print sink writes. Never throws, never longer than it needs to be. */

const DEPTH_MAX = 8;
const CHARACTERS_MAX = 100_000;

/** A string as it is; everything else JSON-like, with bigints, dates, maps and sets shown too. */
export function readableValue(value: unknown): string {
  const text = typeof value === 'string' ? value : shown(value, 0);
  return text.length > CHARACTERS_MAX
    ? `${text.slice(0, CHARACTERS_MAX)}… (${text.length} characters)`
    : text;
}

function shown(value: unknown, depth: number): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (depth >= DEPTH_MAX) return '…';
  try {
    return shownObject(value, depth);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

function shownObject(value: object, depth: number): string {
  const inner = (item: unknown): string => shown(item, depth + 1);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof Map)
    return `Map{${[...value].map(([k, v]) => `${inner(k)}: ${inner(v)}`).join(', ')}}`;
  if (value instanceof Set) return `Set{${[...value].map(inner).join(', ')}}`;
  if (value instanceof Error) return String(value);
  if (ArrayBuffer.isView(value)) return `${value.constructor.name}(${value.byteLength} bytes)`;
  if (Array.isArray(value)) return `[${value.map(inner).join(',')}]`;
  const fields = Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}:${inner(item)}`);
  return `{${fields.join(',')}}`;
}
