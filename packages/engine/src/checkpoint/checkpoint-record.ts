/**
 * What is remembered of one checkpoint, and the statistics that it amounts to. Pure.
 *
 * Filled by the tracker of statistics; read by it and by the sentences about checkpoints.
 */
import type { SubtaskCheckpointMetrics } from './acknowledgement.ts';
import { type CheckpointBarrier, stopsJob } from './barrier.ts';
import type { CheckpointFailure } from './checkpoint-failure.ts';
import type {
  CheckpointStatistics,
  SubtaskCheckpointStatistics,
  TaskCheckpointStatistics,
  TaskCheckpointStatisticsWithSubtaskDetails,
} from './checkpoint-statistics.ts';
import { type StatsSummary, summaryOf } from './quantile-summary.ts';

const NAME_MAX = 80;
const NOT_ADDRESSABLE = '<checkpoint-not-externally-addressable>';

/** A vertex that takes part. */
export interface StatisticsVertex {
  /** 32 hexadecimal digits. */
  readonly id: string;
  readonly name: string;
  readonly vertexIndex: number;
  readonly parallelism: number;
}

/** Which subtask. */
export interface SubtaskRef {
  readonly vertexIndex: number;
  readonly subtaskIndex: number;
}

/** The answer of a subtask. */
export interface SubtaskRecord {
  /** When the JobManager heard of it, by the wall clock. */
  readonly ackMs: number;
  /** The same since the trigger, by monotonic time. */
  readonly afterMs: number;
  readonly attemptNumber: number;
  readonly metrics: SubtaskCheckpointMetrics;
}

/** How a checkpoint ended. Durations are from the trigger, by monotonic time. */
export type CheckpointOutcome =
  | { readonly status: 'IN_PROGRESS' }
  | {
      readonly status: 'COMPLETED';
      readonly durationMs: number;
      /** undefined: it is in memory only. */
      readonly externalPath: string | undefined;
    }
  | {
      readonly status: 'FAILED';
      readonly durationMs: number;
      readonly atMs: number;
      readonly failure: CheckpointFailure;
      readonly message: string;
      /** Who declined it. */
      readonly declinedBy: SubtaskRef | undefined;
    };

export interface CheckpointRecord {
  readonly barrier: CheckpointBarrier;
  /** What a job is stopped with is one only if it has a directory of its own. */
  readonly isSavepoint: boolean;
  readonly vertices: readonly StatisticsVertex[];
  /** By vertex index, then subtask index. */
  readonly subtasks: ReadonlyMap<number, (SubtaskRecord | undefined)[]>;
  outcome: CheckpointOutcome;
  /** Its files were deleted. */
  discarded: boolean;
  /** Why it took that long, or failed; undefined while it runs. */
  explanation: string | undefined;
}

/** A subtask with its answer. */
export interface AnsweredSubtask {
  readonly vertex: StatisticsVertex;
  readonly index: number;
  readonly answer: SubtaskRecord;
}

export function newRecord(
  barrier: CheckpointBarrier,
  vertices: readonly StatisticsVertex[],
  isSavepoint: boolean,
): CheckpointRecord {
  const subtasks = new Map(
    vertices.map(({ vertexIndex, parallelism }) => [
      vertexIndex,
      Array.from({ length: parallelism }, (): SubtaskRecord | undefined => undefined),
    ]),
  );
  const outcome = { status: 'IN_PROGRESS' } as const;
  return { barrier, isSavepoint, vertices, subtasks, outcome, discarded: false, explanation: undefined };
}

/** The subtasks that have answered, of one vertex or of all. */
export function answered(record: CheckpointRecord, vertex?: StatisticsVertex): AnsweredSubtask[] {
  return (vertex === undefined ? record.vertices : [vertex]).flatMap((each) =>
    (record.subtasks.get(each.vertexIndex) ?? []).flatMap((answer, index) =>
      answer === undefined ? [] : [{ vertex: each, index, answer }],
    ),
  );
}

/** The subtasks that have not, in topological order. */
export function missing(record: CheckpointRecord): SubtaskRef[] {
  return record.vertices.flatMap(({ vertexIndex }) =>
    (record.subtasks.get(vertexIndex) ?? []).flatMap((answer, subtaskIndex) =>
      answer === undefined ? [{ vertexIndex, subtaskIndex }] : [],
    ),
  );
}

/** `"map" (2/4)`, as Flink counts subtasks for people. */
export function subtaskName(record: CheckpointRecord, { vertexIndex, subtaskIndex }: SubtaskRef): string {
  const vertex = record.vertices.find((each) => each.vertexIndex === vertexIndex);
  const name = shortened(vertex?.name ?? `task ${vertexIndex}`);
  return `"${name}" (${subtaskIndex + 1}/${vertex?.parallelism ?? '?'})`;
}

/** A name as texts for people have it. */
export function shortened(name: string): string {
  return name.length <= NAME_MAX ? name : `${name.slice(0, NAME_MAX - 1)}…`;
}

/** Whether its barrier overtook data in the subtask. */
export function isUnaligned({ unaligned, persistedBytes }: SubtaskCheckpointMetrics): boolean {
  return unaligned ?? persistedBytes > 0;
}

