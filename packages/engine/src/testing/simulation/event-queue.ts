/**
 * What will happen in a simulated world, ordered by time; of what happens at the same time, by what was due first, then by
 * who asked first. Called by
 * the world. An indexed binary heap: what is cancelled leaves at once, so that sleepers who are woken early leave nothing.
 */

/** The kinds of events, as traces name them. */
export type EventKind =
  /** A process or thread begins. */
  | 'start'
  /** A timer is due. */
  | 'timer'
  /** A thread that gave way goes on. */
  | 'yield'
  /** A sleeping thread is woken. */
  | 'wake'
  /** A message of another thread arrives. */
  | 'message'
  /** An operation on a file takes effect. */
  | 'file'
  /** A call of another system, such as a database, returns. */
  | 'call'
  /** A process or thread is gone, and somebody is told. */
  | 'exit'
  /** Something is done to the world. */
  | 'fault'
  /** What a process logged; never waits in a queue. */
  | 'log'
  /** What supervises the processes does something. */
  | 'supervisor';

/** Where an event happens: a thread of a process. */
export interface EventPlace {
  /** Of all threads of the world, from 0. */
  readonly number: number;
  readonly name: string;
  readonly process: { readonly name: string };
  readonly isAlive: boolean;
  /** Nothing happens there before. */
  readonly stalledUntilMs: number;
  /** An event of it entered or left the queue. */
  countPending(difference: 1 | -1): void;
  /** An event of it is about to happen. */
  enter(timeMs: number): void;
  /** It has happened, and everything that followed from it by promises alone. */
  leave(): void;
}

/** Something that will happen. */
export interface SimulatedEvent {
  timeMs: number;
  /** When it would be if its thread did not stand still: what waited longest comes first, so that messages keep their order. */
  readonly dueMs: number;
  readonly order: number;
  /** Where; undefined: outside of all processes. Nothing happens in a thread that is dead by then. */
  readonly thread: EventPlace | undefined;
  readonly kind: EventKind;
  /** For traces: which file, which message. */
  readonly detail: string;
  readonly action: () => void;
  /** In the heap; -1 when it is not in it. */
  index: number;
}

export class EventQueue {
  private readonly heap: SimulatedEvent[] = [];

  get size(): number {
    return this.heap.length;
  }

  push(event: SimulatedEvent): void {
    this.heap.push(event);
    this.rise(event, this.heap.length - 1);
  }

  /** The next one, which leaves the queue. */
  pop(): SimulatedEvent | undefined {
    const first = this.heap[0];
    if (first !== undefined) this.remove(first);
    return first;
  }

  /** False if it was not in the queue any more. */
  remove(event: SimulatedEvent): boolean {
    const { index } = event;
    if (index < 0) return false;
    event.index = -1;
    const last = this.heap.pop()!;
    if (last === event) return true;
    this.rise(last, index);
    if (last.index === index) this.sink(last, index);
    return true;
  }

  private rise(event: SimulatedEvent, index: number): void {
    const { heap } = this;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = heap[parentIndex]!;
      if (!isBefore(event, parent)) break;
      heap[index] = parent;
      parent.index = index;
      index = parentIndex;
    }
    heap[index] = event;
    event.index = index;
  }

  private sink(event: SimulatedEvent, index: number): void {
    const { heap } = this;
    for (;;) {
      let childIndex = 2 * index + 1;
      let child = heap[childIndex];
      if (child === undefined) break;
      const right = heap[childIndex + 1];
      if (right !== undefined && isBefore(right, child)) {
        child = right;
        childIndex++;
      }
      if (!isBefore(child, event)) break;
      heap[index] = child;
      child.index = index;
      index = childIndex;
    }
    heap[index] = event;
    event.index = index;
  }
}

function isBefore(a: SimulatedEvent, b: SimulatedEvent): boolean {
  if (a.timeMs !== b.timeMs) return a.timeMs < b.timeMs;
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}
