/** A job of the local executor as its user sees it. */
import { MillraceError } from '../base/index.ts';
import type { CheckpointSummary, JobEndReport, JobMaster, JobStatus } from '../coordinator/index.ts';
import type { JobGraph, TaskMetrics } from '../runtime/index.ts';
import type { JobClient, JobExecutionResult, JobMetrics } from './job-executor.ts';

export class LocalJobClient implements JobClient {
  readonly jobId: string;
  readonly jobName: string;
  private readonly graph: JobGraph;
  private readonly master: JobMaster;
  private readonly end: Promise<JobEndReport>;

  /** `end` is what `master.run()` returned. */
  constructor(jobId: string, graph: JobGraph, master: JobMaster, end: Promise<JobEndReport>) {
    this.jobId = jobId;
    this.jobName = graph.jobName;
    this.graph = graph;
    this.master = master;
    this.end = end;
  }

  getJobStatus(): JobStatus {
    return this.master.getStatus();
  }

  async getJobExecutionResult(): Promise<JobExecutionResult> {
    const { status, error } = await this.end;
    if (status === 'CANCELED')
      throw new MillraceError('JOB_CANCELED', `Job '${this.jobName}' was cancelled.`);
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
      lastCheckpoint: statistics.lastCheckpoint,
    };
  }

  async cancel(): Promise<void> {
    this.master.cancel();
    await this.end;
  }

  async triggerCheckpoint(): Promise<CheckpointSummary> {
    const answer = await this.master.requestCheckpoint('checkpoint');
    if (answer.type === 'completed') return this.master.statistics.summaryOf(answer.checkpointId)!;
    throw new MillraceError(
      'CHECKPOINT_FAILED',
      `The checkpoint of job '${this.jobName}' that was asked for did not complete: ${answer.message}`,
    );
  }

  metrics(): JobMetrics {
    const { statistics } = this.master;
    const { lastCheckpoint } = statistics;
    const job: Record<string, number> = {
      numRestarts: statistics.numRestarts,
      uptime: statistics.uptimeMs,
      numberOfCompletedCheckpoints: statistics.numberOfCompletedCheckpoints,
      numberOfFailedCheckpoints: statistics.numberOfFailedCheckpoints,
      lastCheckpointDuration: lastCheckpoint?.durationMs ?? -1,
      lastCheckpointSize: lastCheckpoint?.stateSizeBytes ?? -1,
      lastCompletedCheckpointId: lastCheckpoint?.checkpointId ?? -1,
    };
    return { job, tasks: this.master.metrics().map((task) => this.taskValues(task)) };
  }

  private recordsRead(): number {
    return this.master
      .metrics()
      .filter(({ task }) => this.graph.vertices[task.vertex]!.source !== undefined)
      .reduce((sum, { numRecordsIn }) => sum + numRecordsIn, 0);
  }

  private taskValues(metrics: TaskMetrics): JobMetrics['tasks'][number] {
    const operators: Record<string, Record<string, number>> = {};
    for (const [name, value] of Object.entries(metrics.operators)) {
      const dot = name.lastIndexOf('.');
      const operator = name.slice(0, dot);
      operators[operator] = { ...operators[operator], [name.slice(dot + 1)]: value };
    }
    return {
      vertex: this.graph.vertices[metrics.task.vertex]!.name,
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
      operators,
    };
  }
}
