/**
 * Runs one job from the start to its end: attempts, checkpoints, restarts, the final checkpoint, cancellation. The
 * decisions are elsewhere (checkpoint coordinator, failover); this is the order in which things happen.
 *
 *     run ──► deploy all regions → checkpoint 0 (fresh start) → start → … → end of data → final checkpoint → finish
 *      ▲                                                          │ ▲
 *      │                                                          │ └ delay ◄─ a region failed: it alone is ended, and
 *      │ delay                                                    │            deployed from the newest checkpoint
 *      └◄─ the job failed: all regions are ended ◄────────────────┤
 *                                                                 └► the restart strategy says no: FAILED
 *
 * The whole job fails with what concerns all of it (checkpoints), and with a region without which the others cannot go on:
 * before the first record, when a stop has made them end or stand still, and when the job is finishing.
 *
 * A stop is another way to the end: the sources emit nothing after the barrier of the checkpoint (or, to drain, end before
 * it); it completes, is committed, and the job is FINISHED. What fails on the way is answered to whoever asked; the job
 * goes on, after a restart if need be.
 *
 * Invariants:
 * I1 A region begins again after its threads are gone (job-execution.ts).
 * I2 It begins from the newest completed checkpoint, and only when it is certain which one that is. Until all regions run no
 *    checkpoint is taken, so regions that fail one after the other begin from the same.
 * I3 Sources emit only after the checkpoint before the first record is complete (if there are checkpoints).
 * I4 A finished job that starts from its latest checkpoint keeps the final one. Started again, because its process was
 *    killed on its last steps or by a supervisor, it finds that nothing is left to do; without it, it would begin anew and
 *    show every result twice.
 */
import { MillraceError } from '../base/index.ts';
import {
  type CheckpointAnswer,
  type CheckpointKind,
  type CheckpointSettings,
  type CheckpointStorage,
  type CompletedSnapshot,
  type JobEnd,
  keptAtEnd,
} from '../checkpoint/index.ts';
import type { RingLayout } from '../exchange/index.ts';
import type { Platform, TimerHandle } from '../platform/index.ts';
import type { JobGraph, TaskMetrics } from '../runtime/index.ts';
import { CheckpointDriver, type JobIdentity } from './checkpoint-driver.ts';
import type { RestoredExecution } from './execution-attempt.ts';
import { Failover, type FailoverDecision, restartText } from './failover.ts';
import { JobEnding } from './job-ending.ts';
import { JobExecution, type JobExecutionEvents } from './job-execution.ts';
import { JobStatistics, type StatisticsLimits } from './job-statistics.ts';
import { type JobStatus, JobStatusCell } from './job-status.ts';
import {
  type FailoverStrategy,
  nameOfRegion,
  type PipelinedRegion,
  pipelinedRegions,
} from './pipelined-regions.ts';
import { Readiness } from './readiness.ts';
import type { RestartStrategySettings } from './restart-strategy.ts';
import type { SlotHost } from './slot-host.ts';
import type { StopOptions } from './stop-request.ts';

