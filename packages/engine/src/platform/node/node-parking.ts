/**
 * Waiting for a word of shared memory without blocking the thread.
 *
 * `Atomics.waitAsync` keeps no event loop alive and its own time-outs stay queued in the loop until they are due, also
 * when the waiter was woken long before. So the time-out is a timer of ours: it keeps the loop alive, is cancelled when
 * the waiter wakes, and wakes it by ringing the word. Others who are parked on the same word then wake too, which they
 * must bear anyway.
 */
import type { Parking } from '../platform.ts';

const TIMER_DELAY_MS_MAX = 2 ** 31 - 1;

export const nodeParking: Parking = {
  async park(word, index, expected, timeoutMs) {
    const waiting = Atomics.waitAsync(word, index, expected);
    if (!waiting.async) return;
    const endless = !(timeoutMs <= TIMER_DELAY_MS_MAX);
    const timer = setTimeout(
      () => (endless ? timer.refresh() : Atomics.notify(word, index)),
      endless ? TIMER_DELAY_MS_MAX : Math.max(0, timeoutMs),
    );
    await waiting.value;
    clearTimeout(timer);
  },
  unpark(word, index) {
    Atomics.notify(word, index);
  },
};
