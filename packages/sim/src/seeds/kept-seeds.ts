/**
 * Runs that once showed a fault, or that came to a rare place, by what they are: run by the tests for ever. What a seed draws
 * changes with the code that draws; a fault of the production code has a test of its own beside the code, too.
 */
export interface KeptSeed {
  readonly seed: number;
  readonly workload: string;
  readonly about: string;
}

export const KEPT_SEEDS: readonly KeptSeed[] = [
  {
    seed: 39,
    workload: 'slow-sink',
    about: 'what waits in the overflow lists is overtaken, and is there again after a kill',
  },
  {
    seed: 10,
    workload: 'slow-sink',
    about: 'data in flight is restored at another parallelism',
  },
  {
    seed: 7,
    workload: 'finished-tasks',
    about: 'the writers that ended first have their results committed by a checkpoint of the others',
  },
  {
    seed: 134,
    workload: 'keyed-counts',
    about: 'a task fails while the job stops with a savepoint',
  },
];
