/**
 * What the environment needs of the engine that runs jobs, and what users get of a running job. The implementation is
 * the local executor; tests give their own.
 */
import type { CheckpointSummary, JobStatus } from '../coordinator/index.ts';
import type { TextHash } from '../graph/index.ts';
import type { JobGraph } from '../runtime/index.ts';
import type { ExecutionSettings } from './execution-settings.ts';

/** Takes what collect sinks deliver, in the order of each channel. */
export type Deliver = (channelId: string, values: readonly unknown[]) => void;

/** Runs jobs. */
export interface JobExecutor {
  /** SHA-256, for uids and the plan. */
  readonly hash: TextHash;
  /**
   * Starts the job and resolves when it is accepted; rejects if it cannot be started. In a worker thread, which loads the
   * job's module again to have its functions, it never resolves.
   */
  execute(graph: JobGraph, settings: ExecutionSettings, deliver?: Deliver): Promise<JobClient>;
}

/** A job that was started. */
export interface JobClient {
  readonly jobId: string;
  readonly jobName: string;
  getJobStatus(): JobStatus;
  /** Resolves when the job has finished; rejects with what it failed of, or JOB_CANCELLED. */
  getJobExecutionResult(): Promise<JobExecutionResult>;
  /** Resolves when all tasks have ended. What happens to the checkpoints: `setExternalizedCheckpointRetention`. */
  cancel(): Promise<void>;
  /** Takes a checkpoint now. Rejects if it does not complete. */
  triggerCheckpoint(): Promise<CheckpointSummary>;
  /** The numbers of docs/reference/metrics.md, by scope. */
  metrics(): JobMetrics;
}

/** Metrics at one moment. */
export interface JobMetrics {
  readonly job: Readonly<Record<string, number>>;
  readonly tasks: readonly TaskMetricValues[];
}

/** Of one subtask of one task, with its operators by name. */
export interface TaskMetricValues {
  readonly vertex: string;
  readonly subtaskIndex: number;
  readonly values: Readonly<Record<string, number>>;
  readonly operators: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** How a job that finished went. */
export interface JobExecutionResult {
  readonly jobId: string;
  readonly jobName: string;
  /** Milliseconds from the start to the end. */
  readonly netRuntimeMs: number;
  /** Records that sources emitted, those of repeated attempts included. */
  readonly recordsRead: number;
  readonly restarts: number;
  readonly completedCheckpoints: number;
  readonly failedCheckpoints: number;
  readonly lastCheckpoint: CheckpointSummary | undefined;
}
