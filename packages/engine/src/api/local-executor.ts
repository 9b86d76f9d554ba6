/**
 * Runs jobs inside this process. In the main thread it is the JobManager; in a worker thread that was started for a slot
 * it runs that slot's tasks and never returns.
 *
 * A job is a module: a worker loads the entry module again and builds the same graph. `execute()` calls are counted, so
 * that a module with several jobs finds the one it was started for; earlier calls answer at once in a worker.
 */
import { MillraceError } from '../base/index.ts';
import { type CompletedSnapshot, createCheckpointStorage } from '../checkpoint/index.ts';
import {
  type Deploy,
  describeEdges,
  describeOperators,
  inlineSlotHost,
  type JobEndReport,
  JobMaster,
  pipelinedRegions,
  type SlotHost,
  slotPlaces,
  type WorkerTask,
  workerSlotHost,
} from '../coordinator/index.ts';
import {
  comparePlans,
  describePlan,
  type PlanDescription,
  planNotStable,
  type TextHash,
} from '../graph/index.ts';
import type { Platform } from '../platform/index.ts';
import { type JobGraph, Slot, type ToSlot } from '../runtime/index.ts';
import { type EarlierJob, EarlierJobRecord, earlierJobClient } from './earlier-jobs.ts';
import type { ExecutionSettings } from './execution-settings.ts';
import { beginJob } from './job-beginning.ts';
import type { Deliver, JobClient, JobExecutor } from './job-executor.ts';
import { LocalJobClient } from './local-job-client.ts';

/** Version of the engine, as snapshots name it. */
const MILLRACE_VERSION = '0.1.0';

export class LocalExecutor implements JobExecutor {
  readonly hash: TextHash;
  private readonly platform: Platform;
  private executions = 0;
  /** By execution: what worker threads of later jobs have to know. */
  private readonly records: EarlierJobRecord[] = [];

  constructor(platform: Platform) {
    this.platform = platform;
    this.hash = textHashOf(platform);
  }

  execute(graph: JobGraph, settings: ExecutionSettings, deliver: Deliver = () => {}): Promise<JobClient> {
    const executionIndex = this.executions++;
    const task = workerTask(this.platform);
    if (task !== undefined) return this.runInWorker(graph, settings, task, executionIndex, deliver);
    const record = new EarlierJobRecord();
    this.records[executionIndex] = record;
    return record.follow(this.start(graph, settings, record.remembering(deliver), executionIndex));
  }

  private async start(
    graph: JobGraph,
    settings: ExecutionSettings,
    deliver: Deliver,
    executionIndex: number,
  ): Promise<LocalJobClient> {
    const { logger } = this.platform;
    for (const warning of settings.warnings) logger.log('warn', warning);
    const slow = undescribedExchanges(graph);
    if (slow.length > 0) {
      logger.log(
        'info',
        `records of undeclared types, which take more bytes and time, go through ${slow.join(', ')}: see returns(type)`,
      );
    }
    const host = this.hostOf(graph, settings, executionIndex);
    // While the snapshot is looked for.
    for (const region of pipelinedRegions(graph, settings.failoverStrategy))
      for (const place of slotPlaces(host, region)) host.prepare(graph, place);
    try {
      return await this.startOn(host, graph, settings, deliver);
    } catch (error) {
      await host.close();
      throw error;
    }
  }

  /** The host is closed by the JobMaster, if it comes to that. */
  private async startOn(
    host: SlotHost,
    graph: JobGraph,
    settings: ExecutionSettings,
    deliver: Deliver,
  ): Promise<LocalJobClient> {
    const { platform } = this;
    const { logger } = platform;
    const storage = createCheckpointStorage(platform, settings.checkpoint.storage);
    const { jobId, lineageId, beginning } = await beginJob(platform, graph, settings, storage);
    let master: JobMaster;
    try {
      master = new JobMaster({
        graph,
        platform,
        host,
        identity: {
          jobName: graph.jobName,
          jobId,
          lineageId,
          planHash: graph.planHash,
          millraceVersion: MILLRACE_VERSION,
          operators: describeOperators(graph),
          edges: describeEdges(graph),
        },
        checkpoint: settings.checkpoint,
        restart: settings.restart,
        failoverStrategy: settings.failoverStrategy,
        includesElements: settings.includesElements,
        autoWatermarkIntervalMs: settings.autoWatermarkIntervalMs,
        bufferTimeoutMs: settings.bufferTimeoutMs,
        ringLayout: { segmentBytes: settings.segmentSizeBytes, segments: settings.segmentsPerChannel },
        cancellationTimeoutMs: settings.cancellationTimeoutMs,
        maxRecords: settings.maxRecords,
        maxDurationMs: settings.maxDurationMs,
        storage,
        statisticsLimits: settings.statisticsLimits,
        startsFromLatest: settings.restore.path === 'latest',
        ...beginning,
        deliver,
        onStatus: (status) => logger.log('debug', `job '${graph.jobName}' is ${status}`),
      });
    } catch (error) {
      await storage.close();
      throw error;
    }
    return new LocalJobClient({
      jobId,
      graph,
      master,
      end: this.runToEnd(master, graph, beginning.initial),
      savepointDirectory: settings.savepointDirectory,
      checkpointSettings: settings.checkpoint,
      logger,
    });
  }

