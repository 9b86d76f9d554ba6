/**
 * What the jobs of a module answered, for worker threads: a worker loads the module again to build the job that it works
 * for, and runs through the calls of `execute` before it. They must answer there what they answered in the main thread, for
 * the later job may depend on it. The answers travel with the task of the worker.
 */
import { deserializeError, MillraceError, type SerializedError, serializeError } from '../base/index.ts';
import {
  type CheckpointSettings,
  CheckpointStatisticsTracker,
  checkpointConfigInfo,
} from '../checkpoint/index.ts';
import { ExceptionHistory } from '../coordinator/index.ts';
import type { JobGraph } from '../runtime/index.ts';
import type { Deliver, JobClient, JobExecutionResult } from './job-executor.ts';
import type { LocalJobClient } from './local-job-client.ts';

/** Beyond that many a program does not live on what it collected: they are not kept, nor kept from being freed. */
const RECORDS_MAX = 100_000;

/** Plain data: crosses to worker threads. `end` is undefined while the job runs. */
export interface EarlierJob {
  readonly jobId: string;
  readonly delivered: readonly { readonly channelId: string; readonly values: readonly unknown[] }[];
  /** True if there were too many results to keep. */
  readonly isCut: boolean;
  readonly end: { readonly result: JobExecutionResult } | { readonly error: SerializedError } | undefined;
}

/** Keeps the answers of one job, in the main thread. */
export class EarlierJobRecord {
  private readonly delivered: { channelId: string; values: readonly unknown[] }[] = [];
  private recordCount = 0;
  private isCut = false;
  private jobId = '';
  private end: EarlierJob['end'];

  /** `deliver`, with everything that it is given remembered. */
  remembering(deliver: Deliver): Deliver {
    return (channelId, values) => {
      this.remember(channelId, values);
      deliver(channelId, values);
    };
  }

  /** `started` again; also notes how the job ends, or that it could not be started. */
  async follow(started: Promise<LocalJobClient>): Promise<LocalJobClient> {
    const failed = (error: unknown): void => {
      this.end = { error: serializeError(error) };
    };
    try {
      const client = await started;
      this.jobId = client.jobId;
      client.outcome().then((result) => {
        this.end = { result };
      }, failed);
      return client;
    } catch (error) {
      failed(error);
      throw error;
    }
  }

  toData(): EarlierJob {
    const { jobId, delivered, isCut, end } = this;
    return { jobId, delivered, isCut, end };
  }

  private remember(channelId: string, values: readonly unknown[]): void {
    if (this.isCut) return;
    for (const batch of values)
      this.recordCount += (batch as { readonly values?: readonly unknown[] }).values?.length ?? 1;
    this.delivered.push({ channelId, values });
    if (this.recordCount <= RECORDS_MAX) return;
    this.isCut = true;
    this.delivered.length = 0;
  }
}

/** The client of a job that ran in the main thread, as a worker thread of a later job sees it. */
export function earlierJobClient(
  graph: JobGraph,
  checkpoint: CheckpointSettings,
  job: EarlierJob,
  deliver: Deliver,
): JobClient {
  const { jobName } = graph;
  const elsewhere = `Job '${jobName}' ran in another thread; its client is there.`;
  const unavailable = async (): Promise<never> => {
    throw new MillraceError('INVALID_ARGUMENT', elsewhere);
  };
  for (const { channelId, values } of job.delivered) deliver(channelId, values);
  return {
    jobId: job.jobId,
    jobName,
    getJobStatus: () => (job.end === undefined ? 'RUNNING' : 'result' in job.end ? 'FINISHED' : 'FAILED'),
    getJobExecutionResult: async () => {
      if (job.isCut) {
        throw new MillraceError(
          'INVALID_ARGUMENT',
          `Job '${jobName}' gave more than ${RECORDS_MAX} results to the program, too many to hand them to the worker ` +
            'threads of the next job of this module, which run through it again. Put the next job into a module of its own.',
        );
      }
      // The job that the worker is there for was started before this one ended, so it comes before this answer.
      if (job.end === undefined) return new Promise<never>(() => {});
      if ('error' in job.end) throw deserializeError(job.end.error);
      return job.end.result;
    },
    untilRunning: async () => {},
    cancel: async () => {},
    suspend: async () => {},
    stop: unavailable,
    stopWithSavepoint: unavailable,
    triggerCheckpoint: unavailable,
    triggerSavepoint: unavailable,
    progress: () => [],
    metrics: () => ({ job: {}, tasks: [] }),
    explainCheckpoint: () => elsewhere,
    explainRecovery: () => elsewhere,
    getCheckpointStatistics: () => new CheckpointStatisticsTracker().overview(),
    getCheckpointDetails: () => undefined,
    getTaskCheckpointDetails: () => undefined,
    getCheckpointConfig: () => checkpointConfigInfo(checkpoint),
    getExceptions: () => new ExceptionHistory(0).info(),
  };
}
