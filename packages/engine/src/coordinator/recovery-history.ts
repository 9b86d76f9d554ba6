/**
 * What a job was restored from, each time it began: which snapshot, how many records are emitted again, how long it took.
 * Filled by the statistics of the job. Bounded: the newest few.
 *
 * Sources count what they emit from the start of an attempt, and say with each checkpoint how many came before it. What is
 * emitted again after a failure is therefore
 *
 *     the checkpoint is of the attempt that failed     its count at the end − its count at the checkpoint
 *     it is older: the attempt began from it           its count at the end, or that of an attempt before which got further
 */
import {
  type CheckpointStatisticsTracker,
  type CompletedSnapshot,
  type Recovery,
  type ReplayedRecords,
  type RestoredSnapshot,
  stateSizeBytes,
} from '../checkpoint/index.ts';
import type { Clock } from '../platform/index.ts';
import type { JobGraph, JobVertex, TaskMetrics } from '../runtime/index.ts';

const RECOVERIES_MAX = 16;

export interface RecoveryHistoryOptions {
  readonly graph: JobGraph;
  readonly clock: Clock;
  readonly checkpoints: CheckpointStatisticsTracker;
  /** The latest numbers of all tasks. */
  metrics(): readonly TaskMetrics[];
}

/** A restart that was decided. */
export interface Restart {
  readonly message: string;
  /** By the restart strategy. */
  readonly delayMs: number;
  /** What is restarted: its vertices, and its name if it is not the whole job. */
  readonly vertices: readonly JobVertex[];
  readonly part: string | undefined;
  readonly snapshot: CompletedSnapshot | undefined;
  /** Why this one, in lines; empty: it is the newest that was complete. */
  readonly why: readonly string[];
  /** Its thread was lost with the newest numbers. */
  readonly isThreadLost: boolean;
}

interface Open {
  recovery: Recovery;
  readonly sinceMs: number;
}

export class RecoveryHistory {
  private readonly options: RecoveryHistoryOptions;
  private readonly recoveries: Recovery[] = [];
  /** Those whose tasks do not run yet. */
  private open: Open[] = [];
  /** By vertex, how often it was restarted: the number of its attempt. */
  private readonly attempts = new Map<number, number>();
  /** By source vertex: how far an attempt got from the checkpoint. */
  private readonly farthest = new Map<number, { readonly checkpointId: number; readonly count: number }>();
  private failedMs: number | undefined;

  constructor(options: RecoveryHistoryOptions) {
    this.options = options;
  }

  /** The newest first. */
  get all(): readonly Recovery[] {
    return [...this.open.map(({ recovery }) => recovery), ...this.recoveries];
  }

  /** The job begins. `why`: the reasons for the snapshot, in lines. */
  started(snapshot: CompletedSnapshot | undefined, why: readonly string[]): void {
    const { graph, clock } = this.options;
    this.begin(
      {
        jobName: graph.jobName,
        cause: { type: 'start' },
        part: undefined,
        snapshot: snapshot === undefined ? undefined : describe(snapshot),
        why,
        replayed: undefined,
        atMs: clock.wallMs(),
        tookMs: undefined,
      },
      clock.monotonicMs(),
    );
  }

  /** A failure: what takes time from now on belongs to the recovery. */
  failed(): void {
    this.failedMs ??= this.options.clock.monotonicMs();
  }

  /** It is certain from which snapshot a part of the job, whose tasks are gone, starts again. */
  restarting({ message, delayMs, vertices, part, snapshot, why, isThreadLost }: Restart): void {
    const { graph, clock } = this.options;
    const nowMs = clock.monotonicMs();
    const sinceMs = this.failedMs ?? nowMs;
    this.failedMs = undefined;
    const replayed = this.replayed(vertices, snapshot?.checkpointId ?? -1, isThreadLost);
    for (const { index } of vertices) this.attempts.set(index, this.attemptOf(index) + 1);
    this.begin(
      {
        jobName: graph.jobName,
        cause: { type: 'failure', message, delayMs },
        part,
        snapshot: snapshot === undefined ? undefined : describe(snapshot),
        why,
        replayed,
        atMs: clock.wallMs() - (nowMs - sinceMs),
        tookMs: undefined,
      },
      sinceMs,
    );
  }

  /** All tasks run: the recoveries that are over with that, the newest first. */
  running(): Recovery[] {
    const nowMs = this.options.clock.monotonicMs();
    const done = this.open.map(({ recovery, sinceMs }) => ({ ...recovery, tookMs: nowMs - sinceMs }));
    this.open = [];
    this.remember(done);
    return done;
  }

  private begin(recovery: Recovery, sinceMs: number): void {
    // One that failed before its tasks ran is over, too.
    const same = this.open.filter(({ recovery: { part } }) => part === recovery.part);
    this.open = [{ recovery, sinceMs }, ...this.open.filter((each) => !same.includes(each))];
    this.remember(same.map((each) => each.recovery));
  }

  private remember(recoveries: readonly Recovery[]): void {
    this.recoveries.unshift(...recoveries);
    this.recoveries.length = Math.min(this.recoveries.length, RECOVERIES_MAX);
  }

  private attemptOf(vertexIndex: number): number {
    return this.attempts.get(vertexIndex) ?? 0;
  }

  private replayed(
    vertices: readonly JobVertex[],
    checkpointId: number,
    isThreadLost: boolean,
  ): ReplayedRecords | undefined {
    let count = 0;
    let isKnown = false;
    let isAtLeast = isThreadLost;
    for (const { index, parallelism } of vertices.filter(({ source }) => source !== undefined)) {
      const reports = this.options.metrics().filter(({ task }) => task.vertex === index);
      isKnown ||= reports.length > 0;
      isAtLeast ||= reports.length < parallelism;
      const inThis = reports.reduce((sum, report) => sum + this.sinceCheckpoint(report, checkpointId), 0);
      const before = this.farthest.get(index);
      const farthest = Math.max(inThis, before?.checkpointId === checkpointId ? before.count : 0);
      this.farthest.set(index, { checkpointId, count: farthest });
      count += farthest;
    }
    return isKnown ? { count, isAtLeast } : undefined;
  }

  /** Records that one subtask of a source emitted after its barrier, in the attempt that is over. */
  private sinceCheckpoint({ task, numRecordsIn }: TaskMetrics, checkpointId: number): number {
    const subtask = { vertexIndex: task.vertex, subtaskIndex: task.subtask };
    const answer = this.options.checkpoints.answerOf(checkpointId, subtask);
    const isOfThisAttempt = answer?.attemptNumber === this.attemptOf(task.vertex);
    const before = isOfThisAttempt ? (answer?.metrics.sourceRecords ?? 0) : 0;
    return Math.max(0, numRecordsIn - before);
  }
}

function describe({ checkpointId, kind, directory, manifest }: CompletedSnapshot): RestoredSnapshot {
  return {
    checkpointId,
    isSavepoint: kind === 'savepoint',
    path: directory,
    timestampMs: manifest.timestampMs,
    stateSizeBytes: stateSizeBytes(manifest),
  };
}
