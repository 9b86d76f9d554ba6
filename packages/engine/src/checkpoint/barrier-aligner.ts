/**
 * Brings the barriers of one task's channels together, and decides when the task takes the checkpoint. Called by the task
 * for each barrier that it takes from a channel; knows no channel, no record and no clock.
 *
 * A barrier arrives *in order*, as an element behind the records before it, or *announced*, ahead of them. Only barriers
 * of kind `checkpoint` are announced, and only in channels that can be overtaken.
 *
 *                 first barrier(n)                       last barrier(n), all in order
 *       idle ────────────────────────▶ aligning(n) ────────────────────────────────────────────▶ idle
 *                 started                │  ▲  │         unblock-all, aligned
 *                                        │  └──┘ barrier(n): block
 *                                        │
 *                   one was announced,   │ or the budget of n is spent; and all channels
 *                                        │ that cannot be overtaken have delivered theirs
 *                                        ▼
 *                                   recording(n) ─────────────────────────────────────────────▶ idle
 *                   overtake,            │  ▲  │         last barrier(n): recorded, captured
 *                   unblock-all          │  └──┘ barrier(n): recorded
 *                                        │
 *       from both:  cancelBarrier(n), barrier(m > n): [cancel-capture], [unblock-all], aborted(n)
 *                   abortedByCoordinator(n):          [cancel-capture], [unblock-all]
 *
 * That is `EXACTLY_ONCE`, where one checkpoint is pending at a time: a blocked channel delivers nothing newer, so several
 * running checkpoints come one after the other. With `AT_LEAST_ONCE` nothing is blocked or overtaken: records of the next
 * checkpoint that pass a barrier are counted in both, and each pending checkpoint aligns for itself.
 *
 * Invariants:
 * I1 Each checkpoint ends at most once: aligned, captured, aborted, or given up by the coordinator. Its barriers that come
 *    later are ignored. Those that are aligned or overtake rise strictly.
 * I2 A channel is blocked only while its barrier waits for others, and never while the checkpoint is recorded.
 * I3 In exactly-once mode, between a channel's barrier and the taking of the checkpoint nothing is taken from that channel.
 *    So its state holds what lies before the barrier of each channel whose barrier has arrived in order; of one that was
 *    announced also nothing behind it; and what of the others came before. What is missing, elements between the read
 *    position and the barrier, is what is captured: together each element before the barrier is in state or capture, once.
 * I4 A channel's barriers rise. Whatever is pending, older than a barrier of a channel and not delivered by it, never will
 *    be, and is aborted. (An announced barrier passes older ones in order; but then only one is pending, and it ends.)
 * I5 `newest` is the highest id that was begun or ended here. What is not higher, and not pending, is over. What the
 *    coordinator gave up before it was seen is remembered by itself, so that what is older can still be aligned.
 *
 * (org.apache.flink.streaming.runtime.io.checkpointing: SingleCheckpointBarrierHandler with the states of its alternating
 * strategy, CheckpointBarrierTracker; without loss of a checkpoint that is complete but for a cancelled newer one.)
 */
import { assert } from '../base/index.ts';
import type { CheckpointBarrier } from './barrier.ts';
import type { CheckpointingMode } from './settings.ts';

/** Checkpoints that are pending at a time with at-least-once, at most; then the oldest is given up. As Flink. */
const PENDING_MAX = 50;
/** Ids that are remembered because the coordinator gave them up before they were seen. */
const ABANDONED_MAX = 100;

/** What the task has to do, in this order. */
export type AlignerAction =
  /** The first barrier of a checkpoint arrived: the alignment, as statistics count it, begins. */
  | { readonly type: 'started'; readonly checkpointId: number }
  /** Takes nothing more from the channel until `unblock-all`. */
  | { readonly type: 'block'; readonly channel: number }
  | { readonly type: 'unblock-all' }
  /** All barriers are there: take the checkpoint now, before anything else is taken from a channel. */
  | { readonly type: 'aligned'; readonly barrier: CheckpointBarrier; readonly lastChannel: number }
  /**
   * Take the checkpoint now, before anything else is taken from a channel, and capture what lies before the barriers that
   * were announced. Of the `recorded` channels keep a copy of everything that is taken, until `recorded`.
   */
  | { readonly type: 'overtake'; readonly barrier: CheckpointBarrier; readonly recorded: readonly number[] }
  /** The barrier of a recorded channel arrived: in order, or announced, then also what lies before it is captured. */
  | { readonly type: 'recorded'; readonly channel: number }
  /** All barriers are there: what was captured and recorded is complete. */
  | { readonly type: 'captured'; readonly checkpointId: number; readonly lastChannel: number }
  /** What was captured and recorded so far is of no use any more. */
  | { readonly type: 'cancel-capture'; readonly checkpointId: number }
  /** The checkpoint will not be complete here: tell downstream by a cancellation barrier, and decline it. */
  | {
      readonly type: 'aborted';
      readonly checkpointId: number;
      readonly reason: 'newer-barrier' | 'cancellation-barrier';
      /** Channels whose barrier had not arrived. */
      readonly missing: readonly number[];
    };

