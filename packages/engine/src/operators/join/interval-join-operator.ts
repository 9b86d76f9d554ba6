/**
 * Joins two keyed streams by their timestamps (org.apache.flink.streaming.api.operators.co.IntervalJoinOperator): each left
 * record with the right ones of its key for which
 *
 *     left time + lower bound  <=  right time  <=  left time + upper bound
 *
 *     record ─► late? ─► buffer of its side, by timestamp ─► pairs with the buffer of the other side ─► function ─► results
 *     timer ─► its timestamp leaves the buffer
 *
 * A result has the later timestamp of its pair, so it is never late. A record is late if its timestamp is before the
 * watermark; it goes to the late side output of its side or is counted (numLateRecordsDropped).
 *
 * Invariants:
 * I1 What is in a buffer has a timer at the watermark from which on no record of the other side that is not late can need
 *    it (but where that is after the end of time).
 * I2 The pairs of a record come in the order of the other side's timestamps, then of arrival: a function of the state.
 */
import { MAX_WATERMARK, MillraceError, NO_TIMESTAMP } from '../../base/index.ts';
import type { TimerService, Triggerable, TwoInputOperator } from '../../runtime/index.ts';
import { type MapState, MapStateDescriptor } from '../../state/index.ts';
import { type TypeInformation, Types } from '../../types/index.ts';
import type { Collector, FunctionOrFactory, ProcessJoinContext, ProcessJoinFunction } from '../functions.ts';
import { FunctionOperator } from '../operator-defaults.ts';
import type { OutputTag } from '../output-tag.ts';
import { refuseResult } from '../user-result.ts';

export interface IntervalJoinOptions<Left, Right> {
  /** Relative to the left record, both inclusive; the lower one is not above the upper one. */
  readonly lowerBoundMs: number;
  readonly upperBoundMs: number;
  /** Of the records; undefined: undescribed. */
  readonly leftType?: TypeInformation<Left>;
  readonly rightType?: TypeInformation<Right>;
  /** Where late records go; undefined: they are counted and dropped. */
  readonly leftLateTag?: OutputTag<Left>;
  readonly rightLateTag?: OutputTag<Right>;
}

/** Flink's names; saved state knows buffers and timers by them. */
const LEFT_BUFFER = 'LEFT_BUFFER';
const RIGHT_BUFFER = 'RIGHT_BUFFER';
const CLEANUP_TIMERS = 'CLEANUP_TIMER';
const CLEANUP_LEFT = 'CLEANUP_LEFT';
const CLEANUP_RIGHT = 'CLEANUP_RIGHT';

const WHAT = 'processElement function of the join';

/** One of the two inputs: its records by timestamp, and where a record finds those of the other, relative to its own time. */
interface Side<T> {
  readonly buffer: MapState<number, T[]>;
  readonly cleanup: string;
  readonly lowerMs: number;
  readonly upperMs: number;
  readonly lateTag: OutputTag<T> | undefined;
}

