/**
 * Amounts of memory as people write them: `5 mb`, `20 kb`; a plain number counts bytes. Multiples are binary, as in
 * Apache Flink's MemorySize.
 */
import { MillraceError } from './error.ts';

/** Bytes, or a text such as `'5 mb'`. */
export type MemorySize = number | string;

const KIB = 1024;

const UNITS: ReadonlyMap<string, number> = new Map([
  ...names(1, 'b', 'bytes'),
  ...names(KIB, 'k', 'kb', 'kibibytes'),
  ...names(KIB ** 2, 'm', 'mb', 'mebibytes'),
  ...names(KIB ** 3, 'g', 'gb', 'gibibytes'),
  ...names(KIB ** 4, 't', 'tb', 'tebibytes'),
]);

/**
 * Bytes of `value`. Throws CONFIG_INVALID with what is wrong (the caller adds which option) if it is no amount of memory,
 * negative, not whole or above 2^53.
 */
export function parseMemorySize(value: MemorySize): number {
  const text = String(value).trim();
  const [, digits, unit] = /^(\d+)\s*(\D*)$/.exec(text) ?? [];
  if (digits === undefined || unit === undefined) {
    throw invalid('expected an amount of memory such as "5 mb", "20 kb" or a number of bytes');
  }
  const factor = unit === '' ? 1 : UNITS.get(unit.trim().toLowerCase());
  if (factor === undefined) {
    throw invalid(`unknown unit "${unit.trim()}"; units are b, kb, mb, gb, tb (multiples of 1024)`);
  }
  const bytes = Number(digits) * factor;
  if (bytes > Number.MAX_SAFE_INTEGER) throw invalid(`${text} is more memory than can be counted`);
  return bytes;
}

/**
 * Bytes of a parameter of the API, above 0. Throws INVALID_ARGUMENT naming `what` (such as `withMaxPartSize(size)`) if it is
 * no amount of memory.
 */
export function memorySizeBytes(value: MemorySize, what: string): number {
  let objection = 'expected more than 0 bytes';
  try {
    const bytes = parseMemorySize(value);
    if (bytes > 0) return bytes;
  } catch (error) {
    objection = (error as Error).message;
  }
  throw new MillraceError('INVALID_ARGUMENT', `${what}: ${objection}, found ${JSON.stringify(value)}`);
}

/** `5242880` as `5 mb`: the largest unit that keeps the number whole. */
export function formatMemorySize(sizeBytes: number): string {
  const units: readonly (readonly [number, string])[] = [
    [KIB ** 3, 'gb'],
    [KIB ** 2, 'mb'],
    [KIB, 'kb'],
  ];
  const unit = sizeBytes === 0 ? undefined : units.find(([factor]) => sizeBytes % factor === 0);
  return unit === undefined ? `${sizeBytes} bytes` : `${sizeBytes / unit[0]} ${unit[1]}`;
}

function names(factor: number, ...units: string[]): [string, number][] {
  return units.map((unit) => [unit, factor]);
}

function invalid(message: string): MillraceError {
  return new MillraceError('CONFIG_INVALID', message);
}
