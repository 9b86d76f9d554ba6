/**
 * Carries out what the checkpoint coordinator decides: places, triggers, manifests, notifications, deletions, timers. It
 * decides nothing itself; what an action leads to goes back as an event.
 *
 * Invariants:
 * I1 Events are handled one at a time, in the order in which they happened; actions are started in order.
 * I2 Every request is answered.
 */
import { hasCode, MillraceError } from '../base/index.ts';
import {
  buildManifest,
  type CheckpointAction,
  type CheckpointAnswer,
  CheckpointCoordinator,
  type CheckpointEvent,
  type CheckpointKind,
  type CheckpointLocation,
  type CheckpointSettings,
  type CheckpointStorage,
  type CompletedSnapshot,
  isSavepoint,
  type JobSnapshot,
  preferredCheckpointText,
  type SubtaskAttempt,
  stopsJob,
  type TaskAcknowledgement,
  type TaskDecline,
} from '../checkpoint/index.ts';
import type { Platform, TimerHandle } from '../platform/index.ts';
import type { JobExecution } from './job-execution.ts';
import type { JobStatistics } from './job-statistics.ts';

/** How long after a failed removal of files it is tried again. */
const DISCARD_RETRY_MS = 1000;

/** What of the job goes into every manifest. */
export type JobIdentity = Pick<
  JobSnapshot,
  'jobName' | 'jobId' | 'lineageId' | 'planHash' | 'millraceVersion' | 'operators' | 'edges'
>;

export interface CheckpointDriverOptions {
  readonly platform: Platform;
  readonly settings: CheckpointSettings;
  readonly storage: CheckpointStorage;
  readonly identity: JobIdentity;
  /** All tasks of the job. */
  readonly tasks: Pick<JobExecution, 'isOpen' | 'trigger' | 'notifyComplete' | 'notifyAborted'>;
  /** The job has to fail; the restart strategy decides what then. */
  failJob(error: Error): void;
  /** Is told what happens, for reports. */
  readonly statistics: Pick<
    JobStatistics,
    | 'checkpointTriggered'
    | 'checkpointAcknowledged'
    | 'checkpointDeclined'
    | 'checkpointCompleted'
    | 'checkpointFailed'
    | 'checkpointRefused'
    | 'checkpointDiscarded'
  >;
}

interface Pending {
  readonly kind: CheckpointKind;
  /** The user's, in a directory that he named. */
  readonly isSavepoint: boolean;
  readonly timestampMs: number;
  location: CheckpointLocation | undefined;
  coordinatorStates: { uid: string; bytes: Uint8Array }[];
  /** Given up: nothing may be triggered for it any more. */
  aborted: boolean;
  /** Its files are being removed, until nothing is left. */
  isDiscarded: boolean;
  /** Settles when the trigger has been carried out or not; never rejects. */
  triggering: Promise<void>;
}

export class CheckpointDriver {
  private readonly options: CheckpointDriverOptions;
  private readonly coordinator: CheckpointCoordinator;
  private readonly pending = new Map<number, Pending>();
  private readonly completed = new Map<number, CompletedSnapshot>();
  /** Of these, what belongs to the user or to another job: it is read and never removed. */
  private readonly foreign = new Set<CompletedSnapshot>();
  private readonly requests = new Map<
    number,
    { targetDirectory: string | undefined; resolve: (answer: CheckpointAnswer) => void }
  >();
  private readonly events: CheckpointEvent[] = [];
  private nextRequest = 1;
  private isShutDown = false;
  private timer: TimerHandle | undefined;
  /** Why the job is restored from what `taskFailed` told last, in lines; empty: it is the newest. */
  restoreReasons: readonly string[] = [];
  private awaitsRestore: ((snapshot: CompletedSnapshot | undefined) => void)[] = [];
  private working: Promise<unknown>[] = [];

  constructor(options: CheckpointDriverOptions) {
    this.options = options;
    this.coordinator = new CheckpointCoordinator(options.settings);
  }

