/** When people are told that no checkpoint completes. Used by the checkpoint coordinator alone; goes by monotonic time. */

/** Without success for that many intervals people are told. */
const ALARM_INTERVALS = 3;

export class CheckpointAlarm {
  private successMs = Number.POSITIVE_INFINITY;
  private wasRaised = false;

  /** One completed; or it starts to count: all tasks run, a backlog without checkpoints is over. */
  reset(nowMs: number): void {
    this.successMs = nowMs;
    this.wasRaised = false;
  }

  /** No checkpoints are to be expected until `reset`. */
  silence(): void {
    this.successMs = Number.POSITIVE_INFINITY;
  }

  /** When it is due; infinite if it was raised already. */
  dueMs(intervalMs: number): number {
    return this.wasRaised ? Number.POSITIVE_INFINITY : this.successMs + ALARM_INTERVALS * intervalMs;
  }

  /** Once, when it is due: milliseconds since the last success. */
  raise(intervalMs: number, nowMs: number): number | undefined {
    if (nowMs < this.dueMs(intervalMs)) return undefined;
    this.wasRaised = true;
    return nowMs - this.successMs;
  }
}
