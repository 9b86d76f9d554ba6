/**
 * One thread of a simulated process: its own clock, its own event loop, and the platform that the code under test gets.
 *
 * Time. A thread stands still within an event, but for the clock: each look at it costs a little, so that loops which go
 * by time come to an end. The thread may thereby be ahead of the world; what it sends or starts begins at its own time.
 *
 * Death. A dead thread's events do not happen; what it does in the rest of the event in which it died has no effect on
 * anything outside of its process. Operations on files that were under way take effect or not, each by chance.
 */
import type { Logger } from '../../base/index.ts';
import type {
  Clock,
  Parking,
  Platform,
  ThreadContext,
  ThreadEvents,
  ThreadHandle,
  TimerHandle,
  Timers,
} from '../../platform/index.ts';
import { createNodePlatform } from '../../platform/node/index.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import type { EventKind, EventPlace, SimulatedEvent } from './event-queue.ts';
import { copyMessage } from './message-copy.ts';
import { quickHasher } from './quick-hash.ts';
import type { Scheduler } from './scheduler.ts';
import { type FileUser, type SimulatedDisk, simulatedFiles } from './simulated-files.ts';
import type { SimulatedParking } from './simulated-parking.ts';

/** How fast a world is: about how long each thing takes, in milliseconds. */
export interface WorldSpeeds {
  /** What a thread does between two looks at its clock. */
  readonly stepMs: number;
  /** An operation on a file. */
  readonly fileMs: number;
  /** A message from thread to thread. */
  readonly messageMs: number;
  /** Until a sleeper that was woken, or a thread that gave way, goes on. */
  readonly wakeMs: number;
  /** Until a thread or process has started. */
  readonly startMs: number;
}

/** What the threads of a world share. */
export interface WorldParts {
  readonly scheduler: Scheduler;
  readonly disk: SimulatedDisk;
  readonly parking: SimulatedParking;
  readonly speeds: WorldSpeeds;
  readonly seed: number;
  /** What the wall clock is ahead of the time of the world. */
  wallOffsetMs: number;
  threadCount: number;
}

/** The process of a thread. */
export interface ThreadOwner {
  readonly name: string;
  readonly isAlive: boolean;
  readonly stalledUntilMs: number;
  /** What was printed and logged. */
  note(kind: 'log' | 'print', text: string): void;
  countPending(difference: 1 | -1): void;
  leave(): void;
  hold(release: () => void): () => void;
  startThread(starter: SimulatedThread, name: string, data: unknown, events: ThreadEvents): ThreadHandle;
}

/** An operation on a file that was begun. */
interface Operation {
  effect(): void;
}

/** Pure functions. */
const { compress, crc32, decompress, decompressPieces } = createNodePlatform();

export class SimulatedThread implements EventPlace {
  readonly number: number;
  readonly name: string;
  readonly process: ThreadOwner;
  readonly platform: Platform;
  /** Its own time, since the world began. */
  localMs: number;
  stalledUntilMs = 0;
  private readonly world: WorldParts;
  private readonly random: SeededRandom;
  private readonly monotonicOffsetMs: number;
  private readonly operations = new Set<Operation>();
  private isDead = false;

  constructor(owner: ThreadOwner, name: string, world: WorldParts, current: ThreadContext | undefined) {
    this.process = owner;
    this.name = name;
    this.world = world;
    this.number = world.threadCount++;
    this.localMs = world.scheduler.nowMs;
    this.random = seededRandom(Math.imul(world.seed, 0x9e3779b1) + this.number);
    // Monotonic clocks of two threads are not to be compared.
    this.monotonicOffsetMs = this.random.below(1_000_000);
    this.platform = this.createPlatform(current);
  }

  get isAlive(): boolean {
    return !this.isDead && this.process.isAlive;
  }

  enter(timeMs: number): void {
    if (this.localMs < timeMs) this.localMs = timeMs;
  }

  leave(): void {
    this.process.leave();
  }

  countPending(difference: 1 | -1): void {
    this.process.countPending(difference);
  }

  /** Works for so long without a look around: what comes for it meanwhile waits. */
  work(durationMs: number): void {
    this.localMs += durationMs;
    this.stall(this.localMs);
  }

  /** Nothing happens in it before that time, as if the scheduler of the system had forgotten it. */
  stall(untilMs: number): void {
    this.stalledUntilMs = Math.max(this.stalledUntilMs, untilMs);
  }

  /** Ends where it is. */
  die(): void {
    if (this.isDead) return;
    this.isDead = true;
    for (const operation of this.operations) if (this.random.oneIn(2)) operation.effect();
    this.operations.clear();
  }

  /** Lets something happen in it, about `usualMs` from now. */
  later(kind: EventKind, detail: string, usualMs: number, action: () => void): SimulatedEvent {
    const { scheduler } = this.world;
    return scheduler.schedule(this, this.localMs + scheduler.delay(usualMs), kind, detail, action);
  }

