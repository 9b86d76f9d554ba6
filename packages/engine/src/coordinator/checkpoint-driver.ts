/**
 * Carries out what the checkpoint coordinator decides: places, triggers, manifests, notifications, deletions, timers. It
 * decides nothing itself; what an action leads to goes back as an event.
 *
 * Invariants:
 * I1 Events are handled one at a time, in the order in which they happened; actions are started in order.
 * I2 Every request is answered.
 * I3 What the storage does for a checkpoint that was given up meanwhile leads to nothing but the removal of its files.
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
  type SnapshotPlace,
  type SubtaskAttempt,
  stopsJob,
  type TaskAcknowledgement,
  type TaskDecline,
} from '../checkpoint/index.ts';
import type { Platform, TimerHandle } from '../platform/index.ts';
import type { JobExecution } from './job-execution.ts';
import type { JobStatistics } from './job-statistics.ts';
import { SavepointPlaces } from './savepoint-places.ts';

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
  /** Aborted when it is given up: nothing may be triggered or stored for it any more. */
  readonly givenUp: AbortController;
  /** Its files are being removed, until nothing is left. */
  isDiscarded: boolean;
  /** Settles when the trigger has been carried out or not; never rejects. */
  triggering: Promise<void>;
}

/** Somebody waits for a checkpoint. */
interface Asked {
  /** Of a savepoint, until that begins. */
  place: SnapshotPlace | undefined;
  resolve(answer: CheckpointAnswer): void;
}

export class CheckpointDriver {
  private readonly options: CheckpointDriverOptions;
  private readonly places: SavepointPlaces;
  private readonly coordinator: CheckpointCoordinator;
  private readonly pending = new Map<number, Pending>();
  private readonly completed = new Map<number, CompletedSnapshot>();
  /** Of these, what belongs to the user or to another job: it is read and never removed. */
  private readonly foreign = new Set<CompletedSnapshot>();
  private readonly requests = new Map<number, Asked>();
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
    const { platform, settings, storage } = options;
    this.coordinator = new CheckpointCoordinator(settings);
    this.places = new SavepointPlaces({ platform, storage, timeoutMs: settings.timeoutMs });
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
    return this.ask((requestId) => ({ type: 'triggerByHand', requestId, kind, targetDirectory }));
  }

  /** The checkpoint after which everything is committed. Resolves when it is complete, or the attempt is over. */
  requestFinal(): Promise<CheckpointAnswer> {
    return this.ask((requestId) => ({ type: 'finalCheckpoint', requestId }));
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
    // What is being stored may still run out of time.
    while (this.working.length > 0) await Promise.allSettled(this.working);
    this.timer?.cancel();
  }

  snapshotOf(checkpointId: number): CompletedSnapshot | undefined {
    return this.completed.get(checkpointId);
  }

  /** Completed snapshots that the job owns and that have not been deleted, oldest first. */
  retained(): CompletedSnapshot[] {
    const owned = [...this.completed.values()].filter((snapshot) => !this.foreign.has(snapshot));
    return owned.sort((a, b) => a.checkpointId - b.checkpointId);
  }

  private ask(event: (requestId: number) => CheckpointEvent): Promise<CheckpointAnswer> {
    return new Promise((resolve) => {
      const requestId = this.nextRequest++;
      this.requests.set(requestId, { place: undefined, resolve });
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
      case 'makePlace':
        return this.work(this.makePlace(action.requestId as number, action.targetDirectory));
      case 'trigger':
        return this.trigger(action);
      case 'store':
        return this.work(this.store(action.checkpointId, action.acknowledgements));
      case 'notifyComplete':
        return this.options.tasks.notifyComplete(action.checkpointId);
      case 'notifyAborted':
        this.pending.get(action.checkpointId)?.givenUp.abort();
        this.options.tasks.notifyAborted(action.checkpointId);
        return this.options.statistics.checkpointFailed(action.checkpointId, action.failure, action.message);
      case 'discardFiles':
        return this.work(this.discard(action.checkpointId));
      case 'subsume':
        return this.work(this.subsume(action.checkpointId));
      case 'answer':
        return this.answer(action.requestId as number, action.answer);
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

  private answer(requestId: number, answer: CheckpointAnswer): void {
    if (answer.type === 'failed' && answer.checkpointId === undefined)
      this.options.statistics.checkpointRefused();
    const request = this.requests.get(requestId);
    this.requests.delete(requestId);
    if (request?.place !== undefined) this.work(this.places.remove(request.place));
    request?.resolve(answer);
  }

  private async makePlace(requestId: number, targetDirectory: string): Promise<void> {
    const outcome = await this.places.make(targetDirectory);
    if (outcome.type === 'failed') {
      const { failure, message } = outcome;
      return this.handle({ type: 'placeFailed', requestId, failure, message });
    }
    const request = this.requests.get(requestId);
    if (request === undefined) return this.places.remove(outcome.place);
    request.place = outcome.place;
    this.handle({ type: 'placed', requestId });
  }

  private trigger(action: Extract<CheckpointAction, { type: 'trigger' }>): void {
    const { checkpointId, timestampMs, kind } = action.barrier;
    const request =
      action.requestId === undefined ? undefined : this.requests.get(action.requestId as number);
    const place = request?.place;
    const pending: Pending = {
      kind,
      isSavepoint: place !== undefined,
      timestampMs,
      location: place && { ...place, checkpointId },
      coordinatorStates: [],
      givenUp: new AbortController(),
      isDiscarded: false,
      triggering: Promise.resolve(),
    };
    if (request !== undefined) request.place = undefined;
    this.pending.set(checkpointId, pending);
    this.options.statistics.checkpointTriggered(action.barrier, pending.isSavepoint);
    const triggering = this.beginAndTrigger(checkpointId, pending);
    pending.triggering = triggering.catch(() => {});
    const told = triggering.then(
      () => this.handle({ type: 'triggered', checkpointId }),
      (error: unknown) => this.handle({ type: 'triggerFailed', checkpointId, message: messageOf(error) }),
    );
    this.work(told);
  }

  private async beginAndTrigger(checkpointId: number, pending: Pending): Promise<void> {
    const { storage, tasks } = this.options;
    if (!tasks.isOpen) throw new Error('the job is not running');
    pending.location ??= await storage.begin(checkpointId);
    const { timestampMs, kind, location, givenUp } = pending;
    const isWanted = (): boolean => !givenUp.signal.aborted;
    const states = await tasks.trigger({ checkpointId, timestampMs, kind, location }, isWanted);
    pending.coordinatorStates = [...states].map(([uid, bytes]) => ({ uid, bytes }));
  }

  private async store(checkpointId: number, acknowledgements: readonly TaskAcknowledgement[]): Promise<void> {
    const { storage, identity } = this.options;
    const pending = this.pending.get(checkpointId)!;
    const { signal } = pending.givenUp;
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
      const completing = storage.complete(pending.location!, manifest, stopsJob(pending.kind), signal);
      snapshot = await untilAborted(completing, signal);
      signal.throwIfAborted();
      // A savepoint on the way is its user's alone: the job does not go back to it.
      if (!isSavepoint(pending.kind) || stopsJob(pending.kind)) this.completed.set(checkpointId, snapshot);
      if (pending.isSavepoint && stopsJob(pending.kind)) this.foreign.add(snapshot);
      this.pending.delete(checkpointId);
    } catch (error) {
      if (signal.aborted) return; // I3
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

/** As the promise, or rejects as soon as the signal comes. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}
