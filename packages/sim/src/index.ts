export { formatTraceLine, type TraceLine } from '../../engine/src/testing/simulation/index.ts';
export { BUGS } from './bugs/all-bugs.ts';
export { type BugSearch, findBug, problemOf } from './bugs/find-bug.ts';
export type { Finding, FindingKind } from './checkers/finding.ts';
export { type RunOptions, type RunResult, runSeed } from './scenarios/run-seed.ts';
export { runTwice } from './scenarios/run-twice.ts';
export { KEPT_SEEDS, type KeptSeed } from './seeds/kept-seeds.ts';
export { SCENARIOS } from './workloads/all-workloads.ts';
export { type Counts, Coverage } from './world/coverage.ts';
