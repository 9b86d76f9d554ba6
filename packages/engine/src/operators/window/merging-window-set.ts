/**
 * The merging windows of one key (sessions): which windows there are, and under which window the state of each is kept
 * (Flink's MergingWindowSet). When windows merge, the result keeps the state of the first of them; the state of the others
 * is merged into it. So a window that grows does not move its state.
 *
 *     windows     [0, 30)      [50, 80)          + [25, 60)  =>   [0, 80)
 *     state       [0, 10)      [50, 80)                           [0, 10)   after mergeNamespaces([0, 10), [[50, 80)])
 *
 * Invariants:
 * I1 Windows are different from each other, and so are state windows.
 * I2 No windows are left that the assigner would merge.
 * A value object around what keyed state holds; the window operator loads and stores it.
 */
import { MillraceError } from '../../base/index.ts';
import { createKeySerializer, encodeToBytes, type TypeInformation } from '../../types/index.ts';
import { type MergeCallback, TIME_WINDOW_TYPE, type TimeWindow } from './time-window.ts';

/** A window and the window that its state is kept under. What keyed state holds for it. */
export type WindowAndState<W> = [window: W, stateWindow: W];

/** What happened to windows of the set when a window was added. */
export interface WindowMerge<W> {
  readonly result: W;
  /** Windows that are gone, without the result and without the new one. */
  readonly merged: readonly W[];
  readonly stateWindow: W;
  /** Their contents belong into `stateWindow` now. */
  readonly mergedStateWindows: readonly W[];
}

/** Which windows are equal, and which merge: those of the assigner. */
export interface MergingRules<W> {
  isSame(a: W, b: W): boolean;
  mergeWindows(windows: readonly W[], callback: MergeCallback<W>): void;
}

export class MergingWindowSet<W> {
  private readonly rules: MergingRules<W>;
  private entries: WindowAndState<W>[];
  private changed = false;

  constructor(rules: MergingRules<W>, entries: readonly WindowAndState<W>[]) {
    this.rules = rules;
    this.entries = [...entries];
  }

  /** True if the set differs from what it was made of. */
  get isChanged(): boolean {
    return this.changed;
  }

  /** For keyed state. */
  get contents(): readonly WindowAndState<W>[] {
    return this.entries;
  }

  /**
   * Adds `added`, merging windows as the assigner says: answers the window that holds it now, and what became of those
   * that were there. Throws INVALID_ARGUMENT if the assigner does not merge a window that it merged before.
   */
  add(added: W): { readonly window: W; readonly merges: readonly WindowMerge<W>[] } {
    const known = this.find(added);
    if (known !== undefined) return { window: known[0], merges: [] };
    const groups: { readonly merged: readonly W[]; readonly result: W }[] = [];
    const windows = [...this.entries.map(([each]) => each), added];
    this.rules.mergeWindows(windows, (merged, result) => groups.push({ merged: [...merged], result }));
    let holder: W | undefined;
    const merges: WindowMerge<W>[] = [];
    for (const { merged, result } of groups) {
      const merge = this.unite(merged, result);
      if (merge !== undefined) merges.push(merge);
      if (merged.some((each) => this.rules.isSame(each, added))) holder = result;
    }
    if (holder === undefined) this.insertNew(added);
    return { window: holder ?? added, merges };
  }

  /** undefined if the set has no such window. */
  stateWindowOf(window: W): W | undefined {
    return this.find(window)?.[1];
  }

  retire(window: W): void {
    const entry = this.find(window);
    if (entry === undefined) return;
    this.changed = true;
    this.entries = this.entries.filter((each) => each !== entry);
  }

  private find(window: W): WindowAndState<W> | undefined {
    return this.entries.find(([each]) => this.rules.isSame(each, window));
  }

  /** Makes one entry of those of `merged`, if the set has any; undefined if nothing happened to them. */
  private unite(merged: readonly W[], result: W): WindowMerge<W> | undefined {
    const { isSame } = this.rules;
    const entries: WindowAndState<W>[] = [];
    const old: WindowAndState<W>[] = [];
    for (const entry of this.entries) {
      const [window] = entry;
      if (!isSame(window, result) && !merged.some((each) => isSame(each, window))) entries.push(entry);
      // The result takes the place of the first.
      else if (old.push(entry) === 1) entries.push([result, entry[1]]);
    }
    const [first, ...others] = old;
    if (first === undefined) {
      this.insertNew(result);
      return undefined;
    }
    if (others.length === 0 && isSame(first[0], result)) return undefined;
    this.changed = true;
    this.entries = entries;
    return {
      result,
      merged: old.map(([each]) => each).filter((each) => !isSame(each, result)),
      stateWindow: first[1],
      mergedStateWindows: others.map(([, each]) => each),
    };
  }

  private insertNew(window: W): void {
    const holder = this.entries.find(([, stateWindow]) => this.rules.isSame(stateWindow, window));
    if (holder !== undefined) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `mergeWindows merged the window ${String(window)} into ${String(holder[0])} before, and does not do so now: windows that ` +
          'were merged must be merged again.',
      );
    }
    this.changed = true;
    this.entries.push([window, window]);
  }
}

/** Whether two windows of this type are equal: by what is stored of them. */
export function windowEquality<W>(type: TypeInformation<W>): (a: W, b: W) => boolean {
  const known: TypeInformation<unknown> = type;
  if (known === TIME_WINDOW_TYPE) return (a, b) => (a as TimeWindow).equals(b as TimeWindow);
  const serializer = createKeySerializer(type, 'windows');
  return (a, b) =>
    a === b || Buffer.compare(encodeToBytes(serializer, a), encodeToBytes(serializer, b)) === 0;
}
