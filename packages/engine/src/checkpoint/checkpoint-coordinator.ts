/**
 * Decides about checkpoints: when they begin, when they are complete, what becomes of those that fail, which stay.
 *
 * Called by the JobManager's loop, which carries out the actions. No I/O, no clock, no promise: (state, event) to
 * (state, actions). One checkpoint is in flight at a time; a higher `maxConcurrent` is accepted and treated as 1.
 *
 *            trigger                    all acknowledged            stored
 *    (due) ───────────▶ acknowledging ───────────────────▶ storing ─────────▶ completed   notifyComplete, subsume
 *                             │                               │
 *                             │ expired, declined,            │ storeFailed
 *                             │ triggerFailed,                ▼
 *                             │ taskFailed, shutdown ───▶ aborted   notifyAborted, discardFiles
 *                             └──────────────────────────▶
 *
 * Invariants:
 * I1 Ids rise strictly, across restarts and restores; an id is never used twice.
 * I2 Every request is answered exactly once.
 * I3 While a checkpoint is being stored nothing aborts it: it may be durable already. A restore waits for the answer, and
 *    after an answer that does not tell, until its files are gone (`readyToRestore`). So the newest complete checkpoint on
 *    disk is never newer than the one that was restored.
 * I4 Only acknowledgements of the attempts that were triggered count. An acknowledgement of an aborted checkpoint has its
 *    files removed; those of a completed one are never touched because of a late message.
 * I5 All rules go by monotonic time.
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
import { type CheckpointBarrier, type CheckpointKind, isSavepoint, stopsJob } from './barrier.ts';
import {
  CHECKPOINT_FAILURES,
  type CheckpointAction,
  type CheckpointAnswer,
  type CheckpointEvent,
  type CheckpointFailure,
  type EventTime,
  type RequestId,
} from './checkpoint-event.ts';
import { CheckpointTrigger } from './checkpoint-trigger.ts';
import { FailureCounter } from './failure-counter.ts';
import { retainNewest } from './retention.ts';
import type { CheckpointSettings } from './settings.ts';

const QUEUED_REQUESTS_MAX = 1000;
/** Aborted ids that are remembered, so that what arrives late for them is cleaned up. */
const ABORTED_MAX = 1000;
/** Pause before a final checkpoint that failed is tried again. */
const FINAL_RETRY_MS = 1000;
/** Without success for that many intervals people are told. */
const ALARM_INTERVALS = 3;

interface Pending {
  readonly barrier: CheckpointBarrier;
  readonly requestId: RequestId | undefined;
  readonly isFinal: boolean;
  readonly expiresMs: number;
  readonly acknowledgements: Map<string, TaskAcknowledgement>;
  phase: 'acknowledging' | 'storing';
}

interface Request {
  readonly requestId: RequestId;
  readonly kind: CheckpointKind;
}

export class CheckpointCoordinator {
  private readonly settings: CheckpointSettings;
  private readonly trigger: CheckpointTrigger;
  private readonly failures: FailureCounter;
  private actions: CheckpointAction[] = [];
  private now: EventTime = { monotonicMs: Number.NEGATIVE_INFINITY, wallMs: 0 };

  private nextId = 0;
  private attempts: ReadonlyMap<string, number> | undefined;
  private pending: Pending | undefined;
  private queue: Request[] = [];
  private final: { readonly requestId: RequestId; notBeforeMs: number } | undefined;
  private isOver: 'stopping' | 'shutdown' | undefined;

  private retained: readonly number[] = [];
  private restorePoint: number | undefined;
  private readonly aborted = new Set<number>();
  private readonly unresolved = new Set<number>();
  private restorePending = false;

  private successMs = 0;
  private alarmed = false;
  private wakeAtMs: number | undefined;

  constructor(settings: CheckpointSettings) {
    this.settings = settings;
    this.trigger = new CheckpointTrigger(settings);
    this.failures = new FailureCounter(settings.tolerableFailures);
  }

  /** The checkpoint in flight. */
  get pendingCheckpointId(): number | undefined {
    return this.pending?.barrier.checkpointId;
  }

  /** True while the outcome of a `store` is open. Wait for it before the process ends in peace. */
  get isStoring(): boolean {
    return this.pending?.phase === 'storing';
  }

