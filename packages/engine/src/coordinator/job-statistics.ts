/**
 * What a job has done so far, for people: times, restarts, failures, recoveries, checkpoints. Told by the JobMaster and the
 * checkpoint driver as it happens, read at any time by the client; bounded. Decides nothing; logs what people should see
 * without asking: slow and failed checkpoints, recoveries.
 */
import { hasCode, type LogLevel, MillraceError, readableDuration } from '../base/index.ts';
import {
  type CheckpointBarrier,
  type CheckpointFailure,
  type CheckpointSettings,
  CheckpointStatisticsTracker,
  type CheckpointSummary,
  type CompletedSnapshot,
  explainRecovery,
  recoveryLine,
  type StatisticsVertex,
  type TaskAcknowledgement,
  type TaskDecline,
} from '../checkpoint/index.ts';
import type { Platform } from '../platform/index.ts';
import type { JobGraph, JobVertex, TaskMetrics } from '../runtime/index.ts';
import { ExceptionHistory, type FailedTask } from './exception-history.ts';
import { RecoveryHistory } from './recovery-history.ts';
import { TaskActivity } from './task-activity.ts';

/** How much is remembered. */
export interface StatisticsLimits {
  /** Checkpoints in the history (`web.checkpoints.history`). */
  readonly checkpoints: number;
  /** Failures (`web.exception-history-size`). */
  readonly exceptions: number;
}

export interface JobStatisticsOptions {
  readonly graph: JobGraph;
  readonly platform: Platform;
  readonly checkpoint: CheckpointSettings;
  readonly limits?: StatisticsLimits | undefined;
  /** Threads that the subtasks of a vertex are spread over. */
  readonly slotCount: number;
  /** The latest numbers of all tasks. */
  metrics(): readonly TaskMetrics[];
}

/** A restart, as the JobMaster tells it. */
export interface RestartReport {
  readonly error: Error;
  /** By the restart strategy. */
  readonly delayMs: number;
  readonly snapshot: CompletedSnapshot | undefined;
  /** Why this one, in lines; empty: it is the newest that was complete. */
  readonly why: readonly string[];
  /** What is restarted, and its name; undefined: the whole job. */
  readonly part?: { readonly name: string; readonly vertices: readonly JobVertex[] } | undefined;
}

const VERTEX_ID_LENGTH = 32;
/** Slow checkpoints are told of that often at most. */
const SLOW_WARNING_MS = 60_000;
const DEFAULT_LIMITS: StatisticsLimits = { checkpoints: 10, exceptions: 16 };

/** At which level a checkpoint that failed is logged: what only follows from something else is told by that. */
const FAILURE_LEVELS: Readonly<Partial<Record<CheckpointFailure, LogLevel>>> = {
  'task-failed': 'info',
  'region-failover': 'info',
  subsumed: 'info',
  shutdown: 'debug',
  stopping: 'debug',
};

export class JobStatistics {
  /** Checkpoints one by one, with the names and shapes of Flink's REST API. */
  readonly checkpoints: CheckpointStatisticsTracker;
  readonly exceptions: ExceptionHistory;
  /** The vertices of the job, with the ids by which reports name them. */
  readonly vertices: readonly StatisticsVertex[];
  private readonly options: JobStatisticsOptions;
  private readonly recoveries: RecoveryHistory;
  private readonly activity: TaskActivity;
  private readonly startedMs: number;
  private runningSinceMs: number | undefined;
  private slowToldMs = Number.NEGATIVE_INFINITY;
  /** Restarts, of the whole job or of a part. */
  numRestarts = 0;

  constructor(options: JobStatisticsOptions) {
    const { graph, platform, checkpoint, limits = DEFAULT_LIMITS } = options;
    const { clock } = platform;
    const metrics = (): readonly TaskMetrics[] => options.metrics();
    this.options = options;
    this.startedMs = clock.monotonicMs();
    this.vertices = graph.vertices.map((vertex) => ({
      id: vertexId(vertex, platform),
      name: vertex.name,
      vertexIndex: vertex.index,
      parallelism: vertex.parallelism,
    }));
    this.checkpoints = new CheckpointStatisticsTracker(limits.checkpoints);
    this.exceptions = new ExceptionHistory(limits.exceptions);
    const isAligned = checkpoint.mode === 'EXACTLY_ONCE' && checkpoint.alignedTimeoutMs === undefined;
    this.activity = new TaskActivity({ graph, clock, isAligned, slotCount: options.slotCount, metrics });
    this.recoveries = new RecoveryHistory({ graph, clock, checkpoints: this.checkpoints, metrics });
  }

  get runtimeMs(): number {
    return this.options.platform.clock.monotonicMs() - this.startedMs;
  }

  /** Milliseconds since all tasks run; 0 if they do not. */
  get uptimeMs(): number {
    return this.runningSinceMs === undefined
      ? 0
      : this.options.platform.clock.monotonicMs() - this.runningSinceMs;
  }

  get numberOfCompletedCheckpoints(): number {
    return this.checkpoints.counts.completed;
  }

  get numberOfFailedCheckpoints(): number {
    return this.checkpoints.counts.failed;
  }

  /** The job begins. `why`: the reasons for the snapshot, in lines. */
  started(snapshot: CompletedSnapshot | undefined, why: readonly string[] = []): void {
    this.recoveries.started(snapshot, why);
    this.restoring(snapshot);
  }

  /** All tasks run. */
  running(): void {
    this.runningSinceMs = this.options.platform.clock.monotonicMs();
    for (const recovery of this.recoveries.running()) {
      // That a job begins is no news.
      if (recovery.snapshot === undefined && recovery.cause.type === 'start') continue;
      this.options.platform.logger.log('info', recoveryLine(recovery));
    }
  }

