/**
 * Remembers the checkpoints of a job: what they counted, how they ended, what became of them.
 *
 * Told by the statistics of a job, which know the clock; read by the client. Bounded: details of the newest thousand
 * checkpoints are kept, and of each kind the latest. Pure apart from being an object that remembers.
 * (org.apache.flink.runtime.checkpoint.CheckpointStatsTracker.)
 */
import type { TaskAcknowledgement, TaskDecline } from './acknowledgement.ts';
import { type CheckpointBarrier, isSavepoint } from './barrier.ts';
import { checkpointReport, explainCheckpoint } from './checkpoint-explanation.ts';
import type { CheckpointFailure } from './checkpoint-failure.ts';
import {
  answered,
  type CheckpointOutcome,
  type CheckpointRecord,
  detailsOf,
  newRecord,
  type StatisticsVertex,
  type SubtaskRecord,
  type SubtaskRef,
  statisticsOf,
  taskDetailsOf,
} from './checkpoint-record.ts';
import type {
  CheckpointingStatistics,
  CheckpointStatistics,
  RestoredCheckpointStatistics,
  TaskCheckpointStatisticsWithSubtaskDetails,
} from './checkpoint-statistics.ts';
import type { CheckpointSurroundings } from './missing-subtasks.ts';
import { QuantileSummary } from './quantile-summary.ts';

/** As many as Flink keeps details of. */
const DETAILS_MAX = 1000;

const SUMMARY_NAMES = [
  'checkpointed_size',
  'state_size',
  'end_to_end_duration',
  'alignment_buffered',
  'processed_data',
  'persisted_data',
] as const;

/** A completed checkpoint in short. */
export interface CheckpointSummary {
  readonly checkpointId: number;
  readonly kind: 'checkpoint' | 'savepoint';
  /** From the trigger until it was complete. */
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

/** When something happened to a checkpoint. */
export interface EventMoment {
  /** Wall time. */
  readonly atMs: number;
  /** Since the trigger, by monotonic time. */
  readonly afterMs: number;
}

export class CheckpointStatisticsTracker {
  private readonly historyMax: number;
  private readonly records = new Map<number, CheckpointRecord>();
  private readonly declined = new Map<number, SubtaskRef>();
  private readonly summaries = SUMMARY_NAMES.map((name) => ({ name, values: new QuantileSummary() }));
  private restoredCount = 0;
  private completedCount = 0;
  private failedCount = 0;
  private inProgressCount = 0;
  private latestTriggered: CheckpointRecord | undefined;
  private latestCheckpoint: CheckpointRecord | undefined;
  private latestSavepoint: CheckpointRecord | undefined;
  private latestFailed: CheckpointRecord | undefined;
  private latestCompleted: CheckpointRecord | undefined;
  private lastCompletedMs = -1;
  private restored: RestoredCheckpointStatistics | undefined;

  /** `historyMax`: checkpoints that the history shows. */
  constructor(historyMax = 10) {
    this.historyMax = historyMax;
  }

  /** A checkpoint was triggered. `asSavepoint`: it is written as one, to a directory that the user named. */
  triggered(
    barrier: CheckpointBarrier,
    vertices: readonly StatisticsVertex[],
    asSavepoint = isSavepoint(barrier.kind),
  ): void {
    const record = newRecord(barrier, vertices, asSavepoint);
    this.records.set(barrier.checkpointId, record);
    this.latestTriggered = record;
    this.inProgressCount++;
    for (const [id, { outcome }] of this.records) {
      if (this.records.size <= DETAILS_MAX) break;
      if (outcome.status !== 'IN_PROGRESS') this.records.delete(id);
    }
  }

