/**
 * Decides about checkpoints: when they begin, when they are complete, what becomes of those that fail, which stay.
 *
 * Called by the JobManager's loop, which carries out the actions. No I/O, no clock, no promise: (state, event) to
 * (state, actions). Several checkpoints may be under way; each goes through these phases:
 *
 *            trigger            triggered              all acknowledged             store
 *    (begin) ────────▶ triggering ──────▶ acknowledging ──────────────▶ acknowledged ─────▶ storing ──▶ completed
 *                          │                   │                             │                 │        notifyComplete,
 *                          │ triggerFailed     │ declined                    │                 │ store- subsume
 *                          │                   │                             │                 │ Failed
 *                          └───────────────────┴─────────────────────────────┴─────────────────┴─────▶ aborted
 *                            expired; never from storing: shutdown, subsumed (a newer one               notifyAborted,
 *                            completed), but for savepoints on the way: taskFailed                      discardFiles
 *
 * What begins when: checkpoint-requests.ts. Checkpoints are stored one at a time, oldest first; savepoints beside them. All
 * state is written by then and storing is one small file: nothing would be gained by two at once, and the newest complete
 * checkpoint would depend on which write came first. So an acknowledged one that waits is not durable yet and can be given
 * up. A savepoint may go to a slow place that the checkpoints must not wait for, and nothing is restored from it.
 *
 * Invariants:
 * I1 Ids rise strictly, across restarts and restores; an id is never used twice.
 * I2 Every request is answered exactly once, and every checkpoint that begins is completed or aborted, once.
 * I3 While what a job is restored from is being stored nothing aborts it but its time-out: it may be durable already. A restore waits for
 *    the answer, and after an answer that does not tell, or none in time, until its files are gone (`readyToRestore`). So
 *    the newest complete checkpoint on disk is never newer than the one that was restored.
 * I4 Only acknowledgements of the attempts that were triggered count. An acknowledgement of an aborted checkpoint has its
 *    files removed; those of a completed one are never touched because of a late message.
 * I5 All rules go by monotonic time.
 * I6 Of what a job is restored from at most one is being stored, and completed ids rise: a newer one subsumes the older.
 *
 * (org.apache.flink.runtime.checkpoint.CheckpointCoordinator.)
 */
import { assert, unreachable } from '../base/index.ts';
import {
  type SubtaskAttempt,
  subtaskKey,
  type TaskAcknowledgement,
  type TaskDecline,
} from './acknowledgement.ts';
import { type CheckpointBarrier, isSavepoint, stopsJob } from './barrier.ts';
import { CheckpointAlarm } from './checkpoint-alarm.ts';
import type {
  CheckpointAction,
  CheckpointAnswer,
  CheckpointEvent,
  CheckpointRequest,
  EventTime,
  RequestId,
} from './checkpoint-event.ts';
import { CHECKPOINT_FAILURES, type CheckpointFailure } from './checkpoint-failure.ts';
import { CheckpointRequests, type CheckpointStart } from './checkpoint-requests.ts';
import { CheckpointTrigger } from './checkpoint-trigger.ts';
import { FailureCounter } from './failure-counter.ts';
import { isRestorable, type PendingCheckpoint, PendingCheckpoints } from './pending-checkpoints.ts';
import { RestorePoint } from './restore-point.ts';
import type { CheckpointSettings } from './settings.ts';

/** Aborted ids that are remembered, so that what arrives late for them is cleaned up. */
const ABORTED_MAX = 1000;
/** Pause before a final checkpoint that failed is tried again. */
const FINAL_RETRY_MS = 1000;

export class CheckpointCoordinator {
  private readonly settings: CheckpointSettings;
  private readonly trigger: CheckpointTrigger;
  private readonly requests: CheckpointRequests;
  private readonly failures: FailureCounter;
  private readonly alarm = new CheckpointAlarm();
  private readonly pending = new PendingCheckpoints();
  private readonly restorePoint: RestorePoint;
  private actions: CheckpointAction[] = [];
  private now: EventTime = { monotonicMs: Number.NEGATIVE_INFINITY, wallMs: 0 };