  /** Completed checkpoints that are retained, oldest first. */
  get retainedCheckpointIds(): readonly number[] {
    return this.retained;
  }

  /** Subtasks that have not answered the checkpoint in flight, as `vertex.subtask`. */
  missingSubtasks(): string[] {
    const pending = this.pending;
    if (pending === undefined || this.attempts === undefined) return [];
    return [...this.attempts.keys()].filter((key) => !pending.acknowledgements.has(key));
  }

  /** Takes an event; the answer is what has to be done, in order. Time that goes back is taken to stand still. */
  handle(event: CheckpointEvent, time: EventTime): readonly CheckpointAction[] {
    this.actions = [];
    this.now = { monotonicMs: Math.max(time.monotonicMs, this.now.monotonicMs), wallMs: time.wallMs };
    this.apply(event);
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
        return this.onRestored(event.checkpointId, event.isRetained);
      case 'triggerByHand':
        return this.onRequest({ requestId: event.requestId, kind: event.kind });
      case 'finalCheckpoint':
        return this.onFinal(event.requestId);
      case 'triggerFailed':
        if (this.isPending(event.checkpointId, 'acknowledging')) this.abort('trigger-failed', event.message);
        return;
      case 'acknowledge':
        return this.onAcknowledge(event.acknowledgement);
      case 'decline':
        return this.onDecline(event.decline);
      case 'stored':
        if (this.isPending(event.checkpointId, 'storing')) this.complete();
        return;
      case 'storeFailed':
        return this.onStoreFailed(event.checkpointId, event.message, event.outcome);
      case 'discarded':
        this.unresolved.delete(event.checkpointId);
        return;
      case 'taskFailed':
        return this.onTaskFailed(event.message);
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
    this.successMs = this.now.monotonicMs;
    this.alarmed = false;
  }

  private onRestored(checkpointId: number, isRetained: boolean): void {
    this.nextId = Math.max(this.nextId, checkpointId + 1);
    this.restorePoint = checkpointId;
    if (isRetained && !this.retained.includes(checkpointId))
      this.retained = [...this.retained, checkpointId].sort(byId);
  }

  private onRequest(request: Request): void {
    const failure = this.refusal();
    if (failure === undefined) this.queue.push(request);
    else this.answerFailed(request.requestId, undefined, failure, CHECKPOINT_FAILURES[failure].text);
  }

  private refusal(): CheckpointFailure | undefined {
    if (this.isOver !== undefined) return this.isOver;
    if (this.attempts === undefined) return 'not-running';
    return this.queue.length >= QUEUED_REQUESTS_MAX ? 'too-many-requests' : undefined;
  }

  private onFinal(requestId: RequestId): void {
    const failure = this.final === undefined ? this.refusal() : 'too-many-requests';
    if (failure !== undefined) {
      this.answerFailed(requestId, undefined, failure, CHECKPOINT_FAILURES[failure].text);
      return;
    }
    this.final = { requestId, notBeforeMs: this.now.monotonicMs };
    this.trigger.suspend();
  }

  private onAcknowledge(acknowledgement: TaskAcknowledgement): void {
    const { checkpointId } = acknowledgement;
    if (!this.isPending(checkpointId, 'acknowledging')) {
      if (this.aborted.has(checkpointId)) this.actions.push({ type: 'discardFiles', checkpointId });
      return;
    }
    if (!this.isCurrent(acknowledgement)) return;
    const pending = this.pending!;
    pending.acknowledgements.set(subtaskKey(acknowledgement), acknowledgement);
    if (pending.acknowledgements.size < this.attempts!.size) return;
    pending.phase = 'storing';
    this.actions.push({
      type: 'store',
      checkpointId,
      acknowledgements: [...pending.acknowledgements.values()],
    });
  }

  private onDecline(decline: TaskDecline): void {
    if (!this.isPending(decline.checkpointId, 'acknowledging') || !this.isCurrent(decline)) return;
    const failure = decline.reason === 'snapshot-failed' ? 'snapshot-failed' : 'declined';
    this.abort(failure, decline.message);
  }

  private onStoreFailed(checkpointId: number, message: string, outcome: 'absent' | 'unknown'): void {
    if (!this.isPending(checkpointId, 'storing')) return;
    // A savepoint is no candidate when the job looks for its newest checkpoint.
    if (outcome === 'unknown' && !isSavepoint(this.pending!.barrier.kind)) this.unresolved.add(checkpointId);
    this.abort('store-failed', message);
  }