  /** A subtask acknowledged it, and the JobManager has heard of it so long after the trigger. */
  acknowledged(acknowledgement: TaskAcknowledgement, { atMs, afterMs }: EventMoment): void {
    const { checkpointId, vertexIndex, subtaskIndex, attemptNumber, metrics } = acknowledgement;
    const record = this.records.get(checkpointId);
    const subtasks = record?.subtasks.get(vertexIndex);
    if (record?.outcome.status !== 'IN_PROGRESS' || subtasks === undefined) return;
    if (subtaskIndex < subtasks.length)
      subtasks[subtaskIndex] = { ackMs: atMs, afterMs, attemptNumber, metrics };
  }

  /** A subtask declined it. `failed` follows if that ends it. */
  declinedBy({ checkpointId, vertexIndex, subtaskIndex }: TaskDecline): void {
    if (this.records.get(checkpointId)?.outcome.status !== 'IN_PROGRESS') return;
    this.declined.set(checkpointId, { vertexIndex, subtaskIndex });
  }

  /** It is complete: that in short; undefined if nothing is known of it. `externalPath`: undefined if it is in memory only. */
  completed(
    checkpointId: number,
    { atMs, afterMs }: EventMoment,
    externalPath: string | undefined,
    surroundings: CheckpointSurroundings,
  ): CheckpointSummary | undefined {
    const outcome = { status: 'COMPLETED', durationMs: afterMs, externalPath } as const;
    const record = this.end(checkpointId, outcome, surroundings);
    if (record === undefined) return undefined;
    this.completedCount++;
    this.lastCompletedMs = atMs;
    this.latestCompleted = record;
    if (record.isSavepoint) this.latestSavepoint = record;
    else this.latestCheckpoint = record;
    const statistics = statisticsOf(record);
    for (const { name, values } of this.summaries) values.add(statistics[name]);
    return summaryOfRecord(record);
  }

  /** It failed: the sentence why; undefined if nothing is known of it. */
  failed(
    checkpointId: number,
    { atMs, afterMs }: EventMoment,
    failure: CheckpointFailure,
    message: string,
    surroundings: CheckpointSurroundings,
  ): string | undefined {
    const declinedBy = this.declined.get(checkpointId);
    const outcome = { status: 'FAILED', durationMs: afterMs, atMs, failure, message, declinedBy } as const;
    const record = this.end(checkpointId, outcome, surroundings);
    if (record === undefined) return undefined;
    this.failedCount++;
    this.latestFailed = record;
    return record.explanation;
  }

  private end(
    checkpointId: number,
    outcome: CheckpointOutcome,
    surroundings: CheckpointSurroundings,
  ): CheckpointRecord | undefined {
    const record = this.records.get(checkpointId);
    this.declined.delete(checkpointId);
    if (record?.outcome.status !== 'IN_PROGRESS') return undefined;
    record.outcome = outcome;
    record.explanation = explainCheckpoint(record, surroundings);
    this.inProgressCount--;
    return record;
  }

  /** A request was refused before it got an id. */
  refused(): void {
    this.failedCount++;
  }

  /** Its files were deleted. */
  discarded(checkpointId: number): void {
    const record = this.records.get(checkpointId);
    if (record?.outcome.status === 'COMPLETED') record.discarded = true;
  }

  /** The job was restored, at its start or after a failure. */
  restoredFrom(restored: RestoredCheckpointStatistics): void {
    this.restoredCount++;
    this.restored = restored;
  }

  get counts(): CheckpointingStatistics['counts'] {
    const { restoredCount, inProgressCount, completedCount, failedCount } = this;
    return {
      restored: restoredCount,
      total: completedCount + failedCount + inProgressCount,
      in_progress: inProgressCount,
      completed: completedCount,
      failed: failedCount,
    };
  }

  /** All checkpoints of the job. */
  overview(): CheckpointingStatistics {
    const listed = (record: CheckpointRecord | undefined) =>
      record === undefined ? null : statisticsOf(record);
    const summary = Object.fromEntries(this.summaries.map(({ name, values }) => [name, values.summary()]));
    return {
      counts: this.counts,
      summary: summary as CheckpointingStatistics['summary'],
      latest: {
        completed: listed(this.latestCheckpoint),
        savepoint: listed(this.latestSavepoint),
        failed: listed(this.latestFailed),
        restored: this.restored ?? null,
      },
      history: [...this.records.values()]
        .slice(Math.max(0, this.records.size - this.historyMax))
        .reverse()
        .map(statisticsOf),
    };
  }

