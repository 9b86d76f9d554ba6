/** What readers of a database see after a run, and the usual comparisons of it with an undisturbed run. */
import type { Site } from '../world/site.ts';
import { firstDifference } from './multiset.ts';

/** In the order of the checkpoints that they belong to, and of a sink's writes within one. */
export function committedOf<T>(site: Site, database: string): T[] {
  return [...site.database<T>(database).transactions.values()]
    .filter(({ state }) => state === 'committed')
    .sort((a, b) => a.checkpointId! - b.checkpointId!)
    .flatMap(({ values }) => values);
}

/** The first result of a key, as a sentence, whose number is not higher than that of the one before it. */
export function firstOutOfOrder<T>(
  results: readonly T[],
  keyOf: (result: T) => string,
  numberOf: (result: T) => number,
): string | undefined {
  const last = new Map<string, number>();
  for (const result of results) {
    const [key, number] = [keyOf(result), numberOf(result)];
    const before = last.get(key);
    if (before !== undefined && number <= before)
      return `out of order: ${number} of ${key} came after ${before}`;
    last.set(key, number);
  }
  return undefined;
}

/** At least once: the first that is missing. */
export function firstMissing(found: Iterable<string>, expected: Iterable<string>): string | undefined {
  return firstDifference(new Set(found), new Set(expected));
}
