/**
 * Crash tests for users: runs a job in a simulated world, kills it at each step of a checkpoint and at random moments, starts
 * it again from its latest checkpoint, and compares its results with those of a run that nothing disturbs.
 *
 *     build twice ── the same? ──► undisturbed runs ── the same? ──► runs with kills ── the same? ──► report
 *
 * What is tested is the user's code: functions, types, uids, sinks; the engine that runs it is the production code. Throws at
 * the first difference.
 */
import type { ExecutionOptions, StreamExecutionEnvironment } from '../../api/index.ts';
import { MillraceError, reuseGeneratedCode } from '../../base/index.ts';
import { comparePlans, describePlan, planNotStable } from '../../graph/index.ts';
import { createNodePlatform } from '../../platform/node/index.ts';
import { checkedPlan } from '../manual-job.ts';
import { SimulatedWorld } from '../simulation/index.ts';
import { differenceOf } from './compare-results.ts';
import {
  causesAfterCrash,
  causesOfChance,
  causesOfFailure,
  describeFailure,
  type Finding,
  type ResultDifference,
  reportText,
} from './crash-report.ts';
import {
  buildForTest,
  type RunOutcome,
  type RunPlan,
  runJob,
  type Step,
  type TestedJob,
} from './crash-run.ts';
import { type CrashTestContext, Surroundings } from './crash-test-context.ts';
import { describeKill } from './describe-kill.ts';
import { OutsideCalls } from './outside-calls.ts';
import {
  type CrashTestRun,
  countCheckpoints,
  planOf,
  secondUndisturbedPlan,
  stepsOfCheckpoints,
  undisturbedPlan,
} from './plan-runs.ts';

/** What is tested, and how thoroughly. */
export interface CrashTestOptions {
  /**
   * Writes the job into the environment, as a program does, up to `execute`. Called again in each process and thread of each
   * run, so all that the job is made of is to be made anew in it.
   */
  readonly job: (env: StreamExecutionEnvironment, context: CrashTestContext) => void;
  /** Of operators that set none. Runs begin at each of them, and go on at another one after a kill. Default 1, 2 and 3. */
  readonly parallelism?: readonly number[];
  /** Runs with kills at random moments, for each parallelism; default 30. */
  readonly seeds?: number;
  /** Real milliseconds, after which no further run is begun. Default: no limit. */
  readonly budgetMs?: number;
  /** Settings that replace those of the job and of the test, for example of unaligned checkpoints. */
  readonly configuration?: ExecutionOptions;
  /** Only this run, which a report named. */
  readonly only?: CrashTestRun;
  /** With `only`: takes a line for each thing that happens in that run, and for what the job logs. */
  readonly log?: (line: string) => void;
}

/** What a crash test did that found nothing. */
export interface CrashTestReport {
  /** With kills. */
  readonly runs: number;
  readonly kills: number;
  /** Runs for which there was no time. */
  readonly leftOut: number;
}

const PARALLELISM: readonly number[] = [1, 2, 3];
const SEEDS = 30;
/** The one before the first record, the last one, and one between them. */
const CHECKPOINTS_MIN = 3;
const GENERATED_TEXTS_MAX = 5000;

const { clock } = createNodePlatform();

/** Tests follow each other: what a run notices of its process must be its own. */
let previous: Promise<unknown> = Promise.resolve();

/**
 * Runs a job in a simulated world of files, threads and time: undisturbed, then killed at each step of a checkpoint and at
 * random moments, at several parallelisms, each time started again from its latest checkpoint. Resolves if the results are
 * always the same. Rejects with CRASH_TEST_FAILED at the first difference: where the job was killed, what is missing, there
 * twice or wrong, typical causes, and how to repeat that run alone; also if the job fails or hangs, or if undisturbed runs
 * differ already. Rejects with INVALID_ARGUMENT for wrong options.
 *
 * Some hundred runs a second are made, without real waiting; so timers, files and network of Node have no place in the job.
 */
export function crashTest(options: CrashTestOptions): Promise<CrashTestReport> {
  const test = previous.then(() => new CrashTest(options).run());
  previous = test.catch(() => {});
  return test;
}

/** An undisturbed run, to compare with. */
interface Undisturbed {
  readonly outcome: RunOutcome;
  readonly steps: readonly Step[];
}

class CrashTest {
  private readonly options: CrashTestOptions;
  private readonly job: TestedJob;
  private readonly parallelisms: readonly number[];
  private readonly beganMs = clock.monotonicMs();

  constructor(options: CrashTestOptions) {
    checkOptions(options);
    this.options = options;
    this.parallelisms = options.parallelism ?? PARALLELISM;
    this.job = {
      build: (env, context) => refusePromise(options.job(env, context)),
      configuration: options.configuration ?? {},
    };
  }

