/**
 * Flink as a contender for what is not throughput: starts, snapshots, memory, recovery. Each measurement has a cluster, or a
 * process, of its own. The job is StateJob of flink/: a count for each of many keys.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { median } from '../lib/measure.ts';
import { forgetFirstResult, untilFirstResult } from './first-result.ts';
import { FlinkCluster } from './flink-cluster.ts';
import type { FlinkCheckpoint, FlinkJob } from './flink-rest.ts';
import { type ClusterSettings, javaOptions } from './flink-settings.ts';
import { cpuNanosOf } from './process-figures.ts';
import type { FlinkHome } from './set-up.ts';

const NO_CHECKPOINTS = 0;
const POLL_MS = 200;

export interface StateJobSettings {
  readonly keys: number;
  readonly parallelism: number;
  readonly checkpointMs: number;
}

function stateJob({ keys, parallelism, checkpointMs }: StateJobSettings, directory: string): FlinkJob {
  return {
    entry: 'millrace.bench.StateJob',
    options: {
      keys,
      parallelism,
      directory,
      'checkpoint-ms': checkpointMs,
      'buffer-timeout-ms': 5,
      restarts: 1000,
    },
  };
}

export interface StartFigures {
  /** From the start of the first process to the first result. */
  readonly elapsedMs: number;
  /** Of all processes. */
  readonly cpuMs: number;
}

const SMALL_JOB: StateJobSettings = {
  keys: 1000,
  parallelism: 1,
  checkpointMs: NO_CHECKPOINTS,
};

/** Starts a cluster and submits a job as soon as that is possible. */
export async function startInCluster(home: FlinkHome, settings: ClusterSettings): Promise<StartFigures> {
  const startMs = Date.now();
  const cluster = await FlinkCluster.start(home, settings);
  try {
    await cluster.submit(stateJob(SMALL_JOB, cluster.directory));
    const elapsedMs = (await untilFirstResult(cluster.directory)) - startMs;
    return { elapsedMs, cpuMs: cluster.cpuNanos() / 1e6 };
  } finally {
    cluster.stop();
  }
}

/** Runs a job in a process with a cluster embedded in it: what is nearest to a job that Node runs. */
export async function startEmbedded(home: FlinkHome): Promise<StartFigures> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-bench-flink-'));
  const { entry, options } = stateJob(SMALL_JOB, directory);
  const classPath = ['-cp', join(home.libraries, '*'), entry];
  const arguments_ = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const startMs = Date.now();
  const child = spawn(home.java, [...javaOptions(home.directory), ...classPath, ...arguments_], {
    stdio: 'ignore',
  });
  try {
    const elapsedMs = (await untilFirstResult(directory)) - startMs;
    return { elapsedMs, cpuMs: cpuNanosOf(child.pid!) / 1e6 };
  } finally {
    child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Runs `use` with a cluster in which a job has all its keys. */
async function withState<T>(
  home: FlinkHome,
  settings: ClusterSettings,
  job: StateJobSettings,
  use: (cluster: FlinkCluster, id: string) => Promise<T>,
): Promise<T> {
  const cluster = await FlinkCluster.start(home, settings);
  try {
    await cluster.untilSlotsAreFree();
    const id = await cluster.submit(stateJob(job, cluster.directory));
    // The second round is still warming up.
    while ((await cluster.rest.recordsRead(id)) < job.keys * 1.5) {
      await cluster.rest.throwIfFailed(id);
      await delay(POLL_MS);
    }
    return await use(cluster, id);
  } finally {
    cluster.stop();
  }
}

export interface SnapshotFigures extends FlinkCheckpoint {
  /** Of all processes, the snapshots included. */
  readonly peakResidentBytes: number;
}

/** Takes some snapshots while the job runs; the medians. */
export function takeSnapshots(
  home: FlinkHome,
  settings: ClusterSettings,
  keys: number,
  snapshots: number,
): Promise<SnapshotFigures> {
  // Snapshots are asked for; none comes by itself.
  const job = { keys, parallelism: 1, checkpointMs: 24 * 3600 * 1000 };
  return withState(home, settings, job, async (cluster, id) => {
    const taken: FlinkCheckpoint[] = [];
    for (let i = 0; i < snapshots; i++) taken.push(await cluster.rest.takeCheckpoint(id));
    const of = (field: keyof FlinkCheckpoint): number => median(taken.map((one) => one[field]));
    return {
      durationMs: of('durationMs'),
      syncMs: of('syncMs'),
      bytes: of('bytes'),
      peakResidentBytes: cluster.peakResidentBytes(),
    };
  });
}

/**
 * Kills the TaskManager after a checkpoint that has all keys, and starts another one at the same moment. Resolves with the
 * milliseconds until the next result.
 */
export function recover(home: FlinkHome, settings: ClusterSettings, job: StateJobSettings): Promise<number> {
  return withState(home, settings, job, async (cluster, id) => {
    const before = await cluster.rest.completedCheckpoints(id);
    // The next one may have been under way before the last key came.
    while ((await cluster.rest.completedCheckpoints(id)) < before + 2) {
      await cluster.rest.throwIfFailed(id);
      await delay(POLL_MS);
    }
    forgetFirstResult(cluster.directory);
    const killedMs = Date.now();
    cluster.replaceTaskManager();
    return (await untilFirstResult(cluster.directory)) - killedMs;
  });
}
