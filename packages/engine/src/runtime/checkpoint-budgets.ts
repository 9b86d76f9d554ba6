/**
 * When a process heard of each checkpoint, and when the time is over in which its barriers wait their turn. Kept by the
 * slot, by the monotonic clock of its own process; asked by its tasks for the start delay.
 *
 * Invariants:
 * I1 There is at most one timer a checkpoint, and none once it is over: complete or given up.
 */
import type { Barrier } from '../exchange/index.ts';
import type { Clock, TimerHandle, Timers } from '../platform/index.ts';

/** Checkpoints so much older than the newest are not asked for any more. */
const KEPT_IDS = 100;

export interface CheckpointBudgetsOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  /** How long barriers wait their turn; undefined: they never overtake; 0: they never wait. */
  readonly alignedTimeoutMs: number | undefined;
  /** Called when the time of a checkpoint is over. */
  spent(checkpointId: number): void;
}

export class CheckpointBudgets {
  private readonly options: CheckpointBudgetsOptions;
  private readonly triggered = new Map<
    number,
    { readonly atMs: number; readonly timer: TimerHandle | undefined }
  >();

  constructor(options: CheckpointBudgetsOptions) {
    this.options = options;
  }

  /** The process hears of a checkpoint. */
  trigger({ checkpointId, kind }: Barrier): void {
    const { clock, timers, alignedTimeoutMs = 0, spent } = this.options;
    const hasBudget = kind === 'checkpoint' && alignedTimeoutMs > 0;
    const timer = hasBudget ? timers.after(alignedTimeoutMs, () => spent(checkpointId)) : undefined;
    this.triggered.set(checkpointId, { atMs: clock.monotonicMs(), timer });
    for (const id of this.triggered.keys()) if (id < checkpointId - KEPT_IDS) this.end(id);
  }

  /** When the process heard of it; undefined: it has not yet, or it is over. */
  triggeredMs(checkpointId: number): number | undefined {
    return this.triggered.get(checkpointId)?.atMs;
  }

  /** The checkpoint is complete or given up. */
  end(checkpointId: number): void {
    this.triggered.get(checkpointId)?.timer?.cancel();
    this.triggered.delete(checkpointId);
  }

  close(): void {
    for (const id of [...this.triggered.keys()]) this.end(id);
  }
}
