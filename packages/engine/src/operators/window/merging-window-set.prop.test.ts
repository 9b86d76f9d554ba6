/** The merging window set against sorting all windows and joining those that touch. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type MergingRules, MergingWindowSet, windowEquality } from './merging-window-set.ts';
import { TIME_WINDOW_TYPE, TimeWindow } from './time-window.ts';

const sessions: MergingRules<TimeWindow> = {
  isSame: windowEquality(TIME_WINDOW_TYPE),
  mergeWindows: (windows, callback) => TimeWindow.mergeWindows(windows, callback),
};

const anyWindow = fc
  .tuple(fc.integer({ min: -100, max: 100 }), fc.integer({ min: 1, max: 30 }))
  .map(([start, length]) => new TimeWindow(start, start + length));

/** Sessions by the definition: sort, join while the next one begins at or before the end. */
function joined(windows: readonly TimeWindow[]): TimeWindow[] {
  const result: TimeWindow[] = [];
  for (const window of [...windows].sort((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (last !== undefined && window.start <= last.end) last.end = Math.max(last.end, window.end);
    else result.push(new TimeWindow(window.start, window.end));
  }
  return result;
}

describe('a merging window set', () => {
  it('holds the sessions of all windows that were added, in any order', () => {
    fc.assert(
      fc.property(fc.array(anyWindow, { maxLength: 30 }), (windows) => {
        const set = new MergingWindowSet(sessions, []);
        for (const window of windows) set.add(window);
        deepStrictEqual(
          set.contents.map(([window]) => window).sort((a, b) => a.start - b.start),
          joined(windows),
        );
      }),
    );
  });

  it('keeps what was put under a state window findable through every merge, once', () => {
    fc.assert(
      fc.property(fc.array(anyWindow, { maxLength: 30 }), (windows) => {
        let set = new MergingWindowSet(sessions, []);
        const state = new Map<string, number>();
        for (const added of windows) {
          const { window, merges } = set.add(added);
          for (const { stateWindow: target, mergedStateWindows } of merges) {
            for (const source of mergedStateWindows) {
              state.set(`${target}`, (state.get(`${target}`) ?? 0) + state.get(`${source}`)!);
              state.delete(`${source}`);
            }
          }
          const stateWindow = `${set.stateWindowOf(window)}`;
          state.set(stateWindow, (state.get(stateWindow) ?? 0) + 1);
          set = new MergingWindowSet(sessions, set.contents);
        }
        strictEqual(state.size, set.contents.length);
        for (const [window, stateWindow] of set.contents) {
          const inside = windows.filter((each) => each.start >= window.start && each.end <= window.end);
          strictEqual(state.get(`${stateWindow}`), inside.length);
        }
      }),
    );
  });

  it('tells of no merge for a window that is inside one, and is then unchanged', () => {
    const set = new MergingWindowSet(sessions, [[new TimeWindow(0, 20), new TimeWindow(0, 10)]]);
    const { window, merges } = set.add(new TimeWindow(5, 15));
    strictEqual(`${window}`, '[0, 20)');
    deepStrictEqual(merges, []);
    ok(!set.isChanged);
  });

  it('lets a window grow without moving its state', () => {
    const set = new MergingWindowSet(sessions, [[new TimeWindow(0, 10), new TimeWindow(0, 10)]]);
    const { window, merges } = set.add(new TimeWindow(10, 25));
    strictEqual(`${window}`, '[0, 25)');
    deepStrictEqual(merges[0]?.merged, [new TimeWindow(0, 10)]);
    deepStrictEqual(merges[0]?.mergedStateWindows, []);
    strictEqual(`${set.stateWindowOf(window)}`, '[0, 10)');
  });

  it('forgets a window that is retired', () => {
    const window = new TimeWindow(0, 10);
    const set = new MergingWindowSet(sessions, [[window, window]]);
    set.retire(new TimeWindow(0, 10));
    strictEqual(set.stateWindowOf(window), undefined);
    ok(set.isChanged);
  });
});
