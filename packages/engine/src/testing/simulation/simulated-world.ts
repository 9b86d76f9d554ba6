/**
 * A world of its own for the code under test: clocks, threads, processes, messages and one disk, all moved by one seeded
 * scheduler. What happens in it is a function of the seed and of the code.
 *
 *     world ── process ── thread ── platform ──► LocalExecutor, JobMaster, slots, tasks, storage: the production code
 *       │                    └──► every promise of it is settled by an event of the scheduler
 *       └── disk: ManualFiles, which forgets what was not synced
 *
 * What is real: memory, promises, shared memory between threads. Simulated threads do not run at the same time, so
 * races of plain memory accesses are not found here.
 */
import nodeProcess from 'node:process';
import { ManualFiles } from '../manual-files.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import type { EventKind, SimulatedEvent } from './event-queue.ts';
import type { TraceLine } from './event-trace.ts';
import { type RunEnd, type RunLimits, Scheduler } from './scheduler.ts';
import type { FileFault, FileOperation } from './simulated-files.ts';
import { SimulatedParking } from './simulated-parking.ts';
import { type ProcessEnd, type Program, SimulatedProcess } from './simulated-process.ts';
import { SimulatedThread, type WorldParts, type WorldSpeeds } from './simulated-thread.ts';

export interface WorldOptions {
  readonly seed: number;
  readonly speeds?: Partial<WorldSpeeds>;
  /** Is told of every event; the hash is made in any case. */
  readonly onLine?: (line: TraceLine) => void;
}

/** A machine with an SSD, not busy. */
const USUAL_SPEEDS: WorldSpeeds = { stepMs: 0.2, fileMs: 0.5, messageMs: 0.1, wakeMs: 0.05, startMs: 5 };
const FIRST_WALL_MS = Date.UTC(2024, 0, 1);
const LIMITS: RunLimits = { eventsMax: 200_000, untilMs: 3_600_000 };

export class SimulatedWorld {
  readonly files: ManualFiles;
  /** For whoever draws what is done to the world; the world itself draws from another one. */
  readonly random: SeededRandom;
  /** Rejections that nobody handled, and errors that nobody caught. */
  readonly unhandled: unknown[] = [];
  /** Asked for each operation on a file, when it is begun. */
  interfereWithFile: (operation: FileOperation, path: string) => FileFault | undefined = () => undefined;
  /** Told of each line that a process logs or prints. */
  onNote: (kind: 'log' | 'print', text: string) => void = () => {};
  private readonly scheduler: Scheduler;
  private readonly parts: WorldParts;
  private readonly onLine: WorldOptions['onLine'];
  private readonly running = new Set<SimulatedProcess>();
  private processCount = 0;

  constructor({ seed, speeds = {}, onLine }: WorldOptions) {
    this.onLine = onLine;
    this.scheduler = new Scheduler(mix(seed, 1), onLine);
    this.random = seededRandom(mix(seed, 2));
    const torn = seededRandom(mix(seed, 3));
    this.files = new ManualFiles(
      () => Math.floor(this.parts.wallOffsetMs + this.nowMs),
      () => torn.below(2 ** 30) / 2 ** 30,
    );
    this.parts = {
      scheduler: this.scheduler,
      disk: { files: this.files, interfere: (operation, path) => this.interfereWithFile(operation, path) },
      parking: new SimulatedParking(),
      speeds: { ...USUAL_SPEEDS, ...speeds },
      seed: mix(seed, 4),
      wallOffsetMs: FIRST_WALL_MS,
      threadCount: 0,
    };
  }

  /** Since the world began, milliseconds. */
  get nowMs(): number {
    return this.scheduler.nowMs;
  }

  /** Events so far. */
  get eventCount(): number {
    return this.scheduler.eventCount;
  }

  /** Of all events so far. */
  get traceHash(): string {
    return this.scheduler.trace.hash;
  }

  /** Processes that have not ended, oldest first. */
  get processes(): readonly SimulatedProcess[] {
    return [...this.running];
  }

  /** The thread whose code runs now. */
  get currentThread(): SimulatedThread | undefined {
    const { current } = this.scheduler;
    return current instanceof SimulatedThread ? current : undefined;
  }

  /** Is asked before each event, also of one that then does not happen because of what is done here. */
  set beforeEvent(listener: (event: SimulatedEvent) => void) {
    this.scheduler.beforeEvent = listener;
  }

  /** Starts a process, named p1, p2, …. `onEnd` is told how it ended, soon after. */
  startProcess(program: Program, onEnd: (end: ProcessEnd) => void): SimulatedProcess {
    const started = new SimulatedProcess(`p${++this.processCount}`, program, this.parts, {
      ended: (ended, end) => {
        this.running.delete(ended);
        this.at(0, 'exit', `process ${ended.name} ${end.type}`, () => onEnd(end));
      },
      noted: ({ name }, kind, text) => {
        this.onNote(kind, text);
        const timeMs = this.currentThread?.localMs ?? this.nowMs;
        const thread = this.currentThread?.name ?? '-';
        this.onLine?.({ timeMs, process: name, thread, kind: 'log', detail: `${kind} ${text}` });
      },
    });
    this.running.add(started);
    return started;
  }

  /** Lets something happen outside of all processes. */
  at(delayMs: number, kind: EventKind, detail: string, action: () => void): void {
    this.scheduler.schedule(undefined, this.nowMs + delayMs, kind, detail, action);
  }

  /** A call of another system from the thread whose code runs now: resolves there, after about so long. */
  call(detail: string, usualMs: number): Promise<void> {
    const thread = this.currentThread;
    if (thread === undefined) throw new Error(`no thread calls ${detail}`);
    return new Promise((resolve) => void thread.later('call', detail, usualMs, resolve));
  }

  /** The power fails: all processes are gone, and what was not synced, all of it or some. */
  failPower(keep: 'synced' | 'some'): void {
    for (const running of this.processes) running.kill();
    this.files.crash({ keep });
  }

  /** The wall clock jumps; other clocks do not notice. */
  jumpWallClock(byMs: number): void {
    this.parts.wallOffsetMs += byMs;
  }

  /** Lets the world go on until `isOver`, asked between events. */
  async run(isOver: () => boolean, limits: Partial<RunLimits> = {}): Promise<RunEnd> {
    const unhandled = (error: unknown): void => void this.unhandled.push(error);
    nodeProcess.on('unhandledRejection', unhandled);
    try {
      return await this.scheduler.run(isOver, { ...LIMITS, ...limits });
    } finally {
      await this.scheduler.settle();
      nodeProcess.off('unhandledRejection', unhandled);
    }
  }
}

/** One of several seeds that are made of one. */
function mix(seed: number, part: number): number {
  let mixed = Math.imul((seed ^ (seed / 2 ** 32)) + part * 0x9e3779b9, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
