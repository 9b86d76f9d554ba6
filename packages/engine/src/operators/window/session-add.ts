/**
 * The hot path of sessions of event time with their default trigger: a record that falls into one session, which is not
 * over, lets it grow. Its contents stay where they are, its timers move to the new end, its entry of the merging windows
 * is replaced; nothing merges. That is what the general way comes to, where the trigger's onMerge and clear do the same to
 * the timers. All else (the first record of a session, sessions that meet, late records) goes the general way.
 *
 * A maker for `specialise`: it refers to its parameter only.
 */
import type { ListState } from '../../state/index.ts';
import type { WindowAndState } from './merging-window-set.ts';
import type { TimeWindow } from './time-window.ts';
import type { WindowContents } from './window-contents.ts';

export interface SessionAddEnv<In> {
  /** The merging windows of the current key. */
  readonly sets: ListState<WindowAndState<TimeWindow>>;
  readonly contents: Pick<WindowContents<In, TimeWindow>, 'setNamespace' | 'add'>;
  readonly timers: { currentWatermark(): number };
  /** The session that the record would be by itself; undefined if the general way is to find out why there is none. */
  readonly assign: (value: In, timestampMs: number) => TimeWindow | undefined;
  /** True if start and end are timestamps. */
  readonly isInRange: (window: TimeWindow) => boolean;
  /** Sessions that end later, but before `keptFromMs`, have all their timers (fixed-window-add.ts). */
  readonly restoredUntilMs: number;
  readonly keptFromMs: number;
  /** Registers the timers of `grown`, and deletes those of `window` unless the two are the same. */
  readonly moveTimers: (window: TimeWindow, grown: TimeWindow) => void;
  /** The general way. */
  readonly addSlowly: (value: In, timestampMs: number) => void;
  readonly failed: (error: unknown) => Error;
}

export const makeSessionAdd = <In>(env: SessionAddEnv<In>) => {
  const { sets, contents, timers, assign, isInRange, moveTimers, addSlowly, failed } = env;
  const { restoredUntilMs, keptFromMs } = env;
  return (value: In, timestampMs: number): void => {
    const added = assign(value, timestampMs);
    if (added === undefined) return addSlowly(value, timestampMs);
    const entries = sets.get();
    let touched = -1;
    for (let i = 0; i < entries.length; i++) {
      if (!entries[i]![0].intersects(added)) continue;
      if (touched >= 0) return addSlowly(value, timestampMs);
      touched = i;
    }
    if (touched < 0) return addSlowly(value, timestampMs);
    const [window, stateWindow] = entries[touched]!;
    const cover = window.cover(added);
    const grown = cover.equals(window) ? window : cover;
    const lastMs = window.maxTimestamp();
    if (lastMs <= timers.currentWatermark() || !isInRange(grown)) return addSlowly(value, timestampMs);
    if (grown !== window || lastMs <= restoredUntilMs || lastMs >= keptFromMs) moveTimers(window, grown);
    if (grown !== window) {
      sets.update(entries.with(touched, [grown, stateWindow]));
    }
    contents.setNamespace(stateWindow);
    try {
      contents.add(value, timestampMs);
    } catch (error) {
      throw failed(error);
    }
  };
};
