/**
 * A window of time (org.apache.flink.streaming.api.windowing.windows.TimeWindow), and its arithmetic.
 *
 *     start                                    end
 *     |----------------------------------------|      start <= t < end;  maxTimestamp() = end - 1
 */
import { type TypeInformation, Types } from '../../types/index.ts';
import { Window } from './window.ts';

/** The elements from `start` to before `end`, both in milliseconds. */
export class TimeWindow extends Window {
  /** First millisecond of the window. */
  start: number;
  /** First millisecond after it. */
  end: number;

  constructor(start = 0, end = 0) {
    super();
    this.start = start;
    this.end = end;
  }

  /** The last millisecond that belongs to the window. */
  override maxTimestamp(): number {
    return this.end - 1;
  }

  /** True for a window with the same start and end. */
  equals(other: TimeWindow): boolean {
    return this.start === other.start && this.end === other.end;
  }

  /** True also if the windows only touch (as in Flink: sessions whose gap is just over are one). */
  intersects(other: TimeWindow): boolean {
    return this.start <= other.end && this.end >= other.start;
  }

  /** The smallest window that holds both. */
  cover(other: TimeWindow): TimeWindow {
    return new TimeWindow(Math.min(this.start, other.start), Math.max(this.end, other.end));
  }

  override toString(): string {
    return `[${this.start}, ${this.end})`;
  }

  /** For assigners of sessions: merges windows that intersect or touch, and tells `callback` of those that were merged. */
  static mergeWindows(windows: readonly TimeWindow[], callback: MergeCallback<TimeWindow>): void {
    // Most often there is one session, and an element that comes after its start.
    const isInOrder = windows.every((window, i) => i === 0 || windows[i - 1]!.start <= window.start);
    const sorted = isInOrder ? windows : [...windows].sort((a, b) => a.start - b.start);
    let merged: TimeWindow[] = [];
    let cover: TimeWindow | undefined;
    const tell = (): void => {
      if (merged.length > 1) callback(merged, cover!);
    };
    for (const window of sorted) {
      if (cover?.intersects(window)) {
        cover = cover.cover(window);
        merged.push(window);
      } else {
        tell();
        cover = window;
        merged = [window];
      }
    }
    tell();
  }
}

/** Windows may end with time itself, but those of time have a start and an end that are timestamps too. */
export function isInRange(window: Window): boolean {
  if (!(window instanceof TimeWindow)) return Number.isSafeInteger(window.maxTimestamp());
  return Number.isSafeInteger(window.start) && Number.isSafeInteger(window.end);
}

/** `merged` are one window from now on: `result`. */
export type MergeCallback<W> = (merged: readonly W[], result: W) => void;

/** How windows are stored as namespaces of state and timers. */
export const TIME_WINDOW_TYPE: TypeInformation<TimeWindow> = Types.POJO(TimeWindow, {
  start: Types.LONG,
  end: Types.LONG,
});

/**
 * Start of the window of `sizeMs` that holds `timestampMs`, where windows start at multiples of the size plus `offsetMs`.
 * Exact for safe integers: the quotient is corrected by one where its rounding crossed an integer. (Division and floor are
 * several times faster than the remainder of large doubles.)
 */
export function windowStart(timestampMs: number, offsetMs: number, sizeMs: number): number {
  const start = Math.floor((timestampMs - offsetMs) / sizeMs) * sizeMs + offsetMs;
  if (start > timestampMs) return start - sizeMs;
  return timestampMs - start >= sizeMs ? start + sizeMs : start;
}
