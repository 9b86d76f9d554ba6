/**
 * What a configuration key is: its name and old names, the type of its values, its default and its meaning.
 *
 * The options themselves are in the registry CONFIG_OPTIONS; `Configuration` holds values. A value type reads what a
 * file, an object or a setter gives (`unknown`) and answers with the typed value, or throws CONFIG_INVALID saying what
 * was expected; who calls it adds the key and the place.
 */
import { type Duration, formatDuration, parseDuration } from './duration.ts';
import { MillraceError } from './error.ts';
import { formatMemorySize, type MemorySize, parseMemorySize } from './memory-size.ts';

/** `later`: the value is checked and stored and nothing else, because what it controls does not exist yet. */
export type OptionEffect = 'now' | 'later';

/** A type of values. `T` is what the program sees; `name` is what the documentation says. */
export interface ValueType<T> {
  readonly name: string;
  /** Throws CONFIG_INVALID with a sentence that begins with "expected" or says what is wrong. */
  parse(raw: unknown): T;
}

/** A key of the configuration. `T` includes undefined if the option has no default. */
export interface ConfigOption<T = unknown> {
  readonly key: string;
  /** The name of the value type, for people. */
  readonly type: string;
  /** As the program sees it: milliseconds for durations, bytes for amounts of memory. */
  readonly defaultValue: T;
  readonly description: string;
  /** Still read when `key` is absent, with a warning. */
  readonly deprecatedKeys: readonly string[];
  readonly effect: OptionEffect;
  readonly parse: (raw: unknown) => NonNullable<T>;
}

interface OptionText {
  readonly description: string;
  readonly deprecatedKeys?: readonly string[];
  readonly effect?: OptionEffect;
}

/** An option with a default. */
export function optionWithDefault<T extends NonNullable<unknown>>(
  key: string,
  type: ValueType<T>,
  defaultValue: NoInfer<T>,
  text: OptionText,
): ConfigOption<T> {
  const parse = (raw: unknown): NonNullable<T> => type.parse(raw);
  return { ...optionWithoutDefault(key, type, text), defaultValue, parse };
}

/** An option that is absent unless somebody sets it. */
export function optionWithoutDefault<T extends NonNullable<unknown>>(
  key: string,
  type: ValueType<T>,
  { description, deprecatedKeys = [], effect = 'now' }: OptionText,
): ConfigOption<T | undefined> {
  const parse = (raw: unknown): NonNullable<T> => type.parse(raw);
  return { key, type: type.name, defaultValue: undefined, description, deprecatedKeys, effect, parse };
}

export const booleanValue: ValueType<boolean> = {
  name: 'boolean',
  parse(raw) {
    if (typeof raw === 'boolean') return raw;
    const text = typeof raw === 'string' ? raw.trim().toLowerCase() : undefined;
    if (text === 'true' || text === 'false') return text === 'true';
    throw invalid('expected true or false');
  },
};

export const textValue: ValueType<string> = {
  name: 'text',
  parse(raw) {
    const text = typeof raw === 'object' || raw === undefined ? '' : String(raw).trim();
    if (text === '') throw invalid('expected a text that is not empty');
    return text;
  },
};

