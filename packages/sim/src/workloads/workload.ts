/**
 * The contract of workloads: a job, and what its results must be. Each run draws one. A workload is a function of what it
 * was drawn with, so that its undisturbed results can be kept for the next run with the same parameters.
 */
import type { StreamExecutionEnvironment } from '@millrace/engine';
import type { SeededRandom } from '../../../engine/src/testing/seeded-random.ts';
import type { StrikeKind } from '../faults/strike.ts';
import type { Site } from '../world/site.ts';

/** What a workload does not bear. */
export interface WorkloadLimits {
  /** False: its results are compared for nothing but exactly-once. */
  readonly atLeastOnce: boolean;
  /** Parallelism of the job, at most. */
  readonly parallelismMax: number;
  /** Data in flight in one checkpoint, at most: what its exchanges can hold. Default: nobody looks. */
  readonly inFlightBytesMax?: number;
  /** What waits beside the rings of one sender, at most: what one turn emits. Default: nobody looks. */
  readonly overflowBytesMax?: number;
  /** By its own doing a barrier may wait longer than a short checkpoint time-out: for calls, retries, results. */
  readonly waits?: boolean;
  /** What would change its results, or keep it from its end. */
  readonly withoutStrikes?: readonly StrikeKind[];
}

/** A job with its data. */
export interface Workload {
  readonly name: string;
  /** Everything that its results depend on, as text: equal parameters, equal results. */
  readonly parameters: string;
  readonly limits: WorkloadLimits;
  /** What it is about, by configuration key: in place of what is drawn. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Writes the job into the environment; called in each process and thread. Everything outside of the job is in `site`. */
  setup(env: StreamExecutionEnvironment, site: Site): void;
  /** What is left of a run, plain data, for `check`. Called after the end. */
  results(site: Site): unknown;
  /**
   * The first difference, for people; undefined if there is none. In mode `at-least-once` only what is missing counts.
   */
  check(results: unknown, undisturbed: unknown, mode: 'exactly-once' | 'at-least-once'): string | undefined;
}

/** Draws workloads of one kind. */
export interface Scenario {
  readonly name: string;
  /** How often it is drawn, relative to the others. */
  readonly weight: number;
  draw(random: SeededRandom): Workload;
}
