/**
 * When the next periodic checkpoint is due. Used by the checkpoint coordinator alone; knows monotonic time only.
 *
 *   start(n+1) = max( start(n) + interval, end(n) + min pause )
 *
 * `end` counts whether the checkpoint completed or failed. A start that is late because the timer was late does not
 * shift the ones after it; a start that had to wait for another checkpoint does. After a restart the first one comes one
 * interval after all tasks run.
 *
 * While a source works off a backlog another interval may hold, or none. A change of the interval never puts off what is
 * due already, unless there are to be no checkpoints at all; it brings it forward to one new interval from now.
 *
 * (The periodic part of org.apache.flink.runtime.checkpoint.CheckpointCoordinator.)
 */
import type { CheckpointSettings } from './settings.ts';

/** Longer pauses than this are taken for it. */
const PAUSE_MS_MAX = 365 * 24 * 3600 * 1000;

export class CheckpointTrigger {
  private readonly normalMs: number;
  private readonly backlogMs: number;
  private readonly minPauseMs: number;
  private readonly sourcesInBacklog = new Set<string>();
  private isSuspended = true;
  private dueMs = Number.POSITIVE_INFINITY;
  private lastEndMs = Number.NEGATIVE_INFINITY;

  constructor(settings: CheckpointSettings) {
    const { intervalMs, intervalDuringBacklogMs } = settings;
    this.minPauseMs = Math.min(settings.minPauseMs, PAUSE_MS_MAX);
    this.normalMs = this.usable(intervalMs);
    this.backlogMs =
      intervalMs === undefined || intervalDuringBacklogMs === undefined
        ? this.normalMs
        : this.usable(intervalDuringBacklogMs);
  }

  private usable(intervalMs: number | undefined): number {
    if (intervalMs === undefined || intervalMs === 0) return Number.POSITIVE_INFINITY;
    return Math.max(intervalMs, this.minPauseMs);
  }

  /** From one periodic checkpoint to the next, as things are now; infinite if there are none. */
  get intervalMs(): number {
    return this.sourcesInBacklog.size > 0 ? this.backlogMs : this.normalMs;
  }

  /** All tasks run from now on. */
  resume(nowMs: number): void {
    this.isSuspended = false;
    this.dueMs = nowMs + this.intervalMs;
  }

  /** No periodic checkpoints until `resume`. */
  suspend(): void {
    this.isSuspended = true;
    this.dueMs = Number.POSITIVE_INFINITY;
  }

  /** A source works off a backlog from now on, or no longer. */
  backlog(source: string, isProcessing: boolean, nowMs: number): void {
    if (isProcessing) this.sourcesInBacklog.add(source);
    else this.sourcesInBacklog.delete(source);
    if (this.isSuspended) return;
    const { intervalMs } = this;
    this.dueMs =
      intervalMs === Number.POSITIVE_INFINITY ? intervalMs : Math.min(this.dueMs, nowMs + intervalMs);
  }

  /** When the next periodic checkpoint may begin as far as time is concerned; infinite if none is planned. */
  nextMs(): number {
    return Math.max(this.dueMs, this.earliestMs());
  }

  /** Before this time no checkpoint begins that nobody asked for. */
  earliestMs(): number {
    return this.lastEndMs + this.minPauseMs;
  }

  /** A periodic checkpoint begins now; `nowMs` is at least `nextMs()`. */
  started(nowMs: number): void {
    const plannedMs = this.nextMs();
    const anchorMs = nowMs - plannedMs < this.intervalMs ? plannedMs : nowMs;
    this.dueMs = anchorMs + this.intervalMs;
  }

  /** Any checkpoint ended, well or not. */
  ended(nowMs: number): void {
    this.lastEndMs = nowMs;
  }
}
