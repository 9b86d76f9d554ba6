/**
 * Runs jobs inside this process. In the main thread it is the JobManager; in a worker thread that was started for a slot
 * it runs that slot's tasks and never returns.
 *
 * A job is a module: a worker loads the entry module again and builds the same graph. `execute()` calls are counted, so
 * that a module with several jobs finds the one it was started for; earlier calls answer at once in a worker.
 */
import { MillraceError } from '../base/index.ts';
import {
  type CompletedSnapshot,
  createCheckpointStorage,
  findLatestSnapshot,
  openVerifiedSnapshot,
} from '../checkpoint/index.ts';
import {
  describeOperators,
  inlineSlotHost,
  type JobEndReport,
  JobMaster,
  type RestoredExecution,
  restoreExecution,
  type SlotHost,
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
import type { Deliver, JobClient, JobExecutor } from './job-executor.ts';
import { LocalJobClient } from './local-job-client.ts';

/** Version of the engine, as snapshots name it. */
const MILLRACE_VERSION = '0.1.0';

/** What a job starts from. */
interface InitialState {
  readonly snapshot: CompletedSnapshot | undefined;
  /** The execution whose place it takes; undefined: it is one of its own. */
  readonly continues: { readonly jobId: string; readonly lineageId: string } | undefined;
}

export class LocalExecutor implements JobExecutor {
  readonly hash: TextHash;
  private readonly platform: Platform;
  private executions = 0;
  /** By execution: what worker threads of later jobs have to know. */
  private readonly records: EarlierJobRecord[] = [];

  constructor(platform: Platform) {
    this.platform = platform;
    this.hash = (text) => {
      const hasher = platform.hasher();
      hasher.update(new TextEncoder().encode(text));
      return hasher.digestHex();
    };
  }

  execute(graph: JobGraph, settings: ExecutionSettings, deliver: Deliver = () => {}): Promise<JobClient> {
    const executionIndex = this.executions++;
    const task = workerTask(this.platform);
    if (task !== undefined) return this.runInWorker(graph, task, executionIndex, deliver);
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
    const { platform } = this;
    const { logger } = platform;
    for (const warning of settings.warnings) logger.log('warn', warning);
    const slow = undescribedExchanges(graph);
    if (slow.length > 0) {
      logger.log(
        'info',
        `records of undeclared types, which are slower, go through ${slow.join(', ')}: see returns(type)`,
      );
    }
    const storage = createCheckpointStorage(platform, settings.checkpoint.storage);
    const found = await this.findInitial(graph, settings);
    const { jobId, lineageId } = found.continues ?? {
      jobId: platform.random.hex(16),
      lineageId: platform.random.hex(8),
    };
    await storage.open({ jobId, jobName: graph.jobName, lineageId });
    let master: JobMaster;
    let initial: CompletedSnapshot | undefined;
    try {
      const isSuccessor = found.continues !== undefined;
      const existing = isSuccessor ? await storage.listCompleted() : [];
      // Until we had the lock an execution that was just ending may have completed one more, or removed them.
      const isOutdated = isSuccessor && existing.at(-1)?.checkpointId !== found.snapshot?.checkpointId;
      initial = (isOutdated ? await this.findInitial(graph, settings) : found).snapshot;
      const restoreNow = (snapshot: CompletedSnapshot): RestoredExecution =>
        restoreExecution(snapshot, graph, settings.restore, logger);
      // Checked before anything starts; the first attempt takes the result, so that what is dropped is logged once.
      let checked = initial === undefined ? undefined : restoreNow(initial);
      const restore = async (snapshot: CompletedSnapshot): Promise<RestoredExecution> => {
        const ready = snapshot === initial ? checked : undefined;
        checked = undefined;
        if (ready !== undefined) return ready;
        // Nothing is trusted without its hash, not even what this process has written.
        const { directory } = snapshot;
        return restoreNow(
          directory === undefined ? snapshot : await openVerifiedSnapshot(platform, directory),
        );
      };
      master = new JobMaster({
        graph,
        platform,
        host: this.hostOf(graph, settings, executionIndex),
        identity: {
          jobName: graph.jobName,
          jobId,
          lineageId,
          planHash: graph.planHash,
          millraceVersion: MILLRACE_VERSION,
          operators: describeOperators(graph),
        },
        checkpoint: settings.checkpoint,
        restart: settings.restart,
        autoWatermarkIntervalMs: settings.autoWatermarkIntervalMs,
        bufferTimeoutMs: settings.bufferTimeoutMs,
        cancellationTimeoutMs: settings.cancellationTimeoutMs,
        maxRecords: settings.maxRecords,
        maxDurationMs: settings.maxDurationMs,
        storage,
        startsFromLatest: settings.restore.path === 'latest',
        existing,
        initial,
        restore,
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
      end: this.runToEnd(master, graph, initial),
      savepointDirectory: settings.savepointDirectory,
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

  private async findInitial(graph: JobGraph, settings: ExecutionSettings): Promise<InitialState> {
    const { path, fallback } = settings.restore;
    if (path === undefined) return { snapshot: undefined, continues: undefined };
    if (path !== 'latest') {
      return { snapshot: await openVerifiedSnapshot(this.platform, path), continues: undefined };
    }
    const { storage } = settings.checkpoint;
    if (storage.kind !== 'filesystem') {
      throw new MillraceError(
        'CONFIG_INVALID',
        'The job is to start from its latest checkpoint, but its checkpoints are kept in memory and gone with the process. ' +
          'Set a directory: env.setStateBackend(new FsStateBackend("file:///...")), or state.checkpoints.dir.',
      );
    }
    const policy = fallback === 'newest-intact' ? 'fallback' : 'stop';
    const { snapshot, explanation, abandoned } = await findLatestSnapshot(
      this.platform,
      storage.uri,
      graph.jobName,
      policy,
    );
    for (const line of explanation) this.platform.logger.log('info', line);
    return { snapshot, continues: snapshot?.manifest ?? abandoned };
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
    task: WorkerTask,
    executionIndex: number,
    deliver: Deliver,
  ): Promise<JobClient> {
    const thread = this.platform.threads.current!;
    if (executionIndex < task.executionIndex)
      return earlierJobClient(graph, task.earlierJobs[executionIndex] as EarlierJob, deliver);
    // Several jobs at a time: the others run in threads of their own.
    if (executionIndex > task.executionIndex) return new Promise(() => {});
    if (graph.planHash !== task.planHash) {
      thread.post({ type: 'plan-differs', plan: describePlan(graph) });
      return new Promise(() => {});
    }
    const slot = new Slot(graph, task.deployment, this.platform, (message) => thread.post(message));
    thread.onMessage((message) => slot.handle(message as ToSlot));
    await slot.open();
    return new Promise(() => {});
  }
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
