/**
 * Two keyed streams joined by their timestamps (org.apache.flink.streaming.api.datastream.KeyedStream.IntervalJoin):
 *
 *     a.intervalJoin(b).between('-5 min', '1 min').process(fn)
 *
 * pairs each record of a with the records of b of the same key that are at most 5 minutes older and 1 minute newer.
 */
import { type Duration, durationMs, MillraceError } from '../../base/index.ts';
import {
  assertSynchronous,
  type FunctionOrFactory,
  IntervalJoinOperator,
  type JoinFunction,
  type OutputTag,
  type PlainProcessJoinFunction,
  type ProcessJoinFunction,
  processJoinFunction,
} from '../../operators/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import { type FunctionObject, isPlainFunction } from '../rich-function.ts';
import { KeyedConnectedStreams } from './connected-streams.ts';
import type { KeyedStream, SingleOutputStreamOperator } from './data-stream.ts';

/** Two keyed streams that are to be joined by time. */
export class IntervalJoin<A, B, K> {
  readonly #left: KeyedStream<A, K>;
  readonly #right: KeyedStream<B, K>;

  constructor(left: KeyedStream<A, K>, right: KeyedStream<B, K>) {
    this.#left = left;
    this.#right = right;
  }

  /** By the timestamps of the records, which is the only way there is. */
  inEventTime(): this {
    return this;
  }

  /** Throws INVALID_ARGUMENT: interval joins are of event time only, as in Flink. */
  inProcessingTime(): this {
    throw new MillraceError(
      'INVALID_ARGUMENT',
      'intervalJoin(…).inProcessingTime(): interval joins are of event time only. A join in windows of processing time is join(…).where(…).equalTo(…).window(…).',
    );
  }

  /**
   * How much older or newer than the left record the right one may be: milliseconds or texts such as '5 min', negative
   * ('-5 min') for older. Both bounds are inclusive. Throws INVALID_ARGUMENT if the lower one is above the upper one.
   */
  between(lowerBound: Duration, upperBound: Duration): IntervalJoined<A, B, K> {
    const lowerBoundMs = boundMs(lowerBound, 'lower bound');
    const upperBoundMs = boundMs(upperBound, 'upper bound');
    if (lowerBoundMs > upperBoundMs) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `between(${lowerBound}, ${upperBound}): the lower bound must not be above the upper one`,
      );
    }
    return new IntervalJoined(new KeyedConnectedStreams(this.#left, this.#right), lowerBoundMs, upperBoundMs);
  }
}

/** Two keyed streams joined by time, with bounds. */
export class IntervalJoined<A, B, K> {
  readonly #streams: KeyedConnectedStreams<A, B, K>;
  readonly #lowerBoundMs: number;
  readonly #upperBoundMs: number;
  #isLowerExclusive = false;
  #isUpperExclusive = false;
  #leftLateTag: OutputTag<A> | undefined;
  #rightLateTag: OutputTag<B> | undefined;

  constructor(streams: KeyedConnectedStreams<A, B, K>, lowerBoundMs: number, upperBoundMs: number) {
    this.#streams = streams;
    this.#lowerBoundMs = lowerBoundMs;
    this.#upperBoundMs = upperBoundMs;
  }

  /** The right record must be newer than the lower bound, not of that time. */
  lowerBoundExclusive(): this {
    this.#isLowerExclusive = true;
    return this;
  }

  /** The right record must be older than the upper bound, not of that time. */
  upperBoundExclusive(): this {
    this.#isUpperExclusive = true;
    return this;
  }

  /** Left records that are older than the watermark go to this side output; otherwise they are counted and dropped. */
  sideOutputLeftLateData(tag: OutputTag<A>): this {
    this.#leftLateTag = tag;
    return this;
  }

  /** As sideOutputLeftLateData, for right records. */
  sideOutputRightLateData(tag: OutputTag<B>): this {
    this.#rightLateTag = tag;
    return this;
  }

  /**
   * Called for each pair. A plain function with two parameters answers with its one result; one with more is called like
   * `ProcessJoinFunction.processElement`. Results get the later timestamp of the pair. Throws INVALID_ARGUMENT if the
   * bounds leave nothing between them.
   */
  process<R>(fn: PlainProcessJoinFunction<A, B, R>, type?: TypeInformation<R>): SingleOutputStreamOperator<R>;
  process<R>(
    fn: JoinFunction<A, B, R> | FunctionObject<ProcessJoinFunction<A, B, R>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R>;
  process<R>(
    fn:
      | JoinFunction<A, B, R>
      | PlainProcessJoinFunction<A, B, R>
      | FunctionObject<ProcessJoinFunction<A, B, R>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R> {
    const given = isPlainFunction(fn) ? plain(fn) : fn;
    const { first, second } = this.#streams;
    const options = {
      lowerBoundMs: this.#lowerBoundMs + (this.#isLowerExclusive ? 1 : 0),
      upperBoundMs: this.#upperBoundMs - (this.#isUpperExclusive ? 1 : 0),
      leftType: first.getType(),
      rightType: second.getType(),
      leftLateTag: this.#leftLateTag,
      rightLateTag: this.#rightLateTag,
    };
    if (options.lowerBoundMs > options.upperBoundMs) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `between(${this.#lowerBoundMs}, ${this.#upperBoundMs}) with exclusive bounds: no time lies between them`,
      );
    }
    const create = (): unknown => new IntervalJoinOperator(given, options);
    return this.#streams.addKeyed({ kind: 'interval-join', name: 'Interval Join', create, type });
  }
}

function plain<A, B, R>(
  fn: JoinFunction<A, B, R> | PlainProcessJoinFunction<A, B, R>,
): FunctionOrFactory<ProcessJoinFunction<A, B, R>> {
  assertSynchronous(fn, 'join function');
  return processJoinFunction(fn);
}

/** Bounds may be negative. */
function boundMs(bound: Duration, what: string): number {
  const call = `between(…), ${what}`;
  if (typeof bound === 'string') {
    const [, minus, text] = /^\s*(-?)\s*(.*)$/s.exec(bound)!;
    return durationMs(text!, call) * (minus === '-' ? -1 : 1);
  }
  if (Number.isSafeInteger(bound)) return bound;
  throw new MillraceError(
    'INVALID_ARGUMENT',
    `${call}: expected a duration such as "5 min" or "-5 min", or a whole number of milliseconds, found ${String(bound)}`,
  );
}
