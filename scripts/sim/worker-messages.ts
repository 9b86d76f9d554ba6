/** What `npm run sim` and the processes that run the seeds for it say to each other. */
import type { BugSearch, Counts, RunResult } from '../../packages/sim/src/index.ts';

/** Work for one process. */
export type Order =
  | {
      readonly type: 'seeds';
      readonly first: number;
      readonly count: number;
      readonly workload: string | undefined;
      /** Every so many seeds one is run twice; 0: none. */
      readonly twiceEvery: number;
    }
  | { readonly type: 'bug'; readonly name: string };

/** Its answer. */
export type Answer =
  | {
      readonly type: 'seeds';
      readonly ran: number;
      readonly events: number;
      readonly lives: number;
      readonly coverage: Counts;
      /** The run that ended this order early. */
      readonly found: RunResult | undefined;
    }
  | { readonly type: 'bug'; readonly search: BugSearch };