  private nextId = 0;
  /** Who has to answer; undefined while not all tasks run. */
  private attempts: ReadonlyMap<string, number> | undefined;
  private isOver: 'stopping' | 'shutdown' | undefined;
  private restorePending = false;
  private readonly aborted = new Set<number>();
  private wakeAtMs: number | undefined;

  constructor(settings: CheckpointSettings) {
    this.settings = settings;
    this.trigger = new CheckpointTrigger(settings);
    this.requests = new CheckpointRequests(settings, this.trigger, this.pending);
    this.failures = new FailureCounter(settings.tolerableFailures);
    this.restorePoint = new RestorePoint(settings.retainedCount);
  }

  /** Completed checkpoints that are retained, oldest first. */
  get retainedCheckpointIds(): readonly number[] {
    return this.restorePoint.retainedIds;
  }

  /** Checkpoints may begin. */
  private get isRunning(): boolean {
    return this.attempts !== undefined && this.isOver === undefined;
  }

  /** Takes an event; the answer is what has to be done, in order. Time that goes back is taken to stand still. */
  handle(event: CheckpointEvent, time: EventTime): readonly CheckpointAction[] {
    this.actions = [];
    this.now = { monotonicMs: Math.max(time.monotonicMs, this.now.monotonicMs), wallMs: time.wallMs };
    this.apply(event);
    this.storeNext();
    this.expire();
    this.beginNext();
    this.settleRestore();
    this.raiseAlarm();
    this.planWake();
    return this.actions;
  }

  private apply(event: CheckpointEvent): void {
    switch (event.type) {
      case 'tick':
        // The wake-up was used: it has to be asked for again, also if this tick came too early.
        this.wakeAtMs = undefined;
        return;
      case 'allTasksRunning':
        return this.onRunning(event.subtasks);
      case 'restored':
        this.nextId = Math.max(this.nextId, event.checkpointId + 1);
        return this.restorePoint.found(event.checkpointId, event.isRetained);
      case 'backlog':
        return this.onBacklog(event.source, event.isProcessing);
      case 'idsTaken':
        this.nextId = Math.max(this.nextId, event.highest + 1);
        return;
      case 'triggerByHand':
        return this.onRequest(event);
      case 'placed':
        return this.requests.placed(event.requestId);
      case 'placeFailed':
        return this.onPlaceFailed(event.requestId, event.failure, event.message);
      case 'finalCheckpoint':
        return this.onFinal(event.requestId);
      case 'triggered':
        return this.onTriggered(event.checkpointId);
      case 'triggerFailed':
        return this.abortIf(
          this.pending.find(event.checkpointId, 'triggering'),
          'trigger-failed',
          event.message,
        );
      case 'acknowledge':
        return this.onAcknowledge(event.acknowledgement);
      case 'decline':
        return this.onDecline(event.decline);
      case 'stored':
        return this.onStored(event.checkpointId);
      case 'storeFailed':
        return this.onStoreFailed(event.checkpointId, event.message, event.outcome);
      case 'discarded':
        return this.restorePoint.discarded(event.checkpointId);
      case 'taskFailed':
        return this.onTaskFailed(event.message, event.failure ?? 'task-failed');
      case 'shutdown':
        return this.onShutdown(event.message);
      default:
        unreachable(event);
    }
  }

  private onRunning(subtasks: readonly SubtaskAttempt[]): void {
    assert(subtasks.length > 0, 'a job without tasks takes no checkpoints');
    assert(!this.restorePending, 'the tasks run although it is not decided what they restore');
    this.attempts = new Map(subtasks.map((subtask) => [subtaskKey(subtask), subtask.attemptNumber]));
    this.trigger.resume(this.now.monotonicMs);
    this.alarm.reset(this.now.monotonicMs);
  }

  private onBacklog(source: string, isProcessing: boolean): void {
    const before = this.trigger.intervalMs;
    this.trigger.backlog(source, isProcessing, this.now.monotonicMs);
    // Nobody was to expect a checkpoint as long as there were to be none.
    if (!Number.isFinite(before) && this.isRunning) this.alarm.reset(this.now.monotonicMs);
  }

  private onRequest({ requestId, kind, targetDirectory }: CheckpointRequest): void {
    const failure = this.refusal();
    if (failure !== undefined) return this.refuse(requestId, failure);
    this.requests.add({ requestId, kind, targetDirectory });
    if (targetDirectory !== undefined) this.actions.push({ type: 'makePlace', requestId, targetDirectory });
  }

