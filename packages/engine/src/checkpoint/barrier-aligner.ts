/**
 * Brings the barriers of one task's channels together. Called by the task for each barrier that it takes from a channel;
 * knows no channel, no record and no clock.
 *
 *                    first barrier(n)                     last barrier(n)
 *       idle ───────────────────────────▶ aligning(n) ─────────────────────▶ idle    settled = n
 *                     started, block        │   ▲  │       unblock-all, aligned
 *                                           │   └──┘ barrier(n): block
 *                                           │
 *                     cancelBarrier(≥ n)    │  barrier(m > n): aborted(n), then as in idle
 *       idle ◀──────────────────────────────┘
 *                     unblock-all, aborted      settled = n (and the cancelled id)
 *
 * Barriers of checkpoints that are settled (aligned, aborted, cancelled) are ignored. With one channel the first barrier
 * is the last. `at-least-once` is the same without blocking: records of the next checkpoint that overtake the barrier are
 * counted in both.
 *
 * Invariants:
 * I1 Ids that are aligned or aborted rise strictly: each checkpoint ends at most once, and never after a newer one.
 * I2 A channel is blocked only while its barrier waits for others.
 * I3 In exactly-once mode, between a channel's barrier and `aligned` nothing is taken from that channel.
 *
 * (org.apache.flink.streaming.runtime.io.checkpointing.SingleCheckpointBarrierHandler, aligned.)
 */
import { assert } from '../base/index.ts';
import type { CheckpointBarrier } from './barrier.ts';
import type { CheckpointingMode } from './settings.ts';

/** What the task has to do, in this order. */
export type AlignerAction =
  /** The first barrier of a checkpoint arrived: the alignment, as statistics count it, begins. */
  | { readonly type: 'started'; readonly checkpointId: number }
  /** Takes nothing more from the channel until `unblock-all`. */
  | { readonly type: 'block'; readonly channel: number }
  | { readonly type: 'unblock-all' }
  /** All barriers are there: take the checkpoint now, before anything else is taken from a channel. */
  | { readonly type: 'aligned'; readonly barrier: CheckpointBarrier; readonly lastChannel: number }
  /** The checkpoint will not be taken here: tell downstream by a cancellation barrier, and decline it. */
  | {
      readonly type: 'aborted';
      readonly checkpointId: number;
      readonly reason: 'newer-barrier' | 'cancellation-barrier';
    };

export interface BarrierAlignerOptions {
  /** Number of channels, at least 1. */
  readonly channels: number;
  readonly mode: CheckpointingMode;
}

export class BarrierAligner {
  private readonly exactlyOnce: boolean;
  private readonly arrived: Uint8Array;
  private readonly closed: Uint8Array;
  private pending: CheckpointBarrier | undefined;
  private missing = 0;
  private settled = -1;

  constructor(options: BarrierAlignerOptions) {
    assert(options.channels >= 1, 'a task without channels does not align');
    this.exactlyOnce = options.mode === 'EXACTLY_ONCE';
    this.arrived = new Uint8Array(options.channels);
    this.closed = new Uint8Array(options.channels);
  }

  /** The checkpoint that is being aligned, if any. */
  get pendingCheckpointId(): number | undefined {
    return this.pending?.checkpointId;
  }

  /** Channels whose barrier is still to come: for reports on why a checkpoint is slow. */
  missingChannels(): number[] {
    if (this.pending === undefined) return [];
    return [...this.arrived.keys()].filter(
      (channel) => this.arrived[channel] === 0 && this.closed[channel] === 0,
    );
  }

  /** A barrier was taken from `channel`. */
  barrier(channel: number, barrier: CheckpointBarrier): AlignerAction[] {
    assert(
      this.arrived[channel] !== undefined && this.closed[channel] === 0,
      `barrier from closed channel ${channel}`,
    );
    const actions: AlignerAction[] = [];
    const id = barrier.checkpointId;
    if (id <= this.settled) return actions;
    if (this.pending !== undefined && id > this.pending.checkpointId) this.abort('newer-barrier', actions);
    if (this.pending === undefined) this.begin(barrier, actions);
    assert(this.arrived[channel] === 0, `barrier ${id} came twice from channel ${channel}`);
    this.arrived[channel] = 1;
    this.missing--;
    if (this.missing > 0 && this.exactlyOnce) actions.push({ type: 'block', channel });
    this.alignIfComplete(channel, actions);
    return actions;
  }

  /** A cancellation barrier was taken from a channel: somebody upstream does not take part in this checkpoint. */
  cancelBarrier(checkpointId: number): AlignerAction[] {
    const actions: AlignerAction[] = [];
    if (checkpointId <= this.settled) return actions;
    if (this.pending !== undefined && this.pending.checkpointId < checkpointId)
      this.abort('newer-barrier', actions);
    if (this.pending !== undefined && this.pending.checkpointId === checkpointId) {
      this.abort('cancellation-barrier', actions);
      return actions;
    }
    if (this.pending === undefined) {
      this.settled = checkpointId;
      actions.push({ type: 'aborted', checkpointId, reason: 'cancellation-barrier' });
    }
    return actions;
  }

  /**
   * The coordinator has given the checkpoint up, and tells everybody itself: so the answer has no `aborted`. Barriers of
   * it that are still on their way will be ignored.
   */
  abortedByCoordinator(checkpointId: number): AlignerAction[] {
    const actions: AlignerAction[] = [];
    if (this.pending?.checkpointId === checkpointId) this.settle(actions);
    else if (this.pending === undefined) this.settled = Math.max(this.settled, checkpointId);
    return actions;
  }

  /** Nothing will ever come from the channel again, no barrier either. Alignment goes on without it. */
  close(channel: number): AlignerAction[] {
    const actions: AlignerAction[] = [];
    if (this.closed[channel] === 1) return actions;
    this.closed[channel] = 1;
    if (this.pending === undefined || this.arrived[channel] === 1) return actions;
    this.missing--;
    this.alignIfComplete(channel, actions);
    return actions;
  }

  private begin(barrier: CheckpointBarrier, actions: AlignerAction[]): void {
    this.pending = barrier;
    // Older ones that were never seen here are late from now on.
    this.settled = barrier.checkpointId - 1;
    this.arrived.fill(0);
    this.missing = this.closed.reduce((open, closed) => open + 1 - closed, 0);
    actions.push({ type: 'started', checkpointId: barrier.checkpointId });
  }

  private alignIfComplete(lastChannel: number, actions: AlignerAction[]): void {
    if (this.missing > 0 || this.pending === undefined) return;
    const barrier = this.pending;
    this.settle(actions);
    actions.push({ type: 'aligned', barrier, lastChannel });
  }

  private abort(reason: 'newer-barrier' | 'cancellation-barrier', actions: AlignerAction[]): void {
    const checkpointId = this.pending!.checkpointId;
    this.settle(actions);
    actions.push({ type: 'aborted', checkpointId, reason });
  }

  private settle(actions: AlignerAction[]): void {
    const wasBlocking = this.exactlyOnce && this.arrived.length > 1;
    this.settled = this.pending!.checkpointId;
    this.pending = undefined;
    if (wasBlocking) actions.push({ type: 'unblock-all' });
  }
}
