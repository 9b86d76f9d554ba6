/**
 * Key groups: the arithmetic that puts each key into a group, and each group into a subtask.
 *
 * A key group is the smallest piece of keyed state that moves when the parallelism changes. Exchanges route by it, the
 * backends keep state by it, restores are assigned by it, and all must agree; so it is written here once.
 *
 * Invariants:
 * I1 The groups 0 .. maxParallelism - 1 are split among the subtasks without gap or overlap, in order.
 * I2 subtaskOf(g, p, m) is the one subtask i with rangeOf(i, p, m).first <= g <= rangeOf(i, p, m).last.
 * I3 parallelism * maxParallelism stays below 2^31 (both are at most 32768), so that plain arithmetic is exact.
 *
 * The same as Apache Flink's org.apache.flink.runtime.state.KeyGroupRangeAssignment.
 */
import { MillraceError } from '../base/index.ts';
import type { KeyGroupRange } from './handles.ts';

/** The largest number of key groups there may be. */
export const MAX_PARALLELISM_LIMIT = 32768;

/** The number of key groups of an operator of small parallelism whose max parallelism was not set. */
export const MAX_PARALLELISM_DEFAULT_MIN = 128;

/** The key group of a key. `hash` is KeySerializer.hash(key); `maxParallelism` is 1 .. 32768 and not checked. */
export function keyGroupOf(hash: number, maxParallelism: number): number {
  // Non-negative by negation; the one number without a positive counterpart, -2^31, becomes 0 by the mask. No branch: half of
  // all hashes are negative, in no order, and guessing wrong costs more than all of this.
  const sign = hash >> 31;
  return (((hash ^ sign) - sign) & 0x7fffffff) % maxParallelism;
}

/** The key groups of subtask `subtask` (0 .. parallelism - 1). Throws INVALID_ARGUMENT. */
export function rangeOf(subtask: number, parallelism: number, maxParallelism: number): KeyGroupRange {
  checkParallelism(parallelism, maxParallelism);
  if (!Number.isInteger(subtask) || subtask < 0 || subtask >= parallelism) {
    throw invalid(`subtask ${subtask} is not one of 0 .. ${parallelism - 1}`);
  }
  const first = Math.floor((subtask * maxParallelism + parallelism - 1) / parallelism);
  const last = Math.floor(((subtask + 1) * maxParallelism - 1) / parallelism);
  return { first, last };
}

/** The subtask that has `keyGroup` (0 .. maxParallelism - 1). Arguments are not checked: this runs once a record. */
export function subtaskOf(keyGroup: number, parallelism: number, maxParallelism: number): number {
  return Math.floor((keyGroup * parallelism) / maxParallelism);
}

/** The max parallelism of an operator for which none was set: room to grow, a power of two, at least 128. */
export function defaultMaxParallelism(parallelism: number): number {
  checkParallelism(parallelism, MAX_PARALLELISM_LIMIT);
  const wanted = parallelism + Math.floor(parallelism / 2);
  let power = MAX_PARALLELISM_DEFAULT_MIN;
  while (power < wanted) power *= 2;
  return Math.min(power, MAX_PARALLELISM_LIMIT);
}

/** Throws INVALID_ARGUMENT unless `maxParallelism` is an integer from 1 to 32768. */
export function checkMaxParallelism(maxParallelism: number): void {
  if (!Number.isInteger(maxParallelism) || maxParallelism < 1 || maxParallelism > MAX_PARALLELISM_LIMIT) {
    throw invalid(
      `max parallelism must be an integer from 1 to ${MAX_PARALLELISM_LIMIT}, not ${maxParallelism}`,
    );
  }
}

/** Throws INVALID_ARGUMENT unless both are in their ranges and `parallelism` is at most `maxParallelism`. */
export function checkParallelism(parallelism: number, maxParallelism: number): void {
  checkMaxParallelism(maxParallelism);
  if (!Number.isInteger(parallelism) || parallelism < 1) {
    throw invalid(`parallelism must be a positive integer, not ${parallelism}`);
  }
  if (parallelism > maxParallelism) {
    throw invalid(
      `parallelism ${parallelism} is above the max parallelism ${maxParallelism}; ` +
        'lower the one or raise the other (setMaxParallelism)',
    );
  }
}

function invalid(message: string): MillraceError {
  return new MillraceError('INVALID_ARGUMENT', message);
}