export class IntervalJoinOperator<Left, Right, Out>
  extends FunctionOperator<ProcessJoinFunction<Left, Right, Out>, Out>
  implements TwoInputOperator<Left, Right, Out>, Triggerable<string>
{
  private readonly options: IntervalJoinOptions<Left, Right>;
  private left!: Side<Left>;
  private right!: Side<Right>;
  private timers!: TimerService<string>;
  private lateRecordsDropped!: { inc(): void };
  private readonly times = { leftMs: NO_TIMESTAMP, rightMs: NO_TIMESTAMP, resultMs: NO_TIMESTAMP };
  private readonly joinContext: ProcessJoinContext = {
    getLeftTimestamp: () => this.times.leftMs,
    getRightTimestamp: () => this.times.rightMs,
    getTimestamp: () => this.times.resultMs,
    output: (tag, value) => this.context.output.collectSide(tag.id, value, this.times.resultMs),
  };
  private readonly out: Collector<Out> = {
    collect: (value) => this.context.output.collect(value, this.times.resultMs),
  };

  /** Throws INVALID_ARGUMENT, or PROMISE_NOT_EXPECTED for async methods. */
  constructor(
    given: FunctionOrFactory<ProcessJoinFunction<Left, Right, Out>>,
    options: IntervalJoinOptions<Left, Right>,
  ) {
    super(given, ['processElement', 'snapshotState'], true);
    this.options = options;
  }

  processElement1(value: Left, timestampMs: number): void {
    const times = this.buffer(this.left, value, timestampMs, this.right.buffer);
    for (const rightMs of times) {
      for (const right of this.right.buffer.get(rightMs)!) this.join(value, timestampMs, right, rightMs);
    }
  }

  processElement2(value: Right, timestampMs: number): void {
    const times = this.buffer(this.right, value, timestampMs, this.left.buffer);
    for (const leftMs of times) {
      for (const left of this.left.buffer.get(leftMs)!) this.join(left, leftMs, value, timestampMs);
    }
  }

  onEventTime(timestampMs: number, namespace: string): void {
    const side = namespace === CLEANUP_LEFT ? this.left : this.right;
    side.buffer.remove(timestampMs - Math.max(side.upperMs, 0));
  }

  onProcessingTime(): void {}

  protected override prepare(): void {
    const { context, options } = this;
    const { lowerBoundMs, upperBoundMs, leftType, rightType, leftLateTag, rightLateTag } = options;
    this.left = {
      buffer: context.keyedState.getMapState(bufferDescriptor(LEFT_BUFFER, leftType)),
      cleanup: CLEANUP_LEFT,
      lowerMs: lowerBoundMs,
      upperMs: upperBoundMs,
      lateTag: leftLateTag,
    };
    this.right = {
      buffer: context.keyedState.getMapState(bufferDescriptor(RIGHT_BUFFER, rightType)),
      cleanup: CLEANUP_RIGHT,
      lowerMs: -upperBoundMs,
      upperMs: -lowerBoundMs,
      lateTag: rightLateTag,
    };
    this.timers = context.timerService(CLEANUP_TIMERS, Types.STRING, this);
    this.lateRecordsDropped = context.metrics.counter('numLateRecordsDropped');
  }

  /** Keeps a record, unless it is late, and answers with the timestamps of the other side that it is joined with. */
  private buffer<T>(
    side: Side<T>,
    value: T,
    timestampMs: number,
    other: MapState<number, unknown>,
  ): readonly number[] {
    if (timestampMs === NO_TIMESTAMP) throw this.missingTimestamp();
    if (timestampMs < this.timers.currentWatermark()) {
      this.handleLate(side, value, timestampMs);
      return [];
    }
    side.buffer.put(timestampMs, [...(side.buffer.get(timestampMs) ?? []), value]);
    const cleanupMs = timestampMs + Math.max(side.upperMs, 0);
    if (cleanupMs < MAX_WATERMARK) this.timers.registerEventTimeTimer(side.cleanup, cleanupMs);
    const first = timestampMs + side.lowerMs;
    const last = timestampMs + side.upperMs;
    const times: number[] = [];
    for (const otherMs of other.keys()) if (otherMs >= first && otherMs <= last) times.push(otherMs);
    return times.sort((a, b) => a - b);
  }

  private join(left: Left, leftMs: number, right: Right, rightMs: number): void {
    const { times } = this;
    times.leftMs = leftMs;
    times.rightMs = rightMs;
    times.resultMs = Math.max(leftMs, rightMs);
    let result: unknown;
    try {
      result = this.fn.processElement(left, right, this.joinContext, this.out);
    } catch (error) {
      throw this.context.wrapUserError(error, WHAT);
    }
    if (result !== undefined) refuseResult(result, WHAT, this.context.operatorName);
  }

  private handleLate<T>(side: Side<T>, value: T, timestampMs: number): void {
    if (side.lateTag === undefined) this.lateRecordsDropped.inc();
    else this.context.output.collectSide(side.lateTag.id, value, timestampMs);
  }

  private missingTimestamp(): MillraceError {
    const operator = this.context.operatorName;
    return new MillraceError(
      'TIMESTAMP_MISSING',
      `Operator '${operator}' joins records by their timestamps, but a record has none. ` +
        'Did you forget the watermark strategy of the source, or assignTimestampsAndWatermarks?',
      { details: { operator } },
    );
  }
}

function bufferDescriptor<T>(
  name: string,
  type: TypeInformation<T> | undefined,
): MapStateDescriptor<number, T[]> {
  return new MapStateDescriptor(name, Types.LONG, Types.LIST(type ?? Types.GENERIC<T>()));
}
