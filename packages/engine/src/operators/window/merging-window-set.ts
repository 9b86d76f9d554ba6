/**
 * The session windows of one key: which windows there are, and under which window the state of each is kept (Flink's
 * MergingWindowSet). When windows merge, the result keeps the state of the first of them; the state of the others is merged
 * into it. So a window that grows does not move its state.
 *
 *     windows     [0, 30)      [50, 80)          + [25, 60)  =>   [0, 80)
 *     state       [0, 10)      [50, 80)                           [0, 10)   after mergeNamespaces([0, 10), [[50, 80)])
 *
 * Invariants:
 * I1 No two windows of the set intersect or touch.
 * I2 State windows are different from each other.
 * A value object around what keyed state holds; the window operator loads and stores it.
 */
import type { TimeWindow } from './time-window.ts';

/** A window and the window that its state is kept under. What keyed state holds for it. */
export type WindowAndState = [window: TimeWindow, stateWindow: TimeWindow];

/** What happened when a window was added. */
export interface WindowMerge {
  readonly result: TimeWindow;
  /** Windows that are gone, without the result and without the new one. */
  readonly merged: readonly TimeWindow[];
  readonly stateWindow: TimeWindow;
  /** Their contents belong into `stateWindow` now. */
  readonly mergedStateWindows: readonly TimeWindow[];
}

export class MergingWindowSet {
  private entries: WindowAndState[];
  private changed = false;

  constructor(entries: readonly WindowAndState[]) {
    this.entries = [...entries];
  }

  /** True if the set differs from what it was made of. */
  get isChanged(): boolean {
    return this.changed;
  }

  /** For keyed state: in order of the windows. */
  get contents(): readonly WindowAndState[] {
    return this.entries;
  }

  /**
   * Adds `window`, merging it with those that it intersects or touches. Answers the merge if windows of the set are gone
   * or grew, else undefined; `windowOf` gives the window that holds the new one in any case.
   */
  add(window: TimeWindow): { readonly window: TimeWindow; readonly merge: WindowMerge | undefined } {
    const touched = this.entries.filter(([each]) => each.intersects(window));
    const [first] = touched;
    if (first === undefined) {
      this.insert([window, window]);
      return { window, merge: undefined };
    }
    const result = touched.reduce((cover, [each]) => cover.cover(each), window);
    if (touched.length === 1 && result.equals(first[0])) return { window: first[0], merge: undefined };
    this.entries = this.entries.filter((each) => !touched.includes(each));
    const stateWindow = first[1];
    this.insert([result, stateWindow]);
    const merged = touched.map(([each]) => each).filter((each) => !each.equals(result));
    const mergedStateWindows = touched.slice(1).map(([, each]) => each);
    return { window: result, merge: { result, merged, stateWindow, mergedStateWindows } };
  }

  /** undefined if the set has no such window. */
  stateWindowOf(window: TimeWindow): TimeWindow | undefined {
    return this.entries.find(([each]) => each.equals(window))?.[1];
  }

  retire(window: TimeWindow): void {
    const left = this.entries.filter(([each]) => !each.equals(window));
    if (left.length !== this.entries.length) this.changed = true;
    this.entries = left;
  }

  private insert(entry: WindowAndState): void {
    this.changed = true;
    const at = this.entries.findIndex(([each]) => each.start > entry[0].start);
    this.entries.splice(at < 0 ? this.entries.length : at, 0, entry);
  }
}
