/**
 * One run of a crash test: the job in a world of its own, killed as planned and started again from its latest checkpoint,
 * until it has finished or cannot. A function of the plan and the code. Does not judge.
 */
import type { ExecutionOptions, StreamExecutionEnvironment } from '../../api/index.ts';
import { Configuration } from '../../base/index.ts';
import {
  formatTraceLine,
  JobSupervisor,
  type SimulatedEvent,
  type SimulatedProcess,
  SimulatedWorld,
  type WorldSpeeds,
} from '../simulation/index.ts';
import { type CrashTestContext, Surroundings } from './crash-test-context.ts';

/** What is killed. */
export type KillKind =
  /** The process, by kill -9. */
  | 'process'
  /** The machine: the power fails, and files lose what was not synced. */
  | 'machine'
  /** A thread that runs tasks; the process, if it has no such threads. */
  | 'thread'
  /** A task of a source throws an error, and the job restarts within its process. */
  | 'task';

export interface Kill {
  readonly kind: KillKind;
  /** Steps of the job before it, counted from its first one or from the kill before. */
  readonly afterSteps: number;
}

/** Everything that a run depends on, but the job. */
export interface RunPlan {
  readonly seed: number;
  readonly speeds: Partial<WorldSpeeds>;
  /** Of each process, in the order of their starts. */
  parallelism(life: number): number;
  readonly kills: readonly Kill[];
}

/** The job, as the user gave it. */
export interface TestedJob {
  build(env: StreamExecutionEnvironment, context: CrashTestContext): void;
  readonly configuration: ExecutionOptions;
}

/** Something that happened in the job. */
export type Step = Pick<SimulatedEvent, 'kind' | 'detail' | 'timeMs'> & { readonly thread: string };

/** A kill that was carried out. */
export interface CarriedOut {
  readonly kind: KillKind;
  /** What did not happen because of it, or was about to. */
  readonly before: Step;
}

/** Why a job did not come to its end. */
export type RunFailure =
  | { readonly type: 'failed'; readonly error: unknown }
  /** Nothing was left that could happen. */
  | { readonly type: 'stuck' }
  /** More happened than may in one run. */
  | { readonly type: 'endless' };

export interface RunOutcome {
  readonly surroundings: Surroundings;
  readonly kills: readonly CarriedOut[];
  readonly failure: RunFailure | undefined;
  readonly stepCount: number;
  /** Processes that ran the job. */
  readonly lifeCount: number;
}

/** Whoever looks on. */
export interface RunObserver {
  /** Before each step, which may not happen. */
  step?(step: Step): void;
  /** A line for each step, and for what the job logged. */
  line?(line: string): void;
  /** Once, before the run. */
  world?(world: SimulatedWorld): void;
  /** Asked after each step; true: the run is of no interest any more. */
  hasSeenEnough?(): boolean;
}

/** Of most jobs some hundred happen. Time does not count: it passes quickly. */
const LIMITS = { eventsMax: 50_000, untilMs: Number.POSITIVE_INFINITY };
/** Small against the time that sources take to read. */
const INTERVAL_MS = 40;
/** Unless the job sets them: few key groups and small rings, which make runs fast. */
const USUAL = {
  'pipeline.max-parallelism': 32,
  'millrace.exchange.segment-size': 8192,
};

/** What the test needs, whatever the job sets. */
const FORCED = Configuration.from({
  'state.backend.type': 'hashmap',
  'execution.checkpointing.interval': INTERVAL_MS,
  'execution.checkpointing.min-pause': 0,
  'execution.checkpointing.timeout': 600_000,
  'execution.checkpointing.tolerable-failed-checkpoints': 100,
  'execution.checkpointing.storage': 'filesystem',
  'execution.checkpointing.dir': '/checkpoints',
  'execution.checkpointing.externalized-checkpoint-retention': 'RETAIN_ON_CANCELLATION',
  'execution.state-recovery.path': 'latest',
});

/** As often as the run makes it fail: what else it fails of is reported. */
function restarts(kills: readonly Kill[]): Configuration {
  const count = kills.filter(({ kind }) => kind === 'task' || kind === 'thread').length;
  return Configuration.from({
    'restart-strategy.type': count === 0 ? 'none' : 'fixed-delay',
    'restart-strategy.fixed-delay.attempts': Math.max(1, count),
    'restart-strategy.fixed-delay.delay': 10,
  });
}

