/**
 * Timers that are known to be registered, of the windows that records came into lately. Triggers register the same timers
 * for each record of a window; here it is seen without asking the timer queues, which would encode and hash the window and
 * look at its row, each time.
 *
 *   slot of a key and window:   start | end | key hash | unused | two timers of event time | two of processing time
 *
 * A key and window has one slot; another one with the same slot displaces it. Of each kind the last two timers are known.
 * For windows of time that do not merge, which their start and end tell apart. Called by the operator and its trigger context.
 *
 * Invariants:
 * I1 A timer in a slot is registered. Timers go when they are deleted or fire, and the operator says so (`noteGone`); nobody
 *    else has these timers, and after a restart nothing is known.
 */
import type { TimeWindow } from './time-window.ts';

const SLOTS_LOG = 12;
const SLOT_WIDTH = 8;
const START = 0;
const END = 1;
const HASH = 2;
/** 2^32 / golden ratio: multiplicative hashing after Knuth. */
const GOLDEN = 0x9e3779b1;
const NONE = -1;

/** Where the timers of a kind are in a slot. */
export const EVENT_TIMERS = 4;
export const PROCESSING_TIMERS = 6;
export type TimerKind = typeof EVENT_TIMERS | typeof PROCESSING_TIMERS;

/** Of KeyedStateBackend. */
interface CurrentKey {
  readonly currentKey: unknown;
  readonly currentKeyHash: number;
}

export class KnownTimers {
  private readonly backend: CurrentKey;
  private readonly keys: unknown[] = new Array<unknown>(1 << SLOTS_LOG).fill(undefined);
  /** NaN, which equals nothing, where there is nothing. */
  private readonly slots = new Float64Array(SLOT_WIDTH << SLOTS_LOG).fill(Number.NaN);
  /** Where the selected slot begins. */
  private at = NONE;

  constructor(backend: CurrentKey) {
    this.backend = backend;
  }

  /** From now on timers are those of the current key and this window. */
  select(window: TimeWindow): void {
    const { slots, backend } = this;
    const { start, end } = window;
    const key = backend.currentKey;
    // An object may change and be another key.
    if (typeof key === 'object') return this.deselect();
    const hash = backend.currentKeyHash;
    const at = placeOf(hash, start);
    const isSame = slots[at + START] === start && slots[at + END] === end && slots[at + HASH] === hash;
    if (!isSame || this.keys[at / SLOT_WIDTH] !== key) {
      this.keys[at / SLOT_WIDTH] = key;
      slots.fill(Number.NaN, at, at + SLOT_WIDTH);
      slots[at + START] = start;
      slots[at + END] = end;
      slots[at + HASH] = hash;
    }
    this.at = at;
  }

  /** From now on nothing is known. */
  deselect(): void {
    this.at = NONE;
  }

  /** True if this timer of the current key is known, and `window` is the one that was selected. */
  has(kind: TimerKind, timestampMs: number, window: TimeWindow): boolean {
    const { slots, at } = this;
    if (at === NONE || (slots[at + kind] !== timestampMs && slots[at + kind + 1] !== timestampMs))
      return false;
    return this.isSelected(window);
  }

  /** The timer was registered, and is not known yet. */
  noteRegistered(kind: TimerKind, timestampMs: number, window: TimeWindow): void {
    const { slots, at } = this;
    if (at === NONE || !this.isSelected(window)) return;
    slots[at + kind + 1] = slots[at + kind]!;
    slots[at + kind] = timestampMs;
  }

  /** The timer of the current key and `window`, whichever is selected, is there no longer. */
  noteGone(kind: TimerKind, timestampMs: number, window: TimeWindow): void {
    const { slots } = this;
    const at = placeOf(this.backend.currentKeyHash, window.start);
    // If the slot is another key's, somebody will ask for what is there once more.
    for (let i = at + kind; i < at + kind + 2; i++) if (slots[i] === timestampMs) slots[i] = Number.NaN;
  }

  /** False if the window that was selected is another one by now: whose it is can change it. */
  private isSelected(window: TimeWindow): boolean {
    const { slots, at } = this;
    return slots[at + START] === window.start && slots[at + END] === window.end;
  }
}

/** Where the slot of a key and window begins. */
function placeOf(hash: number, start: number): number {
  return (Math.imul(hash ^ Math.imul(start, GOLDEN), GOLDEN) >>> (32 - SLOTS_LOG)) * SLOT_WIDTH;
}
