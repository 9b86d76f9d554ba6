/** Java's TimeUnit, for the methods that take a number and its unit. */
import { Duration, durationMs } from './duration.ts';
import { MillraceError } from './error.ts';

/** The unit of the number before it, as in `orderedWait(stream, fn, 5, TimeUnit.SECONDS)`. */
export const TimeUnit = {
  MILLISECONDS: 'MILLISECONDS',
  SECONDS: 'SECONDS',
  MINUTES: 'MINUTES',
  HOURS: 'HOURS',
  DAYS: 'DAYS',
} as const;

export type TimeUnit = (typeof TimeUnit)[keyof typeof TimeUnit];

const MILLIS: Readonly<Record<TimeUnit, (count: number) => number>> = {
  MILLISECONDS: Duration.ofMillis,
  SECONDS: Duration.ofSeconds,
  MINUTES: Duration.ofMinutes,
  HOURS: Duration.ofHours,
  DAYS: Duration.ofDays,
};

/** True for a unit; what other parameters may stand in its place is the caller's business. */
export function isTimeUnit(value: unknown): value is TimeUnit {
  return typeof value === 'string' && Object.hasOwn(MILLIS, value);
}

/**
 * Milliseconds of a duration and the unit after it, if there is one. Throws INVALID_ARGUMENT naming `what` for no duration,
 * and for a text with a unit: it has one already.
 */
export function durationWithUnitMs(value: Duration, unit: TimeUnit | undefined, what: string): number {
  if (unit === undefined) return durationMs(value, what);
  if (typeof value !== 'number') {
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `${what}: a text has its unit in itself, found "${value}" and TimeUnit.${unit}`,
    );
  }
  return durationMs(MILLIS[unit](value), what);
}
