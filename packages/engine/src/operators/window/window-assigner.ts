/**
 * Which windows an element belongs to (org.apache.flink.streaming.api.windowing.assigners), as users choose them. All sizes,
 * slides, gaps and offsets are milliseconds or texts such as '1 h'; windows of fixed size start at multiples of the slide plus the offset, counted
 * from 1970-01-01T00:00Z.
 */
import { type Duration, durationMs, MillraceError } from '../../base/index.ts';
import { TimeWindow, windowStart } from './time-window.ts';
import { EventTimeTrigger, ProcessingTimeTrigger, type Trigger } from './trigger.ts';

/** Windows of fixed size; the window operator computes them itself, without objects. */
export interface FixedWindowGrid {
  readonly sizeMs: number;
  /** Equal to the size for tumbling windows. */
  readonly slideMs: number;
  readonly offsetMs: number;
}

export interface WindowAssigner<T = unknown> {
  /** False: by the time of the machine. */
  readonly isEventTime: boolean;
  /** True: windows of one key that intersect become one (sessions). */
  readonly isMerging: boolean;
  /** undefined if windows depend on more than time. */
  readonly grid: FixedWindowGrid | undefined;
  /** The windows of an element; the last first. For processing time `timeMs` is the clock, else the timestamp. */
  assignWindows(value: T, timeMs: number): TimeWindow[];
  getDefaultTrigger(): Trigger;
  /** As it appears in plans and error messages. */
  toString(): string;
}

class FixedWindows implements WindowAssigner {
  readonly isEventTime: boolean;
  readonly isMerging = false;
  readonly grid: FixedWindowGrid;

  protected constructor(isEventTime: boolean, grid: FixedWindowGrid) {
    this.isEventTime = isEventTime;
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

  assignWindows(_value: unknown, timeMs: number): TimeWindow[] {
    const { sizeMs, slideMs, offsetMs } = this.grid;
    const windows: TimeWindow[] = [];
    for (let start = windowStart(timeMs, offsetMs, slideMs); start > timeMs - sizeMs; start -= slideMs) {
      windows.push(new TimeWindow(start, start + sizeMs));
    }
    return windows;
  }

  getDefaultTrigger(): Trigger {
    return this.isEventTime ? EventTimeTrigger.create() : ProcessingTimeTrigger.create();
  }

  toString(): string {
    const { sizeMs, slideMs, offsetMs } = this.grid;
    return `${this.name}(${sizeMs}${slideMs === sizeMs ? '' : `, ${slideMs}`}${offsetMs === 0 ? '' : `, offset ${offsetMs}`})`;
  }
}

/** Windows of event time, one after the other. */
export class TumblingEventTimeWindows extends FixedWindows {
  /** Throws INVALID_ARGUMENT unless the size is positive and |offset| < size. */
  static of(size: Duration, offset: Duration = 0): TumblingEventTimeWindows {
    const sizeMs = toMs(size, 'TumblingEventTimeWindows.of');
    return new TumblingEventTimeWindows(true, {
      sizeMs,
      slideMs: sizeMs,
      offsetMs: toMs(offset, 'TumblingEventTimeWindows.of'),
    });
  }
}

/** Windows by the clock of the machine, one after the other. */
export class TumblingProcessingTimeWindows extends FixedWindows {
  static of(size: Duration, offset: Duration = 0): TumblingProcessingTimeWindows {
    const sizeMs = toMs(size, 'TumblingProcessingTimeWindows.of');
    return new TumblingProcessingTimeWindows(false, {
      sizeMs,
      slideMs: sizeMs,
      offsetMs: toMs(offset, 'TumblingProcessingTimeWindows.of'),
    });
  }
}

/** Windows of event time, a new one each slide: they overlap if the slide is less than the size. */
export class SlidingEventTimeWindows extends FixedWindows {
  /** Throws INVALID_ARGUMENT unless size and slide are positive and |offset| < slide. */
  static of(size: Duration, slide: Duration, offset: Duration = 0): SlidingEventTimeWindows {
    const [sizeMs, slideMs, offsetMs] = [size, slide, offset].map((length) =>
      toMs(length, 'SlidingEventTimeWindows.of'),
    );
    return new SlidingEventTimeWindows(true, { sizeMs: sizeMs!, slideMs: slideMs!, offsetMs: offsetMs! });
  }
}

/** Windows by the clock of the machine, a new one each slide. */
export class SlidingProcessingTimeWindows extends FixedWindows {
  static of(size: Duration, slide: Duration, offset: Duration = 0): SlidingProcessingTimeWindows {
    const [sizeMs, slideMs, offsetMs] = [size, slide, offset].map((length) =>
      toMs(length, 'SlidingProcessingTimeWindows.of'),
    );
    return new SlidingProcessingTimeWindows(false, {
      sizeMs: sizeMs!,
      slideMs: slideMs!,
      offsetMs: offsetMs!,
    });
  }
}

/** The gap of a session, by its element. Must be a pure function that answers a positive integer (milliseconds). */
export type SessionGapExtractor<T> = (value: T) => number;

class SessionWindows<T> implements WindowAssigner<T> {
  readonly isEventTime: boolean;
  readonly isMerging = true;
  readonly grid = undefined;
  private readonly gapMs: number | undefined;
  private readonly extractor: SessionGapExtractor<T> | undefined;

