/**
 * Size classes of rows, in units of 8 bytes: what the free lists of a key group are kept by.
 *
 * A row is allocated with the size of a class, so that a freed row serves the next one of its class as it is. Up to 32
 * units each size is a class of its own, above there are four a doubling: at most a fifth of a row is slack.
 */

/** No row is smaller: a free row needs room for its links. */
export const MIN_ROW_UNITS = 2;

const EXACT_UNITS_MAX = 32;
const EXACT_CLASSES = EXACT_UNITS_MAX - MIN_ROW_UNITS + 1;

/** The largest size there is a class for; the size field of a row has room for it less one. */
const LARGEST_UNITS = 4096;

/** Number of classes. */
export const SIZE_CLASSES = EXACT_CLASSES + 4 * (Math.log2(LARGEST_UNITS) - Math.log2(EXACT_UNITS_MAX));

/** Units of each class, ascending. */
export const CLASS_UNITS: Int32Array = new Int32Array(SIZE_CLASSES);
for (let i = 0; i < SIZE_CLASSES; i++) {
  const steps = i - EXACT_CLASSES;
  const base = EXACT_UNITS_MAX << (steps >> 2);
  CLASS_UNITS[i] = steps < 0 ? MIN_ROW_UNITS + i : base + ((steps & 3) + 1) * (base >> 2);
}

/** The smallest class whose rows have at least `units` (1 .. 4096). */
export function classFor(units: number): number {
  if (units <= EXACT_UNITS_MAX) return units < MIN_ROW_UNITS ? 0 : units - MIN_ROW_UNITS;
  const log = 31 - Math.clz32(units - 1);
  const above = units - (1 << log);
  const step = 1 << (log - 2);
  return EXACT_CLASSES + ((log - 5) << 2) + ((above + step - 1) >> (log - 2)) - 1;
}

/** The largest class whose rows have at most `units` (2 .. 4096): the free list of a row of that size. */
export function classWithin(units: number): number {
  const sizeClass = classFor(units);
  return CLASS_UNITS[sizeClass] === units ? sizeClass : sizeClass - 1;
}
