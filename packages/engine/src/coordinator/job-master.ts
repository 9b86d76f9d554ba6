/**
 * Runs one job from the start to its end: attempts, checkpoints, restarts, the final checkpoint, cancellation. The
 * decisions are elsewhere (checkpoint coordinator, restart strategy); this is the order in which things happen.
 *
 *     run ──► attempt: deploy → checkpoint 0 (fresh start) → start → … → end of data → final checkpoint → finish
 *      ▲          │ failure
 *      └─ delay ◄─┤ restart strategy: yes
 *                 └► no: FAILED
 *
 * A stop is another way to the end: the sources emit nothing after the barrier of the checkpoint (or, to drain, end before
 * it); it completes, is committed, and the job is FINISHED. What fails on the way is answered to whoever asked; the job
 * goes on, after a restart if need be.
 *
 * Invariants:
 * I1 There is one attempt at a time; the next begins after the threads of the one before are gone.
 * I2 A new attempt begins from the newest completed checkpoint, and only when it is certain which one that is.
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
  keepsCheckpoints,
  type SubtaskAttempt,
} from '../checkpoint/index.ts';
import type { Platform, TimerHandle } from '../platform/index.ts';
import type { JobGraph, TaskMetrics } from '../runtime/index.ts';
import { CheckpointDriver, type CheckpointDriverOptions, type JobIdentity } from './checkpoint-driver.ts';
import { ExecutionAttempt, type RestoredExecution } from './execution-attempt.ts';
import { JobStatistics } from './job-statistics.ts';
import { isTerminal, type JobStatus, JobStatusCell } from './job-status.ts';
import {
  createRestartStrategy,
  type RestartStrategy,
  type RestartStrategySettings,
} from './restart-strategy.ts';
import type { SlotHost } from './slot-host.ts';

export interface JobMasterOptions {
  readonly graph: JobGraph;
  readonly platform: Platform;
  readonly host: SlotHost;
  readonly identity: JobIdentity;
  readonly checkpoint: CheckpointSettings;
  readonly restart: RestartStrategySettings;
  readonly autoWatermarkIntervalMs: number;
  readonly bufferTimeoutMs: number;
  readonly cancellationTimeoutMs: number;
  /** Each source ends after so many records; the whole job after so much time. undefined: they do not. */
  readonly maxRecords?: number | undefined;
  readonly maxDurationMs?: number | undefined;
  readonly storage: CheckpointStorage;
  /** The job was told to start from its latest checkpoint, and will be again. */
  readonly startsFromLatest: boolean;
  /** Completed checkpoints of this job that are there already, oldest first. */
  readonly existing: readonly CompletedSnapshot[];
  /** What the first attempt begins with. */
  readonly initial: CompletedSnapshot | undefined;
  /** Makes what an attempt begins with out of a snapshot; throws if the job does not fit it. */
  restore(snapshot: CompletedSnapshot): Promise<RestoredExecution>;
  deliver(channelId: string, values: readonly unknown[]): void;
  onStatus(status: JobStatus): void;
}

/** How an attempt ended. */
type AttemptOutcome =
  | { readonly type: 'finished' }
  | { readonly type: 'cancelled' }
  | { readonly type: 'failed'; readonly error: Error };

/** How a job is stopped. */
export interface StopOptions {
  /** Event time ends: windows are evaluated and timers fire. For jobs that are not to go on later. */
  readonly drain: boolean;
  /** Where the savepoint goes; undefined: no savepoint, the job's own last checkpoint. */
  readonly savepointDirectory: string | undefined;
}

interface StopRequest extends StopOptions {
  /** What the job is stopped with, once that is complete. */
  snapshot: CompletedSnapshot | undefined;
  readonly answer: PromiseWithResolvers<CompletedSnapshot | undefined>;
}

/** How the job ended. */
export interface JobEndReport {
  readonly status: 'FINISHED' | 'CANCELED' | 'FAILED';
  readonly error: Error | undefined;
}

