/**
 * One run: draws a workload and a plan from the seed, lets the job live through it in a world of its own, and judges what
 * it left. A run is a function of the seed and the code.
 */
import { reuseGeneratedCode } from '../../../engine/src/base/index.ts';
import { type SeededRandom, seededRandom } from '../../../engine/src/testing/seeded-random.ts';
import {
  type JobLife,
  JobSupervisor,
  type RunEnd,
  type SimulatedEvent,
  SimulatedWorld,
  type SupervisedJob,
  type TraceLine,
} from '../../../engine/src/testing/simulation/index.ts';
import { describeError, isExcusable, unexpectedRestart } from '../checkers/excusable-error.ts';
import { wrongFile } from '../checkers/final-files.ts';
import type { Finding } from '../checkers/finding.ts';
import { type CheckerLimits, RunCheckers } from '../checkers/run-checkers.ts';
import { STRIKE_KINDS, type StrikeKind } from '../faults/strike.ts';
import { StrikeSequence } from '../faults/strike-sequence.ts';
import { SCENARIOS } from '../workloads/all-workloads.ts';
import type { Scenario, Workload } from '../workloads/workload.ts';
import { type Counts, Coverage } from '../world/coverage.ts';
import { listenToEngine } from '../world/engine-calls.ts';
import { Site } from '../world/site.ts';
import { Attendance } from './attendance.ts';
import { drawRun, type RunPlan } from './draw-run.ts';
import { restoreSavepoint, type TakenSavepoint } from './savepoint-restore.ts';

/** What may be asked of a run. */
export interface RunOptions {
  /** Name of the workload; default: one is drawn. */
  readonly workload?: string | undefined;
  /** What is to be tried rather than anything else. */
  readonly focus?: Focus | undefined;
  /** Is told of every event. */
  readonly onLine?: ((line: TraceLine) => void) | undefined;
  /** Where results of undisturbed runs are kept; default: one for the process. Another one for other code. */
  readonly undisturbed?: Map<string, Undisturbed> | undefined;
}

/** Narrows what is drawn. */
export interface Focus {
  /** Only these are done to the run. */
  readonly strikes?: readonly StrikeKind[];
  /** By configuration key, in place of what is drawn. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** In place of the one that is drawn. The workload must bear it. */
  readonly mode?: RunPlan['mode'];
}

/** What a run that nothing was done to left, or how it failed. */
export type Undisturbed = { readonly results: unknown } | { readonly failure: Finding };

/** What came of a run. Plain data. */
export interface RunResult {
  readonly seed: number;
  readonly workload: string;
  /** What was drawn, by name. */
  readonly features: Readonly<Record<string, string | number | boolean>>;
  readonly events: number;
  /** How many processes ran the job. */
  readonly lives: number;
  readonly traceHash: string;
  readonly coverage: Counts;
  readonly finding: Finding | undefined;
}

const EVENTS_MAX = 100_000;
/** Virtual time of a run, at most; the longest freeze is 20 seconds. */
const RUN_MS_MAX = 30 * 60_000;
/** More than strikes can end, and restarts that fail because a disk is full or a directory in use. */
const LIVES_MAX = 40;
const GENERATED_TEXTS_MAX = 5000;

/** Throws an Error if there is no workload of that name. */
export async function runSeed(seed: number, options: RunOptions = {}): Promise<RunResult> {
  reuseGeneratedCode(GENERATED_TEXTS_MAX);
  const random = seededRandom(seed ^ 0x51ab);
  const workload = drawScenario(random, options.workload).draw(random);
  const plan = drawRun(random, focused(workload, options.focus), options.focus?.mode);
  const run = new Run(seed, workload, plan, options.onLine);
  const end = await run.toEnd();
  const finding = await run.judge(end, () => undisturbedRun(workload, options.undisturbed ?? UNDISTURBED));
  return {
    seed,
    workload: `${workload.name} (${workload.parameters})`,
    features: plan.features,
    events: run.world.eventCount,
    lives: run.supervisor.lives.length,
    traceHash: run.world.traceHash,
    coverage: run.coverage.toData(),
    finding,
  };
}

function focused(workload: Workload, { strikes, settings }: Focus = {}): Workload {
  const { withoutStrikes = [] } = workload.limits;
  const others = strikes === undefined ? [] : STRIKE_KINDS.filter((kind) => !strikes.includes(kind));
  return {
    ...workload,
    limits: { ...workload.limits, withoutStrikes: [...withoutStrikes, ...others] },
    settings: { ...workload.settings, ...settings },
  };
}

function drawScenario(random: SeededRandom, name: string | undefined): Scenario {
  const named = SCENARIOS.find((scenario) => scenario.name === name);
  if (named !== undefined) return named;
  if (name !== undefined)
    throw new Error(
      `there is no workload ${name}; there are ${SCENARIOS.map((each) => each.name).join(', ')}`,
    );
  let left = random.below(SCENARIOS.reduce((sum, { weight }) => sum + weight, 0));
  return SCENARIOS.find(({ weight }) => (left -= weight) < 0)!;
}

