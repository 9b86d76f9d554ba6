/**
 * A process of a simulated world: a main thread that runs the program, and the threads that it starts, which run the
 * program again, as worker threads load the entry module again. It ends like a process of Node: when nothing is left to
 * happen, or when it is killed, and then without a word.
 */
import type { Platform, ThreadContext, ThreadEvents, ThreadHandle } from '../../platform/index.ts';
import { copyMessage } from './message-copy.ts';
import { SimulatedChannel, SimulatedThread, type ThreadOwner, type WorldParts } from './simulated-thread.ts';

/** What a process, and each of its threads, runs. */
export type Program = (platform: Platform) => Promise<unknown>;

/** How a process ended. */
export type ProcessEnd =
  /** Its program came to its end, and nothing was left to do. */
  | { readonly type: 'exited'; readonly value: unknown }
  /** Its program rejected. */
  | { readonly type: 'failed'; readonly error: unknown }
  | { readonly type: 'killed' }
  /** Nothing is left that could happen, and the program has not ended, or threads of it are still there. */
  | { readonly type: 'stuck' };

/** Ends a thread that was started. */
type EndThread = (exit: { readonly exitCode: number; readonly error: unknown }) => void;

export interface ProcessEvents {
  /** Once, after the end. */
  ended(process: SimulatedProcess, end: ProcessEnd): void;
  noted(process: SimulatedProcess, kind: 'log' | 'print', text: string): void;
}

export class SimulatedProcess implements ThreadOwner {
  readonly name: string;
  readonly main: SimulatedThread;
  stalledUntilMs = 0;
  isAlive = true;
  private readonly world: WorldParts;
  private readonly program: Program;
  private readonly events: ProcessEvents;
  private readonly started = new Map<SimulatedThread, EndThread>();
  private readonly held = new Set<() => void>();
  private threadCount = 0;
  private pending = 0;
  private outcome: Extract<ProcessEnd, { type: 'exited' | 'failed' }> | undefined;

  constructor(name: string, program: Program, world: WorldParts, events: ProcessEvents) {
    this.name = name;
    this.program = program;
    this.world = world;
    this.events = events;
    this.main = new SimulatedThread(this, 'main', world, undefined);
    this.main.later('start', 'process', world.speeds.startMs, () => {
      program(this.main.platform).then(
        (value) => (this.outcome = { type: 'exited', value }),
        (error: unknown) => (this.outcome = { type: 'failed', error }),
      );
    });
  }

  /** Threads that it started and that live. */
  get threads(): readonly SimulatedThread[] {
    return [...this.started.keys()];
  }

  /** Ends at once, without a word: nothing that it does from now on has an effect. */
  kill(): void {
    this.end({ type: 'killed' });
  }

  /** Nothing happens in any of its threads for so long. */
  freeze(durationMs: number): void {
    this.stalledUntilMs = Math.max(this.stalledUntilMs, this.world.scheduler.nowMs + durationMs);
    for (const thread of [this.main, ...this.threads]) thread.stall(this.stalledUntilMs);
  }

  /** The thread is gone; its starter is told, after all that it has sent. */
  loseThread(thread: SimulatedThread, exitCode: number, error: unknown): void {
    this.started.get(thread)?.({ exitCode, error });
  }

  note(kind: 'log' | 'print', text: string): void {
    this.events.noted(this, kind, text);
  }

  countPending(difference: 1 | -1): void {
    this.pending += difference;
  }

  /** An event of it has happened. */
  leave(): void {
    if (this.pending > 0 || !this.isAlive) return;
    const isOver = this.started.size === 0 && this.outcome !== undefined;
    this.end(isOver ? this.outcome! : { type: 'stuck' });
  }

  hold(release: () => void): () => void {
    if (!this.isAlive) {
      release();
      return () => {};
    }
    const once = (): void => {
      if (this.held.delete(once)) release();
    };
    this.held.add(once);
    return once;
  }

  startThread(starter: SimulatedThread, name: string, data: unknown, events: ThreadEvents): ThreadHandle {
    const { world } = this;
    let handler: ((message: unknown) => void) | undefined;
    const early: unknown[] = [];
    const context: ThreadContext = {
      data: copyMessage(data),
      post: (message) => back.send(message, events.onMessage),
      onMessage: (listener) => {
        handler = listener;
        for (const message of early.splice(0)) listener(message);
      },
    };
    const thread = new SimulatedThread(this, String(++this.threadCount), world, context);
    const to = new SimulatedChannel(world, starter, thread);
    const back = new SimulatedChannel(world, thread, starter);
    const exited = Promise.withResolvers<void>();
    const end: EndThread = (exit) => {
      if (!this.started.delete(thread)) return;
      thread.die();
      back.deliver('exit', `thread ${thread.name}`, () => {
        exited.resolve();
        events.onExit(exit);
      });
    };
    this.started.set(thread, end);
    thread.later('start', name, world.speeds.startMs, () => {
      this.program(thread.platform).then(
        () => end({ exitCode: 0, error: undefined }),
        (error: unknown) => end({ exitCode: 1, error }),
      );
    });
    return {
      post: (message) => {
        to.send(message, (copy) => (handler === undefined ? early.push(copy) : handler(copy)));
      },
      terminate: () => {
        starter.later('exit', `terminate thread ${thread.name}`, world.speeds.messageMs, () =>
          end({ exitCode: 1, error: undefined }),
        );
        return exited.promise;
      },
    };
  }

  private end(end: ProcessEnd): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.main.die();
    for (const thread of this.started.keys()) thread.die();
    for (const release of this.held) release();
    this.events.ended(this, end);
  }
}
