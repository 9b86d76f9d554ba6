/** A job of the local executor as its user sees it. */
import { type Logger, MillraceError, SAVEPOINT_DIR } from '../base/index.ts';
import {
  type CheckpointConfigInfo,
  type CheckpointingStatistics,
  type CheckpointSettings,
  type CheckpointStatistics,
  type CheckpointSummary,
  checkpointConfigInfo,
  type TaskCheckpointStatisticsWithSubtaskDetails,
} from '../checkpoint/index.ts';
import type {
  JobEndReport,
  JobExceptionsInfoWithHistory,
  JobMaster,
  JobStatus,
} from '../coordinator/index.ts';
import type { JobGraph, TaskMetrics } from '../runtime/index.ts';
import type {
  JobClient,
  JobExecutionResult,
  JobMetrics,
  SourceProgress,
  StopResult,
} from './job-executor.ts';

export interface LocalJob {
  readonly jobId: string;
  readonly graph: JobGraph;
  readonly master: JobMaster;
  /** What `master.run()` returned. */
  readonly end: Promise<JobEndReport>;
  /** Of savepoints that name none. */
  readonly savepointDirectory: string | undefined;
  readonly checkpointSettings: CheckpointSettings;
  /** Told of a failure that nobody asked about. */
  readonly logger: Logger;
}

export class LocalJobClient implements JobClient {
  readonly jobId: string;
  readonly jobName: string;
  private readonly graph: JobGraph;
  private readonly master: JobMaster;
  private readonly end: Promise<JobEndReport>;
  private readonly savepointDirectory: string | undefined;
  private readonly checkpointSettings: CheckpointSettings;
  private isResultWanted = false;

  constructor({ jobId, graph, master, end, savepointDirectory, checkpointSettings, logger }: LocalJob) {
    this.jobId = jobId;
    this.jobName = graph.jobName;
    this.graph = graph;
    this.master = master;
    this.end = end;
    this.savepointDirectory = savepointDirectory;
    this.checkpointSettings = checkpointSettings;
    void end.then(({ status, error }) => {
      if (status === 'FAILED' && !this.isResultWanted)
        logger.log('error', `Job '${graph.jobName}' failed: ${error?.message ?? 'unknown'}`);
    });
  }

  getJobStatus(): JobStatus {
    return this.master.getStatus();
  }

  getJobExecutionResult(): Promise<JobExecutionResult> {
    this.isResultWanted = true;
    return this.outcome();
  }

  /** The same, for those who are not the user. */
  async outcome(): Promise<JobExecutionResult> {
    const { status, error } = await this.end;
    if (status === 'CANCELED')
      throw new MillraceError('JOB_CANCELED', `Job '${this.jobName}' was cancelled.`);
    if (status === 'SUSPENDED')
      throw new MillraceError('JOB_SUSPENDED', `Job '${this.jobName}' was suspended: start it from latest.`);
    if (error !== undefined) throw error;
    const { statistics } = this.master;
    return {
      jobId: this.jobId,
      jobName: this.jobName,
      netRuntimeMs: statistics.runtimeMs,
      recordsRead: this.recordsRead(),
      restarts: statistics.numRestarts,
      completedCheckpoints: statistics.numberOfCompletedCheckpoints,
      failedCheckpoints: statistics.numberOfFailedCheckpoints,
      lastCheckpoint: statistics.checkpoints.summaryOf(),
    };
  }

  async cancel(): Promise<void> {
    this.master.cancel();
    await this.end;
  }

  async suspend(): Promise<void> {
    this.master.suspend();
    await this.end;
  }

  untilRunning(): Promise<void> {
    return this.master.untilRunning();
  }

  async stop({ drain = false }: { readonly drain?: boolean } = {}): Promise<StopResult> {
    const snapshot = await this.master.stop({ drain, savepointDirectory: undefined });
    return { path: snapshot?.directory };
  }

  async stopWithSavepoint(
    directory?: string,
    { drain = false }: { readonly drain?: boolean } = {},
  ): Promise<string> {
    const savepointDirectory = this.savepointTarget(directory);
    const snapshot = await this.master.stop({ drain, savepointDirectory });
    return snapshot!.directory!;
  }

  triggerCheckpoint(): Promise<CheckpointSummary> {
    return this.take('checkpoint', undefined);
  }

