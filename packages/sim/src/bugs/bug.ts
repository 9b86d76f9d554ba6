/**
 * Bugs on purpose: each takes one guarantee out of the production code, alone, and has to be found within a stated number
 * of seeds. A simulator that does not find them proves nothing. Planted from outside, by replacing methods, so that no
 * switch for them stands in the production code. Those of the simulated disk and database stand for a call that the
 * production code, or a sink, had forgotten.
 */
import type { FindingKind } from '../checkers/finding.ts';
import type { Focus } from '../scenarios/run-seed.ts';
import type { Undo } from '../world/replace-method.ts';

export interface Bug {
  /** In `kebab-case`. */
  readonly name: string;
  /** What is wrong then, and what follows from it. */
  readonly description: string;
  /** It shows within so many seeds, from 1 on. */
  readonly seedsMax: number;
  /** What it may be found by. */
  readonly kinds: readonly FindingKind[];
  /** The workload that shows it soonest; undefined: any. */
  readonly workload?: string;
  /** What shows it sooner than anything that may be drawn. */
  readonly focus?: Focus;
  /** Makes it so until it is undone. One bug at a time. */
  plant(): Undo;
}
