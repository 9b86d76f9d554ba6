/** Real time, timers, randomness and hashing of Node. */
import { createHash, randomBytes } from 'node:crypto';
import type { Clock, Random, TimerHandle, Timers } from '../platform.ts';

/** The longest delay that `setTimeout` knows; it takes longer ones for 1 ms. */
const TIMER_DELAY_MS_MAX = 2 ** 31 - 1;
/** Random numbers are drawn in blocks: one call of the generator costs a microsecond. */
const RANDOM_BLOCK = 256;

export const nodeClock: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
};

export const nodeTimers: Timers = {
  after: (delayMs, callback) => setTimer(delayMs, callback),
  yieldToEventLoop: () => new Promise((resolve) => setImmediate(resolve)),
};

/** A timer of any length: long ones are set again and again. */
function setTimer(delayMs: number, callback: () => void): TimerHandle {
  const dueMs = performance.now() + delayMs;
  let timer: NodeJS.Timeout;
  const arm = (remainingMs: number): void => {
    timer = setTimeout(fire, Math.min(TIMER_DELAY_MS_MAX, Math.max(0, remainingMs)));
  };
  const fire = (): void => {
    // setTimeout may be up to a millisecond early by this clock.
    const remainingMs = dueMs - performance.now();
    if (remainingMs > 0) arm(Math.ceil(remainingMs));
    else callback();
  };
  arm(delayMs);
  return { cancel: () => clearTimeout(timer) };
}

/** Cryptographically strong, so that ids made from it do not meet. */
export function createNodeRandom(): Random {
  let block = new Uint32Array(0);
  let used = 0;
  const word = (): number => {
    if (used + 2 > block.length) {
      const bytes = randomBytes(RANDOM_BLOCK * 4);
      block = new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
      used = 0;
    }
    return block[used++]!;
  };
  return {
    next: () => ((word() >>> 5) * 2 ** 26 + (word() >>> 6)) / 2 ** 53,
    hex: (bytes) => randomBytes(bytes).toString('hex'),
  };
}

/** SHA-256. */
export function nodeHasher(): { update(bytes: Uint8Array): void; digestHex(): string } {
  const hash = createHash('sha256');
  return {
    update: (bytes) => {
      hash.update(bytes);
    },
    digestHex: () => hash.digest('hex'),
  };
}