export interface JobMasterOptions {
  readonly graph: JobGraph;
  readonly platform: Platform;
  readonly host: SlotHost;
  readonly identity: JobIdentity;
  readonly checkpoint: CheckpointSettings;
  readonly restart: RestartStrategySettings;
  /** What a failure of a part of the job restarts. */
  readonly failoverStrategy: FailoverStrategy;
  /** Errors and logs may show the records and keys at which functions failed. */
  readonly includesElements: boolean;
  readonly autoWatermarkIntervalMs: number;
  readonly bufferTimeoutMs: number;
  readonly ringLayout?: RingLayout | undefined;
  readonly cancellationTimeoutMs: number;
  /** Each source ends after so many records; the whole job after so much time. undefined: they do not. */
  readonly maxRecords?: number | undefined;
  readonly maxDurationMs?: number | undefined;
  readonly storage: CheckpointStorage;
  /** How much is remembered for reports. */
  readonly statisticsLimits?: StatisticsLimits | undefined;
  /** Why the job begins with `initial`, in lines for people. */
  readonly initialReasons?: readonly string[];
  /** The job was told to start from its latest checkpoint, and will be again. */
  readonly startsFromLatest: boolean;
  /** Completed snapshots that this job owns and that are there already, oldest first. */
  readonly existing: readonly CompletedSnapshot[];
  /** Ids up to this one were used before; undefined: up to that of `initial`. */
  readonly highestCheckpointId?: number | undefined;
  /** What the job begins with. */
  readonly initial: CompletedSnapshot | undefined;
  /** Makes what tasks begin with out of a snapshot; throws if the job does not fit it. */
  restore(snapshot: CompletedSnapshot): Promise<RestoredExecution>;
  deliver(channelId: string, values: readonly unknown[]): void;
  onStatus(status: JobStatus): void;
}

/** How a run ended. */
type RunOutcome =
  | { readonly type: 'finished' }
  | { readonly type: 'cancelled' }
  | { readonly type: 'failed'; readonly decision: FailoverDecision };

/** From a deployment of all regions to their common end. */
interface Run {
  readonly isFresh: boolean;
  /** All regions have run. */
  isStarted: boolean;
  readonly end: (outcome: RunOutcome) => void;
}

/** How the job ended. */
export interface JobEndReport {
  readonly status: JobEnd;
  readonly error: Error | undefined;
}

export class JobMaster {
  readonly statistics: JobStatistics;
  private readonly options: JobMasterOptions;
  private readonly status: JobStatusCell;
  private readonly execution: JobExecution;
  private readonly checkpoints: CheckpointDriver;
  private readonly failover: Failover;
  private readonly ending: JobEnding;
  private readonly readiness: Readiness;
  /** undefined between runs, and as soon as it is decided how one ends. */
  private current: Run | undefined;
  private cancelRequested = false;
  private endsAs: 'CANCELED' | 'SUSPENDED' = 'CANCELED';
  private readonly cancelled = Promise.withResolvers<void>();
  private durationTimer: TimerHandle | undefined;
  /** Each ends a pause before a restart. */
  private readonly pauses = new Set<() => void>();

  constructor(options: JobMasterOptions) {
    const { graph, platform } = options;
    this.options = options;
    this.statistics = new JobStatistics({
      graph,
      platform,
      checkpoint: options.checkpoint,
      limits: options.statisticsLimits,
      slotCount: options.host.slotCount,
      metrics: () => this.metrics(),
    });
    this.status = new JobStatusCell((status) => options.onStatus(status));
    this.failover = new Failover(options.restart, options.includesElements, () => platform.random.next());
    this.execution = new JobExecution({
      graph,
      platform,
      host: options.host,
      regions: pipelinedRegions(graph, options.failoverStrategy),
      jobId: options.identity.jobId,
      lineageId: options.identity.lineageId,
      mode: options.checkpoint.mode,
      alignedTimeoutMs: options.checkpoint.alignedTimeoutMs,
      checkpointingEnabled: this.checkpointingEnabled,
      asyncSnapshots: options.checkpoint.asyncSnapshots,
      autoWatermarkIntervalMs: options.autoWatermarkIntervalMs,
      bufferTimeoutMs: options.bufferTimeoutMs,
      ringLayout: options.ringLayout,
      cancellationTimeoutMs: options.cancellationTimeoutMs,
      maxRecords: options.maxRecords,
      events: this.executionEvents(),
    });
    this.checkpoints = new CheckpointDriver({
      platform,
      settings: options.checkpoint,
      storage: options.storage,
      identity: options.identity,
      tasks: this.execution,
      failJob: (error) => this.fail(error),
      statistics: this.statistics,
    });
    this.ending = new JobEnding({
      jobName: graph.jobName,
      checkpointingEnabled: this.checkpointingEnabled,
      checkpoints: this.checkpoints,
      execution: this.execution,
      goesOn: () => this.limitDuration(),
      fail: (error) => this.fail(error),
      restart: (error) => {
        const decision = { restart: true, delayMs: 0, reason: 'to leave the stop', error };
        this.endRun({ type: 'failed', decision });
      },
    });
    this.readiness = new Readiness(graph.jobName, () => this.status.get());
  }

