/**
 * Jobs for tests of what runs jobs: written with the public API, executed by a JobMaster on the manual platform, so that a
 * whole execution with its files, timers and restarts goes as the test moves time.
 *
 *     planJob(build)            graph and settings of a job, nothing runs
 *     startManualJob(plan, …)   a JobMaster that runs it, with a slot host and a storage of the test's choice
 *     runUntil(platform, …)     moves time in small steps until something is so
 */
import { createHash } from 'node:crypto';
import type { ExecutionSettings } from '../api/execution-settings.ts';
import type { JobClient } from '../api/job-executor.ts';
import { StreamExecutionEnvironment } from '../api/stream-execution-environment.ts';
import { type CompletedSnapshot, createCheckpointStorage } from '../checkpoint/index.ts';
import {
  describeEdges,
  describeOperators,
  inlineSlotHost,
  type JobEndReport,
  JobMaster,
  type JobMasterOptions,
  type JobStatus,
  restoreExecution,
  type SlotHost,
} from '../coordinator/index.ts';
import type { Platform } from '../platform/index.ts';
import { createNodePlatform } from '../platform/node/index.ts';
import type { JobGraph } from '../runtime/index.ts';
import type { ManualPlatform } from './manual-platform.ts';

/** A job that nobody runs yet. */
export interface JobPlan {
  readonly graph: JobGraph;
  readonly settings: ExecutionSettings;
}

/** Writes a job into an environment. */
export type BuildJob = (env: StreamExecutionEnvironment) => void;

/** The job that `build` writes into an environment. */
export function planJob(build: BuildJob, jobName = 'job'): JobPlan {
  const { plan } = handIn(build, jobName);
  if (plan === undefined) throw new Error('the job was not handed to its executor');
  return plan;
}

/** The same. Rejects with what the environment refuses it for. */
export async function checkedPlan(build: BuildJob): Promise<JobPlan> {
  const { plan, started } = handIn(build, 'job');
  if (plan === undefined) await started;
  return plan!;
}

/** `started` rejects if the job never reached its executor; it does not resolve. */
function handIn(
  build: BuildJob,
  jobName: string,
): { readonly plan: JobPlan | undefined; readonly started: Promise<unknown> } {
  let plan: JobPlan | undefined;
  const env = new StreamExecutionEnvironment({
    hash: (text) => createHash('sha256').update(text).digest('hex'),
    execute: (graph, settings) => {
      plan = { graph, settings };
      return new Promise<JobClient>(() => {});
    },
  });
  build(env);
  const started = env.executeAsync(jobName);
  started.catch(() => {});
  return { plan, started };
}

export interface ManualJobOptions extends Partial<JobMasterOptions> {
  readonly jobId?: string;
  readonly lineageId?: string;
  /** Wraps what stores the checkpoints. */
  readonly slots?: SlotHost;
}

/** A job that runs. */
export interface ManualJob {
  readonly master: JobMaster;
  readonly statuses: JobStatus[];
  readonly end: Promise<JobEndReport>;
  /** Set when the job has ended. */
  report(): JobEndReport | undefined;
}

/** Starts a job without looking for earlier checkpoints; `options` replace what it is made of. */
export async function startManualJob(
  { graph, settings }: JobPlan,
  platform: Platform,
  options: ManualJobOptions = {},
): Promise<ManualJob> {
  const jobId = options.jobId ?? 'a'.repeat(32);
  const lineageId = options.lineageId ?? 'b'.repeat(16);
  const storage = options.storage ?? createCheckpointStorage(platform, settings.checkpoint.storage);
  await storage.open({ jobId, jobName: graph.jobName, lineageId });
  const statuses: JobStatus[] = ['CREATED'];
  const restore = async (snapshot: CompletedSnapshot) =>
    restoreExecution(snapshot, graph, settings.restore, platform.logger);
  const identity = { jobName: graph.jobName, jobId, lineageId, planHash: graph.planHash };
  const master = new JobMaster({
    graph,
    platform,
    host: options.slots ?? inlineSlotHost(platform),
    identity: {
      ...identity,
      millraceVersion: '0',
      operators: describeOperators(graph),
      edges: describeEdges(graph),
    },
    checkpoint: settings.checkpoint,
    restart: settings.restart,
    failoverStrategy: settings.failoverStrategy,
    includesElements: settings.includesElements,
    autoWatermarkIntervalMs: settings.autoWatermarkIntervalMs,
    bufferTimeoutMs: settings.bufferTimeoutMs,
    cancellationTimeoutMs: settings.cancellationTimeoutMs,
    storage,
    statisticsLimits: settings.statisticsLimits,
    startsFromLatest: false,
    existing: [],
    initial: undefined,
    restore,
    deliver: () => {},
    onStatus: (status) => statuses.push(status),
    ...options,
  });
  let report: JobEndReport | undefined;
  const end = master.run().then((result) => (report = result));
  return { master, statuses, end, report: () => report };
}

/** Moves time in steps of `stepMs` until `isSo`; throws when that much time has passed without. */
export async function runUntil(
  platform: ManualPlatform,
  isSo: () => boolean,
  options: { readonly limitMs?: number; readonly stepMs?: number } = {},
): Promise<void> {
  const { limitMs = 20_000, stepMs = 1 } = options;
  for (let passedMs = 0; !isSo(); passedMs += stepMs) {
    if (passedMs > limitMs) throw new Error(`after ${limitMs} ms it is still not so: ${String(isSo)}`);
    await yieldToPromises();
    platform.advance(stepMs);
  }
}

const realTimers = createNodePlatform().timers;

/** Until nothing goes on any more by promises alone: Node empties their queue before the event loop goes on. */
export function yieldToPromises(): Promise<void> {
  return realTimers.yieldToEventLoop();
}

/** Runs a job to its end. */
export async function runToEnd(
  platform: ManualPlatform,
  job: ManualJob,
  limitMs?: number,
): Promise<JobEndReport> {
  await runUntil(platform, () => job.report() !== undefined, { limitMs });
  return job.end;
}
