/**
 * The loop of one thread: gives its tasks turns, advances snapshots between them, sleeps when nobody has anything to do.
 * There is one suspension point per round.
 *
 * Invariants:
 * I1 Tasks that read channels come before sources: inputs are drained before new records enter.
 * I2 The event loop gets a turn at least every YIELD_AFTER_MS, so that messages, timers and I/O go on under load.
 * I3 Before sleeping partial segments are flushed; under load they are flushed after the buffer time-out. (A task of several
 *    edges also flushes some itself: see its `sendTogether`.)
 */
import type { Doorbell } from '../exchange/index.ts';
import type { Platform } from '../platform/index.ts';
import type { Task } from './task.ts';

/** Uninterrupted work before the event loop gets a turn. Below that timers become late, above nothing is gained. */
const YIELD_AFTER_MS = 5;
/** The same for clocks that stand still while the loop works, as those of tests do. */
const YIELD_AFTER_ROUNDS = 1000;
/** A sleeping loop looks around at least that often, whatever the doorbell says. */
const SLEEP_MAX_MS = 1000;

export class TaskLoop {
  private tasks: readonly Task[] = [];
  private readonly platform: Platform;
  private readonly doorbell: Doorbell;
  private readonly bufferTimeoutMs: number;
  /** Tasks that had no room in this round. */
  private readonly blocked: Task[] = [];
  private stopped = false;
  private nowMs: number;
  /** Monotonic time at which the current turn began, or the last one. */
  private turnMs: number;
  private lastYieldMs: number;
  private lastFlushMs: number;
  /** Set by wake() of this thread; the doorbell covers other threads. */
  private woken = false;

  constructor(platform: Platform, doorbell: Doorbell, bufferTimeoutMs: number) {
    this.platform = platform;
    this.doorbell = doorbell;
    this.bufferTimeoutMs = bufferTimeoutMs;
    this.nowMs = platform.clock.wallMs();
    this.turnMs = this.lastYieldMs = this.lastFlushMs = platform.clock.monotonicMs();
  }

  /** Wall time of the current round: what operators see as processing time. */
  get processingTimeMs(): number {
    return this.nowMs;
  }

  /** What intervals of operators go by. */
  get monotonicMs(): number {
    return this.turnMs;
  }

  /** Something happened in this thread that may give a task work. */
  wake(): void {
    this.woken = true;
    this.doorbell.ring();
  }

  stop(): void {
    this.stopped = true;
    this.wake();
  }

  /** Gives the tasks turns until `stop`. */
  async run(tasks: readonly Task[]): Promise<void> {
    // Downstream first: vertices are in topological order.
    this.tasks = [...tasks].sort(
      (a, b) => Number(a.isSource) - Number(b.isSource) || b.key.vertex - a.key.vertex,
    );
    const { clock } = this.platform;
    let rounds = 0;
    while (!this.stopped) {
      this.woken = false;
      const progress = this.round();
      const now = clock.monotonicMs();
      if (now - this.lastFlushMs >= this.bufferTimeoutMs || !progress) {
        this.lastFlushMs = now;
        for (const task of this.tasks) task.flushOutputs();
      }
      if (!progress) await this.sleep();
      // A sleep that found work at once did not give the event loop its turn.
      if (++rounds < YIELD_AFTER_ROUNDS && clock.monotonicMs() - this.lastYieldMs < YIELD_AFTER_MS) continue;
      rounds = 0;
      await this.platform.timers.yieldToEventLoop();
      this.lastYieldMs = clock.monotonicMs();
    }
  }

  private round(): boolean {
    const { clock } = this.platform;
    let progress = false;
    this.nowMs = clock.wallMs();
    const startMs = clock.monotonicMs();
    this.turnMs = startMs;
    for (const task of this.tasks) {
      const worked = task.turn(this.nowMs, this.turnMs);
      if (task.checkpoint.advance()) progress = true;
      const after = clock.monotonicMs();
      if (worked) task.addTime(after - this.turnMs, 0);
      else if (task.isBackPressured) this.blocked.push(task);
      this.turnMs = after;
      progress ||= worked;
    }
    // While the others of the thread worked, too, these had no room.
    for (const task of this.blocked) task.addTime(0, this.turnMs - startMs);
    this.blocked.length = 0;
    return progress;
  }

  private async sleep(): Promise<void> {
    const from = this.platform.clock.monotonicMs();
    let timeoutMs = SLEEP_MAX_MS;
    for (const task of this.tasks) timeoutMs = Math.min(timeoutMs, task.idleForMs(this.nowMs, from));
    const backPressured = this.tasks.filter((task) => task.isBackPressured);
    await this.doorbell.sleep(
      () => this.woken || this.stopped || this.tasks.some((task) => task.hasWork()),
      Math.max(1, timeoutMs),
    );
    const slept = this.platform.clock.monotonicMs() - from;
    for (const task of backPressured) task.addTime(0, slept);
  }
}
