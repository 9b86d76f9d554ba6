/**
 * Counts checkpoints that failed in a row. Used by the checkpoint coordinator alone.
 *
 * Each checkpoint counts once; a completed one sets the count to zero, and so does reaching the limit, because the job
 * then fails and may be restarted. Which failures count says CHECKPOINT_FAILURES.
 *
 * (org.apache.flink.runtime.checkpoint.CheckpointFailureManager.)
 */
import { CHECKPOINT_FAILURES, type CheckpointFailure } from './checkpoint-event.ts';

export class FailureCounter {
  private readonly tolerable: number;
  private count = 0;

  constructor(tolerable: number) {
    this.tolerable = tolerable;
  }

  succeeded(): void {
    this.count = 0;
  }

  /** A sentence for the job's failure if this was one too many, else undefined. */
  failed(failure: CheckpointFailure, message: string): string | undefined {
    if (!CHECKPOINT_FAILURES[failure].counts) return undefined;
    this.count++;
    if (this.count <= this.tolerable) return undefined;
    const inARow = this.count === 1 ? 'A checkpoint failed' : `${this.count} checkpoints failed in a row`;
    this.count = 0;
    return (
      `Exceeded checkpoint tolerable failure threshold. ${inARow}, ${this.tolerable} are tolerated ` +
      `(execution.checkpointing.tolerable-failed-checkpoints). The latest failure: ${message}`
    );
  }
}
