/**
 * Carries out the strikes of a run, one after the other. Listens to the world's events, to operations on files and to the
 * places that user code comes to.
 */
import type {
  FileFault,
  FileOperation,
  JobSupervisor,
  SimulatedEvent,
  SimulatedWorld,
} from '../../../engine/src/testing/simulation/index.ts';
import type { Coverage } from '../world/coverage.ts';
import type { Place } from '../world/site.ts';
import { HINDERS_CLEARING_UP, type Moment, type Strike } from './strike.ts';

/** What user code throws by order of the simulator. */
export const INJECTED = 'a failure of the simulation';

/** A full disk has room for so little more. */
const LAST_ROOM_BYTES = 200;

export class StrikeSequence {
  /** Strikes that were carried out. */
  carriedOut = 0;
  private readonly world: SimulatedWorld;
  private readonly supervisor: JobSupervisor;
  private readonly strikes: readonly Strike[];
  private readonly coverage: Coverage;
  private matches = 0;
  private fullUntilMs = 0;

  constructor(
    world: SimulatedWorld,
    supervisor: JobSupervisor,
    strikes: readonly Strike[],
    coverage: Coverage,
  ) {
    this.world = world;
    this.supervisor = supervisor;
    this.strikes = strikes;
    this.coverage = coverage;
  }

  /** Something was done that may keep a process from clearing up behind itself. */
  get hinders(): boolean {
    return this.strikes.slice(0, this.carriedOut).some(({ kind }) => HINDERS_CLEARING_UP.includes(kind));
  }

  /** Nothing is done any more. */
  end(): void {
    this.carriedOut = this.strikes.length;
    this.world.files.limitBytes(Number.POSITIVE_INFINITY);
  }

  /** The next event is about to happen. */
  event(event: SimulatedEvent): void {
    if (this.fullUntilMs > 0 && event.timeMs >= this.fullUntilMs) {
      this.world.files.limitBytes(Number.POSITIVE_INFINITY);
      this.fullUntilMs = 0;
    }
    const strike = this.next();
    if (strike?.moment.type !== 'event' || event.thread === undefined) return;
    const { kind } = strike.moment;
    if (kind !== undefined && kind !== event.kind) return;
    if (this.isNow(strike.moment))
      this.carryOut(strike, `${event.kind} ${event.detail.split(' ')[0]}`.trim());
  }

  /** An operation on a file begins. */
  file(operation: FileOperation, _path: string): FileFault | undefined {
    const strike = this.next();
    if (strike?.moment.type !== 'file') return undefined;
    const { moment, kind, size } = strike;
    if (moment.operation !== undefined && moment.operation !== operation) return undefined;
    if (!this.isNow(moment)) return undefined;
    this.note(strike, operation);
    if (kind === 'disk-hang') return { type: 'delay', delayMs: size };
    const errno = operation === 'write' && size % 2 === 0 ? 'ENOSPC' : 'EIO';
    if (kind === 'disk-error') return { type: 'error', errno };
    return { type: 'late-error', errno, share: (size % 100) / 100 };
  }

  /** User code is at `place`. */
  place(place: Place): void {
    const strike = this.next();
    if (strike?.moment.type !== 'place') return;
    if (strike.moment.place !== undefined && strike.moment.place !== place) return;
    if (this.isNow(strike.moment)) this.carryOut(strike, `place ${place}`);
  }

  private next(): Strike | undefined {
    return this.strikes[this.carriedOut];
  }

  private isNow({ after }: Moment): boolean {
    return ++this.matches >= after;
  }

  private note({ kind }: Strike, where: string): void {
    this.carriedOut++;
    this.matches = 0;
    this.coverage.add(`strikes (${kind})`, `at ${where}`);
    this.world.at(0, 'fault', `${kind} at ${where}`, () => {});
  }

  private carryOut(strike: Strike, where: string): void {
    const { kind, size } = strike;
    const { world } = this;
    const thread = world.currentThread;
    const victim = world.processes.at(size % Math.max(1, world.processes.length));
    const lost = victim?.threads.at(size % Math.max(1, victim.threads.length));
    const isNobodyHit = kind === 'thread-loss' && lost === undefined;
    this.note(strike, isNobodyHit ? `${where}, without effect` : where);
    if (isNobodyHit) return;
    switch (kind) {
      case 'task-failure':
        throw new Error(INJECTED);
      case 'thread-loss':
        return victim!.loseThread(lost!, size % 3, size % 2 === 0 ? undefined : outOfMemory());
      case 'process-kill':
        return victim?.kill();
      case 'power-failure':
        return world.failPower('synced');
      case 'partial-power-failure':
        return world.failPower('some');
      case 'disk-full':
        this.fullUntilMs = world.nowMs + size;
        return world.files.limitBytes(world.files.usedBytes() + LAST_ROOM_BYTES);
      case 'process-freeze':
        return victim?.freeze(size);
      case 'thread-stall':
        return (thread ?? victim?.main)?.stall(world.nowMs + size);
      case 'wall-clock-jump':
        return world.jumpWallClock(size);
      case 'double-start':
        return this.supervisor.start();
    }
  }
}

/** What a thread dies of when its heap is full. */
function outOfMemory(): Error {
  return Object.assign(new Error('out of memory'), { code: 'ERR_WORKER_OUT_OF_MEMORY' });
}