  /** Says so if there was nothing to do: whoever starts a finished job again wonders why nothing happens. */
  private async runToEnd(
    master: JobMaster,
    graph: JobGraph,
    initial: CompletedSnapshot | undefined,
  ): Promise<JobEndReport> {
    const report = await master.run();
    const isIdle = master.metrics().every(({ numRecordsIn }) => numRecordsIn === 0);
    if (report.status === 'FINISHED' && initial !== undefined && isIdle) {
      this.platform.logger.log(
        'info',
        `Nothing was left to read: job '${graph.jobName}' was at its end in ${initial.directory} already. ` +
          'To run it from the beginning, start it without a snapshot, or under another name.',
      );
    }
    return report;
  }

  private hostOf(graph: JobGraph, settings: ExecutionSettings, executionIndex: number): SlotHost {
    const parallelism = Math.max(...graph.vertices.map((vertex) => vertex.parallelism));
    const { entryModuleUrl } = this.platform.threads;
    const wantsWorkers = settings.host === 'workers' || (settings.host === 'auto' && parallelism > 1);
    if (!wantsWorkers) return inlineSlotHost(this.platform);
    if (entryModuleUrl === undefined) {
      if (settings.host === 'auto') return inlineSlotHost(this.platform);
      throw new MillraceError(
        'CONFIG_INVALID',
        'Worker threads load the module of the job again, but this process has none (node -e, or a REPL). ' +
          "Put the job into a file, or set millrace.host to 'inline'.",
      );
    }
    const plan = describePlan(graph);
    return workerSlotHost(
      this.platform,
      entryModuleUrl,
      executionIndex,
      settings.slots ?? parallelism,
      this.records.slice(0, executionIndex).map((record) => record.toData()),
      (workerPlan) => {
        const difference = comparePlans(plan, workerPlan as PlanDescription);
        if (difference !== undefined) return planNotStable(difference, 'a worker thread');
        return new MillraceError(
          'PLAN_NOT_STABLE',
          'The job is not the same each time it is built, though its operators are.',
        );
      },
    );
  }

  /** Runs the slot this thread was started for. Never resolves for that call. */
  private async runInWorker(
    graph: JobGraph,
    settings: ExecutionSettings,
    task: WorkerTask,
    executionIndex: number,
    deliver: Deliver,
  ): Promise<JobClient> {
    const thread = this.platform.threads.current!;
    if (executionIndex < task.executionIndex) {
      const earlier = task.earlierJobs[executionIndex] as EarlierJob;
      return earlierJobClient(graph, settings.checkpoint, earlier, deliver);
    }
    // Several jobs at a time: the others run in threads of their own.
    if (executionIndex > task.executionIndex) return new Promise(() => {});
    if (graph.planHash !== task.planHash) {
      thread.post({ type: 'plan-differs', plan: describePlan(graph) });
      return new Promise(() => {});
    }
    return new Promise((_, reject) => {
      let slot: Slot | undefined;
      thread.onMessage((message) => {
        const words = message as Deploy | ToSlot;
        if (words.type !== 'deploy') return slot?.handle(words);
        try {
          slot = new Slot(graph, words.deployment, this.platform, (answer) => thread.post(answer));
          slot.open().catch(reject);
        } catch (error) {
          reject(error);
        }
      });
    });
  }
}

function textHashOf(platform: Platform): TextHash {
  return (text) => {
    const hasher = platform.hasher();
    hasher.update(new TextEncoder().encode(text));
    return hasher.digestHex();
  };
}

/** Exchanges whose records go through the general codec. */
function undescribedExchanges({ vertices, edges }: JobGraph): string[] {
  return edges
    .filter(({ valueType }) => valueType === undefined)
    .map(
      ({ sourceVertex, sourceOperator, targetVertex }) =>
        `${vertices[sourceVertex]!.operators[sourceOperator]!.name} -> ${vertices[targetVertex]!.operators[0]!.name}`,
    );
}

function workerTask(platform: Platform): WorkerTask | undefined {
  const data = platform.threads.current?.data as Partial<WorkerTask> | undefined;
  return data?.kind === 'millrace-slot' ? (data as WorkerTask) : undefined;
}