/** A job in its world. */
class Run {
  readonly world: SimulatedWorld;
  readonly supervisor: JobSupervisor;
  readonly coverage = new Coverage();
  private readonly workload: Workload;
  private readonly plan: RunPlan;
  private readonly site: Site;
  private readonly strikes: StrikeSequence;
  private readonly checkers: RunCheckers;
  private readonly attendance: Attendance;
  /** Those that were taken by hand. */
  private readonly savepoints: TakenSavepoint[] = [];
  private fileProblem: string | undefined;
  private savepointProblem: string | undefined;
  private restartReason: string | undefined;

  constructor(seed: number, workload: Workload, plan: RunPlan, onLine: RunOptions['onLine']) {
    this.workload = workload;
    this.plan = plan;
    this.world = new SimulatedWorld({ seed, speeds: plan.speeds, onLine });
    this.site = new Site(this.world, {
      onPlace: (place) => this.strikes.place(place),
      databaseMs: plan.databaseMs,
      slowSinkMs: plan.slowSinkMs,
    });
    this.checkers = new RunCheckers(this.world, checkerLimits(workload, plan), this.coverage);
    this.attendance = new Attendance(plan, this.checkers.watch, this.coverage);
    this.supervisor = new JobSupervisor(this.world, this.job());
    this.strikes = new StrikeSequence(this.world, this.supervisor, plan.strikes, this.coverage);
    this.connect();
  }

  /** Names first: V8 puts a function on the right of such an assignment into the old generation, and its world stays. */
  private connect(): void {
    const { world, supervisor, attendance, strikes, checkers, coverage } = this;
    const onSavepoint = (checkpointId: number, path: string): void => {
      this.savepoints.push({ path, site: this.site.asOf(checkpointId) });
    };
    const replaces = (life: JobLife): boolean => !isUnexpected(life) && life.number < LIVES_MAX;
    const interfereWithFile: SimulatedWorld['interfereWithFile'] = (operation, path) =>
      strikes.file(operation, path);
    const onNote = (_kind: string, line: string): void => {
      this.restartReason ??= unexpectedRestart(line);
    };
    const beforeEvent = (event: SimulatedEvent): void => {
      strikes.event(event);
      checkers.event(event);
      coverage.event(event);
    };
    attendance.onSavepoint = onSavepoint;
    supervisor.replaces = replaces;
    world.interfereWithFile = interfereWithFile;
    world.onNote = onNote;
    world.beforeEvent = beforeEvent;
  }

  async toEnd(): Promise<RunEnd> {
    listenToEngine(this.checkers);
    try {
      this.supervisor.start();
      const limits = { eventsMax: EVENTS_MAX, untilMs: RUN_MS_MAX };
      const end = await this.world.run(() => this.supervisor.isOver, limits);
      if (end === 'over') await this.lookAtFiles();
      return end;
    } finally {
      listenToEngine(undefined);
    }
  }

  private async lookAtFiles(): Promise<void> {
    const { world, workload, plan, savepoints } = this;
    if (!plan.hasFiles) return;
    const { hinders } = this.strikes;
    this.strikes.end();
    this.fileProblem = await wrongFile(world, hinders);
    const gone = savepoints.find(({ path }) => world.files.peek(`${path}/_metadata`) === undefined);
    if (gone !== undefined) this.savepointProblem = `savepoint ${gone.path} is gone`;
    const last = savepoints.at(-1);
    if (last === undefined || this.fileProblem !== undefined || gone !== undefined) return;
    const limits = { eventsMax: EVENTS_MAX, untilMs: RUN_MS_MAX };
    this.savepointProblem = await restoreSavepoint(world, workload, plan, last, limits);
    this.coverage.add('savepoints', 'restored when all was over');
    // Whoever starts from a savepoint does not own it.
    this.fileProblem = await wrongFile(world, hinders);
  }