  getStatus(): JobStatus {
    return this.status.get();
  }

  /** The latest numbers of all tasks. */
  metrics(): readonly TaskMetrics[] {
    return this.execution.metrics();
  }

  get checkpointingEnabled(): boolean {
    return this.options.checkpoint.intervalMs !== undefined;
  }

  /** Takes a checkpoint or savepoint now. */
  requestCheckpoint(kind: CheckpointKind, targetDirectory?: string): Promise<CheckpointAnswer> {
    return this.checkpoints.request(kind, targetDirectory);
  }

  /**
   * Stops the job: no more records are read, a last checkpoint or savepoint is taken and committed, and the job ends as
   * FINISHED. A job that starts, or starts again, is stopped when it runs. Resolves after the end, to the snapshot from which
   * the job could go on, if one is kept. Rejects with JOB_NOT_RUNNING, or with STOP_FAILED if the job goes on.
   */
  async stop(options: StopOptions): Promise<CompletedSnapshot | undefined> {
    await this.untilRunning();
    const status = this.status.get();
    if (status !== 'RUNNING') throw this.readiness.notRunning(`it is ${status}`);
    if (this.current === undefined || this.ending.isEnding)
      throw this.readiness.notRunning('it is ending already');
    return this.ending.stop(options);
  }

  /** Resolves when the job runs, at once if it does; rejects with JOB_NOT_RUNNING if it ends before. */
  untilRunning(): Promise<void> {
    return this.readiness.untilRunning();
  }

  /** Asks the job to end as CANCELED. */
  cancel(): void {
    this.cancelRequested = true;
    this.cancelled.resolve();
    this.endRun({ type: 'cancelled' });
    this.endPauses();
  }

  /** Asks the job to end as SUSPENDED, as `cancel` does; but what it can go on from is kept. */
  suspend(): void {
    if (!this.cancelRequested) this.endsAs = 'SUSPENDED';
    this.cancel();
  }

  /** Runs the job to its end. Never rejects. */
  async run(): Promise<JobEndReport> {
    let report: JobEndReport;
    try {
      report = await this.runUntilEnd();
    } catch (error) {
      const status = this.status.get() === 'CANCELLING' ? this.endsAs : 'FAILED';
      report = { status, error: asError(error) };
      if (report.status === 'FAILED' && this.status.get() !== 'FAILING') this.status.set('FAILING');
    }
    this.durationTimer?.cancel();
    await this.cleanUp(report);
    this.status.set(report.status);
    if (report.status === 'FINISHED') this.ending.finished(this.keepsLast);
    else this.ending.refuseStop(report.error?.message ?? `the job is ${report.status}`);
    this.readiness.ended(report.error);
    return report;
  }

  private async runUntilEnd(): Promise<JobEndReport> {
    const { options } = this;
    this.checkpoints.restored(options.existing, options.initial, options.highestCheckpointId);
    let snapshot = options.initial;
    this.statistics.started(snapshot, options.initialReasons);
    for (;;) {
      // While the snapshot is compared with its checksums.
      for (const region of this.execution.regions) this.execution.prepare(region);
      const restored = snapshot === undefined ? undefined : await options.restore(snapshot);
      const outcome = this.cancelRequested ? ({ type: 'cancelled' } as const) : await this.runAll(restored);
      if (outcome.type === 'cancelled') return this.canceled();
      if (outcome.type === 'finished') {
        await this.endAll();
        return { status: 'FINISHED', error: undefined };
      }
      const { decision } = outcome;
      this.status.set('FAILING');
      this.statistics.failing();
      this.ending.refuseStop(decision.error.message);
      const newest = this.checkpoints.taskFailed(decision.error.message);
      await this.endAll();
      if (this.cancelRequested) return this.canceled();
      this.statistics.failed(decision.error, decision.restart);
      if (!decision.restart) return { status: 'FAILED', error: decision.error };
      // Storage that cannot be reached may keep this open for long (I2); whoever cancels does not wait for it.
      await Promise.race([newest, this.cancelled.promise]);
      if (this.cancelRequested) return this.canceled();
      snapshot = await newest;
      this.status.set('RESTARTING');
      this.logRestart(decision, snapshot);
      await this.pause(decision.delayMs);
    }
  }