export class JobMaster {
  readonly statistics: JobStatistics;
  private readonly options: JobMasterOptions;
  private readonly status: JobStatusCell;
  private readonly checkpoints: CheckpointDriver;
  private readonly restartStrategy: RestartStrategy;
  private attempt: ExecutionAttempt | undefined;
  private attemptNumber = 0;
  private endAttempt: ((outcome: AttemptOutcome) => void) | undefined;
  private cancelRequested = false;
  private readonly cancelled = Promise.withResolvers<void>();
  /** All tasks have processed all data: the end is near, whoever asks for it. */
  private endsAnyway = false;
  /** The checkpoint after which the job ends, once it is complete, and the newest that all tasks have committed. */
  private finalCheckpointId: number | undefined;
  private lastCommitted = -1;
  private stopRequest: StopRequest | undefined;
  private endReason: string | undefined;
  private awaitsRunning: { resolve(): void; reject(error: Error): void }[] = [];
  private durationTimer: TimerHandle | undefined;
  private wakeDelay: (() => void) | undefined;
  private lastMetrics: readonly TaskMetrics[] = [];

  constructor(options: JobMasterOptions) {
    this.options = options;
    this.statistics = new JobStatistics(options.graph, options.platform.clock);
    this.status = new JobStatusCell((status) => options.onStatus(status));
    this.restartStrategy = createRestartStrategy(options.restart, () => options.platform.random.next());
    this.checkpoints = new CheckpointDriver(this.driverOptions());
  }

  getStatus(): JobStatus {
    return this.status.get();
  }

  /** The latest numbers of all tasks. */
  metrics(): readonly TaskMetrics[] {
    const current = this.attempt?.metrics() ?? [];
    return current.length > 0 ? current : this.lastMetrics;
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
    const { attempt } = this;
    const status = this.status.get();
    if (attempt === undefined || status !== 'RUNNING' || this.stopRequest !== undefined || this.endsAnyway) {
      throw this.notRunning(status === 'RUNNING' ? 'it is ending already' : `it is ${status}`);
    }
    const request: StopRequest = { ...options, snapshot: undefined, answer: Promise.withResolvers() };
    this.stopRequest = request;
    if (options.drain) attempt.drain();
    else void this.takeLast('savepoint-suspend', request);
    return request.answer.promise;
  }

  /** Resolves when the job runs, at once if it does; rejects with JOB_NOT_RUNNING if it ends before. */
  untilRunning(): Promise<void> {
    const status = this.status.get();
    if (status === 'RUNNING') return Promise.resolve();
    if (!isTerminal(status) && status !== 'CANCELLING')
      return new Promise((resolve, reject) => this.awaitsRunning.push({ resolve, reject }));
    return Promise.reject(this.notRunning(this.endReason ?? `it is ${status}`));
  }

  private notRunning(why: string): MillraceError {
    return new MillraceError(
      'JOB_NOT_RUNNING',
      `Job '${this.options.graph.jobName}' does not run: ${why.replace(/\.$/, '')}.`,
    );
  }

  /** Asks the job to end as CANCELED. */
  cancel(): void {
    this.cancelRequested = true;
    this.cancelled.resolve();
    this.endAttempt?.({ type: 'cancelled' });
    this.wakeDelay?.();
  }

  /** Runs the job to its end. Never rejects. */
  async run(): Promise<JobEndReport> {
    let report: JobEndReport;
    try {
      report = await this.runAttempts();
    } catch (error) {
      report = { status: this.status.get() === 'CANCELLING' ? 'CANCELED' : 'FAILED', error: asError(error) };
      if (report.status === 'FAILED' && this.status.get() !== 'FAILING') this.status.set('FAILING');
    }
    this.durationTimer?.cancel();
    await this.cleanUp(report);
    this.status.set(report.status);
    this.answerStop(report);
    if (report.error !== undefined) this.endReason = `it is ${report.status}: ${report.error.message}`;
    for (const { reject } of this.awaitsRunning.splice(0))
      reject(this.notRunning(this.endReason ?? `it is ${report.status}`));
    return report;
  }

