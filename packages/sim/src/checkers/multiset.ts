/** Compares results whose order does not matter. */

/** The first element that is there too often or not often enough, as a sentence; undefined if there is none. */
export function firstDifference(found: Iterable<string>, expected: Iterable<string>): string | undefined {
  const counts = new Map<string, number>();
  for (const text of expected) counts.set(text, (counts.get(text) ?? 0) + 1);
  const wanted = new Map(counts);
  for (const text of found) counts.set(text, (counts.get(text) ?? 0) - 1);
  for (const [text, missing] of counts) {
    if (missing === 0) continue;
    const times = wanted.get(text) ?? 0;
    return `${text}: ${times - missing} instead of ${times} times`;
  }
  return undefined;
}