  /**
   * `snapshots` belong to this job and exist already, oldest first. The first attempt begins `from` one, theirs or another.
   * Ids up to `highestId` were used.
   */
  restored(
    snapshots: readonly CompletedSnapshot[],
    from: CompletedSnapshot | undefined,
    highestId?: number,
  ): void {
    if (highestId !== undefined) this.handle({ type: 'idsTaken', highest: highestId });
    for (const snapshot of snapshots) this.completed.set(snapshot.checkpointId, snapshot);
    for (const snapshot of snapshots) {
      if (snapshot !== from)
        this.handle({ type: 'restored', checkpointId: snapshot.checkpointId, isRetained: true });
    }
    if (from === undefined) return;
    const isRetained = snapshots.some(({ checkpointId }) => checkpointId === from.checkpointId);
    if (!isRetained) this.foreign.add(from);
    this.completed.set(from.checkpointId, from);
    this.handle({ type: 'restored', checkpointId: from.checkpointId, isRetained });
  }

  allTasksRunning(subtasks: readonly SubtaskAttempt[]): void {
    this.handle({ type: 'allTasksRunning', subtasks });
  }

  acknowledge(acknowledgement: TaskAcknowledgement): void {
    this.options.statistics.checkpointAcknowledged(acknowledgement);
    this.handle({ type: 'acknowledge', acknowledgement });
  }

  decline(decline: TaskDecline): void {
    this.options.statistics.checkpointDeclined(decline);
    this.handle({ type: 'decline', decline });
  }

  /** Takes a checkpoint or savepoint now. Resolves with the outcome, whatever it is. */
  request(kind: CheckpointKind, targetDirectory?: string): Promise<CheckpointAnswer> {
    return this.ask(targetDirectory, (requestId) => ({ type: 'triggerByHand', requestId, kind }));
  }

  /** The checkpoint after which everything is committed. Resolves when it is complete, or the attempt is over. */
  requestFinal(): Promise<CheckpointAnswer> {
    return this.ask(undefined, (requestId) => ({ type: 'finalCheckpoint', requestId }));
  }

  /** A source works off a backlog from now on, or no longer. */
  backlog(source: string, isProcessing: boolean): void {
    this.handle({ type: 'backlog', source, isProcessing });
  }

  /**
   * Gives up what is in flight; no checkpoints until `allTasksRunning`. Resolves to the snapshot to restore from, when that
   * is certain. `region-failover`: the rest of the job goes on.
   */
  taskFailed(
    message: string,
    failure: 'task-failed' | 'region-failover' = 'task-failed',
  ): Promise<CompletedSnapshot | undefined> {
    return new Promise((resolve) => {
      this.awaitsRestore.push(resolve);
      this.handle({ type: 'taskFailed', message, failure });
    });
  }

  /** Ends checkpointing; resolves when nothing is being written any more. */
  async shutdown(message: string): Promise<void> {
    this.isShutDown = true;
    this.handle({ type: 'shutdown', message });
    this.timer?.cancel();
    while (this.working.length > 0) await Promise.allSettled(this.working);
  }

  snapshotOf(checkpointId: number): CompletedSnapshot | undefined {
    return this.completed.get(checkpointId);
  }

  /** Completed snapshots that the job owns and that have not been deleted, oldest first. */
  retained(): CompletedSnapshot[] {
    const owned = [...this.completed.values()].filter((snapshot) => !this.foreign.has(snapshot));
    return owned.sort((a, b) => a.checkpointId - b.checkpointId);
  }

  private ask(
    targetDirectory: string | undefined,
    event: (requestId: number) => CheckpointEvent,
  ): Promise<CheckpointAnswer> {
    return new Promise((resolve) => {
      const requestId = this.nextRequest++;
      this.requests.set(requestId, { targetDirectory, resolve });
      this.handle(event(requestId));
    });
  }