  private async runAttempts(): Promise<JobEndReport> {
    const { options } = this;
    this.checkpoints.restored(options.existing, options.initial);
    let snapshot = options.initial;
    for (;;) {
      const restored = snapshot === undefined ? undefined : await options.restore(snapshot);
      const outcome = this.cancelRequested
        ? ({ type: 'cancelled' } as const)
        : await this.runAttempt(restored);
      if (outcome.type === 'finished') return { status: 'FINISHED', error: undefined };
      if (outcome.type === 'cancelled') return this.canceled();
      this.status.set('FAILING');
      this.refuseStop(outcome.error.message);
      const newest = this.checkpoints.taskFailed(outcome.error.message);
      await this.stopAttempt();
      if (this.cancelRequested) return this.canceled();
      const decision = this.restartStrategy.decide(options.platform.clock.monotonicMs());
      const hopeless = outcome.error instanceof MillraceError && outcome.error.retry === 'never';
      const restarts = decision.restart && !hopeless;
      this.statistics.failed(outcome.error, restarts);
      if (!restarts) return { status: 'FAILED', error: outcome.error };
      // Storage that cannot be reached may keep this open for long (I2); whoever cancels does not wait for it.
      await Promise.race([newest, this.cancelled.promise]);
      if (this.cancelRequested) return this.canceled();
      snapshot = await newest;
      this.status.set('RESTARTING');
      this.explainRestart(outcome.error, decision, snapshot);
      await this.delay(decision.delayMs);
    }
  }

  private async canceled(): Promise<JobEndReport> {
    this.status.set('CANCELLING');
    await this.stopAttempt();
    return { status: 'CANCELED', error: undefined };
  }

  private async runAttempt(restored: RestoredExecution | undefined): Promise<AttemptOutcome> {
    const { options } = this;
    const outcome = new Promise<AttemptOutcome>((resolve) => {
      this.endAttempt = resolve;
    });
    const attempt = new ExecutionAttempt({
      graph: options.graph,
      platform: options.platform,
      host: options.host,
      jobId: options.identity.jobId,
      lineageId: options.identity.lineageId,
      attemptNumber: this.attemptNumber++,
      restored,
      mode: options.checkpoint.mode,
      checkpointingEnabled: this.checkpointingEnabled,
      asyncSnapshots: options.checkpoint.asyncSnapshots,
      autoWatermarkIntervalMs: options.autoWatermarkIntervalMs,
      bufferTimeoutMs: options.bufferTimeoutMs,
      cancellationTimeoutMs: options.cancellationTimeoutMs,
      maxRecords: options.maxRecords,
      events: {
        opened: () => {
          this.opened(restored === undefined).catch((error: unknown) => this.fail(asError(error)));
        },
        failed: (error) => this.fail(error),
        acknowledged: (acknowledgement) => this.checkpoints.acknowledge(acknowledgement),
        declined: (decline) => this.checkpoints.decline(decline),
        completed: (checkpointId) => this.committed(checkpointId),
        endOfData: () => void this.endOfData(),
        delivered: (channelId, values) => options.deliver(channelId, values),
        closed: () => this.endAttempt?.({ type: 'finished' }),
      },
    });
    this.attempt = attempt;
    // Not awaited: an enumerator that does not start must not hold up a cancellation.
    attempt.deploy().catch((error: unknown) => this.fail(asError(error)));
    const result = await outcome;
    this.endAttempt = undefined;
    if (result.type === 'finished') await this.stopAttempt();
    return result;
  }