  private onPlaceFailed(requestId: RequestId, failure: CheckpointFailure, detail: string): void {
    if (this.requests.takePlacing(requestId) !== undefined)
      this.answerFailed(requestId, undefined, failure, withReason(detail, failure));
  }

  private refusal(): CheckpointFailure | undefined {
    if (this.isOver !== undefined) return this.isOver;
    if (this.attempts === undefined) return 'not-running';
    return this.requests.isFull ? 'too-many-requests' : undefined;
  }

  private onFinal(requestId: RequestId): void {
    const failure = this.requests.finalRequestId === undefined ? this.refusal() : 'too-many-requests';
    if (failure !== undefined) return this.refuse(requestId, failure);
    this.requests.setFinal(requestId, this.now.monotonicMs);
    this.trigger.suspend();
  }

  private onTriggered(checkpointId: number): void {
    const pending = this.pending.find(checkpointId, 'triggering');
    if (pending === undefined) return;
    pending.phase = 'acknowledging';
    this.acknowledgeIfComplete(pending);
  }

  private onAcknowledge(acknowledgement: TaskAcknowledgement): void {
    const { checkpointId } = acknowledgement;
    const pending = this.pending.find(checkpointId, 'triggering', 'acknowledging');
    if (pending !== undefined && this.isCurrent(acknowledgement)) {
      pending.acknowledgements.set(subtaskKey(acknowledgement), acknowledgement);
      this.acknowledgeIfComplete(pending);
    } else if (this.aborted.has(checkpointId)) {
      this.actions.push({ type: 'discardFiles', checkpointId });
    }
  }

  private acknowledgeIfComplete(pending: PendingCheckpoint): void {
    if (pending.phase === 'acknowledging' && pending.acknowledgements.size === this.attempts!.size)
      pending.phase = 'acknowledged';
  }

  private onDecline(decline: TaskDecline): void {
    const pending = this.pending.find(decline.checkpointId, 'triggering', 'acknowledging');
    if (this.isCurrent(decline)) this.abortIf(pending, decline.reason, decline.message);
  }

  private onStored(checkpointId: number): void {
    const pending = this.pending.find(checkpointId, 'storing');
    if (pending !== undefined) this.complete(pending);
  }

  private onStoreFailed(checkpointId: number, message: string, outcome: 'absent' | 'unknown'): void {
    const pending = this.pending.find(checkpointId, 'storing');
    if (pending === undefined) return;
    if (outcome === 'unknown') this.doubt(pending);
    this.abort(pending, 'store-failed', message);
  }

  /** A savepoint on the way is no candidate when the job looks for its newest checkpoint. */
  private doubt({ barrier }: PendingCheckpoint): void {
    if (isRestorable(barrier)) this.restorePoint.doubt(barrier.checkpointId);
  }

  private onTaskFailed(message: string, failure: CheckpointFailure): void {
    this.restorePending = true;
    if (this.isOver === 'stopping') this.isOver = undefined;
    this.suspend(failure, message);
    for (const requestId of this.requests.takeEnds())
      this.answerFailed(requestId, undefined, failure, message);
  }

  private onShutdown(message: string): void {
    this.isOver = 'shutdown';
    this.restorePending = false;
    this.suspend('shutdown', message);
    for (const requestId of this.requests.takeAll())
      this.answerFailed(requestId, undefined, 'shutdown', message);
  }

  /**
   * Not all tasks run: nothing begins, and what is not being stored (I3) is given up. So is a savepoint that is, if the job
   * starts again from before it: what its sinks have prepared is aborted then, and it could not be restored.
   */
  private suspend(failure: CheckpointFailure, message: string): void {
    this.attempts = undefined;
    this.trigger.suspend();
    this.alarm.silence();
    for (const pending of this.pending.list()) {
      const isKept = isRestorable(pending.barrier) || this.isOver === 'shutdown';
      if (pending.phase !== 'storing' || !isKept) this.abort(pending, failure, message);
    }
  }

  /** I4 */
  private isCurrent(subtask: SubtaskAttempt): boolean {
    return this.attempts?.get(subtaskKey(subtask)) === subtask.attemptNumber;
  }