export interface BarrierAlignerOptions {
  /** For each channel, at least one: true if barriers may overtake what is in it. */
  readonly overtakable: readonly boolean[];
  readonly mode: CheckpointingMode;
}

type Arrival = 'in-order' | 'announced';

interface Pending {
  readonly barrier: CheckpointBarrier;
  /** By channel. */
  readonly arrivals: (Arrival | undefined)[];
  lastChannel: number;
  /** The checkpoint was taken. */
  recording: boolean;
}

export class BarrierAligner {
  private readonly exactlyOnce: boolean;
  private readonly overtakable: readonly boolean[];
  /** In the order of their ids, which is that of their first barriers. At most one with exactly-once. */
  private pending: Pending[] = [];
  private newest = -1;
  private readonly abandoned = new Set<number>();
  private spentCheckpointId = -1;
  private isBlocking = false;

  constructor({ overtakable, mode }: BarrierAlignerOptions) {
    assert(overtakable.length >= 1, 'a task without channels does not align');
    this.exactlyOnce = mode === 'EXACTLY_ONCE';
    this.overtakable = overtakable;
  }

  /** The oldest checkpoint that waits for barriers, if any. */
  get pendingCheckpointId(): number | undefined {
    return this.pending[0]?.barrier.checkpointId;
  }

  /** A barrier was taken from `channel`, where it was next. */
  barrier(channel: number, barrier: CheckpointBarrier): AlignerAction[] {
    return this.arrive(channel, barrier, 'in-order');
  }

  /** A barrier that overtakes what is in `channel` was announced. It may come in order, too. */
  announced(channel: number, barrier: CheckpointBarrier): AlignerAction[] {
    assert(
      this.exactlyOnce && this.overtakable[channel] === true && barrier.kind === 'checkpoint',
      `barrier ${barrier.checkpointId} (${barrier.kind}) must not overtake channel ${channel}`,
    );
    return this.arrive(channel, barrier, 'announced');
  }

  /**
   * The time in which barriers wait their turn is over for this checkpoint and all before it. May come at any time, before
   * its first barrier, too; each checkpoint for its own, since older ones were triggered earlier.
   */
  budgetSpent(checkpointId: number): AlignerAction[] {
    const actions: AlignerAction[] = [];
    this.spentCheckpointId = Math.max(this.spentCheckpointId, checkpointId);
    for (const pending of [...this.pending]) this.proceed(pending, actions);
    return actions;
  }

  /** A cancellation barrier was taken from a channel: somebody upstream does not take part in this checkpoint. */
  cancelBarrier(channel: number, checkpointId: number): AlignerAction[] {
    const actions: AlignerAction[] = [];
    if (this.isOver(checkpointId)) return actions;
    this.abortSkipped(channel, checkpointId, actions);
    const pending = this.find(checkpointId);
    if (pending !== undefined) {
      this.abort(pending, 'cancellation-barrier', actions);
      return actions;
    }
    this.seen(checkpointId);
    const missing = [...this.overtakable.keys()];
    actions.push({ type: 'aborted', checkpointId, reason: 'cancellation-barrier', missing });
    return actions;
  }

  /**
   * The coordinator has given the checkpoint up, and tells everybody itself: so the answer has no `aborted`. Barriers of
   * it that are still on their way will be ignored.
   */
  abortedByCoordinator(checkpointId: number): AlignerAction[] {
    const actions: AlignerAction[] = [];
    const pending = this.find(checkpointId);
    if (pending !== undefined) this.settle(pending, actions);
    else if (checkpointId > this.newest) this.abandon(checkpointId);
    return actions;
  }

