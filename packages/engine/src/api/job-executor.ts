/**
 * What the environment needs of the engine that runs jobs, and what users get of a running job. The implementation is
 * the local executor; tests give their own.
 */
import type {
  CheckpointConfigInfo,
  CheckpointingStatistics,
  CheckpointStatistics,
  CheckpointSummary,
  TaskCheckpointStatisticsWithSubtaskDetails,
} from '../checkpoint/index.ts';
import type { JobExceptionsInfoWithHistory, JobStatus } from '../coordinator/index.ts';
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
  /** What the job does at this moment. */
  getJobStatus(): JobStatus;
  /** Resolves when the job has finished; rejects with what it failed of, JOB_CANCELED or JOB_SUSPENDED. */
  getJobExecutionResult(): Promise<JobExecutionResult>;
  /** Resolves when all tasks have ended. What happens to the checkpoints: `setExternalizedCheckpointRetention`. */
  cancel(): Promise<void>;
  /**
   * Ends the job at once so that it can go on later: as `cancel`, but its checkpoints are kept, whatever their retention
   * says, and the job goes on from the newest when it is started with `latest`. For a process that is told to go and has no
   * time for `stop`. Resolves when all tasks have ended.
   */
  suspend(): Promise<void>;
  /** Resolves when the job runs. Rejects with JOB_NOT_RUNNING if it ends before that. */
  untilRunning(): Promise<void>;
  /**
   * Ends the job well: sources read no more, a last checkpoint is taken and committed, the job is FINISHED. The checkpoint
   * is kept, so that the job goes on from it when it is started with `latest`, or with its `path`. With `drain` event time
   * ends first: windows are evaluated and timers fire, for a job that is not to go on. Resolves after the end. Rejects with
   * JOB_NOT_RUNNING, or with STOP_FAILED, and then the job goes on.
   */
  stop(options?: { readonly drain?: boolean }): Promise<StopResult>;
  /**
   * As `stop`, with a savepoint in `directory` (default: `execution.checkpointing.savepoint-dir`), which is what `latest`
   * then means. Resolves to the savepoint's path.
   */
  stopWithSavepoint(directory?: string, options?: { readonly drain?: boolean }): Promise<string>;
  /**
   * Takes a checkpoint, also in a job without periodic ones; it waits while as many as allowed are under way. Resolves when it
   * is complete. Rejects with CHECKPOINT_FAILED if it does not complete (`details.failure` is `stopping` when the job has
   * taken its last), with JOB_NOT_RUNNING if the job ends before.
   */
  triggerCheckpoint(): Promise<CheckpointSummary>;
  /**
   * Takes a savepoint in `directory` (default: `execution.checkpointing.savepoint-dir`); the job goes on. Resolves to its
   * path. Rejects with CHECKPOINT_FAILED, with CONFIG_INVALID without a directory.
   */
  triggerSavepoint(directory?: string): Promise<string>;
  /** How far the sources have come, one entry for each. */
  progress(): SourceProgress[];
  /** The numbers of docs/reference/metrics.md, by scope. */
  metrics(): JobMetrics;
  /**
   * For people: why a checkpoint took as long as it did, why it failed, or what it waits for; and what each subtask told of
   * it. Without a number it is about the one that was triggered last.
   */
  explainCheckpoint(checkpointId?: number): string;
  /**
   * For people: what the job was restored from last, why from that, how many records were emitted again, and how long it
   * took. A start from a snapshot counts too.
   */
  explainRecovery(): string;
  /** All checkpoints of this run in numbers, as Flink's `GET /jobs/:jobid/checkpoints`. */
  getCheckpointStatistics(): CheckpointingStatistics;
  /** One checkpoint, with its tasks by their ids, as Flink's `…/checkpoints/details/:checkpointid`; undefined: not known. */
  getCheckpointDetails(checkpointId: number): CheckpointStatistics | undefined;
  /**
   * One task of a checkpoint, with its subtasks, as Flink's `…/checkpoints/details/:checkpointid/subtasks/:vertexid`. Ids of
   * tasks are in `getCheckpointDetails(…).tasks` and in `metrics().tasks`.
   */
  getTaskCheckpointDetails(
    checkpointId: number,
    vertexId: string,
  ): TaskCheckpointStatisticsWithSubtaskDetails | undefined;
  /** How checkpoints are taken, as Flink's `GET /jobs/:jobid/checkpoints/config`. */
  getCheckpointConfig(): CheckpointConfigInfo;
  /** The failures of this run, newest first, as Flink's `GET /jobs/:jobid/exceptions`. */
  getExceptions(): JobExceptionsInfoWithHistory;
}

/** What a job was stopped with. */
export interface StopResult {
  /** Directory of the last checkpoint; undefined: there is none to go on from (drained, or kept in memory). */
  readonly path: string | undefined;
}

/** How far a source has come. */
export interface SourceProgress {
  readonly source: string;
  /** Read so far, also before restarts and restores; an iterable and a hybrid source count from the last of them. */
  readonly done: number;
  /** All there is; undefined if the source is endless or does not know. */
  readonly total: number | undefined;
  readonly unit: 'records' | 'bytes';
}

/** Metrics at one moment. */
export interface JobMetrics {
  readonly job: Readonly<Record<string, number>>;
  readonly tasks: readonly TaskMetricValues[];
}

/** Of one subtask of one task, with its operators by name. */
export interface TaskMetricValues {
  readonly vertex: string;
  /** Its id, 32 hexadecimal digits. */
  readonly vertexId: string;
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
  /** Records that sources emitted since the job was started or last restarted. */
  readonly recordsRead: number;
  readonly restarts: number;
  readonly completedCheckpoints: number;
  readonly failedCheckpoints: number;
  readonly lastCheckpoint: CheckpointSummary | undefined;
}