  /** All slots are open: the checkpoint before the first record, then go. */
  private async opened(isFresh: boolean): Promise<void> {
    const attempt = this.attempt!;
    this.checkpoints.allTasksRunning(this.subtasks());
    if (isFresh && this.checkpointingEnabled) {
      const answer = await this.checkpoints.request('checkpoint');
      if (attempt !== this.attempt) return;
      if (answer.type === 'failed') {
        return this.fail(
          new MillraceError(
            'CHECKPOINT_FAILED',
            `The checkpoint before the first record failed: ${answer.message}`,
          ),
        );
      }
    }
    if (this.endAttempt === undefined) return;
    this.status.set('RUNNING');
    this.statistics.running();
    attempt.start();
    this.limitDuration(attempt);
    for (const { resolve } of this.awaitsRunning.splice(0)) resolve();
  }

  /** What is left of the job's time, after a restart too; then the sources end where they are. */
  private limitDuration(attempt: ExecutionAttempt): void {
    const { maxDurationMs, platform } = this.options;
    if (maxDurationMs === undefined) return;
    const leftMs = Math.max(0, maxDurationMs - this.statistics.runtimeMs);
    this.durationTimer?.cancel();
    this.durationTimer = platform.timers.after(leftMs, () => {
      if (attempt === this.attempt && this.stopRequest === undefined) attempt.drain();
    });
  }

  private async endOfData(): Promise<void> {
    const attempt = this.attempt!;
    this.endsAnyway = true;
    // A stop that does not drain has its savepoint under way: it ends the job, unless it fails.
    if (this.stopRequest?.drain === true && this.stopRequest.savepointDirectory !== undefined) {
      await this.takeLast('savepoint-terminate', this.stopRequest);
      return;
    }
    if (!this.checkpointingEnabled) {
      attempt.finish(true);
      return;
    }
    const answer = await this.checkpoints.requestFinal();
    if (attempt !== this.attempt || answer.type === 'failed') return;
    this.endWith(answer.checkpointId);
  }

  /** Takes what a stop ends with. If it fails, the job goes on; once drained, from its last checkpoint. */
  private async takeLast(kind: CheckpointKind, request: StopRequest): Promise<void> {
    const answer = await this.checkpoints.request(kind, request.savepointDirectory);
    if (this.stopRequest !== request) return;
    if (answer.type === 'completed') return this.endWith(answer.checkpointId);
    this.refuseStop(answer.message);
    if (request.drain)
      this.fail(new MillraceError('CHECKPOINT_FAILED', `The savepoint failed: ${answer.message}`));
    else if (this.attempt !== undefined) this.limitDuration(this.attempt); // It may have run out meanwhile.
  }

  private endWith(checkpointId: number): void {
    if (this.stopRequest !== undefined) this.stopRequest.snapshot = this.checkpoints.snapshotOf(checkpointId);
    this.finalCheckpointId = checkpointId;
    this.finishIfCommitted();
  }

  private refuseStop(reason: string): void {
    const request = this.stopRequest;
    if (request === undefined) return;
    this.stopRequest = undefined;
    const { snapshot } = request;
    const taken = snapshot?.directory === undefined ? '' : ` ${snapshot.directory} is complete all the same.`;
    const why = reason.replace(/\.$/, '');
    const message = `Job '${this.options.graph.jobName}' could not be stopped as asked: ${why}.${taken}`;
    request.answer.reject(new MillraceError('STOP_FAILED', message));
  }

  private answerStop({ status, error }: JobEndReport): void {
    const request = this.stopRequest;
    if (status !== 'FINISHED') return this.refuseStop(error?.message ?? `the job is ${status}`);
    if (request?.savepointDirectory !== undefined && request.snapshot === undefined)
      return this.refuseStop('it came to its end before the savepoint was complete');
    const isKept = request?.snapshot?.kind === 'savepoint' || this.keepsLast;
    request?.answer.resolve(isKept ? request.snapshot : undefined);
  }

