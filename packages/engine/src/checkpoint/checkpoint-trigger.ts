/**
 * When the next periodic checkpoint begins. Used by the checkpoint coordinator alone; knows monotonic time only.
 *
 *   start(n+1) = max( start(n) + interval, end(n) + min pause )        never while another one runs
 *
 * `end` counts whether the checkpoint completed or failed. A start that is late because the timer was late does not
 * shift the ones after it; a start that had to wait for another checkpoint does. After a restart the first one comes one
 * interval after all tasks run.
 *
 * (The rules of org.apache.flink.runtime.checkpoint.CheckpointRequestDecider, for one checkpoint at a time.)
 */
import type { CheckpointSettings } from './settings.ts';

/** Longer pauses than this are taken for it. */
const PAUSE_MS_MAX = 365 * 24 * 3600 * 1000;

export class CheckpointTrigger {
  /** undefined: no periodic checkpoints. */
  readonly intervalMs: number | undefined;
  private readonly minPauseMs: number;
  private dueMs = Number.POSITIVE_INFINITY;
  private lastEndMs = Number.NEGATIVE_INFINITY;

  constructor(settings: CheckpointSettings) {
    this.minPauseMs = Math.min(settings.minPauseMs, PAUSE_MS_MAX);
    this.intervalMs =
      settings.intervalMs === undefined ? undefined : Math.max(settings.intervalMs, this.minPauseMs);
  }

  /** All tasks run from now on. */
  resume(nowMs: number): void {
    this.dueMs = nowMs + (this.intervalMs ?? Number.POSITIVE_INFINITY);
  }

  /** No periodic checkpoints until `resume`. */
  suspend(): void {
    this.dueMs = Number.POSITIVE_INFINITY;
  }

  /** When the next periodic checkpoint may begin, if none runs then; infinite if none is planned. */
  nextMs(): number {
    return Math.max(this.dueMs, this.earliestMs());
  }

  /** Before this time no checkpoint begins that nobody asked for. */
  earliestMs(): number {
    return this.lastEndMs + this.minPauseMs;
  }

  /** A periodic checkpoint begins now; `nowMs` is at least `nextMs()`. */
  started(nowMs: number): void {
    const intervalMs = this.intervalMs ?? Number.POSITIVE_INFINITY;
    const plannedMs = this.nextMs();
    const anchorMs = nowMs - plannedMs < intervalMs ? plannedMs : nowMs;
    this.dueMs = anchorMs + intervalMs;
  }

  /** Any checkpoint ended, well or not. */
  ended(nowMs: number): void {
    this.lastEndMs = nowMs;
  }
}