  /** The job fails; `failed` follows, when its tasks are gone. What takes time from now on belongs to the recovery. */
  failing(): void {
    this.recoveries.failed();
  }

  /** The job, or a part of it, has failed. */
  failed(error: Error, restarts: boolean): void {
    this.runningSinceMs = undefined;
    if (restarts) this.numRestarts++;
    this.recoveries.failed();
    this.exceptions.add(error, this.options.platform.clock.wallMs(), this.failedTask(error));
  }

  /** After `failed`, when its tasks are gone: it is certain what it starts from. */
  restarting({ error, delayMs, snapshot, why, part }: RestartReport): void {
    this.recoveries.restarting({
      message: error.message,
      delayMs,
      vertices: part?.vertices ?? this.options.graph.vertices,
      part: part?.name,
      snapshot,
      why,
      isThreadLost: hasCode(error, 'SLOT_LOST'),
    });
    this.restoring(snapshot);
  }

  private restoring(snapshot: CompletedSnapshot | undefined): void {
    if (snapshot === undefined) return;
    this.checkpoints.restoredFrom({
      id: snapshot.checkpointId,
      restore_timestamp: this.options.platform.clock.wallMs(),
      is_savepoint: snapshot.kind === 'savepoint',
      external_path: snapshot.directory ?? null,
    });
  }

  /** What the job was restored from last, why, how much is done again, how long it took. */
  explainRecovery(): string {
    const [newest] = this.recoveries.all;
    return newest === undefined
      ? `Job '${this.options.graph.jobName}' has not begun.`
      : explainRecovery(newest);
  }

  /** Why a checkpoint took that long or failed, or what it waits for; without an id, the one that was triggered last. */
  explainCheckpoint(checkpointId?: number): string {
    const report = this.checkpoints.report(checkpointId, (id) => this.activity.surroundingsOf(id));
    if (report !== undefined) return report;
    const { jobName } = this.options.graph;
    return checkpointId === undefined
      ? `Job '${jobName}' has taken no checkpoint so far.`
      : `Job '${jobName}' has no checkpoint ${checkpointId}, or it was too long ago.`;
  }

  /** `asSavepoint`: it is written as one, to a directory that the user named. */
  checkpointTriggered(barrier: CheckpointBarrier, asSavepoint?: boolean): void {
    this.activity.begin(barrier.checkpointId);
    this.checkpoints.triggered(barrier, this.vertices, asSavepoint);
  }

  checkpointAcknowledged(acknowledgement: TaskAcknowledgement): void {
    this.checkpoints.acknowledged(acknowledgement, this.momentOf(acknowledgement.checkpointId));
  }

  checkpointDeclined(decline: TaskDecline): void {
    this.checkpoints.declinedBy(decline);
  }

  checkpointCompleted({ checkpointId, directory }: CompletedSnapshot): void {
    const moment = this.momentOf(checkpointId);
    const surroundings = this.activity.surroundingsOf(checkpointId);
    this.activity.end(checkpointId);
    const summary = this.checkpoints.completed(checkpointId, moment, directory, surroundings);
    if (summary !== undefined) this.warnIfSlow(summary);
  }

  checkpointFailed(checkpointId: number, failure: CheckpointFailure, message: string): void {
    const moment = this.momentOf(checkpointId);
    const surroundings = this.activity.surroundingsOf(checkpointId);
    this.activity.end(checkpointId);
    const sentence = this.checkpoints.failed(checkpointId, moment, failure, message, surroundings);
    if (sentence !== undefined) this.options.platform.logger.log(FAILURE_LEVELS[failure] ?? 'warn', sentence);
  }

  /** A request was refused before it got an id. */
  checkpointRefused(): void {
    this.checkpoints.refused();
  }

  /** The files of a completed one were deleted. */
  checkpointDiscarded(checkpointId: number): void {
    this.checkpoints.discarded(checkpointId);
  }

  private momentOf(checkpointId: number): { readonly atMs: number; readonly afterMs: number } {
    return {
      atMs: this.options.platform.clock.wallMs(),
      afterMs: this.activity.elapsedMs(checkpointId),
    };
  }

  private warnIfSlow({ durationMs, explanation }: CheckpointSummary): void {
    const { checkpoint, platform } = this.options;
    const { intervalMs, timeoutMs } = checkpoint;
    const isNearTimeout = durationMs > timeoutMs / 2;
    if (!isNearTimeout && durationMs <= (intervalMs ?? Number.POSITIVE_INFINITY)) return;
    const nowMs = platform.clock.monotonicMs();
    if (nowMs - this.slowToldMs < SLOW_WARNING_MS) return;
    this.slowToldMs = nowMs;
    const limit = isNearTimeout
      ? `more than half of the timeout, ${readableDuration(timeoutMs)}`
      : `longer than the interval, ${readableDuration(intervalMs!)}`;
    platform.logger.log('warn', `${explanation} That is ${limit}.`);
  }

  /** The task that an error names, if it does. */
  private failedTask(error: Error): FailedTask | undefined {
    if (!(error instanceof MillraceError)) return undefined;
    const { uid, subtask } = error.details;
    const vertex = this.options.graph.vertices.find(({ operators }) =>
      operators.some((operator) => operator.uid === uid),
    );
    if (vertex === undefined || typeof subtask !== 'number') return undefined;
    const { name, parallelism } = vertex;
    return { name: `${name} (${subtask + 1}/${parallelism})` };
  }
}

/** 32 hexadecimal digits that are the same whenever the head of the chain has the same uid. */
function vertexId({ operators }: JobVertex, platform: Platform): string {
  const hasher = platform.hasher();
  hasher.update(new TextEncoder().encode(operators[0]!.uid));
  return hasher.digestHex().slice(0, VERTEX_ID_LENGTH);
}
