/**
 * Which windows an element belongs to (org.apache.flink.streaming.api.windowing.assigners): the contract between assigners and
 * the window operator, and the assigners of windows of time. All sizes, slides, gaps and offsets are milliseconds or texts
 * such as '1 h'; windows of fixed size start at multiples of the slide plus the offset, counted from 1970-01-01T00:00Z.
 */
import { type Duration, durationMs, ignoreRejection, MillraceError } from '../../base/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import { assertSynchronous, describe } from '../user-result.ts';
import { EventTimeTrigger, ProcessingTimeTrigger } from './time-trigger.ts';
import { type MergeCallback, TIME_WINDOW_TYPE, TimeWindow, windowStart } from './time-window.ts';
import type { Trigger } from './trigger.ts';
import type { Window } from './window.ts';

/** What an assigner may ask. Valid during the call only. */
export interface WindowAssignerContext {
  /** Milliseconds since the epoch. */
  getCurrentProcessingTime(): number;
}

declare const ASSIGNS: unique symbol;

/** Assigns windows of type W to elements of type T. Must be a pure function of the element, its timestamp and the context. */
export abstract class WindowAssigner<T = unknown, W extends Window = TimeWindow> {
  /** For the compiler: an assigner for certain elements is none for all. */
  declare readonly [ASSIGNS]?: (value: T) => void;

  /** How windows are kept in state and compared: `Types.POJO(MyWindow, { … })` with the fields that tell them apart. */
  abstract readonly windowType: TypeInformation<W>;

  /** The windows of an element; none is allowed. `timestampMs` is NO_TIMESTAMP if it has none. */
  abstract assignWindows(value: T, timestampMs: number, context: WindowAssignerContext): Iterable<W>;

  /** The trigger unless the user chooses another. */
  abstract getDefaultTrigger(): Trigger<T, W>;

  /** True: windows end by watermarks, and elements need timestamps. False: by the time of the machine. */
  abstract isEventTime(): boolean;

  /** As it appears in error messages. */
  toString(): string {
    return this.constructor.name;
  }
}

/** An assigner whose windows may grow together, such as sessions. */
export abstract class MergingWindowAssigner<
  T = unknown,
  W extends Window = TimeWindow,
> extends WindowAssigner<T, W> {
  /**
   * Calls `callback` for each group of `windows`, which are those of one key, that are one window from now on. A window is
   * in at most one group.
   */
  abstract mergeWindows(windows: readonly W[], callback: MergeCallback<W>): void;
}

export function isMerging<T, W extends Window>(
  assigner: WindowAssigner<T, W>,
): assigner is MergingWindowAssigner<T, W> {
  return 'mergeWindows' in assigner;
}

/** Windows of fixed size; the window operator computes them itself, without objects. */
export interface FixedWindowGrid {
  readonly sizeMs: number;
  /** Equal to the size for tumbling windows. */
  readonly slideMs: number;
  readonly offsetMs: number;
}

/** The grid of an assigner of this file for windows of fixed size; undefined for all others, and for what extends those. */
export function gridOf(assigner: object): FixedWindowGrid | undefined {
  if (!(assigner instanceof FixedWindows)) return undefined;
  return assigner.assignWindows === FixedWindows.prototype.assignWindows ? assigner.grid : undefined;
}

/** True for the sessions of this file, and for what extends them and merges as they do. */
export function isSessions(assigner: object): boolean {
  return (
    assigner instanceof SessionWindows && assigner.mergeWindows === SessionWindows.prototype.mergeWindows
  );
}

abstract class FixedWindows extends WindowAssigner {
  readonly windowType = TIME_WINDOW_TYPE;
  /** For `gridOf`. @internal */
  readonly grid: FixedWindowGrid;