/** The directory of something: a URI or a path, below the root. */
export const locationValue: ValueType<string> = {
  name: 'URI or path',
  parse(raw) {
    const text = textValue.parse(raw);
    if (/^[a-z][a-z0-9+.-]*\/\//i.test(text)) {
      throw invalid('expected a URI such as file:///data/checkpoints (the colon is missing) or a path');
    }
    if (/^([a-z][a-z0-9+.-]*:)?\/*$/i.test(text)) throw invalid('expected a directory below the root');
    return text;
  },
};

/** A whole number of at least `min` and at most `max`. */
export function integerValue({ min = Number.MIN_SAFE_INTEGER, max = 0x7fffffff } = {}): ValueType<number> {
  return {
    name: 'integer',
    parse(raw) {
      const number = numberOf(raw);
      if (number === undefined || !Number.isSafeInteger(number)) throw invalid('expected a whole number');
      return inRange(number, min, max, String);
    },
  };
}

/** A finite number of at least `min` and at most `max`. */
export function doubleValue({ min = -Number.MAX_VALUE, max = Number.MAX_VALUE } = {}): ValueType<number> {
  return {
    name: 'number',
    parse(raw) {
      const number = numberOf(raw);
      if (number === undefined || !Number.isFinite(number)) throw invalid('expected a number');
      return inRange(number, min, max, String);
    },
  };
}

/** A duration of at least `minMs`; `zeroAllowed` lets 0 through below that. In milliseconds. */
export function durationValue({ minMs = 0, zeroAllowed = false } = {}): ValueType<number> {
  return {
    name: 'duration',
    parse(raw) {
      const ms = parseDuration(asText(raw));
      return ms === 0 && zeroAllowed ? 0 : inRange(ms, minMs, Number.MAX_SAFE_INTEGER, formatDuration);
    },
  };
}

/** An amount of memory between `minBytes` and `maxBytes`. In bytes. */
export function memoryValue({ minBytes = 0, maxBytes = Number.MAX_SAFE_INTEGER } = {}): ValueType<number> {
  return {
    name: 'memory',
    parse: (raw) => inRange(parseMemorySize(asText(raw)), minBytes, maxBytes, formatMemorySize),
  };
}

/** One of `values`, in any case. `aliases` are other spellings that are read too. */
export function enumValue<const V extends string>(
  values: readonly V[],
  aliases: Readonly<Record<string, V>> = {},
): ValueType<V> {
  const byName = new Map<string, V>(values.map((value) => [value.toLowerCase(), value]));
  for (const [alias, value] of Object.entries(aliases)) byName.set(alias, value);
  const name = `one of ${values.join(', ')}`;
  return {
    name,
    parse(raw) {
      const value = typeof raw === 'string' ? byName.get(raw.trim().toLowerCase()) : undefined;
      if (value === undefined) throw invalid(`expected ${name}`);
      return value;
    },
  };
}

/** Texts separated by `;`, or an array of texts. */
export const listValue: ValueType<readonly string[]> = {
  name: 'list',
  parse(raw) {
    const items = Array.isArray(raw) ? raw : typeof raw === 'string' ? raw.split(';') : undefined;
    if (items?.every((item) => typeof item === 'string') !== true) {
      throw invalid('expected texts separated by ";" or a list of texts');
    }
    return items.map((item) => item.trim()).filter((item) => item !== '');
  },
};

/** Texts by name: an object, or pairs `name:value` separated by `,`. */
export const mapValue: ValueType<Readonly<Record<string, string>>> = {
  name: 'map',
  parse(raw) {
    const entries = typeof raw === 'string' ? pairsOf(raw) : entriesOf(raw);
    if (entries?.every(([name, value]) => name !== '' && typeof value === 'string') !== true) {
      throw invalid('expected pairs name:value separated by "," or an object whose values are texts');
    }
    return Object.fromEntries(entries) as Record<string, string>;
  },
};

function entriesOf(raw: unknown): [string, unknown][] | undefined {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw) ? Object.entries(raw) : undefined;
}

function pairsOf(text: string): [string, unknown][] {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return pairs.map((pair) => {
    const colon = pair.indexOf(':');
    return [pair.slice(0, Math.max(colon, 0)).trim(), pair.slice(colon + 1).trim()];
  });
}

function numberOf(raw: unknown): number | undefined {
  if (typeof raw === 'number') return raw;
  return typeof raw === 'string' && /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(raw.trim())
    ? Number(raw)
    : undefined;
}

function asText(raw: unknown): Duration & MemorySize & string {
  return typeof raw === 'string' || typeof raw === 'number' ? String(raw) : typeof raw;
}

function inRange(value: number, min: number, max: number, format: (value: number) => string): number {
  if (value < min) throw invalid(`expected at least ${format(min)}`);
  if (value > max) throw invalid(`expected at most ${format(max)}`);
  return value;
}

function invalid(message: string): MillraceError {
  return new MillraceError('CONFIG_INVALID', message);
}