  private onTaskFailed(message: string): void {
    this.attempts = undefined;
    this.restorePending = true;
    this.trigger.suspend();
    if (this.isOver === 'stopping') this.isOver = undefined;
    const final = this.final;
    this.final = undefined;
    if (this.pending?.phase === 'acknowledging') this.abort('task-failed', message);
    if (final !== undefined) this.answerFailed(final.requestId, undefined, 'task-failed', message);
  }

  private onShutdown(message: string): void {
    this.isOver = 'shutdown';
    this.attempts = undefined;
    this.restorePending = false;
    this.trigger.suspend();
    const { final, queue } = this;
    this.final = undefined;
    this.queue = [];
    if (this.pending?.phase === 'acknowledging') this.abort('shutdown', message);
    if (final !== undefined) this.answerFailed(final.requestId, undefined, 'shutdown', message);
    for (const { requestId } of queue) this.answerFailed(requestId, undefined, 'shutdown', message);
  }

  private isPending(checkpointId: number, phase: Pending['phase']): boolean {
    return this.pending?.barrier.checkpointId === checkpointId && this.pending.phase === phase;
  }

  /** I4 */
  private isCurrent(subtask: SubtaskAttempt): boolean {
    return this.attempts?.get(subtaskKey(subtask)) === subtask.attemptNumber;
  }

  private expire(): void {
    const pending = this.pending;
    if (pending?.phase !== 'acknowledging' || this.now.monotonicMs < pending.expiresMs) return;
    const missing = this.missingSubtasks();
    const shown = missing.slice(0, 5).join(', ') + (missing.length > 5 ? ', …' : '');
    const { timeoutMs } = this.settings;
    this.abort(
      'expired',
      `${missing.length} of ${this.attempts!.size} subtasks did not answer within ${timeoutMs} ms: ${shown}`,
    );
  }

  private beginNext(): void {
    if (this.pending !== undefined || this.attempts === undefined || this.isOver !== undefined) return;
    const request = this.queue.shift();
    if (request !== undefined) {
      this.begin(request.kind, request.requestId, false);
    } else if (this.final !== undefined) {
      if (this.now.monotonicMs >= this.final.notBeforeMs) this.begin('checkpoint', undefined, true);
    } else if (this.now.monotonicMs >= this.trigger.nextMs()) {
      this.trigger.started(this.now.monotonicMs);
      this.begin('checkpoint', undefined, false);
    }
  }

  private begin(kind: CheckpointKind, requestId: RequestId | undefined, isFinal: boolean): void {
    // Checkpoint 0 is the one that is asked for before the first record; without it they are counted from 1.
    const checkpointId = requestId === undefined ? Math.max(1, this.nextId) : this.nextId;
    this.nextId = checkpointId + 1;
    const barrier: CheckpointBarrier = { checkpointId, timestampMs: this.now.wallMs, kind };
    const expiresMs = this.now.monotonicMs + this.settings.timeoutMs;
    this.pending = {
      barrier,
      requestId,
      isFinal,
      expiresMs,
      acknowledgements: new Map(),
      phase: 'acknowledging',
    };
    const isPeriodic = requestId === undefined && !isFinal;
    this.actions.push({ type: 'trigger', barrier, requestId, isPeriodic });
  }

  private complete(): void {
    const { barrier, requestId, isFinal } = this.pending!;
    const { checkpointId, kind } = barrier;
    this.end();
    this.failures.succeeded();
    this.successMs = this.now.monotonicMs;
    this.alarmed = false;
    // A savepoint on the way commits nothing and is not restored from; one that ends the job does and is.
    if (!isSavepoint(kind) || stopsJob(kind)) {
      this.restorePoint = checkpointId;
      for (const id of this.unresolved) if (id < checkpointId) this.unresolved.delete(id);
      if (this.attempts !== undefined) this.actions.push({ type: 'notifyComplete', checkpointId });
    }
    if (stopsJob(kind) && this.isOver === undefined && this.attempts !== undefined) this.stop();
    if (!isSavepoint(kind)) {
      const { kept, subsumed } = retainNewest([...this.retained, checkpointId], this.settings.retainedCount);
      this.retained = kept;
      for (const id of subsumed) this.actions.push({ type: 'subsume', checkpointId: id });
    }
    const answer: CheckpointAnswer = { type: 'completed', checkpointId };
    if (requestId !== undefined) this.actions.push({ type: 'answer', requestId, answer });
    if (isFinal && this.final !== undefined) {
      this.actions.push({ type: 'answer', requestId: this.final.requestId, answer });
      this.final = undefined;
      this.stop();
    }
  }