  protected constructor(grid: FixedWindowGrid) {
    super();
    this.grid = grid;
    const { sizeMs, slideMs, offsetMs } = grid;
    checkLength(this.name, 'size', sizeMs);
    checkLength(this.name, 'slide', slideMs);
    if (!Number.isSafeInteger(offsetMs) || Math.abs(offsetMs) >= slideMs) {
      const what = sizeMs === slideMs ? 'size' : 'slide';
      throw invalid(
        `${this.name}: the offset must be an integer between -${what} and +${what}, found ${offsetMs}.`,
      );
    }
  }

  private get name(): string {
    return this.constructor.name;
  }

  /** The last first. */
  assignWindows(_value: unknown, timestampMs: number, context: WindowAssignerContext): TimeWindow[] {
    const timeMs = this.isEventTime() ? timestampMs : context.getCurrentProcessingTime();
    const { sizeMs, slideMs, offsetMs } = this.grid;
    const windows: TimeWindow[] = [];
    for (let start = windowStart(timeMs, offsetMs, slideMs); start > timeMs - sizeMs; start -= slideMs) {
      windows.push(new TimeWindow(start, start + sizeMs));
    }
    return windows;
  }

  getDefaultTrigger(): Trigger {
    return this.isEventTime() ? EventTimeTrigger.create() : ProcessingTimeTrigger.create();
  }

  override toString(): string {
    const { sizeMs, slideMs, offsetMs } = this.grid;
    return `${this.name}(${sizeMs}${slideMs === sizeMs ? '' : `, ${slideMs}`}${offsetMs === 0 ? '' : `, offset ${offsetMs}`})`;
  }
}

/** Windows of event time, one after the other. */
export class TumblingEventTimeWindows extends FixedWindows {
  isEventTime(): boolean {
    return true;
  }

  /** Throws INVALID_ARGUMENT unless the size is positive and |offset| < size. */
  static of(size: Duration, offset: Duration = 0): TumblingEventTimeWindows {
    const sizeMs = toMs(size, 'TumblingEventTimeWindows.of');
    return new TumblingEventTimeWindows({
      sizeMs,
      slideMs: sizeMs,
      offsetMs: toMs(offset, 'TumblingEventTimeWindows.of'),
    });
  }
}

/** Windows by the clock of the machine, one after the other. */
export class TumblingProcessingTimeWindows extends FixedWindows {
  isEventTime(): boolean {
    return false;
  }

  /** Windows of length `size`, one after the other. */
  static of(size: Duration, offset: Duration = 0): TumblingProcessingTimeWindows {
    const sizeMs = toMs(size, 'TumblingProcessingTimeWindows.of');
    return new TumblingProcessingTimeWindows({
      sizeMs,
      slideMs: sizeMs,
      offsetMs: toMs(offset, 'TumblingProcessingTimeWindows.of'),
    });
  }
}

/** Windows of event time, a new one each slide: they overlap if the slide is less than the size. */
export class SlidingEventTimeWindows extends FixedWindows {
  isEventTime(): boolean {
    return true;
  }

  /** Throws INVALID_ARGUMENT unless size and slide are positive and |offset| < slide. */
  static of(size: Duration, slide: Duration, offset: Duration = 0): SlidingEventTimeWindows {
    const [sizeMs, slideMs, offsetMs] = [size, slide, offset].map((length) =>
      toMs(length, 'SlidingEventTimeWindows.of'),
    );
    return new SlidingEventTimeWindows({ sizeMs: sizeMs!, slideMs: slideMs!, offsetMs: offsetMs! });
  }
}

/** Windows by the clock of the machine, a new one each slide. */
export class SlidingProcessingTimeWindows extends FixedWindows {
  isEventTime(): boolean {
    return false;
  }

  /** Windows of length `size`, one each `slide`. */
  static of(size: Duration, slide: Duration, offset: Duration = 0): SlidingProcessingTimeWindows {
    const [sizeMs, slideMs, offsetMs] = [size, slide, offset].map((length) =>
      toMs(length, 'SlidingProcessingTimeWindows.of'),
    );
    return new SlidingProcessingTimeWindows({
      sizeMs: sizeMs!,
      slideMs: slideMs!,
      offsetMs: offsetMs!,
    });
  }
}