  async triggerSavepoint(directory?: string): Promise<string> {
    const summary = await this.take('savepoint', this.savepointTarget(directory));
    return summary.path!;
  }

  progress(): SourceProgress[] {
    const sources = this.graph.vertices.filter(({ source }) => source !== undefined);
    return sources.map((vertex) => {
      const readers = this.master
        .metrics()
        .flatMap(({ task, sourceProgress }) => (task.vertex === vertex.index && sourceProgress) || []);
      return {
        source: vertex.operators[0]!.name,
        done: readers.reduce((sum, { done }) => sum + done, 0),
        total: readers.find(({ total }) => total !== undefined)?.total,
        unit: readers[0]?.unit ?? 'records',
      };
    });
  }

  private async take(
    kind: 'checkpoint' | 'savepoint',
    directory: string | undefined,
  ): Promise<CheckpointSummary> {
    await this.master.untilRunning();
    const answer = await this.master.requestCheckpoint(kind, directory);
    if (answer.type === 'completed')
      return this.master.statistics.checkpoints.summaryOf(answer.checkpointId)!;
    throw new MillraceError(
      'CHECKPOINT_FAILED',
      `The ${kind} of job '${this.jobName}' that was asked for did not complete: ${answer.message}`,
      { details: { failure: answer.failure } },
    );
  }

  private savepointTarget(directory: string | undefined): string {
    if (directory !== undefined && typeof directory !== 'string') {
      const message = `A savepoint's directory is a text, and { drain } comes after it; found ${String(directory)}.`;
      throw new MillraceError('INVALID_ARGUMENT', message);
    }
    const target = directory ?? this.savepointDirectory;
    if (target !== undefined) return target;
    throw new MillraceError(
      'CONFIG_INVALID',
      `A savepoint of job '${this.jobName}' needs a directory: give one, or set "${SAVEPOINT_DIR.key}".`,
      { details: { key: SAVEPOINT_DIR.key } },
    );
  }

  metrics(): JobMetrics {
    const { statistics } = this.master;
    const job: Record<string, number> = {
      numRestarts: statistics.numRestarts,
      uptime: statistics.uptimeMs,
      ...statistics.checkpoints.metrics(),
    };
    return { job, tasks: this.master.metrics().map((task) => this.taskValues(task)) };
  }

  explainCheckpoint(checkpointId?: number): string {
    return this.master.statistics.explainCheckpoint(checkpointId);
  }

  explainRecovery(): string {
    return this.master.statistics.explainRecovery();
  }

  getCheckpointStatistics(): CheckpointingStatistics {
    return this.master.statistics.checkpoints.overview();
  }

  getCheckpointDetails(checkpointId: number): CheckpointStatistics | undefined {
    return this.master.statistics.checkpoints.details(checkpointId);
  }

  getTaskCheckpointDetails(
    checkpointId: number,
    vertexId: string,
  ): TaskCheckpointStatisticsWithSubtaskDetails | undefined {
    return this.master.statistics.checkpoints.taskDetails(checkpointId, vertexId);
  }

  getCheckpointConfig(): CheckpointConfigInfo {
    return checkpointConfigInfo(this.checkpointSettings);
  }

  getExceptions(): JobExceptionsInfoWithHistory {
    return this.master.statistics.exceptions.info();
  }

  private recordsRead(): number {
    return this.master
      .metrics()
      .filter(({ task }) => this.graph.vertices[task.vertex]!.source !== undefined)
      .reduce((sum, { numRecordsIn }) => sum + numRecordsIn, 0);
  }

  private taskValues(metrics: TaskMetrics): JobMetrics['tasks'][number] {
    return {
      vertex: this.graph.vertices[metrics.task.vertex]!.name,
      vertexId: this.master.statistics.vertices[metrics.task.vertex]!.id,
      subtaskIndex: metrics.task.subtask,
      values: {
        numRecordsIn: metrics.numRecordsIn,
        numRecordsOut: metrics.numRecordsOut,
        numBytesOut: metrics.numBytesOut,
        currentInputWatermark: metrics.currentInputWatermark,
        accumulateBusyTimeMs: metrics.busyTimeMs,
        accumulateBackPressuredTimeMs: metrics.backPressuredTimeMs,
        stateEntries: metrics.stateEntries,
        stateSizeBytes: metrics.stateSizeBytes,
      },
      operators: metrics.operators,
    };
  }
}