  private expire(): void {
    for (const pending of this.pending.list()) {
      if (this.now.monotonicMs < pending.expiresMs) continue;
      if (pending.phase === 'storing') this.doubt(pending);
      this.abort(pending, 'expired', this.whyLate(pending));
    }
    this.storeNext();
  }

  private whyLate({ phase, acknowledgements }: PendingCheckpoint): string {
    const { timeoutMs } = this.settings;
    if (phase === 'triggering') return `It could not be triggered within ${timeoutMs} ms.`;
    if (phase === 'storing') return `Its storage did not answer within ${timeoutMs} ms.`;
    if (phase === 'acknowledged') return `The one before it was still being stored after ${timeoutMs} ms.`;
    const missing = [...this.attempts!.keys()].filter((key) => !acknowledgements.has(key));
    const shown = missing.slice(0, 5).join(', ') + (missing.length > 5 ? ', …' : '');
    return `${missing.length} of ${this.attempts!.size} subtasks did not answer within ${timeoutMs} ms: ${shown}`;
  }

  /** I6 */
  private storeNext(): void {
    for (const pending of this.pending.list()) {
      if (pending.phase !== 'acknowledged') continue;
      if (isRestorable(pending.barrier) && this.isRestorableStoring()) continue;
      pending.phase = 'storing';
      pending.expiresMs = this.now.monotonicMs + this.settings.timeoutMs;
      const { barrier, acknowledgements } = pending;
      const { checkpointId } = barrier;
      this.actions.push({ type: 'store', checkpointId, acknowledgements: [...acknowledgements.values()] });
    }
  }

  private isRestorableStoring(): boolean {
    return this.pending.has(({ phase, barrier }) => phase === 'storing' && isRestorable(barrier));
  }

  private beginNext(): void {
    const start = this.isRunning ? this.requests.next(this.now.monotonicMs) : undefined;
    if (start !== undefined) this.begin(start);
  }

  private begin(start: CheckpointStart): void {
    if (start.type === 'periodic') this.trigger.started(this.now.monotonicMs);
    const request = start.type === 'requested' ? start : undefined;
    // Checkpoint 0 is the one that is asked for before the first record; without it they are counted from 1.
    const checkpointId = request === undefined ? Math.max(1, this.nextId) : this.nextId;
    this.nextId = checkpointId + 1;
    const kind = request?.kind ?? 'checkpoint';
    const barrier: CheckpointBarrier = { checkpointId, timestampMs: this.now.wallMs, kind };
    const requestId = request?.requestId;
    this.pending.add({
      barrier,
      requestId,
      isFinal: start.type === 'final',
      isOwn: isRestorable(barrier) && request?.targetDirectory === undefined,
      expiresMs: this.now.monotonicMs + this.settings.timeoutMs,
      acknowledgements: new Map(),
      phase: 'triggering',
    });
    this.actions.push({ type: 'trigger', barrier, requestId, isPeriodic: start.type === 'periodic' });
  }

  private complete(pending: PendingCheckpoint): void {
    const { barrier, requestId, isFinal, isOwn } = pending;
    const { checkpointId, kind } = barrier;
    this.end(pending);
    this.failures.succeeded(checkpointId);
    if (this.isRunning) this.alarm.reset(this.now.monotonicMs);
    if (isRestorable(barrier)) {
      this.restorePoint.completed(checkpointId);
      // Tasks that are being restarted begin with it; those that go on hear of it.
      if (this.isOver !== 'shutdown') this.actions.push({ type: 'notifyComplete', checkpointId });
      this.subsumeBefore(checkpointId);
    }
    if (stopsJob(kind) && this.isRunning) this.stop();
    if (isOwn) {
      for (const id of this.restorePoint.retain(checkpointId))
        this.actions.push({ type: 'subsume', checkpointId: id });
    }
    const answer: CheckpointAnswer = { type: 'completed', checkpointId };
    if (requestId !== undefined) this.actions.push({ type: 'answer', requestId, answer });
    const final = isFinal ? this.requests.takeFinal() : undefined;
    if (final === undefined) return;
    this.actions.push({ type: 'answer', requestId: final, answer });
    this.stop();
  }