/** The gap of a session, by its element. Must be a pure function that answers a positive integer (milliseconds). */
export type SessionGapExtractor<T> = (value: T) => number;

abstract class SessionWindows<T> extends MergingWindowAssigner<T> {
  readonly windowType = TIME_WINDOW_TYPE;
  private readonly gapMs: number | undefined;
  private readonly extractor: SessionGapExtractor<T> | undefined;

  protected constructor(gap: number | SessionGapExtractor<T>) {
    super();
    if (typeof gap === 'function') {
      assertSynchronous(gap, `gap extractor of ${this.constructor.name}`);
      this.extractor = gap;
    } else {
      checkLength(this.constructor.name, 'gap', gap);
      this.gapMs = gap;
    }
  }

  assignWindows(value: T, timestampMs: number, context: WindowAssignerContext): TimeWindow[] {
    const timeMs = this.isEventTime() ? timestampMs : context.getCurrentProcessingTime();
    const gapMs = this.gapMs ?? this.extractor!(value);
    // A plain error: the operator adds its name.
    if (!isLength(gapMs)) throw new RangeError(wrongLength(this.constructor.name, 'gap', gapMs));
    return [new TimeWindow(timeMs, timeMs + gapMs)];
  }

  mergeWindows(windows: readonly TimeWindow[], callback: MergeCallback<TimeWindow>): void {
    TimeWindow.mergeWindows(windows, callback);
  }

  getDefaultTrigger(): Trigger {
    return this.isEventTime() ? EventTimeTrigger.create() : ProcessingTimeTrigger.create();
  }

  override toString(): string {
    return `${this.constructor.name}(${this.gapMs ?? 'dynamic gap'})`;
  }
}

/** Sessions of event time: a session ends when no element came for the length of the gap. */
export class EventTimeSessionWindows<T = unknown> extends SessionWindows<T> {
  isEventTime(): boolean {
    return true;
  }

  /** A session ends when no record came for `gap`. */
  static withGap(gap: Duration): EventTimeSessionWindows {
    return new EventTimeSessionWindows(toMs(gap, 'EventTimeSessionWindows.withGap'));
  }

  /** As withGap, with a gap for each record, in milliseconds. */
  static withDynamicGap<T>(extractor: SessionGapExtractor<T>): EventTimeSessionWindows<T> {
    return new EventTimeSessionWindows(extractor);
  }
}

/** Sessions by the clock of the machine. */
export class ProcessingTimeSessionWindows<T = unknown> extends SessionWindows<T> {
  isEventTime(): boolean {
    return false;
  }

  /** A session ends when no record came for `gap`, by the clock. */
  static withGap(gap: Duration): ProcessingTimeSessionWindows {
    return new ProcessingTimeSessionWindows(toMs(gap, 'ProcessingTimeSessionWindows.withGap'));
  }

  /** As withGap, with a gap for each record, in milliseconds. */
  static withDynamicGap<T>(extractor: SessionGapExtractor<T>): ProcessingTimeSessionWindows<T> {
    return new ProcessingTimeSessionWindows(extractor);
  }
}

/** Numbers are checked by the assigner: offsets may be negative. */
function toMs(length: Duration, what: string): number {
  return typeof length === 'string' ? durationMs(length, what) : length;
}

function checkLength(assigner: string, what: string, lengthMs: number): void {
  if (!isLength(lengthMs)) throw invalid(`${wrongLength(assigner, what, lengthMs)}.`);
}

function isLength(lengthMs: number): boolean {
  return Number.isSafeInteger(lengthMs) && lengthMs > 0;
}

function wrongLength(assigner: string, what: string, found: unknown): string {
  ignoreRejection(found);
  return `${assigner}: the ${what} must be a positive integer (milliseconds), found ${describe(found)}`;
}

function invalid(message: string): MillraceError {
  return new MillraceError('INVALID_ARGUMENT', message);
}
