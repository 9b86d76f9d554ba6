/**
 * The records of the benchmarks, the same in every process and run, and what counting them by key must give.
 *
 * Each subtask reads a buffer of its own: a shuffled sequence in which every key occurs equally often, and, at every
 * twentieth place, a record that does not pass the filter. All records take the same number of bytes.
 */
import { type Infer, type TypeInformation, Types } from '@millrace/engine';

/** Types of keys that are compared. */
export type KeyKind = 'string' | 'number';

const stringRecord = Types.ROW({ key: Types.STRING, value: Types.DOUBLE, ts: Types.LONG });
const numberRecord = Types.ROW({ key: Types.LONG, value: Types.DOUBLE, ts: Types.LONG });

export type CountRecord = Infer<typeof stringRecord> | Infer<typeof numberRecord>;

export interface CountInput {
  readonly keys: number;
  readonly keyKind: KeyKind;
}

/** Places of the buffer at which the filter drops the record. */
const DROPPED_EACH = 20;
/** Passing records of a buffer are at least so many, so that the source reads from memory, not from a cache. */
const PASSING_MIN = 65_536;

export function recordTypeOf(keyKind: KeyKind): TypeInformation<CountRecord> {
  return (keyKind === 'string' ? stringRecord : numberRecord) as TypeInformation<CountRecord>;
}

export function keyTypeOf(keyKind: KeyKind): TypeInformation<string | number> {
  return (keyKind === 'string' ? Types.STRING : Types.LONG) as TypeInformation<string | number>;
}

function passingRecords(keys: number): number {
  return Math.ceil(PASSING_MIN / keys) * keys;
}

/** Records in the buffer of one subtask. */
export function bufferRecords(keys: number): number {
  const passing = passingRecords(keys);
  return passing + Math.ceil(passing / (DROPPED_EACH - 1));
}

/** The number of the key at each place of the buffer of a subtask; -1 where the filter drops the record. */
function keyNumbers(keys: number, subtask: number): Int32Array {
  const order = new Int32Array(passingRecords(keys));
  for (let i = 0; i < order.length; i++) order[i] = i % keys;
  let state = 12_345 + subtask;
  for (let i = order.length - 1; i > 0; i--) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    const other = Math.floor(((state >>> 0) / 4_294_967_296) * (i + 1));
    const held = order[i]!;
    order[i] = order[other]!;
    order[other] = held;
  }
  const numbers = new Int32Array(bufferRecords(keys)).fill(-1);
  for (let i = 0, next = 0; i < numbers.length; i++) if (i % DROPPED_EACH !== 0) numbers[i] = order[next++]!;
  return numbers;
}

/** Makes the records of the buffer of a subtask, to be called for 0, 1, 2, ... */
export function recordMaker({ keys, keyKind }: CountInput, subtask: number): (index: number) => CountRecord {
  const numbers = keyNumbers(keys, subtask);
  return (index) => {
    const number = numbers[index]!;
    const known = 10_000_000 + Math.max(0, number);
    const record = { value: number < 0 ? 1 : 100 + (index & 1023), ts: 1_700_000_000_000 + index };
    return keyKind === 'string' ? { key: `key-${known}`, ...record } : { key: known, ...record };
  };
}

/**
 * In the first round the buffer is read in another order: the order in which keys come must not be the order in which
 * their state was laid out. Gives the place of record `index` of the first round.
 */
export function firstRoundOrder(records: number): (index: number) => number {
  let stride = Math.floor(records * 0.618_034) | 1;
  while (greatestCommonDivisor(stride, records) !== 1) stride += 2;
  return (index) => (index * stride) % records;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/** What comes out of counting: how many records, and the sum of all counts that were emitted. */
export interface CountTotals {
  readonly results: number;
  readonly sum: number;
}

/** The totals if each of `subtasks` sources emits `recordsEach` records: a key that occurs n times adds 1 + 2 + .. + n. */
export function expectedTotals(keys: number, subtasks: number, recordsEach: number): CountTotals {
  const counts = new Float64Array(keys);
  for (let subtask = 0; subtask < subtasks; subtask++) {
    const numbers = keyNumbers(keys, subtask);
    const size = numbers.length;
    const rounds = Math.floor(recordsEach / size);
    const rest = recordsEach % size;
    const placeOf = rounds === 0 ? firstRoundOrder(size) : (i: number) => i;
    for (let i = 0; i < size; i++) if (numbers[i]! >= 0) counts[numbers[i]!]! += rounds;
    for (let i = 0; i < rest; i++) {
      const number = numbers[placeOf(i)]!;
      if (number >= 0) counts[number]!++;
    }
  }
  let results = 0;
  let sum = 0;
  for (const count of counts) {
    results += count;
    sum += (count * (count + 1)) / 2;
  }
  return { results, sum };
}

/** Throws unless all records were counted exactly once. */
export function checkTotals(found: CountTotals, expected: CountTotals): void {
  if (found.results === expected.results && found.sum === expected.sum) return;
  throw new Error(
    `wrong result: ${found.results} counts that add up to ${found.sum}, ` +
      `expected ${expected.results} that add up to ${expected.sum}`,
  );
}
