/**
 * What the statistics of a job's checkpoints must say when it has ended: none began sooner after the end of another than the
 * pause. Counts what there was for reports.
 */
import type { CheckpointingStatistics, CheckpointStatistics } from '@millrace/engine';
import type { Coverage } from '../world/coverage.ts';

/** Times are whole milliseconds. */
const ROUNDING_MS = 1;

export class CheckpointWatch {
  /** What was wrong first. */
  problem: string | undefined;
  private readonly minPauseMs: number | undefined;
  private readonly coverage: Coverage;

  /** `minPauseMs`: between the end of one and the beginning of the next; undefined: some begin whenever they are asked for. */
  constructor(minPauseMs: number | undefined, coverage: Coverage) {
    this.minPauseMs = minPauseMs;
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
      const { status, checkpoint_type, persisted_data } = checkpoint;
      coverage.add('checkpoints', `${checkpoint_type} ${status}`);
      if (persisted_data > 0) coverage.add('checkpoints', `${status} with data in flight`);
      const before = inOrder[index - 1];
      if (before !== undefined && isSmooth && index < inOrder.length - 1)
        this.comparePause(before, checkpoint);
    }
  }

  private comparePause(before: CheckpointStatistics, { id, trigger_timestamp }: CheckpointStatistics): void {
    const { minPauseMs } = this;
    if (minPauseMs === undefined || before.status !== 'COMPLETED') return;
    const pauseMs = trigger_timestamp - before.latest_ack_timestamp;
    if (pauseMs + ROUNDING_MS >= minPauseMs) return;
    this.problem ??= `checkpoint ${id} was triggered ${pauseMs} ms after the end of ${before.id}, the pause is ${minPauseMs} ms`;
  }
}
