/**
 * Runs that once showed a fault, or that came to a rare place, by what they are: run by the tests for ever. What a seed draws
 * changes with the code that draws; a fault of the production code has a test of its own beside the code, too.
 */
export interface KeptSeed {
  readonly seed: number;
  /** Default: the seed draws it. */
  readonly workload?: string;
  readonly about: string;
}

export const KEPT_SEEDS: readonly KeptSeed[] = [
  {
    seed: 2030,
    workload: 'async-calls',
    about: 'a wall clock that is set back does not hold time-outs and retries up',
  },
  {
    seed: 2207,
    workload: 'async-calls',
    about: 'synchronous snapshots, one upon the other, do not keep an asynchronous operator from its retries',
  },
  {
    seed: 5,
    workload: 'slow-sink',
    about: 'what rings and overflow lists hold is overtaken, and is restored at another parallelism',
  },
  {
    seed: 10,
    workload: 'finished-tasks',
    about: 'writers that ended first have their results committed by a checkpoint of the others',
  },
  {
    seed: 1796031964649,
    about: 'a window that fired before a checkpoint fires again for a late record after the restore',
  },
  {
    seed: 1796029554112,
    about:
      'a barrier on a way around an edge that cannot be overtaken keeps its place: two tasks waited for each other',
  },
  {
    seed: 1796036380333,
    about:
      'a checkpoint whose process was killed before its name was durable is settled before it is restored from',
  },
  {
    seed: 428,
    workload: 'windows',
    about:
      'a window that had fired before a restart takes a record before the watermark is back, and fires again',
  },
  {
    seed: 1796038138745,
    about: 'barriers that come faster than a task has turns do not keep it from reading',
  },
  {
    seed: 1796039540448,
    about:
      'the first checkpoint after a start from a savepoint is given up while the record of the job hangs',
  },
  {
    seed: 1796040166743,
    about: 'a manifest that gets its name long after its checkpoint was given up is taken back at once',
  },
];
