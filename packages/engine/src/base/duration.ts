/**
 * Lengths of time as people write them: `10 s`, `500 ms`, `1 min`; a plain number counts milliseconds.
 *
 * Used by the configuration and by every setter of the API. Knows no clock. The units are those of Apache Flink's
 * TimeUtils; ISO 8601 (`PT10S`) is read as well, as Flink 2 does. Whole milliseconds only.
 */
import { MillraceError } from './error.ts';

/** Milliseconds, or a text such as `'5 s'`, `'500 ms'`, `'1 min'`, `'PT10S'`. */
export type Duration = number | string;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The names of units with the milliseconds of each. */
const UNITS: ReadonlyMap<string, number> = new Map([
  ...names(DAY, 'd', 'day', 'days'),
  ...names(HOUR, 'h', 'hour', 'hours'),
  ...names(MINUTE, 'min', 'm', 'minute', 'minutes'),
  ...names(SECOND, 's', 'sec', 'secs', 'second', 'seconds'),
  ...names(1, 'ms', 'milli', 'millis', 'millisecond', 'milliseconds'),
  ...names(1e-3, 'µs', 'μs', 'micro', 'micros', 'microsecond', 'microseconds'),
  ...names(1e-6, 'ns', 'nano', 'nanos', 'nanosecond', 'nanoseconds'),
]);

const ISO = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,3}))?S)?)?$/i;

const EXPECTED = 'expected a duration such as "10 s", "500 ms", "1 min" or a number of milliseconds';

/**
 * Milliseconds of `text`. Throws CONFIG_INVALID with what is wrong (the caller adds which option or parameter) if it is
 * no duration, negative, not a whole number of milliseconds or above 2^53.
 */
export function parseDuration(text: string): number {
  const trimmed = text.trim();
  const [, digits, unit] = /^(\d+)\s*(\D*)$/.exec(trimmed) ?? [];
  if (digits === undefined || unit === undefined) return parseIso(trimmed);
  const factor = unit === '' ? 1 : UNITS.get(unit.trim().toLowerCase());
  if (factor === undefined) {
    throw invalid(`unknown unit "${unit.trim()}"; units are d, h, min, s, ms (and their long names)`);
  }
  return whole(trimmed, factor < 1 ? Number(digits) / Math.round(1 / factor) : Number(digits) * factor);
}

/**
 * Milliseconds of a parameter of the API. Throws INVALID_ARGUMENT naming `what` (such as `setCheckpointTimeout(timeout)`)
 * if it is no duration.
 */
export function durationMs(value: Duration, what: string): number {
  try {
    if (typeof value === 'string') return parseDuration(value);
    if (typeof value !== 'number') throw invalid(EXPECTED);
    return whole(String(value), value);
  } catch (error) {
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `${what}: ${(error as Error).message}, found ${shown(value)}`,
      {
        cause: error,
      },
    );
  }
}

/** `90000` as `90 s`, `500` as `500 ms`: the largest unit that keeps the number whole. */
export function formatDuration(ms: number): string {
  const units: readonly (readonly [number, string])[] = [
    [DAY, 'd'],
    [HOUR, 'h'],
    [MINUTE, 'min'],
    [SECOND, 's'],
  ];
  const unit = ms === 0 ? undefined : units.find(([factor]) => ms % factor === 0);
  return unit === undefined ? `${ms} ms` : `${ms / unit[0]} ${unit[1]}`;
}

/** Java's way to write durations; the results are milliseconds. */
export const Duration = {
  /** Milliseconds as they are. */
  ofMillis: (millis: number): number => millis,
  /** Seconds in milliseconds. */
  ofSeconds: (seconds: number): number => seconds * SECOND,
  /** Minutes in milliseconds. */
  ofMinutes: (minutes: number): number => minutes * MINUTE,
  /** Hours in milliseconds. */
  ofHours: (hours: number): number => hours * HOUR,
  /** Days in milliseconds. */
  ofDays: (days: number): number => days * DAY,
};

/** Flink 1's way to write durations; the results are milliseconds. */
export const Time = {
  /** Milliseconds as they are. */
  milliseconds: Duration.ofMillis,
  /** Seconds in milliseconds. */
  seconds: Duration.ofSeconds,
  /** Minutes in milliseconds. */
  minutes: Duration.ofMinutes,
  /** Hours in milliseconds. */
  hours: Duration.ofHours,
  /** Days in milliseconds. */
  days: Duration.ofDays,
};

function names(factor: number, ...units: string[]): [string, number][] {
  return units.map((unit) => [unit, factor]);
}

function parseIso(text: string): number {
  const match = ISO.exec(text);
  if (match === null || /[PT]$/i.test(text)) throw invalid(EXPECTED);
  const [, days, hours, minutes, seconds, fraction] = match;
  const millis = Number((fraction ?? '').padEnd(3, '0'));
  const ms =
    Number(days ?? 0) * DAY +
    Number(hours ?? 0) * HOUR +
    Number(minutes ?? 0) * MINUTE +
    Number(seconds ?? 0) * SECOND +
    millis;
  return whole(text, ms);
}

function whole(text: string, ms: number): number {
  if (Number.isNaN(ms)) throw invalid(EXPECTED);
  if (ms < 0) throw invalid('a duration must not be negative');
  if (ms > Number.MAX_SAFE_INTEGER) throw invalid(`${text} is too long for a duration`);
  if (!Number.isInteger(ms)) throw invalid('a duration must be a whole number of milliseconds');
  return ms;
}

function invalid(message: string): MillraceError {
  return new MillraceError('CONFIG_INVALID', message);
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
