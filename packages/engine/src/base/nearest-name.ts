/** Suggestions for names that were misspelt: the known name that differs least from the given one. */

const LONGEST_COMPARED = 200;

/**
 * The candidate with the fewest insertions, deletions, replacements and swaps of neighbours from `name`, ignoring case;
 * undefined if none is near (more than a third of the longer one differs). The first of equals.
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  const wanted = name.slice(0, LONGEST_COMPARED).toLowerCase();
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const other = candidate.slice(0, LONGEST_COMPARED).toLowerCase();
    const allowed = Math.max(1, Math.floor(Math.max(wanted.length, other.length) / 3));
    if (Math.abs(wanted.length - other.length) > allowed) continue;
    const distance = editDistance(wanted, other);
    if (distance <= allowed && distance < least) {
      nearest = candidate;
      least = distance;
    }
  }
  return nearest;
}

/** Optimal string alignment distance. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) cost = Math.min(cost, beforeLast[j - 2]! + 1);
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}