  private async canceled(): Promise<JobEndReport> {
    this.status.set('CANCELLING');
    // Not awaited: what is being written may take long. Nothing begins any more among tasks that are being closed.
    void this.checkpoints.shutdown(`The job is ${this.endsAs}.`);
    await this.endAll();
    return { status: this.endsAs, error: undefined };
  }

  private runAll(restored: RestoredExecution | undefined): Promise<RunOutcome> {
    return new Promise((end) => {
      this.current = { isFresh: restored === undefined, isStarted: false, end };
      for (const region of this.execution.regions) this.execution.deploy(region, restored);
    });
  }

  /** The first one counts. */
  private endRun(outcome: RunOutcome): void {
    const run = this.current;
    this.current = undefined;
    run?.end(outcome);
  }

  /** The whole job fails. */
  private fail(error: Error): void {
    if (this.current !== undefined) this.endRun({ type: 'failed', decision: this.decide(error) });
  }

  private decide(error: Error): FailoverDecision {
    return this.failover.decide(error, this.options.platform.clock.monotonicMs());
  }

  private async endAll(): Promise<void> {
    this.current = undefined;
    this.endPauses();
    this.ending.interrupt();
    await this.execution.cancelAll();
  }

  private executionEvents(): JobExecutionEvents {
    return {
      opened: () => void this.opened().catch((error: unknown) => this.fail(asError(error))),
      failed: (region, error) => this.regionFailed(region, error),
      acknowledged: (acknowledgement) => this.checkpoints.acknowledge(acknowledgement),
      declined: (decline) => this.checkpoints.decline(decline),
      completed: (checkpointId) => this.ending.committed(checkpointId),
      backlog: (sourceUid, isProcessing) => this.checkpoints.backlog(sourceUid, isProcessing),
      endOfData: () => void this.ending.dataIsOver(),
      delivered: (channelId, values) => this.options.deliver(channelId, values),
      closed: () => this.endRun({ type: 'finished' }),
    };
  }

  /** A region is open. When all are: the checkpoint before the first record, then go. */
  private async opened(): Promise<void> {
    const { execution, current: run } = this;
    if (run === undefined) return;
    if (!execution.isOpen) {
      // It goes on without those that are not back yet; checkpoints wait for them.
      if (run.isStarted) execution.start();
      return;
    }
    this.checkpoints.allTasksRunning(execution.subtasks());
    if (run.isFresh && !run.isStarted && this.checkpointingEnabled) {
      const answer = await this.checkpoints.request('checkpoint');
      if (run !== this.current) return;
      // A newer one that completed before it was taken before the first record, too.
      if (answer.type === 'failed' && answer.failure !== 'subsumed') {
        return this.fail(
          new MillraceError(
            'CHECKPOINT_FAILED',
            `The checkpoint before the first record failed: ${answer.message}`,
          ),
        );
      }
    }
    run.isStarted = true;
    this.status.set('RUNNING');
    this.statistics.running();
    execution.start();
    this.limitDuration();
    this.readiness.runs();
  }

  private regionFailed(region: PipelinedRegion, error: Error): void {
    const run = this.current;
    if (run === undefined) return;
    if (!this.canGoOnWithoutOne(run)) return this.fail(error);
    const decision = this.decide(error);
    if (!decision.restart) return this.endRun({ type: 'failed', decision });
    this.restartRegion(run, region, decision).catch((thrown: unknown) => {
      if (run === this.current) this.fail(asError(thrown));
    });
  }