/** Writes the job into the environment, with the settings that the test needs. */
export function buildForTest(
  job: TestedJob,
  env: StreamExecutionEnvironment,
  context: CrashTestContext,
  kills: readonly Kill[] = [],
): void {
  job.build(env, context);
  env.configure(FORCED).configure(restarts(kills)).configure(job.configuration);
}

export async function runJob(job: TestedJob, plan: RunPlan, observer: RunObserver = {}): Promise<RunOutcome> {
  const { line } = observer;
  const world = new SimulatedWorld({
    seed: plan.seed,
    speeds: plan.speeds,
    ...(line === undefined ? {} : { onLine: (each) => line(formatTraceLine(each)) }),
  });
  observer.world?.(world);
  const surroundings = new Surroundings(world);
  const supervisor = new JobSupervisor(world, {
    name: 'crash-test',
    settings: (life) => ({ ...USUAL, 'parallelism.default': plan.parallelism(life) }),
    build: (env) => buildForTest(job, env, surroundings.context(), plan.kills),
  });
  supervisor.replaces = ({ end }) => end?.type === 'killed';
  const executioner = new Executioner(world, surroundings, plan.kills, observer);
  world.beforeEvent = (event) => executioner.event(event);
  supervisor.start();
  const end = await world.run(() => supervisor.isOver || observer.hasSeenEnough?.() === true, LIMITS);
  return {
    surroundings,
    kills: executioner.carriedOut,
    failure: failureOf(end, supervisor, world),
    stepCount: executioner.stepCount,
    lifeCount: supervisor.lives.length,
  };
}

function failureOf(
  end: Awaited<ReturnType<SimulatedWorld['run']>>,
  { lives }: JobSupervisor,
  { unhandled }: SimulatedWorld,
): RunFailure | undefined {
  if (unhandled.length > 0) return { type: 'failed', error: unhandled[0] };
  const last = lives.at(-1)?.end;
  if (last?.type === 'failed') return { type: 'failed', error: last.error };
  if (last?.type === 'stuck') return { type: 'stuck' };
  return end === 'over' ? undefined : { type: 'endless' };
}

/** Carries out the kills of a run, one after the other. */
class Executioner {
  readonly carriedOut: CarriedOut[] = [];
  stepCount = 0;
  private readonly world: SimulatedWorld;
  private readonly surroundings: Surroundings;
  private readonly kills: readonly Kill[];
  private readonly observer: RunObserver;
  /** The step at which the next one is due. */
  private dueAt: number;

  constructor(
    world: SimulatedWorld,
    surroundings: Surroundings,
    kills: readonly Kill[],
    observer: RunObserver,
  ) {
    this.world = world;
    this.surroundings = surroundings;
    this.kills = kills;
    this.observer = observer;
    this.dueAt = this.kills[0]?.afterSteps ?? Number.POSITIVE_INFINITY;
  }

  /** The next event is about to happen. */
  event({ thread, kind, detail, timeMs }: SimulatedEvent): void {
    if (thread === undefined) return;
    const step: Step = { kind, detail, timeMs, thread: thread.name };
    this.observer.step?.(step);
    if (this.stepCount++ < this.dueAt) return;
    const { kind: killKind } = this.kills[this.carriedOut.length]!;
    this.carriedOut.push({ kind: killKind, before: step });
    const next = this.kills[this.carriedOut.length];
    this.dueAt = next === undefined ? Number.POSITIVE_INFINITY : this.stepCount + next.afterSteps;
    this.kill(killKind, this.world.processes[0]!);
  }

  private kill(kind: KillKind, victim: SimulatedProcess): void {
    const thread = victim.threads[this.stepCount % Math.max(1, victim.threads.length)];
    switch (kind) {
      case 'task':
        this.surroundings.failsNextRead = true;
        return;
      case 'machine':
        return this.world.failPower('synced');
      case 'thread':
        return thread === undefined ? victim.kill() : victim.loseThread(thread, 1, undefined);
      case 'process':
        return victim.kill();
    }
  }
}
