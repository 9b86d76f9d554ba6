/**
 * What the statistics of a job's checkpoints must say when it has ended: ids rise in the order of the triggers, none began
 * sooner after the end of another than the pause, and what was saved of data in flight fits into what the exchanges hold.
 */
import type { CheckpointingStatistics, CheckpointStatistics } from '@millrace/engine';
import type { Coverage } from '../world/coverage.ts';

export interface WatchLimits {
  /** Between the end of one and the beginning of the next; undefined: some begin whenever they are asked for. */
  readonly minPauseMs: number | undefined;
  /** Of one checkpoint. */
  readonly inFlightBytesMax: number;
}

/** Times are whole milliseconds. */
const ROUNDING_MS = 1;

export class CheckpointWatch {
  /** What was wrong first. */
  problem: string | undefined;
  private readonly limits: WatchLimits;
  private readonly coverage: Coverage;

  constructor(limits: WatchLimits, coverage: Coverage) {
    this.limits = limits;
    this.coverage = coverage;
  }

  /** The job has ended. */
  look({ history, counts }: CheckpointingStatistics): void {
    const { coverage } = this;
    coverage.add('restores', 'in place or from a snapshot', counts.restored);
    // What a job begins, begins again and ends with waits for nothing.
    const isSmooth = counts.failed === 0 && counts.restored === 0;
    const inOrder = history.filter(({ is_savepoint }) => !is_savepoint).reverse();
    for (const [index, checkpoint] of inOrder.entries()) {
      const { id, status, checkpoint_type, persisted_data } = checkpoint;
      coverage.add('checkpoints', `${checkpoint_type} ${status}`);
      if (persisted_data > 0) coverage.add('checkpoints', `${status} with data in flight`);
      if (persisted_data > this.limits.inFlightBytesMax)
        this.problem ??= `checkpoint ${id} holds ${persisted_data} bytes in flight, more than ${this.limits.inFlightBytesMax}`;
      const before = inOrder[index - 1];
      if (before === undefined) continue;
      if (id <= before.id) this.problem ??= `checkpoint ${id} was triggered after ${before.id}`;
      if (isSmooth && index < inOrder.length - 1) this.comparePause(before, checkpoint);
    }
  }

  private comparePause(before: CheckpointStatistics, { id, trigger_timestamp }: CheckpointStatistics): void {
    const { minPauseMs } = this.limits;
    if (minPauseMs === undefined || before.status !== 'COMPLETED') return;
    const pauseMs = trigger_timestamp - before.latest_ack_timestamp;
    if (pauseMs + ROUNDING_MS >= minPauseMs) return;
    this.problem ??= `checkpoint ${id} was triggered ${pauseMs} ms after the end of ${before.id}, the pause is ${minPauseMs} ms`;
  }
}