  async run(): Promise<CrashTestReport> {
    reuseGeneratedCode(GENERATED_TEXTS_MAX);
    await this.buildTwice();
    const { only } = this.options;
    const undisturbed = new Map<number, Undisturbed>();
    const first = await this.undisturbed(undisturbedPlan(this.parallelisms[0]!));
    undisturbed.set(this.parallelisms[0]!, first);
    const second = await this.undisturbed(secondUndisturbedPlan(this.parallelisms[0]!));
    await this.requireSame(
      first.outcome,
      second.outcome,
      secondUndisturbedPlan(this.parallelisms[0]!),
      TITLES.chance,
    );
    for (const parallelism of only === undefined ? this.parallelisms : [only.parallelism]) {
      if (undisturbed.has(parallelism)) continue;
      const other = await this.undisturbed(undisturbedPlan(parallelism));
      await this.requireSame(first.outcome, other.outcome, undisturbedPlan(parallelism), TITLES.parallelism);
      undisturbed.set(parallelism, other);
    }
    return this.disturbed(this.plannedRuns(undisturbed), undisturbed, first.outcome);
  }

  /** A job that is not the same each time cannot be restored. */
  private async buildTwice(): Promise<void> {
    const plan = async (): Promise<ReturnType<typeof describePlan>> => {
      const world = new SimulatedWorld({ seed: 0 });
      const { graph } = await checkedPlan((env) =>
        buildForTest(this.job, env, new Surroundings(world).context()),
      );
      return describePlan(graph);
    };
    const difference = comparePlans(await plan(), await plan());
    if (difference === undefined) return;
    const error = planNotStable(difference, 'the second build');
    throw failed({ title: TITLES.plan, events: [], error, causes: [], outside: [] });
  }

  private async undisturbed(plan: RunPlan): Promise<Undisturbed> {
    const steps: Step[] = [];
    const { outcome, outside } = await this.watched(plan, (step) => void steps.push(step));
    const events = [`undisturbed, at parallelism ${plan.parallelism(0)}`];
    const waits = outside.filter(({ effect }) => effect === 'waits');
    if (waits.length > 0) throw failed({ title: TITLES.outside, events, causes: [], outside: waits });
    const { failure } = outcome;
    if (failure !== undefined) {
      const title = `The job does not run, without any crash: ${describeFailure(failure)}.`;
      const error = failure.type === 'failed' ? failure.error : undefined;
      throw failed({ title, events, error, causes: causesOfFailure(failure), outside });
    }
    const places = [...outcome.surroundings.places.values()];
    if (!places.some((place) => place.results().length > 0))
      throw failed({ title: TITLES.nothing, events, causes: [], outside: [] });
    if (countCheckpoints(steps) < CHECKPOINTS_MIN)
      throw failed({ title: TITLES.checkpoints, events, causes: [], outside: [] });
    return { outcome, steps };
  }

  /** Throws if two undisturbed runs differ, the second of which is that of `plan`. */
  private async requireSame(
    first: RunOutcome,
    second: RunOutcome,
    plan: RunPlan,
    title: string,
  ): Promise<void> {
    const difference = firstDifference(second, first);
    if (difference === undefined) return;
    const { outside } = await this.watched(plan);
    const from = this.parallelisms[0]!;
    const events = [
      `undisturbed, at parallelism ${plan.parallelism(0)}, compared with another run at ${from}`,
    ];
    throw failed({ title, events, difference, causes: causesOfChance(), outside });
  }

  /** Steps of checkpoints first, then the seeds of all parallelisms in turns. */
  private plannedRuns(undisturbed: ReadonlyMap<number, Undisturbed>): CrashTestRun[] {
    const { only, seeds = SEEDS } = this.options;
    if (only !== undefined) return [only];
    const atSteps = this.parallelisms.flatMap((parallelism) =>
      stepsOfCheckpoints(undisturbed.get(parallelism)!.steps).map((step) => ({ parallelism, step })),
    );
    const atRandom = Array.from({ length: seeds }, (_, index) =>
      this.parallelisms.map((parallelism) => ({ parallelism, seed: index + 1 })),
    );
    return [...atSteps, ...atRandom.flat()];
  }

  private async disturbed(
    planned: readonly CrashTestRun[],
    undisturbed: ReadonlyMap<number, Undisturbed>,
    expected: RunOutcome,
  ): Promise<CrashTestReport> {
    const { budgetMs = Number.POSITIVE_INFINITY, log } = this.options;
    let [runs, kills] = [0, 0];
    for (const run of planned) {
      if (clock.monotonicMs() - this.beganMs > budgetMs) break;
      const plan = planOf(run, this.parallelisms, undisturbed.get(run.parallelism)!.outcome.stepCount);
      const outcome = await runJob(
        this.job,
        plan,
        this.options.only !== undefined && log !== undefined ? { line: log } : {},
      );
      runs++;
      kills += outcome.kills.length;
      await this.judge(run, plan, outcome, expected);
    }
    return { runs, kills, leftOut: planned.length - runs };
  }