function totals(subtasks: readonly AnsweredSubtask[]) {
  const sum = (pick: (metrics: SubtaskCheckpointMetrics) => number): number =>
    subtasks.reduce((total, { answer }) => total + pick(answer.metrics), 0);
  const latest = (pick: (answer: SubtaskRecord) => number): number =>
    subtasks.reduce((max, { answer }) => Math.max(max, pick(answer)), -1);
  return {
    latest_ack_timestamp: latest(({ ackMs }) => ackMs),
    checkpointed_size: sum((metrics) => metrics.checkpointedBytes),
    state_size: sum((metrics) => metrics.stateSizeBytes),
    end_to_end_duration: Math.max(0, Math.round(latest(({ afterMs }) => afterMs))),
    alignment_buffered: 0,
    processed_data: sum((metrics) => metrics.processedBytes),
    persisted_data: sum((metrics) => metrics.persistedBytes),
    num_acknowledged_subtasks: subtasks.length,
  };
}

const CLASS_NAMES = { IN_PROGRESS: 'in_progress', COMPLETED: 'completed', FAILED: 'failed' } as const;

/** Without its tasks, as lists have it. */
export function statisticsOf(record: CheckpointRecord): CheckpointStatistics {
  const { barrier, outcome } = record;
  const subtasks = answered(record);
  return {
    className: CLASS_NAMES[outcome.status],
    id: barrier.checkpointId,
    status: outcome.status,
    is_savepoint: record.isSavepoint,
    savepointFormat: record.isSavepoint ? 'NATIVE' : null,
    checkpoint_type: typeOf(record, subtasks),
    trigger_timestamp: barrier.timestampMs,
    ...totals(subtasks),
    num_subtasks: record.vertices.reduce((total, { parallelism }) => total + parallelism, 0),
    tasks: {},
    ...(outcome.status === 'COMPLETED'
      ? { external_path: outcome.externalPath ?? NOT_ADDRESSABLE, discarded: record.discarded }
      : {}),
    ...(outcome.status === 'FAILED'
      ? { failure_timestamp: outcome.atMs, failure_message: outcome.message }
      : {}),
  };
}

function typeOf(
  { barrier, isSavepoint }: CheckpointRecord,
  subtasks: readonly AnsweredSubtask[],
): CheckpointStatistics['checkpoint_type'] {
  if (isSavepoint) return stopsJob(barrier.kind) ? 'SYNC_SAVEPOINT' : 'SAVEPOINT';
  return subtasks.some(({ answer }) => isUnaligned(answer.metrics)) ? 'UNALIGNED_CHECKPOINT' : 'CHECKPOINT';
}

/** With its tasks. */
export function detailsOf(record: CheckpointRecord): CheckpointStatistics {
  const tasks = record.vertices.map((vertex) => [vertex.id, taskStatistics(record, vertex)] as const);
  return { ...statisticsOf(record), tasks: Object.fromEntries(tasks) };
}

function taskStatistics(record: CheckpointRecord, vertex: StatisticsVertex): TaskCheckpointStatistics {
  const subtasks = answered(record, vertex);
  const isComplete = subtasks.length === vertex.parallelism;
  return {
    id: record.barrier.checkpointId,
    status: isComplete ? 'COMPLETED' : record.outcome.status === 'FAILED' ? 'FAILED' : 'IN_PROGRESS',
    ...totals(subtasks),
    num_subtasks: vertex.parallelism,
  };
}

/** One task with its subtasks. */
export function taskDetailsOf(
  record: CheckpointRecord,
  vertex: StatisticsVertex,
): TaskCheckpointStatisticsWithSubtaskDetails {
  const known = answered(record, vertex).map(({ index, answer }) => completedSubtask(answer, index));
  const summary = (pick: (subtask: CompletedSubtask) => number): StatsSummary => summaryOf(known.map(pick));
  return {
    ...taskStatistics(record, vertex),
    summary: {
      checkpointed_size: summary((subtask) => subtask.checkpointed_size),
      state_size: summary((subtask) => subtask.state_size),
      end_to_end_duration: summary((subtask) => subtask.end_to_end_duration),
      checkpoint_duration: {
        sync: summary((subtask) => subtask.checkpoint.sync),
        async: summary((subtask) => subtask.checkpoint.async),
      },
      alignment: {
        buffered: summary((subtask) => subtask.alignment.buffered),
        processed: summary((subtask) => subtask.alignment.processed),
        persisted: summary((subtask) => subtask.alignment.persisted),
        duration: summary((subtask) => subtask.alignment.duration),
      },
      start_delay: summary((subtask) => subtask.start_delay),
    },
    subtasks: (record.subtasks.get(vertex.vertexIndex) ?? []).map((answer, index) =>
      answer === undefined
        ? { className: 'pending', index, status: 'pending_or_failed' }
        : completedSubtask(answer, index),
    ),
  };
}

type CompletedSubtask = Extract<SubtaskCheckpointStatistics, { className: 'completed' }>;

function completedSubtask({ ackMs, afterMs, metrics }: SubtaskRecord, index: number): CompletedSubtask {
  return {
    className: 'completed',
    index,
    status: 'completed',
    ack_timestamp: ackMs,
    end_to_end_duration: Math.round(afterMs),
    checkpointed_size: metrics.checkpointedBytes,
    state_size: metrics.stateSizeBytes,
    checkpoint: { sync: Math.round(metrics.syncMs), async: Math.round(metrics.asyncMs) },
    alignment: {
      buffered: 0,
      processed: metrics.processedBytes,
      persisted: metrics.persistedBytes,
      duration: Math.round(metrics.alignmentMs),
    },
    start_delay: Math.round(metrics.startDelayMs),
    unaligned_checkpoint: isUnaligned(metrics),
    aborted: false,
  };
}
