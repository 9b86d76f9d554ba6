/**
 * One run of the crash job through many kills: kills it at seeded moments, starts it again from its latest checkpoint, lets
 * it end at last, and judges what it left. Used by the tests of the crash suite.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChildEnd, finish, type KillMoment, lastStatus, runCrashJob } from './child-job.ts';
import type { CrashJobSettings } from './crash-job-frame.ts';
import type { CrashPoint } from './crash-point.ts';
import {
  completeCheckpoints,
  differences,
  fingerprint,
  finishedByFolder,
  hiddenFiles,
  incompleteCheckpoints,
} from './judge.ts';
import { writePayments } from './orders.ts';

export const ORDERS = 1000;
const RUN_MS = 300;
const CHECKPOINT_INTERVAL_MS = 20;
/** One kill in so many comes at a random moment of the start, which is recovery; the others while the job runs. */
const START_KILL_EVERY = 4;
const START_KILL_WITHIN_MS = 350;
const RUNNING_KILL_WITHIN_MS = 120;
/** Enough for what uses up memory on purpose, little enough to be quick. */
const NODE_OPTIONS = ['--max-old-space-size=96'];

/** Where and how wide the job runs in one of its lives. */
export interface Deployment {
  readonly host: 'inline' | 'workers';
  readonly parallelism: number;
}

export type Results = ReadonlyMap<string, readonly string[]>;

/** What happened in a run. */
export interface RunReport {
  readonly kills: number;
  /** Kills that hit a job that was running. */
  readonly killsWhileRunning: number;
  /** Restarts within the process, of all its lives. */
  readonly restarts: number;
}

/** The module of the job that most tests run. */
const MODULE = 'crash-job.ts';

/** A folder with the input of a crash job, and where its results go. */
export class CrashSite {
  readonly directory: string;
  private readonly module: string;
  private readonly paymentCount: number;

  /** `module` is that of the job. */
  constructor(module = MODULE) {
    this.module = module;
    this.directory = mkdtempSync(join(tmpdir(), 'millrace-crash-'));
    this.paymentCount = writePayments(join(this.directory, 'payments'), ORDERS);
  }

  settings(
    { host, parallelism }: Deployment,
    crashPoints: readonly CrashPoint[] = [],
    runMs = RUN_MS,
  ): CrashJobSettings {
    return {
      module: this.module,
      directory: this.directory,
      orderCount: ORDERS,
      paymentCount: this.paymentCount,
      host,
      parallelism,
      runMs,
      checkpointIntervalMs: CHECKPOINT_INTERVAL_MS,
      crashPoints,
    };
  }

  results(): Results {
    return finishedByFolder(join(this.directory, 'out'));
  }

  /** True if the job has committed everything and removed its checkpoints: it may be killed just before it says so. */
  isOver(): boolean {
    return (
      completeCheckpoints(join(this.directory, 'checkpoints')).length === 0 &&
      [...this.results().values()].some((lines) => lines.length > 0)
    );
  }

  /** Nothing is left but results, and they are those of a run without failures, byte for byte. */
  judge(expected: Results, what: string): void {
    const found = this.results();
    assert.deepEqual(differences(expected, found), [], what);
    assert.equal(fingerprint(found), fingerprint(expected), what);
    assert.deepEqual(hiddenFiles(join(this.directory, 'out')), [], `${what}: files in progress`);
    assert.deepEqual(
      incompleteCheckpoints(join(this.directory, 'checkpoints')),
      [],
      `${what}: checkpoints without _metadata`,
    );
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** The results of a run that nobody disturbs. */
export async function undisturbedResults(
  deployment: Deployment = { host: 'inline', parallelism: 1 },
  module = MODULE,
): Promise<Results> {
  const site = new CrashSite(module);
  try {
    const end = await runCrashJob(site.settings(deployment, [], 0));
    assertFinished(end, 'the undisturbed run');
    const results = site.results();
    site.judge(results, 'the undisturbed run');
    return results;
  } finally {
    site.remove();
  }
}

/** Kills the process up to `kills` times; each life is deployed as the next of `deployments`, over and over. */
export async function runWithKills(
  seed: number,
  kills: number,
  deployments: readonly Deployment[],
  expected: Results,
  module = MODULE,
): Promise<RunReport> {
  const random = seededRandom(seed);
  const site = new CrashSite(module);
  const report = { kills: 0, killsWhileRunning: 0, restarts: 0 };
  const what = (): string => `seed ${seed} after ${report.kills} kills`;
  let lives = 0;
  const settings = (): CrashJobSettings => site.settings(deployments[lives++ % deployments.length]!);
  try {
    for (let kill = 0; kill < kills && !site.isOver(); kill++) {
      const end = await runCrashJob(settings(), killMoment(random), NODE_OPTIONS);
      if (end.how !== 'killed') {
        assertFinished(end, what());
        break;
      }
      report.kills++;
      if (lastStatus(end) === 'RUNNING' && finish(end) === undefined) report.killsWhileRunning++;
    }
    if (!site.isOver()) assertFinished(await runCrashJob(settings(), undefined, NODE_OPTIONS), what());
    site.judge(expected, what());
    return report;
  } finally {
    site.remove();
  }
}

/** Lets the job fail from inside at each of `points`, one after the other, and end. */
export async function runWithCrashPoints(
  deployment: Deployment,
  points: readonly CrashPoint[],
  expected: Results,
  module = MODULE,
): Promise<RunReport> {
  const site = new CrashSite(module);
  try {
    const what = `${deployment.host} ${deployment.parallelism}, ${JSON.stringify(points)}`;
    const end = await runCrashJob(site.settings(deployment, points), undefined, NODE_OPTIONS);
    const finished = assertFinished(end, what);
    assert.doesNotMatch(end.errors, /garbage collection/, 'a file was not closed');
    site.judge(expected, what);
    return { kills: 0, killsWhileRunning: 0, restarts: finished.restarts };
  } finally {
    site.remove();
  }
}

/** mulberry32: numbers in [0, 1). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function killMoment(random: () => number): KillMoment {
  return random() * START_KILL_EVERY < 1
    ? { after: 'start', delayMs: random() * START_KILL_WITHIN_MS }
    : { after: 'running', delayMs: random() * RUNNING_KILL_WITHIN_MS };
}

function assertFinished(end: ChildEnd, what: string): NonNullable<ReturnType<typeof finish>> {
  const finished = finish(end);
  assert.ok(
    end.how === 'ended' && end.exitCode === 0 && finished !== undefined,
    `${what}: the job ${end.how} with exit code ${end.exitCode}\n${JSON.stringify(end.news)}\n${end.errors}`,
  );
  return finished;
}