  private arrive(channel: number, barrier: CheckpointBarrier, how: Arrival): AlignerAction[] {
    const id = barrier.checkpointId;
    const actions: AlignerAction[] = [];
    if (this.isOver(id)) return actions;
    this.abortSkipped(channel, id, actions);
    const pending = this.find(id) ?? this.begin(barrier, actions);
    const before = pending.arrivals[channel];
    if (before !== undefined) {
      // It was announced, and is here in order now; or the announcement was late.
      assert(before !== how, `barrier ${id} came twice from channel ${channel}`);
      return actions;
    }
    pending.arrivals[channel] = how;
    pending.lastChannel = channel;
    if (pending.recording) actions.push({ type: 'recorded', channel });
    if (this.proceed(pending, actions) || !this.exactlyOnce) return actions;
    this.isBlocking = true;
    actions.push({ type: 'block', channel });
    return actions;
  }

  /** Takes the checkpoint or completes it if it is time. False: its barriers go on waiting for others. */
  private proceed(pending: Pending, actions: AlignerAction[]): boolean {
    const { barrier, arrivals, lastChannel } = pending;
    const isComplete = !arrivals.includes(undefined);
    if (isComplete && !pending.recording && !arrivals.includes('announced')) {
      this.settle(pending, actions);
      actions.push({ type: 'aligned', barrier, lastChannel });
      return true;
    }
    if (!pending.recording && this.mayOvertake(pending)) {
      pending.recording = true;
      actions.push({ type: 'overtake', barrier, recorded: missingOf(pending) });
      this.unblock(actions);
    }
    if (!pending.recording) return false;
    if (isComplete) {
      pending.recording = false;
      this.settle(pending, actions);
      actions.push({ type: 'captured', checkpointId: barrier.checkpointId, lastChannel });
    }
    return true;
  }

  private mayOvertake({ barrier, arrivals }: Pending): boolean {
    if (!this.exactlyOnce || barrier.kind !== 'checkpoint') return false;
    if (barrier.checkpointId > this.spentCheckpointId && !arrivals.includes('announced')) return false;
    return this.overtakable.every((canBe, channel) => canBe || arrivals[channel] !== undefined);
  }

  private begin(barrier: CheckpointBarrier, actions: AlignerAction[]): Pending {
    const pendingMax = this.exactlyOnce ? 1 : PENDING_MAX;
    if (this.pending.length === pendingMax) this.abort(this.pending[0]!, 'newer-barrier', actions);
    const arrivals = this.overtakable.map(() => undefined);
    const pending: Pending = { barrier, arrivals, lastChannel: 0, recording: false };
    this.pending.push(pending);
    this.seen(barrier.checkpointId);
    actions.push({ type: 'started', checkpointId: barrier.checkpointId });
    return pending;
  }

  /** I4 */
  private abortSkipped(channel: number, checkpointId: number, actions: AlignerAction[]): void {
    for (const pending of [...this.pending]) {
      if (pending.barrier.checkpointId < checkpointId && pending.arrivals[channel] === undefined)
        this.abort(pending, 'newer-barrier', actions);
    }
  }

  private abort(
    pending: Pending,
    reason: 'newer-barrier' | 'cancellation-barrier',
    actions: AlignerAction[],
  ): void {
    this.settle(pending, actions);
    const { checkpointId } = pending.barrier;
    actions.push({ type: 'aborted', checkpointId, reason, missing: missingOf(pending) });
  }

  private settle(pending: Pending, actions: AlignerAction[]): void {
    this.pending = this.pending.filter((other) => other !== pending);
    if (pending.recording) {
      actions.push({ type: 'cancel-capture', checkpointId: pending.barrier.checkpointId });
    }
    this.unblock(actions);
  }

  private unblock(actions: AlignerAction[]): void {
    if (this.isBlocking) actions.push({ type: 'unblock-all' });
    this.isBlocking = false;
  }

  private find(checkpointId: number): Pending | undefined {
    return this.pending.find(({ barrier }) => barrier.checkpointId === checkpointId);
  }

  /** I5 */
  private isOver(checkpointId: number): boolean {
    if (this.abandoned.has(checkpointId)) return true;
    return checkpointId <= this.newest && this.find(checkpointId) === undefined;
  }

  private seen(checkpointId: number): void {
    this.newest = Math.max(this.newest, checkpointId);
    for (const id of this.abandoned) if (id <= this.newest) this.abandoned.delete(id);
  }

  private abandon(checkpointId: number): void {
    this.abandoned.add(checkpointId);
    if (this.abandoned.size > ABANDONED_MAX) this.abandoned.delete(Math.min(...this.abandoned));
  }
}

/** Channels whose barrier has not arrived. */
function missingOf({ arrivals }: Pending): number[] {
  return [...arrivals.keys()].filter((channel) => arrivals[channel] === undefined);
}
