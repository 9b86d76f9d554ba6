/**
 * The hot path of windows of fixed size with their default trigger: where the window of a record has contents already, its
 * timers are there too, so that adding to the contents is all there is to do; no window object, no timer, no trigger.
 *
 * Right because the default triggers never purge: contents appear together with the timers (in `addSlowly`) and go with
 * the window. A window that is over (late, or within the allowed lateness) always goes the slow way. But after a restore the
 * watermark begins anew: contents of a window that was over then, and is not now, have no timer for its end any more. So where
 * windows outlive their end, and state was restored, the timer is set each time.
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
  /** Contents may have no timer for the end of their window. */
  readonly mayLackTimer: boolean;
  readonly isEventTime: boolean;
  readonly sizeMs: number;
  readonly slideMs: number;
  readonly offsetMs: number;
  readonly noTimestamp: number;
  /** The general way, for the window that starts at `startMs`; false if the window is over and gone. */
  readonly addSlowly: (startMs: number, value: In, timestampMs: number) => boolean;
  /** No window took the element. */
  readonly skipped: (value: In, timestampMs: number) => void;
  readonly missingTimestamp: () => Error;
  /** The error for what went wrong with the window that starts at `startMs`. */
  readonly failed: (startMs: number, error: unknown) => Error;
}

export const makeFixedWindowAdd = <In>(env: FixedWindowEnv<In>) => {
  const { state, scratch, timers, isEventTime, mayLackTimer, sizeMs, slideMs, offsetMs, noTimestamp } = env;
  const { addSlowly, failed } = env;
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
    for (; startMs > timeMs - sizeMs; startMs -= slideMs) {
      let isAdded = false;
      if (startMs + sizeMs - 1 > overMs) {
        scratch.start = startMs;
        scratch.end = startMs + sizeMs;
        try {
          state.setNamespace(scratch);
          isAdded = state.addIfPresent(value);
        } catch (error) {
          throw failed(startMs, error);
        }
        if (isAdded && mayLackTimer) timers.registerEventTimeTimer(scratch, startMs + sizeMs - 1);
      }
      if (isAdded || addSlowly(startMs, value, timestampMs)) isSkipped = false;
    }
    if (isSkipped) env.skipped(value, timestampMs);
  };
};