  /** I1: what an action leads to at once, in this thread, waits until all actions of its event were started. */
  private handle(event: CheckpointEvent): void {
    this.events.push(event);
    if (this.events.length > 1) return;
    const { clock } = this.options.platform;
    for (let next: CheckpointEvent | undefined = event; next !== undefined; next = this.events[0]) {
      const now = { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() };
      try {
        for (const action of this.coordinator.handle(next, now)) this.carryOut(action);
      } catch (error) {
        this.options.failJob(error instanceof Error ? error : new Error(String(error)));
      }
      this.events.shift();
    }
  }

  private carryOut(action: CheckpointAction): void {
    switch (action.type) {
      case 'trigger':
        return this.trigger(action);
      case 'store':
        return this.work(this.store(action.checkpointId, action.acknowledgements));
      case 'notifyComplete':
        return this.options.tasks.notifyComplete(action.checkpointId);
      case 'notifyAborted':
        this.giveUp(action.checkpointId);
        this.options.tasks.notifyAborted(action.checkpointId);
        return this.options.statistics.checkpointFailed(action.checkpointId, action.failure, action.message);
      case 'discardFiles':
        return this.work(this.discard(action.checkpointId));
      case 'subsume':
        return this.work(this.subsume(action.checkpointId));
      case 'answer':
        if (action.answer.type === 'failed' && action.answer.checkpointId === undefined)
          this.options.statistics.checkpointRefused();
        this.requests.get(action.requestId as number)?.resolve(action.answer);
        this.requests.delete(action.requestId as number);
        return;
      case 'readyToRestore': {
        const snapshot = this.restorePoint(action.checkpointId);
        for (const resolve of this.awaitsRestore.splice(0)) resolve(snapshot);
        return;
      }
      case 'failJob':
        return this.options.failJob(new MillraceError(action.code, action.message));
      case 'alarm':
        return this.options.platform.logger.log('warn', action.message);
      case 'wakeAt':
        return this.wakeAt(action.monotonicMs);
    }
  }

  private restorePoint(checkpointId: number | undefined): CompletedSnapshot | undefined {
    const newest = checkpointId === undefined ? undefined : this.completed.get(checkpointId);
    this.restoreReasons = [];
    if (newest === undefined || !this.foreign.has(newest) || this.options.settings.preferCheckpoint !== true)
      return newest;
    const checkpoint = this.retained().at(-1);
    if (checkpoint === undefined) return newest;
    const warning = preferredCheckpointText(checkpoint, newest);
    this.restoreReasons = [warning];
    this.options.platform.logger.log('warn', warning);
    return checkpoint;
  }

  private work(promise: Promise<void>): void {
    this.working.push(promise);
    const done = (): void => {
      this.working = this.working.filter((other) => other !== promise);
    };
    promise.then(done, (error: unknown) => {
      done();
      this.options.failJob(error instanceof Error ? error : new Error(String(error)));
    });
  }

  private wakeAt(monotonicMs: number | undefined): void {
    this.timer?.cancel();
    this.timer = undefined;
    if (monotonicMs === undefined) return;
    const delayMs = Math.max(0, monotonicMs - this.options.platform.clock.monotonicMs());
    this.timer = this.options.platform.timers.after(delayMs, () => this.handle({ type: 'tick' }));
  }

  private giveUp(checkpointId: number): void {
    const pending = this.pending.get(checkpointId);
    if (pending !== undefined) pending.aborted = true;
  }

  private trigger(action: Extract<CheckpointAction, { type: 'trigger' }>): void {
    const { checkpointId, timestampMs, kind } = action.barrier;
    const request =
      action.requestId === undefined ? undefined : this.requests.get(action.requestId as number);
    const pending: Pending = {
      kind,
      isSavepoint: isSavepoint(kind) && request?.targetDirectory !== undefined,
      timestampMs,
      location: undefined,
      coordinatorStates: [],
      aborted: false,
      isDiscarded: false,
      triggering: Promise.resolve(),
    };
    this.pending.set(checkpointId, pending);
    this.options.statistics.checkpointTriggered(action.barrier, pending.isSavepoint);
    const triggering = this.beginAndTrigger(checkpointId, pending, request?.targetDirectory);
    pending.triggering = triggering.catch(() => {});
    const told = triggering.then(
      () => this.handle({ type: 'triggered', checkpointId }),
      (error: unknown) => this.handle({ type: 'triggerFailed', checkpointId, message: messageOf(error) }),
    );
    this.work(told);
  }