  private createPlatform(current: ThreadContext | undefined): Platform {
    const { process: owner, world } = this;
    const logger: Logger = {
      log: (level, message) => {
        if (this.isAlive) owner.note('log', `${level} ${message}`);
      },
    };
    const files = simulatedFiles(world.disk, this.fileUser());
    return {
      clock: this.clock(),
      timers: this.timers(),
      random: this.platformRandom(),
      parking: this.parking(),
      logger,
      threads: {
        current,
        entryModuleUrl: 'simulation:job',
        start: (_moduleUrl, name, data, events) => owner.startThread(this, name, data, events),
      },
      fileSystem: (uri) => ({ files, path: `/${uri.replace(/^file:/, '').replace(/^\/+|\/+$/g, '')}` }),
      hasher: quickHasher,
      crc32,
      compress,
      decompress,
      decompressPieces,
      expectLongRun: () => {},
      cpuMicros: () => Math.floor(this.localMs * 1000),
      printLine: (line) => {
        if (this.isAlive) owner.note('print', line);
      },
      isStandardStream: () => false,
    };
  }

  private clock(): Clock {
    const { world } = this;
    const look = (): number => (this.localMs += world.speeds.stepMs);
    return {
      monotonicMs: () => this.monotonicOffsetMs + look(),
      wallMs: () => Math.floor(world.wallOffsetMs + look()),
    };
  }

  private timers(): Timers {
    const { scheduler, speeds } = this.world;
    return {
      after: (delayMs, callback): TimerHandle => {
        const event = scheduler.schedule(
          this,
          this.localMs + Math.max(0, delayMs) + scheduler.delay(speeds.wakeMs),
          'timer',
          '',
          callback,
        );
        return { cancel: () => scheduler.cancel(event) };
      },
      yieldToEventLoop: () =>
        new Promise((resolve) => {
          this.later('yield', '', speeds.wakeMs, resolve);
        }),
    };
  }

  private platformRandom(): Platform['random'] {
    const { random } = this;
    return {
      next: () => random.below(2 ** 32) / 2 ** 32,
      hex: (bytes) => {
        let text = '';
        for (let i = 0; i < bytes; i++) text += (256 + random.below(256)).toString(16).slice(1);
        return text;
      },
    };
  }

  private parking(): Parking {
    const { parking, scheduler, speeds } = this.world;
    return {
      park: (word, index, expected, timeoutMs) => {
        if (Atomics.load(word, index) !== expected) return Promise.resolve();
        return new Promise((resolve) => {
          const timer = scheduler.schedule(
            this,
            this.localMs + Math.max(0, timeoutMs),
            'timer',
            'sleep',
            () => {
              leave();
              resolve();
            },
          );
          const leave = parking.add(word, index, {
            wake: () => {
              scheduler.cancel(timer);
              this.later('wake', '', speeds.wakeMs, resolve);
            },
          });
        });
      },
      unpark: (word, index) => parking.wake(word, index),
    };
  }

  private fileUser(): FileUser {
    const { scheduler, speeds } = this.world;
    return {
      operate: (detail, extraDelayMs, effect) => {
        if (!this.isAlive) return;
        const operation: Operation = { effect };
        this.operations.add(operation);
        const dueMs = this.localMs + extraDelayMs + scheduler.delay(speeds.fileMs);
        scheduler.schedule(this, dueMs, 'file', detail, () => {
          this.operations.delete(operation);
          effect();
        });
      },
      hold: (release) => this.process.hold(release),
    };
  }
}

/** One direction between two threads: messages are copied, and arrive in the order in which they were sent. */
export class SimulatedChannel {
  private readonly world: WorldParts;
  private readonly from: SimulatedThread;
  private readonly to: SimulatedThread;
  private lastMs = 0;

  constructor(world: WorldParts, from: SimulatedThread, to: SimulatedThread) {
    this.world = world;
    this.from = from;
    this.to = to;
  }

  /** Throws DataCloneError for what cannot be sent. */
  send(message: unknown, receive: (copy: unknown) => void): void {
    const copy = copyMessage(message);
    const { type } = (message ?? {}) as { readonly type?: unknown };
    this.deliver('message', typeof type === 'string' ? type : '', () => receive(copy));
  }

  /** Comes after all messages that were sent. */
  deliver(kind: EventKind, detail: string, action: () => void): void {
    if (!this.from.isAlive && kind === 'message') return;
    const { scheduler, speeds } = this.world;
    const sentMs = Math.max(this.from.localMs, scheduler.nowMs);
    this.lastMs = Math.max(this.lastMs, sentMs + scheduler.delay(speeds.messageMs));
    scheduler.schedule(this.to, this.lastMs, kind, detail, action);
  }
}