  protected constructor(isEventTime: boolean, gap: number | SessionGapExtractor<T>) {
    this.isEventTime = isEventTime;
    if (typeof gap === 'function') {
      this.extractor = gap;
    } else {
      checkLength(this.constructor.name, 'gap', gap);
      this.gapMs = gap;
    }
  }

  assignWindows(value: T, timeMs: number): TimeWindow[] {
    const gapMs = this.gapMs ?? this.extractor!(value);
    if (this.gapMs === undefined) checkLength(this.constructor.name, 'gap', gapMs);
    return [new TimeWindow(timeMs, timeMs + gapMs)];
  }

  getDefaultTrigger(): Trigger {
    return this.isEventTime ? EventTimeTrigger.create() : ProcessingTimeTrigger.create();
  }

  toString(): string {
    return `${this.constructor.name}(${this.gapMs ?? 'dynamic gap'})`;
  }
}

/** Sessions of event time: a session ends when no element came for the length of the gap. */
export class EventTimeSessionWindows<T = unknown> extends SessionWindows<T> {
  static withGap(gap: Duration): EventTimeSessionWindows {
    return new EventTimeSessionWindows(true, toMs(gap, 'EventTimeSessionWindows.withGap'));
  }

  static withDynamicGap<T>(extractor: SessionGapExtractor<T>): EventTimeSessionWindows<T> {
    return new EventTimeSessionWindows(true, extractor);
  }
}

/** Sessions by the clock of the machine. */
export class ProcessingTimeSessionWindows<T = unknown> extends SessionWindows<T> {
  static withGap(gap: Duration): ProcessingTimeSessionWindows {
    return new ProcessingTimeSessionWindows(false, toMs(gap, 'ProcessingTimeSessionWindows.withGap'));
  }

  static withDynamicGap<T>(extractor: SessionGapExtractor<T>): ProcessingTimeSessionWindows<T> {
    return new ProcessingTimeSessionWindows(false, extractor);
  }
}

/** Numbers are checked by the assigner: offsets may be negative. */
function toMs(length: Duration, what: string): number {
  return typeof length === 'string' ? durationMs(length, what) : length;
}

function checkLength(assigner: string, what: string, lengthMs: number): void {
  if (Number.isSafeInteger(lengthMs) && lengthMs > 0) return;
  throw invalid(
    `${assigner}: the ${what} must be a positive integer (milliseconds), found ${String(lengthMs)}.`,
  );
}

function invalid(message: string): MillraceError {
  return new MillraceError('INVALID_ARGUMENT', message);
}
