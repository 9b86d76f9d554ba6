/**
 * Amounts in sentences for people: three digits that matter, a unit that fits. Whoever writes to configuration files uses
 * `formatDuration` and `formatMemorySize`, which keep every digit.
 */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const BYTE_UNITS = ['kB', 'MB', 'GB', 'TB'] as const;

/** `450 ms`, `1.24 s`, `2 min 5 s`, `3 h 20 min`, `4 d 1 h`. */
export function readableDuration(ms: number): string {
  const whole = Math.round(ms);
  if (whole < SECOND) return `${whole} ms`;
  if (whole < MINUTE) return `${significant(whole / SECOND)} s`;
  if (whole < HOUR) return pair(whole, MINUTE, 'min', SECOND, 's');
  return whole < DAY ? pair(whole, HOUR, 'h', MINUTE, 'min') : pair(whole, DAY, 'd', HOUR, 'h');
}

/** `300 bytes`, `1.2 MB`; units are powers of 1000. */
export function readableBytes(bytes: number): string {
  if (bytes < 1000) return bytes === 1 ? '1 byte' : `${Math.round(bytes)} bytes`;
  let amount = bytes;
  let unit = -1;
  while (amount >= 999.5 && unit < BYTE_UNITS.length - 1) {
    amount /= 1000;
    unit++;
  }
  return `${significant(amount)} ${BYTE_UNITS[unit]!}`;
}

/** `1,234,567`. */
export function readableCount(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 record`, `1,234 records`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${readableCount(count)} ${count === 1 ? one : many}`;
}

function significant(amount: number): string {
  return String(Number(amount.toPrecision(3)));
}

function pair(ms: number, unit: number, name: string, part: number, partName: string): string {
  const rounded = Math.round(ms / part) * part;
  const rest = (rounded % unit) / part;
  const first = `${Math.floor(rounded / unit)} ${name}`;
  return rest === 0 ? first : `${first} ${rest} ${partName}`;
}
