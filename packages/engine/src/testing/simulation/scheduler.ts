/**
 * The scheduler of a simulated world: the only source of progress. It takes one event after the other out of the queue,
 * lets it happen, and lets everything run that follows from it by promises alone, before it takes the next. Knows no
 * processes, files or faults.
 *
 * Invariants:
 * I1 Between two events no promise has a reaction left to run, so the order of events is the only order there is.
 * I2 Time goes from event to event and never back. Nothing waits for real time.
 *
 *     step ──► event happens ──► microtasks, until none is left ──► step
 *
 * The way back to `step` is a tick that is asked for by a microtask: Node empties the queue of microtasks before ticks,
 * and needs a fifth of the time of `setImmediate` for it. But only the latter lets Node tell of rejections that nobody
 * handles; so the loop goes that way from time to time.
 */
import { nextTick } from 'node:process';
import { createNodePlatform } from '../../platform/node/index.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import { type EventKind, type EventPlace, EventQueue, type SimulatedEvent } from './event-queue.ts';
import { EventTrace, type TraceLine } from './event-trace.ts';

/** Why a run came to its end. */
export type RunEnd =
  /** What was waited for is so. */
  | 'over'
  /** Nothing is left that could happen. */
  | 'idle'
  /** More events, or more time, than a run may have. */
  | 'limit';

export interface RunLimits {
  readonly eventsMax: number;
  /** Since the world began. */
  readonly untilMs: number;
}

/** Events between two turns of the real event loop. */
const REAL_TURN_EVENTS = 64;
/** One delay in so many is much longer than the others. */
const LONG_DELAY_ONE_IN = 32;
const LONG_DELAY_FACTOR = 20;

const realTimers = createNodePlatform().timers;
/** A reaction to it costs half of `queueMicrotask`, which makes a resource for async hooks. */
const NOW = Promise.resolve();

export class Scheduler {
  readonly trace: EventTrace;
  /** Since the world began, milliseconds. */
  nowMs = 0;
  eventCount = 0;
  /** Where the event that happens now does. */
  current: EventPlace | undefined;
  /** Asked before each event; may kill the place where it was to happen. */
  beforeEvent: (event: SimulatedEvent) => void = () => {};
  private readonly queue = new EventQueue();
  private readonly random: SeededRandom;
  private order = 0;

  constructor(seed: number, onLine?: (line: TraceLine) => void) {
    this.random = seededRandom(seed);
    this.trace = new EventTrace(onLine);
  }

  /** Lets `action` happen at `place` in `delayMs` from `fromMs` on. */
  schedule(
    place: EventPlace | undefined,
    timeMs: number,
    kind: EventKind,
    detail: string,
    action: () => void,
  ): SimulatedEvent {
    const dueMs = Math.max(timeMs, this.nowMs);
    const event: SimulatedEvent = {
      timeMs: dueMs,
      dueMs,
      order: this.order++,
      thread: place,
      kind,
      detail,
      action,
      index: -1,
    };
    this.queue.push(event);
    place?.countPending(1);
    return event;
  }

  /** It does not happen. */
  cancel(event: SimulatedEvent): void {
    if (this.queue.remove(event)) event.thread?.countPending(-1);
  }

  /** How long something takes this time that usually takes about `usualMs`. */
  delay(usualMs: number): number {
    const part = this.random.below(1024) / 1024;
    const isLong = this.random.oneIn(LONG_DELAY_ONE_IN);
    return usualMs * (0.5 + part) * (isLong ? LONG_DELAY_FACTOR : 1);
  }

  /** Lets events happen until `isOver`, asked after each. */
  run(isOver: () => boolean, limits: RunLimits): Promise<RunEnd> {
    return new Promise((resolve, reject) => {
      const eventsEnd = this.eventCount + limits.eventsMax;
      const step = (): void => {
        try {
          this.current?.leave();
          this.current = undefined;
          const end = isOver() ? 'over' : this.next(eventsEnd, limits.untilMs);
          if (end !== undefined) return resolve(end);
        } catch (error) {
          return reject(error);
        }
        if (this.eventCount % REAL_TURN_EVENTS === 0) void realTimers.yieldToEventLoop().then(step);
        else void NOW.then(afterMicrotasks);
      };
      const afterMicrotasks = (): void => nextTick(step);
      step();
    });
  }

  /** Lets Node tell of rejections that nobody has handled. */
  settle(): Promise<void> {
    return realTimers.yieldToEventLoop();
  }

  /** Lets the next event happen that can; or says why none does. */
  private next(eventsEnd: number, untilMs: number): RunEnd | undefined {
    for (;;) {
      const event = this.queue.pop();
      if (event === undefined) return 'idle';
      const { thread } = event;
      thread?.countPending(-1);
      if (isDead(thread)) {
        thread?.leave();
        continue;
      }
      if (event.timeMs > untilMs || this.eventCount >= eventsEnd) return 'limit';
      if (thread !== undefined && thread.stalledUntilMs > event.timeMs) {
        event.timeMs = thread.stalledUntilMs;
        this.queue.push(event);
        thread.countPending(1);
        continue;
      }
      this.nowMs = event.timeMs;
      this.beforeEvent(event);
      if (isDead(thread)) {
        thread?.leave();
        continue;
      }
      this.eventCount++;
      this.trace.add(event);
      this.current = thread;
      thread?.enter(event.timeMs);
      event.action();
      return undefined;
    }
  }
}

/** Asked anew each time: what happens may kill it. */
function isDead(thread: EventPlace | undefined): boolean {
  return thread?.isAlive === false;
}
