/**
 * How a thread sleeps until there is something to do: one word of shared memory for each thread, not one for each ring.
 *
 * The task loop sleeps on its own doorbell. Whoever makes work visible to that loop (publishes an element, releases a
 * segment, finishes an asynchronous call) does so first and rings second. Knows nothing of rings or subtasks.
 *
 *     loop:   store(word, 1)   look for work   park while word is 1   store(word, 0)
 *     ringer: make work visible   load(word); if it is 1: exchange(word, 0); if that was 1: notify
 *
 * No wake-up is lost. All accesses to the word, and those that make work visible, are sequentially consistent, so they
 * have one order. Either the ringer's load comes after the loop's store of 1: then it sees 1 and takes it away, and a
 * loop that is about to park finds 0 and does not, a loop that is parked is notified. Or the load comes before that
 * store: then the work was made visible before the store too, and the loop, which looks for work after its store, finds
 * it. Of several ringers one takes the 1 away, which suffices. While nobody sleeps a ring is one load of a shared cache
 * line.
 *
 * Words are a cache line apart. (The pattern is Dekker's store-then-load handshake, as in the Linux kernel's wait queues.)
 */
import { assert } from '../base/index.ts';
import type { Parking } from '../platform/index.ts';
import type { Bell } from './ring.ts';

const WORDS_PER_LINE = 32;

/** Shared memory for the doorbells of `threadCount` threads. */
export function createDoorbells(threadCount: number): SharedArrayBuffer {
  return new SharedArrayBuffer(threadCount * WORDS_PER_LINE * 4);
}

/** The doorbell of one thread, as that thread or any other sees it. */
export class Doorbell implements Bell {
  readonly #words: Int32Array;
  readonly #index: number;
  readonly #parking: Parking;

  /** `doorbells` is from createDoorbells; `thread` counts from 0. */
  constructor(doorbells: SharedArrayBuffer, thread: number, parking: Parking) {
    this.#words = new Int32Array(doorbells);
    this.#index = thread * WORDS_PER_LINE;
    assert(this.#index < this.#words.length, `there is no doorbell for thread ${thread}`);
    this.#parking = parking;
  }

  /** Wakes the thread if it sleeps. What it is to find must be visible already. */
  ring(): void {
    if (Atomics.load(this.#words, this.#index) === 0) return;
    if (Atomics.exchange(this.#words, this.#index, 0) === 1) this.#parking.unpark(this.#words, this.#index);
  }

  /**
   * Sleeps until the doorbell is rung or `timeoutMs` passed, but not at all if `hasWork` says, after the bell was armed,
   * that there is something to do. Only the thread that owns the doorbell calls this, and never twice at the same time.
   */
  async sleep(hasWork: () => boolean, timeoutMs: number): Promise<void> {
    assert(Atomics.load(this.#words, this.#index) === 0, 'two loops sleep on one doorbell');
    Atomics.store(this.#words, this.#index, 1);
    try {
      if (!hasWork()) await this.#parking.park(this.#words, this.#index, 1, timeoutMs);
    } finally {
      Atomics.store(this.#words, this.#index, 0);
    }
  }
}
