/** What a job has done so far, for people: times, restarts, checkpoints. Read at any time; bounded. */
import {
  type CheckpointBarrier,
  CheckpointStatisticsTracker,
  type CompletedSnapshot,
  type TaskAcknowledgement,
} from '../checkpoint/index.ts';
import type { Clock } from '../platform/index.ts';
import type { JobGraph } from '../runtime/index.ts';

/** Completed checkpoints whose summary is remembered, for those who asked for one. */
const SUMMARIES_MAX = 100;
/** Failures that are remembered (`web.exception-history-size` in Flink). */
const FAILURES_MAX = 16;

/** A completed checkpoint in short. */
export interface CheckpointSummary {
  readonly checkpointId: number;
  readonly kind: 'checkpoint' | 'savepoint';
  readonly durationMs: number;
  readonly stateSizeBytes: number;
  /** How long the subtask that took longest did nothing else, and how long the slowest wrote beside processing. */
  readonly syncMs: number;
  readonly asyncMs: number;
  /** undefined: in memory only. */
  readonly path: string | undefined;
  /** A sentence: which subtask held it up, in which phase. */
  readonly explanation: string;
}

export class JobStatistics {
  /** Checkpoints one by one, with the names and shapes of Flink's REST API. */
  readonly checkpoints = new CheckpointStatisticsTracker();
  private readonly graph: JobGraph;
  private readonly clock: Clock;
  private readonly startedMs: number;
  private readonly failureList: { readonly atMs: number; readonly error: Error }[] = [];
  private runningSinceMs: number | undefined;
  numRestarts = 0;
  numberOfCompletedCheckpoints = 0;
  numberOfFailedCheckpoints = 0;
  private readonly summaries = new Map<number, CheckpointSummary>();
  lastCheckpoint: CheckpointSummary | undefined;
  lastCheckpointFailure: string | undefined;

  constructor(graph: JobGraph, clock: Clock) {
    this.graph = graph;
    this.clock = clock;
    this.startedMs = clock.monotonicMs();
  }

  get runtimeMs(): number {
    return this.clock.monotonicMs() - this.startedMs;
  }

  /** Milliseconds since all tasks run; 0 if they do not. */
  get uptimeMs(): number {
    return this.runningSinceMs === undefined ? 0 : this.clock.monotonicMs() - this.runningSinceMs;
  }

  /** The newest failures, oldest first. */
  get failures(): readonly { readonly atMs: number; readonly error: Error }[] {
    return this.failureList;
  }

  running(): void {
    this.runningSinceMs = this.clock.monotonicMs();
  }

  failed(error: Error, restarts: boolean): void {
    this.runningSinceMs = undefined;
    if (restarts) this.numRestarts++;
    this.failureList.push({ atMs: this.clock.wallMs(), error });
    if (this.failureList.length > FAILURES_MAX) this.failureList.shift();
  }

  /** Of a checkpoint that completed not long ago. */
  summaryOf(checkpointId: number): CheckpointSummary | undefined {
    return this.summaries.get(checkpointId);
  }

  checkpointTriggered(barrier: CheckpointBarrier): void {
    this.checkpoints.triggered(
      barrier,
      this.graph.vertices.map(({ index, name, parallelism }) => ({
        id: String(index),
        name,
        vertexIndex: index,
        parallelism,
      })),
    );
  }

  checkpointAcknowledged(acknowledgement: TaskAcknowledgement): void {
    this.checkpoints.acknowledged(acknowledgement, this.clock.wallMs());
  }

  checkpointCompleted(
    snapshot: CompletedSnapshot,
    acknowledgements: readonly TaskAcknowledgement[],
    durationMs: number,
  ): void {
    this.numberOfCompletedCheckpoints++;
    this.checkpoints.completed(snapshot.checkpointId, snapshot.directory);
    const summary: CheckpointSummary = {
      checkpointId: snapshot.checkpointId,
      kind: snapshot.kind,
      durationMs,
      stateSizeBytes: acknowledgements.reduce((sum, { metrics }) => sum + metrics.stateSizeBytes, 0),
      syncMs: Math.max(0, ...acknowledgements.map(({ metrics }) => metrics.syncMs)),
      asyncMs: Math.max(0, ...acknowledgements.map(({ metrics }) => metrics.asyncMs)),
      path: snapshot.directory,
      explanation: this.checkpoints.explain(snapshot.checkpointId) ?? '',
    };
    this.lastCheckpoint = summary;
    this.summaries.set(summary.checkpointId, summary);
    if (this.summaries.size > SUMMARIES_MAX) this.summaries.delete(this.summaries.keys().next().value!);
  }

  checkpointFailed(checkpointId: number, message: string): void {
    this.numberOfFailedCheckpoints++;
    this.checkpoints.failed(checkpointId, message, this.clock.wallMs());
    this.lastCheckpointFailure = `checkpoint ${checkpointId}: ${message}`;
  }
}