  private async beginAndTrigger(
    checkpointId: number,
    pending: Pending,
    targetDirectory: string | undefined,
  ): Promise<void> {
    const { storage, tasks } = this.options;
    if (!tasks.isOpen) throw new Error('the job is not running');
    pending.location =
      pending.isSavepoint && targetDirectory !== undefined
        ? await storage.beginSavepoint(checkpointId, targetDirectory)
        : await storage.begin(checkpointId);
    const { timestampMs, kind, location } = pending;
    const states = await tasks.trigger({ checkpointId, timestampMs, kind, location }, () => !pending.aborted);
    pending.coordinatorStates = [...states].map(([uid, bytes]) => ({ uid, bytes }));
  }

  private async store(checkpointId: number, acknowledgements: readonly TaskAcknowledgement[]): Promise<void> {
    const { storage, identity } = this.options;
    const pending = this.pending.get(checkpointId)!;
    let snapshot: CompletedSnapshot;
    try {
      const manifest = buildManifest({
        ...identity,
        checkpointId,
        // Without a directory of its own it is the last of the job's checkpoints, whatever it was taken for.
        kind: pending.isSavepoint ? 'savepoint' : 'checkpoint',
        timestampMs: pending.timestampMs,
        acknowledgements,
        coordinatorStates: pending.coordinatorStates,
      });
      snapshot = await storage.complete(pending.location!, manifest, stopsJob(pending.kind));
      // A savepoint on the way is its user's alone: the job does not go back to it.
      if (!isSavepoint(pending.kind) || stopsJob(pending.kind)) this.completed.set(checkpointId, snapshot);
      if (pending.isSavepoint && stopsJob(pending.kind)) this.foreign.add(snapshot);
      this.pending.delete(checkpointId);
    } catch (error) {
      const details = hasCode(error, 'CHECKPOINT_STORE_FAILED') ? (error as MillraceError).details : {};
      const outcome = details.outcome === 'unknown' ? 'unknown' : 'absent';
      return this.handle({ type: 'storeFailed', checkpointId, message: messageOf(error), outcome });
    }
    try {
      // Before anybody who asked for it hears of it.
      this.options.statistics.checkpointCompleted(snapshot);
    } finally {
      this.handle({ type: 'stored', checkpointId });
    }
  }

  private async discard(checkpointId: number): Promise<void> {
    const pending = this.pending.get(checkpointId);
    // What is written late finds no directory any more, or is removed with the rest.
    if (pending === undefined || pending.isDiscarded) return;
    pending.isDiscarded = true;
    await pending.triggering;
    await this.removeFiles(checkpointId, pending.location);
  }

  private async removeFiles(checkpointId: number, location: CheckpointLocation | undefined): Promise<void> {
    if (location !== undefined && !(await this.options.storage.discard(location))) {
      // What stays is not complete: the next process of this job removes it.
      if (this.isShutDown) return;
      this.options.platform.timers.after(DISCARD_RETRY_MS, () => {
        // After the end the directory may be another execution's.
        if (!this.isShutDown) this.work(this.removeFiles(checkpointId, location));
      });
      return;
    }
    this.pending.delete(checkpointId);
    this.handle({ type: 'discarded', checkpointId });
  }

  private async subsume(checkpointId: number): Promise<void> {
    const snapshot = this.completed.get(checkpointId);
    if (snapshot === undefined) return;
    this.completed.delete(checkpointId);
    await this.options.storage.delete(snapshot);
    this.options.statistics.checkpointDiscarded(checkpointId);
    await this.options.storage.retryDeletes();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