  private canGoOnWithoutOne(run: Run): boolean {
    return this.execution.regions.length > 1 && run.isStarted && !this.ending.isIrreversible;
  }

  private async restartRegion(run: Run, region: PipelinedRegion, decision: FailoverDecision): Promise<void> {
    const { message } = decision.error;
    this.ending.interrupt();
    if (this.status.get() === 'RUNNING') this.status.set('RESTARTING');
    this.ending.refuseStop(message);
    this.statistics.failed(decision.error, true);
    const newest = this.checkpoints.taskFailed(message, 'region-failover');
    await this.execution.cancel(region);
    const snapshot = await newest;
    if (run !== this.current) return;
    this.logRestart(decision, snapshot, region);
    await this.pause(decision.delayMs);
    if (run !== this.current) return;
    this.execution.prepare(region);
    const restored = snapshot === undefined ? undefined : await this.options.restore(snapshot);
    if (run === this.current) this.execution.deploy(region, restored);
  }

  /** What is left of the job's time, after a restart too; then the sources end where they are. */
  private limitDuration(): void {
    const run = this.current;
    const { maxDurationMs, platform } = this.options;
    if (maxDurationMs === undefined || run === undefined) return;
    const leftMs = Math.max(0, maxDurationMs - this.statistics.runtimeMs);
    this.durationTimer?.cancel();
    this.durationTimer = platform.timers.after(leftMs, () => {
      if (run === this.current && !this.ending.isStopped) this.execution.drain();
    });
  }

  private async cleanUp(report: JobEndReport): Promise<void> {
    const { host, storage, checkpoint } = this.options;
    const kept = keptAtEnd(report.status, checkpoint.retention, this.keepsLast);
    try {
      await this.endAll();
      await this.checkpoints.shutdown(`The job is ${report.status}.`);
      const retained = this.checkpoints.retained();
      const deleted = kept === 'all' ? [] : kept === 'newest' ? retained.slice(0, -1) : retained;
      for (const snapshot of deleted) {
        await storage.delete(snapshot);
        this.statistics.checkpointDiscarded(snapshot.checkpointId);
      }
    } catch (error) {
      this.warnOfLeftovers(error);
    }
    // Whatever went wrong: no thread keeps the process from ending, and the lock of the directory is given back.
    await host.close().catch((error: unknown) => this.warnOfLeftovers(error));
    await storage.close(kept !== 'none').catch((error: unknown) => this.warnOfLeftovers(error));
  }

  /** I4 */
  private get keepsLast(): boolean {
    const { startsFromLatest, checkpoint } = this.options;
    return this.ending.keepsLast(startsFromLatest, checkpoint.preferCheckpoint === true);
  }

  private warnOfLeftovers(error: unknown): void {
    const { platform, graph } = this.options;
    platform.logger.log('warn', `could not clean up after job '${graph.jobName}': ${String(error)}`);
  }

  private pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        timer.cancel();
        this.pauses.delete(end);
        resolve();
      };
      const timer = this.options.platform.timers.after(delayMs, end);
      this.pauses.add(end);
    });
  }

  private endPauses(): void {
    for (const end of this.pauses) end();
  }

  private logRestart(
    decision: FailoverDecision,
    from: CompletedSnapshot | undefined,
    region?: PipelinedRegion,
  ): void {
    const { graph, platform } = this.options;
    platform.logger.log('warn', restartText(graph.jobName, decision, from?.checkpointId, region));
    const part = region === undefined ? undefined : { name: nameOfRegion(region), vertices: region.vertices };
    const { error, delayMs } = decision;
    this.statistics.restarting({
      error,
      delayMs,
      snapshot: from,
      why: this.checkpoints.restoreReasons,
      part,
    });
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
