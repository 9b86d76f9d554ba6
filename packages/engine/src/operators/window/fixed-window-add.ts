/**
 * The hot path of windows of fixed size with their default trigger: where the window of a record has contents already, its
 * timers are there too, so that adding to the contents is all there is to do; no window object, no timer, no trigger.
 *
 * Right because the default triggers never purge: contents appear together with the timers (in `addSlowly`) and go with
 * the window. A window that is over (late, or within the allowed lateness) always goes the slow way. One exception: a window
 * that was over, had fired and was kept for late elements is not over after a restart until the watermark is there again;
 * only its clean-up timer was restored. So windows that end before the last restored timer get their timers again, and so do
 * windows that are kept for ever, which have no clean-up timer.
 *
 * Where windows overlap and each record is in as many of them, the state remembers where it put the record before of the
 * same key, by the start of the newest window: the second record of a key in a slide is added without a look-up. That is
 * right as long as none of the windows is over.
 *
 * A maker for `specialise`: it refers to its parameter only. The arithmetic is that of `windowStart`.
 */

import type { TimeWindow } from './time-window.ts';
import type { FastContents } from './window-contents.ts';

export interface FixedWindowEnv<In> {
  readonly state: FastContents<In, TimeWindow>;
  /** One window object for all calls: states copy a namespace when they use it. */
  readonly scratch: TimeWindow;
  readonly timers: {
    currentWatermark(): number;
    currentProcessingTime(): number;
    registerEventTimeTimer(window: TimeWindow, timestampMs: number): void;
  };
  readonly isEventTime: boolean;
  readonly sizeMs: number;
  readonly slideMs: number;
  readonly offsetMs: number;
  readonly noTimestamp: number;
  /** Windows that end later, but before `keptFromMs`, have all their timers if they have contents. */
  readonly restoredUntilMs: number;
  readonly keptFromMs: number;
  /** Registers the timers of the window that starts at `startMs`. */
  readonly renewTimers: (startMs: number) => void;
  /**
   * The general way, for the window that starts at `startMs`; false if the window is over and gone. `isCurrent` says that
   * its namespace is the current one.
   */
  readonly addSlowly: (startMs: number, value: In, timestampMs: number, isCurrent: boolean) => boolean;
  /** No window took the element. */
  readonly skipped: (value: In, timestampMs: number) => void;
  readonly missingTimestamp: () => Error;
  /** The error for what went wrong with the window that starts at `startMs`. */
  readonly failed: (startMs: number, error: unknown) => Error;
}

export const makeFixedWindowAdd = <In>(env: FixedWindowEnv<In>) => {
  const { state, scratch, timers, isEventTime, sizeMs, slideMs, offsetMs, noTimestamp, addSlowly, failed } =
    env;
  const { restoredUntilMs, keptFromMs, renewTimers } = env;
  const windowCount = sizeMs / slideMs;
  const remembers =
    state.remember !== undefined && windowCount > 1 && windowCount <= 64 && sizeMs % slideMs === 0;
  return (value: In, timestampMs: number): void => {
    let timeMs = timestampMs;
    let overMs = -Infinity;
    if (!isEventTime) timeMs = timers.currentProcessingTime();
    else if (timestampMs === noTimestamp) throw env.missingTimestamp();
    else overMs = timers.currentWatermark();
    let startMs = Math.floor((timeMs - offsetMs) / slideMs) * slideMs + offsetMs;
    if (startMs > timeMs) startMs -= slideMs;
    else if (timeMs - startMs >= slideMs) startMs += slideMs;
    let isSkipped = true;
    const newestMs = startMs;
    // The oldest of the windows ends a slide after the newest begins.
    const isKnown = remembers && newestMs + slideMs - 1 > overMs;
    try {
      if (isKnown && state.addToRemembered!(newestMs, value)) return;
    } catch (error) {
      throw failed(newestMs, error);
    }
    let index = 0;
    for (; startMs > timeMs - sizeMs; startMs -= slideMs) {
      let isAdded = false;
      let isCurrent = false;
      if (startMs + sizeMs - 1 > overMs) {
        isCurrent = true;
        scratch.start = startMs;
        scratch.end = startMs + sizeMs;
        try {
          state.setNamespace(scratch);
          isAdded = state.addIfPresent(value);
        } catch (error) {
          throw failed(startMs, error);
        }
      }
      const lastMs = startMs + sizeMs - 1;
      if (isAdded && (lastMs <= restoredUntilMs || lastMs >= keptFromMs)) renewTimers(startMs);
      if (isAdded || addSlowly(startMs, value, timestampMs, isCurrent)) isSkipped = false;
      if (isKnown) state.remember!(newestMs, index++, windowCount);
    }
    if (isSkipped) env.skipped(value, timestampMs);
  };
};
