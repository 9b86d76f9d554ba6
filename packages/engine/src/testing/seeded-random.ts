/** Numbers that look random and are a function of a seed: what contract suites decide by, so that a failure repeats. */

export interface SeededRandom {
  /** A whole number from 0 to `bound` - 1. */
  below(bound: number): number;
  /** True once in `times`. */
  oneIn(times: number): boolean;
  /** One of `items`. */
  pick<T>(items: readonly T[]): T;
}

/** Mulberry32 by Tommy Ettinger (public domain). */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  return { below, oneIn: (times) => below(times) === 0, pick: (items) => items[below(items.length)]! };
}