  /** One with its tasks; undefined if it is not known (any more). */
  details(checkpointId: number): CheckpointStatistics | undefined {
    const record = this.records.get(checkpointId);
    return record === undefined ? undefined : detailsOf(record);
  }

  /** One task with its subtasks; undefined if one of the two is not known. */
  taskDetails(
    checkpointId: number,
    vertexId: string,
  ): TaskCheckpointStatisticsWithSubtaskDetails | undefined {
    const record = this.records.get(checkpointId);
    const vertex = record?.vertices.find(({ id }) => id === vertexId);
    return record === undefined || vertex === undefined ? undefined : taskDetailsOf(record, vertex);
  }

  /** The metrics of checkpoints, by their names. "Last" is the last completed one, savepoints included; -1: none. */
  metrics(): Record<string, number> {
    const { counts } = this;
    const last = this.summaryOf();
    const statistics = this.latestCompleted === undefined ? undefined : statisticsOf(this.latestCompleted);
    return {
      totalNumberOfCheckpoints: counts.total,
      numberOfInProgressCheckpoints: counts.in_progress,
      numberOfCompletedCheckpoints: counts.completed,
      numberOfFailedCheckpoints: counts.failed,
      lastCheckpointDuration: last?.durationMs ?? -1,
      lastCheckpointSize: statistics?.checkpointed_size ?? -1,
      lastCheckpointFullSize: statistics?.state_size ?? -1,
      lastCheckpointProcessedData: statistics?.processed_data ?? -1,
      lastCheckpointPersistedData: statistics?.persisted_data ?? -1,
      lastCompletedCheckpointId: last?.checkpointId ?? -1,
      lastCheckpointCompletedTimestamp: this.lastCompletedMs,
      lastCheckpointRestoreTimestamp: this.restored?.restore_timestamp ?? -1,
    };
  }

  /** A completed one in short; without an id, the last of them. */
  summaryOf(checkpointId?: number): CheckpointSummary | undefined {
    const record = checkpointId === undefined ? this.latestCompleted : this.records.get(checkpointId);
    return record === undefined ? undefined : summaryOfRecord(record);
  }

  /** Why one took that long, failed, or what it waits for, and its subtasks; without an id, the one triggered last. */
  report(
    checkpointId: number | undefined,
    surroundingsOf: (checkpointId: number) => CheckpointSurroundings,
  ): string | undefined {
    const record = checkpointId === undefined ? this.latestTriggered : this.records.get(checkpointId);
    if (record === undefined) return undefined;
    return checkpointReport(record, surroundingsOf(record.barrier.checkpointId));
  }

  /** The answer of a subtask to one; undefined if it is not known. */
  answerOf(checkpointId: number, { vertexIndex, subtaskIndex }: SubtaskRef): SubtaskRecord | undefined {
    return this.records.get(checkpointId)?.subtasks.get(vertexIndex)?.[subtaskIndex];
  }
}

function summaryOfRecord(record: CheckpointRecord): CheckpointSummary | undefined {
  const { barrier, outcome } = record;
  if (outcome.status !== 'COMPLETED') return undefined;
  const metrics = answered(record).map(({ answer }) => answer.metrics);
  return {
    checkpointId: barrier.checkpointId,
    kind: record.isSavepoint ? 'savepoint' : 'checkpoint',
    durationMs: outcome.durationMs,
    stateSizeBytes: metrics.reduce((sum, { stateSizeBytes }) => sum + stateSizeBytes, 0),
    syncMs: Math.max(0, ...metrics.map(({ syncMs }) => syncMs)),
    asyncMs: Math.max(0, ...metrics.map(({ asyncMs }) => asyncMs)),
    path: outcome.externalPath,
    explanation: record.explanation ?? '',
  };
}
