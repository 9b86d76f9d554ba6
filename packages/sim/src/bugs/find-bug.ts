/** Looks for a bug on purpose, as if nobody knew of it. */
import { type RunResult, runSeed } from '../scenarios/run-seed.ts';
import { BUGS } from './all-bugs.ts';

/** What came of the search. */
export interface BugSearch {
  readonly name: string;
  readonly description: string;
  readonly seedsMax: number;
  /** The first run with a finding; undefined: it was not found. */
  readonly found: RunResult | undefined;
}

/** Plants the bug of that name for the rest of the process and runs seeds from 1 on until one shows it. */
export async function findBug(name: string): Promise<BugSearch> {
  const bug = BUGS.find((each) => each.name === name);
  if (bug === undefined) throw new Error(`there is no bug ${name}`);
  bug.plant();
  const { description, seedsMax, workload } = bug;
  for (let seed = 1; seed <= seedsMax; seed++) {
    const result = await runSeed(seed, { workload });
    if (result.finding !== undefined) return { name, description, seedsMax, found: result };
  }
  return { name, description, seedsMax, found: undefined };
}