  async judge(end: RunEnd, runUndisturbed: () => Promise<Undisturbed>): Promise<Finding | undefined> {
    const { world, supervisor, workload, site, plan } = this;
    for (const life of supervisor.lives) this.coverage.add('ends of processes', life.end?.type ?? 'none');
    const [unhandled] = world.unhandled;
    if (unhandled !== undefined) return { kind: 'unhandled-rejection', message: describeError(unhandled) };
    const badLife = supervisor.lives.find((life) => isUnexpected(life));
    if (badLife !== undefined) return judgeLife(badLife);
    if (this.restartReason !== undefined) return { kind: 'unexpected-error', message: this.restartReason };
    for (const life of supervisor.lives)
      if (life.end?.type === 'exited' || life.end?.type === 'failed')
        this.checkers.processEnded(life.process.name);
    const found = this.checkers.finding();
    if (found !== undefined) return found;
    if (end !== 'over' || !supervisor.lives.some((life) => life.end?.type === 'exited')) {
      const after = `${world.eventCount} events, ${supervisor.lives.length} processes and ${world.nowMs.toFixed(0)} ms`;
      const last = supervisor.lives.at(-1)?.end;
      const why = last?.type === 'failed' ? `\n${describeError(last.error)}` : '';
      return { kind: 'hang', message: `the job has not finished after ${after} (${end})${why}` };
    }
    if (this.fileProblem !== undefined) return { kind: 'files', message: this.fileProblem };
    const undisturbed = await runUndisturbed();
    if ('failure' in undisturbed) return undisturbed.failure;
    const results = workload.results(site);
    if (plan.mode === 'at-least-once') {
      const isExact = workload.check(results, undisturbed.results, 'exactly-once') === undefined;
      this.coverage.add('at least once', isExact ? 'each result once' : 'not each result once');
    }
    const message = workload.check(results, undisturbed.results, plan.mode);
    return message === undefined ? this.judgeSavepoint(undisturbed.results) : { kind: 'results', message };
  }

  private judgeSavepoint(undisturbed: unknown): Finding | undefined {
    const { workload, plan, savepoints, savepointProblem } = this;
    if (savepointProblem !== undefined) return { kind: 'savepoint', message: savepointProblem };
    const last = savepoints.at(-1);
    if (last === undefined) return undefined;
    const wrong = workload.check(workload.results(last.site), undisturbed, plan.mode);
    const message = `a job that starts from ${last.path}: ${wrong}`;
    return wrong === undefined ? undefined : { kind: 'savepoint', message };
  }

  private job(): SupervisedJob {
    const { workload, plan } = this;
    return {
      name: workload.name,
      settings: (life) => plan.settings(life),
      build: (env) => workload.setup(env, this.site),
      attend: (client, platform) => this.attendance.attend(client, platform),
    };
  }
}

/** Clocks that jump make times worthless; checkpoints by hand and those of a stop wait for nothing. */
function checkerLimits({ limits }: Workload, plan: RunPlan): CheckerLimits {
  const { settings, strikes, stops, triggerEveryMs } = plan;
  const isTimed =
    triggerEveryMs === undefined &&
    stops.length === 0 &&
    !strikes.some(({ kind }) => kind === 'wall-clock-jump');
  const minPauseMs = Number(settings(0)['execution.checkpointing.min-pause']);
  return {
    // Without a pause several may be under way.
    minPauseMs: isTimed && minPauseMs > 0 ? minPauseMs : undefined,
    concurrentMax: Number(settings(0)['execution.checkpointing.max-concurrent-checkpoints']),
    inFlightBytesMax: limits.inFlightBytesMax ?? Number.POSITIVE_INFINITY,
    overflowBytesMax: limits.overflowBytesMax ?? Number.POSITIVE_INFINITY,
  };
}

function isUnexpected({ end, wasBesideAnother }: JobLife): boolean {
  return end?.type === 'stuck' || (end?.type === 'failed' && !isExcusable(end.error, wasBesideAnother));
}

function judgeLife(life: JobLife): Finding {
  const { number, end } = life;
  const where = `process ${life.process.name} (life ${number})`;
  if (end?.type === 'failed')
    return { kind: 'unexpected-error', message: `${where}: ${describeError(end.error)}` };
  return { kind: 'hang', message: `${where}: nothing is left to happen, and its program has not ended` };
}

/** By workload and parameters. */
const UNDISTURBED = new Map<string, Undisturbed>();
const UNDISTURBED_MAX = 1000;

async function undisturbedRun(workload: Workload, known: Map<string, Undisturbed>): Promise<Undisturbed> {
  const key = `${workload.name} ${workload.parameters}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const world = new SimulatedWorld({ seed: 0 });
  const site = new Site(world);
  const supervisor = new JobSupervisor(world, {
    name: workload.name,
    settings: () => ({
      'millrace.host': 'inline',
      'parallelism.default': 1,
      'pipeline.max-parallelism': 16,
      'execution.checkpointing.interval': 100,
      'restart-strategy.type': 'none',
    }),
    build: (env) => workload.setup(env, site),
  });
  const never = (): boolean => false;
  supervisor.replaces = never;
  supervisor.start();
  await world.run(() => supervisor.isOver, { eventsMax: EVENTS_MAX, untilMs: RUN_MS_MAX });
  const end = supervisor.lives[0]!.end;
  if (known.size >= UNDISTURBED_MAX) known.clear();
  const run: Undisturbed =
    end?.type === 'exited' ? { results: workload.results(site) } : { failure: undisturbedFailure(end) };
  known.set(key, run);
  return run;
}

function undisturbedFailure(end: JobLife['end']): Finding {
  const what = 'the job does not come to its end even if nothing disturbs it';
  if (end?.type !== 'failed') return { kind: 'hang', message: `${what} (${end?.type ?? 'it goes on'})` };
  return { kind: 'unexpected-error', message: `${what}: ${describeError(end.error)}` };
}