  /** I6. Savepoints stay: they are the user's. */
  private subsumeBefore(checkpointId: number): void {
    for (const pending of this.pending.list()) {
      if (pending.barrier.checkpointId > checkpointId || isSavepoint(pending.barrier.kind)) continue;
      this.abort(pending, 'subsumed', `Checkpoint ${checkpointId}, which is newer, completed before it.`);
    }
  }

  /** The job ends: nothing more is begun, and who waits is told. */
  private stop(): void {
    this.isOver ??= 'stopping';
    this.trigger.suspend();
    this.alarm.silence();
    for (const requestId of this.requests.takeAll())
      this.answerFailed(requestId, undefined, 'stopping', 'The job has stopped.');
  }

  private abortIf(pending: PendingCheckpoint | undefined, failure: CheckpointFailure, detail: string): void {
    if (pending !== undefined) this.abort(pending, failure, detail);
  }

  private abort(pending: PendingCheckpoint, failure: CheckpointFailure, detail: string): void {
    const { barrier, requestId, isFinal } = pending;
    const { checkpointId, kind } = barrier;
    this.end(pending);
    this.rememberAborted(checkpointId);
    const message = withReason(detail, failure);
    this.actions.push({ type: 'notifyAborted', checkpointId, failure, message });
    this.actions.push({ type: 'discardFiles', checkpointId });
    if (requestId !== undefined) this.answerFailed(requestId, checkpointId, failure, message);
    if (isFinal)
      this.requests.retryFinal(Math.max(this.now.monotonicMs + FINAL_RETRY_MS, this.trigger.earliestMs()));
    if (isSavepoint(kind)) return;
    const tooMany = this.failures.failed(checkpointId, failure, message);
    if (tooMany === undefined) return;
    this.actions.push({ type: 'failJob', code: 'CHECKPOINT_FAILURES_EXCEEDED', message: tooMany });
  }

  private end(pending: PendingCheckpoint): void {
    this.pending.remove(pending);
    this.trigger.ended(this.now.monotonicMs);
  }

  private rememberAborted(checkpointId: number): void {
    this.aborted.add(checkpointId);
    if (this.aborted.size > ABORTED_MAX) this.aborted.delete(this.aborted.values().next().value!);
  }

  private refuse(requestId: RequestId, failure: CheckpointFailure): void {
    this.answerFailed(requestId, undefined, failure, CHECKPOINT_FAILURES[failure].text);
  }

  private answerFailed(
    requestId: RequestId,
    checkpointId: number | undefined,
    failure: CheckpointFailure,
    message: string,
  ): void {
    const answer: CheckpointAnswer = { type: 'failed', checkpointId, failure, message };
    this.actions.push({ type: 'answer', requestId, answer });
  }

  /** I3 */
  private settleRestore(): void {
    if (!this.restorePending || this.isRestorableStoring() || !this.restorePoint.isCertain) return;
    this.restorePending = false;
    this.actions.push({ type: 'readyToRestore', checkpointId: this.restorePoint.checkpointId });
  }

  private raiseAlarm(): void {
    const { intervalMs } = this.trigger;
    const sinceMs = this.alarm.raise(intervalMs, this.now.monotonicMs);
    if (sinceMs === undefined) return;
    const message =
      `no checkpoint has completed for ${Math.round(sinceMs)} ms, the interval is ${intervalMs} ms. ` +
      'After a failure the job would go back that far.';
    this.actions.push({ type: 'alarm', sinceMs, message });
  }

  private planWake(): void {
    const wishes = [this.alarm.dueMs(this.trigger.intervalMs)];
    for (const { expiresMs } of this.pending.list()) wishes.push(expiresMs);
    if (this.isRunning) wishes.push(this.requests.nextMs());
    const earliest = Math.min(...wishes);
    const wakeAtMs = Number.isFinite(earliest) ? earliest : undefined;
    if (wakeAtMs === this.wakeAtMs) return;
    this.wakeAtMs = wakeAtMs;
    this.actions.push({ type: 'wakeAt', monotonicMs: wakeAtMs });
  }
}

function withReason(detail: string, failure: CheckpointFailure): string {
  return `${detail} Failure reason: ${CHECKPOINT_FAILURES[failure].text}`;
}
