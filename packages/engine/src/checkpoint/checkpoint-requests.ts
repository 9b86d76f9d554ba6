/**
 * Which checkpoint begins next: requests that wait, the final checkpoint, and the periodic ones. Used by the checkpoint
 * coordinator, which says whether any may begin at all; no I/O, no clock.
 *
 *   what                    begins
 *   savepoint, stop         as soon as its directory is there; nothing but the final checkpoint waits for that
 *   checkpoint by hand      when fewer than `maxConcurrent` are under way
 *   final checkpoint        when fewer than `maxConcurrent` are under way, no savepoint is, and nobody waits, be it for a
 *                           directory
 *   periodic checkpoint     when it is due, nobody waits, and fewer than `maxConcurrent` are under way; with a pause
 *                           between checkpoints none may be
 *
 * "Under way" counts savepoints, too, and checkpoints that are being stored. Whatever waits begins when one ends.
 *
 * Invariants:
 * I1 Triggers are carried out one after another: barriers leave in the order of their ids.
 * I2 Nothing begins while the job is being stopped, or its final checkpoint is under way: its sources emit nothing more.
 * I3 With unaligned checkpoints one barrier is under way at a time: it would overtake that of a savepoint.
 * I4 All that waits or is under way is limited in number.
 *
 * (org.apache.flink.runtime.checkpoint.CheckpointRequestDecider.)
 */
import { isSavepoint, stopsJob } from './barrier.ts';
import type { CheckpointRequest, RequestId } from './checkpoint-event.ts';
import type { CheckpointTrigger } from './checkpoint-trigger.ts';
import type { PendingCheckpoints } from './pending-checkpoints.ts';
import type { CheckpointSettings } from './settings.ts';

const WAITING_MAX = 1000;
/** More savepoints at a time wait. */
const SAVEPOINTS_MAX = 16;

/** What begins now. */
export type CheckpointStart =
  | ({ readonly type: 'requested' } & CheckpointRequest)
  | { readonly type: 'final' }
  | { readonly type: 'periodic' };

export class CheckpointRequests {
  private readonly trigger: CheckpointTrigger;
  private readonly pending: PendingCheckpoints;
  private readonly isUnaligned: boolean;
  private readonly concurrentMax: number;
  private readonly concurrentPeriodicMax: number;
  private waiting: CheckpointRequest[] = [];
  /** Their directories are being made. */
  private placing: CheckpointRequest[] = [];
  private final: { readonly requestId: RequestId; notBeforeMs: number } | undefined;

  constructor(settings: CheckpointSettings, trigger: CheckpointTrigger, pending: PendingCheckpoints) {
    this.trigger = trigger;
    this.pending = pending;
    this.isUnaligned = settings.alignedTimeoutMs !== undefined;
    this.concurrentMax = settings.maxConcurrent;
    this.concurrentPeriodicMax = settings.minPauseMs > 0 ? 1 : settings.maxConcurrent;
  }

  get isFull(): boolean {
    return this.waiting.length + this.placing.length >= WAITING_MAX;
  }

  get finalRequestId(): RequestId | undefined {
    return this.final?.requestId;
  }

  /** Begins when its turn comes; not before `placed` if it has a directory of its own. */
  add(request: CheckpointRequest): void {
    if (request.targetDirectory === undefined) this.waiting.push(request);
    else this.placing.push(request);
  }

  /** Its directory is there. Nothing if it was answered before. */
  placed(requestId: RequestId): void {
    const request = this.takePlacing(requestId);
    if (request !== undefined) this.waiting.push(request);
  }

  /** There will be no directory: it is not to begin. undefined if it was answered before. */
  takePlacing(requestId: RequestId): CheckpointRequest | undefined {
    const index = this.placing.findIndex((request) => request.requestId === requestId);
    return index < 0 ? undefined : this.placing.splice(index, 1)[0];
  }

  /** All data was processed: one more checkpoint, from then on; again, if it fails. */
  setFinal(requestId: RequestId, notBeforeMs: number): void {
    this.final = { requestId, notBeforeMs };
  }

  /** The final checkpoint failed. */
  retryFinal(notBeforeMs: number): void {
    if (this.final !== undefined) this.final.notBeforeMs = notBeforeMs;
  }

  /** The final checkpoint is complete, or it is not to be. Returns who asked for it. */
  takeFinal(): RequestId | undefined {
    const requestId = this.final?.requestId;
    this.final = undefined;
    return requestId;
  }

  /** Nobody of them gets a checkpoint. Returns who has to be told, the final one last. */
  takeAll(): RequestId[] {
    return this.take(() => true);
  }

  /** The job does not end as was asked for. Returns who has to be told, the final one last. */
  takeEnds(): RequestId[] {
    return this.take(({ kind }) => stopsJob(kind));
  }

  private take(isTaken: (request: CheckpointRequest) => boolean): RequestId[] {
    const ids = [...this.placing, ...this.waiting].filter(isTaken).map(({ requestId }) => requestId);
    this.placing = this.placing.filter((request) => !isTaken(request));
    this.waiting = this.waiting.filter((request) => !isTaken(request));
    const final = this.takeFinal();
    return final === undefined ? ids : [...ids, final];
  }

  /** What begins now, taken out of what waits. One at a time (I1). */
  next(nowMs: number): CheckpointStart | undefined {
    if (this.isHeldBack()) return undefined;
    const request = this.nextRequest();
    if (request !== undefined) return { type: 'requested', ...request };
    if (nowMs < this.nextMs()) return undefined;
    return this.final === undefined ? { type: 'periodic' } : { type: 'final' };
  }

  /** When the final or a periodic checkpoint may begin if nothing else happens before; infinite if none may. */
  nextMs(): number {
    const { pending, waiting, final } = this;
    if (this.isHeldBack() || waiting.length > 0) return Number.POSITIVE_INFINITY;
    const max = final === undefined ? this.concurrentPeriodicMax : this.concurrentMax;
    if (pending.size >= max) return Number.POSITIVE_INFINITY;
    if (final === undefined) return this.trigger.nextMs();
    const isAwaited = pending.savepointCount > 0 || this.placing.length > 0;
    return isAwaited ? Number.POSITIVE_INFINITY : final.notBeforeMs;
  }

  /** I1, I2, I3 */
  private isHeldBack(): boolean {
    return this.pending.has(
      ({ phase, isFinal, barrier }) =>
        isFinal ||
        stopsJob(barrier.kind) ||
        phase === 'triggering' ||
        (this.isUnaligned && phase === 'acknowledging'),
    );
  }

  private nextRequest(): CheckpointRequest | undefined {
    const { pending } = this;
    const index = this.waiting.findIndex(({ kind }) => {
      if (stopsJob(kind)) return true;
      if (isSavepoint(kind)) return pending.savepointCount < SAVEPOINTS_MAX;
      return pending.size < this.concurrentMax;
    });
    return index < 0 ? undefined : this.waiting.splice(index, 1)[0];
  }
}
