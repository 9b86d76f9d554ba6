/**
 * Statistics of checkpoints as Apache Flink's REST API gives them: the shapes, with the names of Flink's classes and
 * members. Times are milliseconds since the epoch, durations milliseconds, sizes bytes.
 *
 * Made by checkpoint-record.ts and checkpoint-statistics-tracker.ts; handed out by the client of a job.
 * (org.apache.flink.runtime.rest.messages.checkpoints.)
 */
import type { StatsSummary } from './quantile-summary.ts';

/** How far a checkpoint has come. */
export type CheckpointStatus = 'IN_PROGRESS' | 'COMPLETED' | 'FAILED';

/** The numbers that a checkpoint and each of its tasks have in common. Sums over the subtasks that have answered. */
interface Totals {
  readonly status: CheckpointStatus;
  /** When the last answer so far came; -1: none has. */
  readonly latest_ack_timestamp: number;
  /** Bytes written for this checkpoint. */
  readonly checkpointed_size: number;
  /** Bytes of all state that it refers to. */
  readonly state_size: number;
  /** From the trigger to the last answer. */
  readonly end_to_end_duration: number;
  /** Always 0: a member of Flink's from a time when alignment buffered. */
  readonly alignment_buffered: number;
  /** Bytes that were processed during the alignment. */
  readonly processed_data: number;
  /** Bytes of data in flight that were saved. */
  readonly persisted_data: number;
  readonly num_subtasks: number;
  readonly num_acknowledged_subtasks: number;
}

/** One task of a checkpoint. */
export interface TaskCheckpointStatistics extends Totals {
  /** Of the checkpoint. */
  readonly id: number;
}

/** One checkpoint. `tasks` is by vertex id; empty in lists. */
export interface CheckpointStatistics extends Totals {
  readonly className: 'completed' | 'in_progress' | 'failed';
  readonly id: number;
  readonly is_savepoint: boolean;
  readonly savepointFormat: 'CANONICAL' | 'NATIVE' | null;
  readonly checkpoint_type: 'CHECKPOINT' | 'UNALIGNED_CHECKPOINT' | 'SAVEPOINT' | 'SYNC_SAVEPOINT';
  readonly trigger_timestamp: number;
  readonly tasks: Readonly<Record<string, TaskCheckpointStatistics>>;
  /** Of a completed one: its directory, or `<checkpoint-not-externally-addressable>`. */
  readonly external_path?: string;
  /** Of a completed one: its files were deleted. */
  readonly discarded?: boolean;
  /** Of a failed one. */
  readonly failure_timestamp?: number;
  /** Of a failed one. */
  readonly failure_message?: string | null;
}

/** One subtask of a checkpoint. */
export type SubtaskCheckpointStatistics =
  | {
      readonly className: 'completed';
      readonly index: number;
      readonly status: 'completed';
      readonly ack_timestamp: number;
      readonly end_to_end_duration: number;
      readonly checkpointed_size: number;
      readonly state_size: number;
      readonly checkpoint: { readonly sync: number; readonly async: number };
      readonly alignment: {
        readonly buffered: number;
        readonly processed: number;
        readonly persisted: number;
        readonly duration: number;
      };
      readonly start_delay: number;
      readonly unaligned_checkpoint: boolean;
      readonly aborted: boolean;
    }
  | { readonly className: 'pending'; readonly index: number; readonly status: 'pending_or_failed' };

/** One task of a checkpoint with its subtasks, in the order of their indices. */
export interface TaskCheckpointStatisticsWithSubtaskDetails extends TaskCheckpointStatistics {
  readonly summary: {
    readonly checkpointed_size: StatsSummary;
    readonly state_size: StatsSummary;
    readonly end_to_end_duration: StatsSummary;
    readonly checkpoint_duration: { readonly sync: StatsSummary; readonly async: StatsSummary };
    readonly alignment: {
      readonly buffered: StatsSummary;
      readonly processed: StatsSummary;
      readonly persisted: StatsSummary;
      readonly duration: StatsSummary;
    };
    readonly start_delay: StatsSummary;
  };
  readonly subtasks: readonly SubtaskCheckpointStatistics[];
}

/** What the job was restored from last. */
export interface RestoredCheckpointStatistics {
  readonly id: number;
  readonly restore_timestamp: number;
  readonly is_savepoint: boolean;
  readonly external_path: string | null;
}

/** All checkpoints of a job. */
export interface CheckpointingStatistics {
  /** Savepoints count too, and requests that were refused count as failed. `restored`: how often. */
  readonly counts: {
    readonly restored: number;
    readonly total: number;
    readonly in_progress: number;
    readonly completed: number;
    readonly failed: number;
  };
  /** Over the completed ones. */
  readonly summary: {
    readonly checkpointed_size: StatsSummary;
    readonly state_size: StatsSummary;
    readonly end_to_end_duration: StatsSummary;
    readonly alignment_buffered: StatsSummary;
    readonly processed_data: StatsSummary;
    readonly persisted_data: StatsSummary;
  };
  /** `completed` is no savepoint. */
  readonly latest: {
    readonly completed: CheckpointStatistics | null;
    readonly savepoint: CheckpointStatistics | null;
    readonly failed: CheckpointStatistics | null;
    readonly restored: RestoredCheckpointStatistics | null;
  };
  /** The newest first, those in progress included; `web.checkpoints.history` at most. */
  readonly history: readonly CheckpointStatistics[];
}
