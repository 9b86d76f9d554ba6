/** Looks for a bug on purpose, as if nobody knew of it. */
import type { Finding } from '../checkers/finding.ts';
import { type RunOptions, type RunResult, runSeed } from '../scenarios/run-seed.ts';
import { BUGS } from './all-bugs.ts';
import type { Bug } from './bug.ts';

/** What came of the search. Plain data. */
export interface BugSearch {
  readonly bug: Omit<Bug, 'plant'>;
  /** The first run with a finding; undefined: it was not found. */
  readonly found: RunResult | undefined;
  /** The same run without the bug: there must be nothing. */
  readonly without: Finding | undefined;
}

/** Plants the bug of that name, runs seeds from 1 on until one shows it, takes it out again and runs that seed once more. */
export async function findBug(name: string): Promise<BugSearch> {
  const known = BUGS.find((each) => each.name === name);
  if (known === undefined) throw new Error(`there is no bug ${name}`);
  const { plant, ...bug } = known;
  const options: RunOptions = { workload: bug.workload, focus: bug.focus };
  const undo = plant();
  let found: RunResult | undefined;
  try {
    // What is left of undisturbed runs may be wrong, too.
    const undisturbed = new Map();
    for (let seed = 1; seed <= bug.seedsMax && found === undefined; seed++) {
      const result = await runSeed(seed, { ...options, undisturbed });
      if (result.finding !== undefined) found = result;
    }
  } finally {
    undo();
  }
  const without = found === undefined ? undefined : (await runSeed(found.seed, options)).finding;
  return { bug, found, without };
}

/** What is wrong with the search, as a part of a sentence; undefined if the bug was found as it should be. */
export function problemOf({ bug, found, without }: BugSearch): string | undefined {
  if (found === undefined) return `NOT FOUND within ${bug.seedsMax} seeds`;
  const { kind } = found.finding!;
  if (!bug.kinds.includes(kind)) return `found as ${kind} instead of ${bug.kinds.join(' or ')}`;
  return without === undefined
    ? undefined
    : `FOUND WITHOUT THE BUG, TOO: ${without.kind}: ${without.message}`;
}