  /** All tasks have committed what belongs to the checkpoint. */
  private committed(checkpointId: number): void {
    this.lastCommitted = Math.max(this.lastCommitted, checkpointId);
    this.finishIfCommitted();
  }

  private finishIfCommitted(): void {
    if (this.finalCheckpointId === undefined || this.lastCommitted < this.finalCheckpointId) return;
    this.finalCheckpointId = undefined;
    this.attempt?.finish(false);
  }

  private fail(error: Error): void {
    this.endAttempt?.({ type: 'failed', error });
  }

  private async stopAttempt(): Promise<void> {
    const attempt = this.attempt;
    if (attempt === undefined) return;
    await attempt.cancel();
    this.lastMetrics = attempt.metrics();
    this.attempt = undefined;
    this.finalCheckpointId = undefined;
    this.endsAnyway = false;
  }

  private async cleanUp(report: JobEndReport): Promise<void> {
    const { storage, checkpoint } = this.options;
    try {
      if (this.attempt !== undefined) await this.stopAttempt();
      await this.checkpoints.shutdown(`The job is ${report.status}.`);
      if (!keepsCheckpoints(report.status, checkpoint.retention)) {
        const retained = this.checkpoints.retained();
        if (report.status === 'FINISHED' && this.keepsLast) retained.pop();
        for (const snapshot of retained) await storage.delete(snapshot);
      }
    } catch (error) {
      this.warnOfLeftovers(error);
    }
    // Whatever went wrong: the lock of the directory is given back.
    await storage.close().catch((error: unknown) => this.warnOfLeftovers(error));
  }

  /** I4, and a job that was stopped in order to go on later; but if there is a savepoint, that is the last. */
  private get keepsLast(): boolean {
    const stop = this.stopRequest;
    if (stop?.snapshot?.kind === 'savepoint') return false;
    return this.options.startsFromLatest || stop?.drain === false;
  }

  private warnOfLeftovers(error: unknown): void {
    const { platform, graph } = this.options;
    platform.logger.log('warn', `could not clean up after job '${graph.jobName}': ${String(error)}`);
  }

  private delay(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.options.platform.timers.after(delayMs, resolve);
      this.wakeDelay = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  private explainRestart(
    error: Error,
    decision: { delayMs: number; reason: string },
    from: CompletedSnapshot | undefined,
  ): void {
    const where = from === undefined ? 'from the beginning' : `from checkpoint ${from.checkpointId}`;
    this.options.platform.logger.log(
      'warn',
      `Job '${this.options.graph.jobName}' failed and starts again ${where} in ${decision.delayMs} ms (${decision.reason}): ${error.message}${placeOf(error)}`,
    );
  }

  private subtasks(): SubtaskAttempt[] {
    const attemptNumber = this.attemptNumber - 1;
    return this.options.graph.vertices.flatMap((vertex) =>
      Array.from({ length: vertex.parallelism }, (_, subtaskIndex) => ({
        vertexIndex: vertex.index,
        subtaskIndex,
        attemptNumber,
      })),
    );
  }

  private driverOptions(): CheckpointDriverOptions {
    const { options } = this;
    return {
      platform: options.platform,
      settings: options.checkpoint,
      storage: options.storage,
      identity: options.identity,
      attempt: () => this.attempt,
      failJob: (error) => this.fail(error),
      statistics: this.statistics,
    };
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** Where in the user's program it happened: the innermost call that is neither Node's nor the engine's. */
function placeOf(error: Error): string {
  let innermost = error;
  while (innermost.cause instanceof Error) innermost = innermost.cause;
  const frames = innermost.stack?.match(/(?:file:\/\/)?[^\s()]+:\d+:\d+/g) ?? [];
  const place = frames.find((frame) => !/node:|@millrace\/engine|packages\/engine\/(?:src|dist)/.test(frame));
  return place === undefined ? '' : ` (at ${place})`;
}
