/**
 * The hot path of windows of fixed size with any trigger: what the general way of the operator does (`addElement`), without
 * making windows: of each that is current there is one object, which the trigger gets again and again.
 *
 * What is fast is little in the common case, that key and window had a record lately: contents are added to where they were
 * found the last time, and timers that are known to be registered (known-timers.ts) are not registered again. The trigger is
 * called for each record in any case.
 *
 * A window that had contents before has its clean-up timer (I1 of the operator): triggers cannot delete it, and when it fires
 * the contents go. After a restart that holds for windows that end after all restored timers: the allowed lateness, and with
 * it the time of that timer, may be another one now. It does not hold of a trigger that changes its windows, which is noticed.
 *
 * Nobody sees that window objects are used again: one that somebody changed is not, nor is one that went to a window
 * function, which may have emitted it.
 *
 * A maker for `specialise`: it refers to its parameter only. The arithmetic is that of `windowStart`.
 */
import type { KnownTimers } from './known-timers.ts';
import type { TimeWindow } from './time-window.ts';
import type { Trigger, TriggerResult } from './trigger.ts';
import type { FastContents, WindowContents } from './window-contents.ts';
import type { WindowTriggerContext } from './window-function-context.ts';

export interface TriggeredWindowEnv<In> {
  readonly contents: Pick<WindowContents<In, TimeWindow>, 'setNamespace' | 'add'>;
  /** What is faster of them, if anything is. */
  readonly fast: Omit<FastContents<In, TimeWindow>, 'setNamespace'> | undefined;
  readonly trigger: Trigger<In>;
  readonly triggerContext: WindowTriggerContext<TimeWindow>;
  readonly known: Pick<KnownTimers, 'select' | 'deselect'> | undefined;
  readonly timers: { currentWatermark(): number; currentProcessingTime(): number };
  readonly isEventTime: boolean;
  readonly sizeMs: number;
  readonly slideMs: number;
  readonly offsetMs: number;
  readonly latenessMs: number;
  /** Windows that end later have their clean-up timer if they have contents. */
  readonly restoredUntilMs: number;
  readonly noTimestamp: number;
  readonly maxWatermark: number;
  /** The window that starts at `startMs`; throws if there are no such timestamps. */
  readonly windowAt: (startMs: number) => TimeWindow;
  /** Does what the trigger said, which is not to go on. The namespace of the contents is that of the window. */
  readonly act: (result: TriggerResult, window: TimeWindow) => void;
  /** No window took the element. */
  readonly skipped: (value: In, timestampMs: number) => void;
  readonly missingTimestamp: () => Error;
  readonly contentsFailed: (error: unknown) => Error;
  readonly triggerFailed: (error: unknown) => Error;
}

export const makeTriggeredWindowAdd = <In>(env: TriggeredWindowEnv<In>) => {
  const { contents, fast, trigger, triggerContext, known, timers, isEventTime, windowAt } = env;
  const { sizeMs, slideMs, offsetMs, latenessMs, noTimestamp, maxWatermark } = env;
  /** Those of the last record, the last first; not too many. */
  const windows: (TimeWindow | undefined)[] = [];
  const keptMax = 64;
  // The state remembers one window of a key.
  const remembers = sizeMs === slideMs && fast?.remember !== undefined;
  let isCleanedUpAfterMs = env.restoredUntilMs;
  const addTo = (window: TimeWindow, startMs: number, value: In, timestampMs: number): boolean => {
    let isPresent = true;
    try {
      if (!remembers || !fast.addToRemembered!(startMs, value)) {
        contents.setNamespace(window);
        isPresent = fast?.addIfPresent(value) ?? false;
        if (!isPresent) contents.add(value, timestampMs);
        if (remembers) fast.remember!(startMs, 0, 1);
      }
    } catch (error) {
      throw env.contentsFailed(error);
    }
    known?.select(window);
    triggerContext.window = window;
    let result: TriggerResult;
    try {
      result = trigger.onElement(value, timestampMs, window, triggerContext);
    } catch (error) {
      throw env.triggerFailed(error);
    }
    if (result !== 'CONTINUE') {
      // A window that the trigger changed still is that of the contents.
      if (remembers) contents.setNamespace(windowAt(startMs));
      env.act(result, window);
    }
    const endMs = window.maxTimestamp();
    // Its timers are no longer those of the window that has the contents.
    if (window.start !== startMs || endMs !== startMs + sizeMs - 1) isCleanedUpAfterMs = Infinity;
    if (!isPresent || endMs <= isCleanedUpAfterMs) {
      if (!isEventTime) triggerContext.registerProcessingTimeTimer(endMs);
      else if (endMs + latenessMs < maxWatermark) triggerContext.registerEventTimeTimer(endMs + latenessMs);
    }
    known?.deselect();
    return result === 'CONTINUE';
  };
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
    for (let i = 0; startMs > timeMs - sizeMs; startMs -= slideMs, i++) {
      if (Math.min(startMs + sizeMs - 1 + latenessMs, maxWatermark) <= overMs) continue;
      isSkipped = false;
      let window = windows[i];
      if (window === undefined || window.start !== startMs || window.end !== startMs + sizeMs) {
        window = windowAt(startMs);
      }
      const isOurs = addTo(window, startMs, value, timestampMs);
      if (i < keptMax) windows[i] = isOurs ? window : undefined;
    }
    if (isSkipped) env.skipped(value, timestampMs);
  };
};
