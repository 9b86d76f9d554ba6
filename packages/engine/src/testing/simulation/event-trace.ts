/**
 * What happened in a simulated world: a hash over all events, and a line for each if somebody reads them. Two runs with
 * the same seed have the same hash, or the code under test depends on something that is not simulated.
 *
 *     time in ms   process  thread  kind     detail
 *       12.04       p1       main    file     rename /checkpoints/…/_metadata.pending
 */
import type { EventKind, SimulatedEvent } from './event-queue.ts';

/** One event. */
export interface TraceLine {
  /** Since the world began, milliseconds. */
  readonly timeMs: number;
  /** `-`: outside of all processes. */
  readonly process: string;
  /** `main`, or the number of a thread that the process started. */
  readonly thread: string;
  readonly kind: EventKind;
  readonly detail: string;
}

export class EventTrace {
  private readonly onLine: ((line: TraceLine) => void) | undefined;
  private readonly time = new Float64Array(1);
  private readonly timeWords = new Int32Array(this.time.buffer);
  private first = 0x9e3779b9;
  private second = 0x85ebca6b;

  constructor(onLine?: (line: TraceLine) => void) {
    this.onLine = onLine;
  }

  /** The event happens now. */
  add({ timeMs, thread, kind, detail }: SimulatedEvent): void {
    this.time[0] = timeMs;
    this.mix(this.timeWords[0]!);
    this.mix(this.timeWords[1]!);
    this.mix(thread === undefined ? -1 : thread.number);
    this.mixText(kind);
    this.mixText(detail);
    this.onLine?.({
      timeMs,
      process: thread?.process.name ?? '-',
      thread: thread?.name ?? '-',
      kind,
      detail,
    });
  }

  /** 16 hex digits. */
  get hash(): string {
    return [this.first, this.second].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }

  private mixText(text: string): void {
    for (let i = 0; i < text.length; i++) this.mix(text.charCodeAt(i));
  }

  private mix(word: number): void {
    this.first = Math.imul(this.first ^ word, 0x01000193);
    this.second = Math.imul((this.second << 5) ^ (this.second >>> 27) ^ word, 0x27220a95);
  }
}

/** The line as documented: columns of fixed width, separated by spaces. */
export function formatTraceLine(line: TraceLine): string {
  const { timeMs, thread, kind, detail } = line;
  return `${timeMs.toFixed(3).padStart(12)} ${line.process.padEnd(4)} ${thread.padEnd(5)} ${kind.padEnd(10)} ${detail}`;
}
