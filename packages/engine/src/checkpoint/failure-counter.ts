/**
 * Counts checkpoints that failed in a row. Used by the checkpoint coordinator alone.
 *
 * Each checkpoint ends once, and so counts once. A completed one sets the count to zero unless a newer one completed
 * before; a failure that is older than the newest success is news of yesterday and does not count. Reaching the limit sets
 * it to zero, too, because the job then fails and may be restarted. Which failures count says CHECKPOINT_FAILURES.
 *
 * (org.apache.flink.runtime.checkpoint.CheckpointFailureManager.)
 */
import { CHECKPOINT_FAILURES, type CheckpointFailure } from './checkpoint-failure.ts';

export class FailureCounter {
  private readonly tolerable: number;
  private count = 0;
  private newestSuccess = -1;

  constructor(tolerable: number) {
    this.tolerable = tolerable;
  }

  /** Savepoints count as successes like checkpoints. */
  succeeded(checkpointId: number): void {
    if (checkpointId < this.newestSuccess) return;
    this.newestSuccess = checkpointId;
    this.count = 0;
  }

  /** A sentence for the job's failure if this was one too many, else undefined. Not to be told of savepoints. */
  failed(checkpointId: number, failure: CheckpointFailure, message: string): string | undefined {
    if (!CHECKPOINT_FAILURES[failure].counts || checkpointId < this.newestSuccess) return undefined;
    this.count++;
    if (this.count <= this.tolerable) return undefined;
    const inARow = this.count === 1 ? 'A checkpoint failed' : `${this.count} checkpoints failed in a row`;
    this.count = 0;
    return (
      `Exceeded checkpoint tolerable failure threshold. ${inARow}, ${this.tolerable} are tolerated ` +
      `(execution.checkpointing.tolerable-failed-checkpoints). The latest failure: checkpoint ${checkpointId}: ${message}`
    );
  }
}
