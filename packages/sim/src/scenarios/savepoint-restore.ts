/**
 * Starts the job of a run again, when the run is over, from a savepoint that was taken by hand on the way. It must come to
 * the same results. Its databases are as they were when the savepoint had been taken; nothing is done to it.
 */
import { JobSupervisor, type SimulatedWorld } from '../../../engine/src/testing/simulation/index.ts';
import { describeError } from '../checkers/excusable-error.ts';
import type { Workload } from '../workloads/workload.ts';
import type { Site } from '../world/site.ts';
import type { RunPlan } from './draw-run.ts';

export interface TakenSavepoint {
  readonly path: string;
  /** As it was then. */
  readonly site: Site;
}

/** How far a run may go on. */
export interface RestoreLimits {
  readonly eventsMax: number;
  readonly untilMs: number;
}

/** Why the job did not come to its end; undefined: it did, and its results are in the savepoint's site. */
export async function restoreSavepoint(
  world: SimulatedWorld,
  workload: Workload,
  plan: RunPlan,
  { path, site }: TakenSavepoint,
  { eventsMax, untilMs }: RestoreLimits,
): Promise<string | undefined> {
  const supervisor = new JobSupervisor(world, {
    name: workload.name,
    settings: () => ({ ...plan.settings(0), 'execution.state-recovery.path': path }),
    build: (env) => workload.setup(env, site),
  });
  const never = (): boolean => false;
  supervisor.replaces = never;
  supervisor.start();
  await world.run(() => supervisor.isOver, { eventsMax, untilMs: world.nowMs + untilMs });
  const end = supervisor.lives[0]!.end;
  if (end?.type === 'exited') return undefined;
  const why = end?.type === 'failed' ? describeError(end.error) : (end?.type ?? 'it goes on');
  return `a job that starts from savepoint ${path} does not come to its end: ${why}`;
}