  private async judge(
    run: CrashTestRun,
    plan: RunPlan,
    outcome: RunOutcome,
    expected: RunOutcome,
  ): Promise<void> {
    const { failure } = outcome;
    const difference = failure === undefined ? firstDifference(outcome, expected) : undefined;
    if (failure === undefined && difference === undefined) return;
    const { outside } = await this.watched(plan);
    const events = [...outcome.kills.map(describeKill), startsOf(outcome, plan, run)];
    if (failure === undefined)
      throw failed({
        title: TITLES.crash,
        events,
        difference,
        causes: causesAfterCrash(difference!),
        outside,
        run,
      });
    const title = `The job does not survive a crash: ${describeFailure(failure)} when it goes on.`;
    const error = failure.type === 'failed' ? failure.error : undefined;
    throw failed({ title, events, error, causes: causesOfFailure(failure), outside, run });
  }

  /** The run, and what of the real world the job asked in it. */
  private async watched(
    plan: RunPlan,
    onStep: (step: Step) => void = () => {},
  ): Promise<{ readonly outcome: RunOutcome; readonly outside: OutsideCalls['calls'] }> {
    let world: SimulatedWorld | undefined;
    const outside = new OutsideCalls(() => world?.currentThread !== undefined);
    outside.start();
    try {
      const outcome = await runJob(this.job, plan, {
        step: onStep,
        world: (made) => (world = made),
        hasSeenEnough: () => outside.mustWait,
      });
      return { outcome, outside: outside.calls };
    } finally {
      outside.stop();
    }
  }
}

const TITLES = {
  crash: 'The job does not survive a crash: its results are not those of the undisturbed run.',
  chance:
    'The job is not deterministic: two undisturbed runs, in which time passes differently, have different results. So what a ' +
    'crash changes cannot be told.',
  parallelism: 'The results depend on the parallelism, without any crash.',
  plan: 'The job could not be restored: it is not the same each time it is built.',
  outside:
    'The job uses timers or network of the real world. A crash test has its own time: replace them in the test, with ' +
    'delay(milliseconds), which the job is given, for the time that they take.',
  nothing:
    'The job leaves no results to compare: let it write to a sink() or an effect() that the test gives to it.',
  checkpoints:
    'Hardly any checkpoint completes before the job has finished, so a crash tests nothing: give it a source(records) with more ' +
    'records, which is read a little at a time.',
} as const;

function firstDifference(found: RunOutcome, expected: RunOutcome): ResultDifference | undefined {
  for (const [name, place] of expected.surroundings.places) {
    const results = found.surroundings.places.get(name)?.results() ?? [];
    const difference = differenceOf(results, place.results(), place.rules);
    if (difference !== undefined) return { ...difference, name, type: place.type };
  }
  return undefined;
}

function startsOf({ lifeCount }: RunOutcome, { parallelism }: RunPlan, run: CrashTestRun): string {
  const restored = Array.from({ length: lifeCount - 1 }, (_, index) => parallelism(index + 1));
  const from = `at parallelism ${parallelism(0)}`;
  const seed = 'seed' in run ? `, seed ${run.seed}` : '';
  return restored.length === 0 ? `${from}${seed}` : `${from}, restored at ${restored.join(', then ')}${seed}`;
}

function failed(finding: Finding): MillraceError {
  const { error, run } = finding;
  return new MillraceError('CRASH_TEST_FAILED', reportText(finding), {
    ...(error === undefined ? {} : { cause: error }),
    ...(run === undefined ? {} : { details: { ...run } }),
  });
}

function checkOptions({
  job,
  parallelism = PARALLELISM,
  seeds = SEEDS,
  budgetMs = 0,
  only,
}: CrashTestOptions): void {
  const wrong = (message: string): MillraceError =>
    new MillraceError('INVALID_ARGUMENT', `crashTest: ${message}`);
  const isCount = (value: number, from: number): boolean => Number.isSafeInteger(value) && value >= from;
  if (typeof job !== 'function') throw wrong('job is the function that writes the job into an environment');
  if (
    !Array.isArray(parallelism) ||
    parallelism.length === 0 ||
    !parallelism.every((each) => isCount(each, 1))
  )
    throw wrong(`parallelism is a list of whole numbers from 1 on, not ${String(parallelism)}`);
  if (!isCount(seeds, 0)) throw wrong(`seeds is a whole number from 0 on, not ${seeds}`);
  if (!(budgetMs >= 0)) throw wrong(`budgetMs is a number of milliseconds, not ${budgetMs}`);
  if (
    only !== undefined &&
    !(isCount(only.parallelism, 1) && isCount('seed' in only ? only.seed : only.step, 0))
  )
    throw wrong('only names a parallelism, and a seed or a step, as a report gives them');
}

/** What it did after an await would be in no job. */
function refusePromise(returned: unknown): void {
  if (typeof (returned as PromiseLike<unknown> | undefined)?.then !== 'function') return;
  void Promise.resolve(returned).catch(() => {});
  throw new MillraceError(
    'INVALID_ARGUMENT',
    'crashTest: job returned a promise. It writes the job up to execute(), at once, without await',
  );
}