  /** The job ends: nothing more is begun, and who waits in the queue is told. */
  private stop(): void {
    this.isOver ??= 'stopping';
    this.trigger.suspend();
    const waiting = this.final === undefined ? this.queue : [...this.queue, this.final];
    for (const { requestId } of waiting) {
      this.answerFailed(requestId, undefined, 'stopping', 'The job has stopped.');
    }
    this.queue = [];
    this.final = undefined;
  }

  private abort(failure: CheckpointFailure, detail: string): void {
    const { barrier, requestId, isFinal } = this.pending!;
    const { checkpointId, kind } = barrier;
    this.end();
    this.rememberAborted(checkpointId);
    const message = `${detail} Failure reason: ${CHECKPOINT_FAILURES[failure].text}`;
    this.actions.push({ type: 'notifyAborted', checkpointId, failure, message });
    this.actions.push({ type: 'discardFiles', checkpointId });
    if (requestId !== undefined) this.answerFailed(requestId, checkpointId, failure, message);
    if (isFinal && this.final !== undefined) {
      this.final.notBeforeMs = Math.max(this.now.monotonicMs + FINAL_RETRY_MS, this.trigger.earliestMs());
    }
    if (isSavepoint(kind)) return;
    const tooMany = this.failures.failed(failure, `checkpoint ${checkpointId}: ${message}`);
    if (tooMany === undefined) return;
    this.actions.push({ type: 'failJob', code: 'CHECKPOINT_FAILURES_EXCEEDED', message: tooMany });
  }

  private end(): void {
    this.pending = undefined;
    this.trigger.ended(this.now.monotonicMs);
  }

  private rememberAborted(checkpointId: number): void {
    this.aborted.add(checkpointId);
    if (this.aborted.size > ABORTED_MAX) this.aborted.delete(this.aborted.values().next().value!);
  }

  private answerFailed(
    requestId: RequestId,
    checkpointId: number | undefined,
    failure: CheckpointFailure,
    message: string,
  ): void {
    this.actions.push({
      type: 'answer',
      requestId,
      answer: { type: 'failed', checkpointId, failure, message },
    });
  }

  /** I3 */
  private settleRestore(): void {
    if (!this.restorePending || this.pending !== undefined || this.unresolved.size > 0) return;
    this.restorePending = false;
    this.actions.push({ type: 'readyToRestore', checkpointId: this.restorePoint });
  }

  private alarmMs(): number {
    const { intervalMs } = this.trigger;
    const isQuiet = this.alarmed || this.attempts === undefined || this.isOver !== undefined;
    if (isQuiet || intervalMs === undefined) return Number.POSITIVE_INFINITY;
    return this.successMs + ALARM_INTERVALS * intervalMs;
  }

  private raiseAlarm(): void {
    if (this.now.monotonicMs < this.alarmMs()) return;
    this.alarmed = true;
    const sinceMs = this.now.monotonicMs - this.successMs;
    const message =
      `no checkpoint has completed for ${Math.round(sinceMs)} ms, the interval is ${this.trigger.intervalMs} ms. ` +
      'After a failure the job would go back that far.';
    this.actions.push({ type: 'alarm', sinceMs, message });
  }

  private planWake(): void {
    const wishes = [this.alarmMs()];
    if (this.pending?.phase === 'acknowledging') wishes.push(this.pending.expiresMs);
    if (this.pending === undefined && this.attempts !== undefined && this.isOver === undefined) {
      wishes.push(this.final?.notBeforeMs ?? this.trigger.nextMs());
    }
    const earliest = Math.min(...wishes);
    const wakeAtMs = Number.isFinite(earliest) ? earliest : undefined;
    if (wakeAtMs === this.wakeAtMs) return;
    this.wakeAtMs = wakeAtMs;
    this.actions.push({ type: 'wakeAt', monotonicMs: wakeAtMs });
  }
}

const byId = (a: number, b: number): number => a - b;
