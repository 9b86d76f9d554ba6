/**
 * Asynchronous functions on streams: `mapAsync` and `flatMapAsync` of a stream, and Flink's AsyncDataStream. Both check their
 * arguments here and add the same operator. They know no call and no time.
 */
import {
  type Duration,
  durationMs,
  durationWithUnitMs,
  isTimeUnit,
  MillraceError,
  type TimeUnit,
} from '../../base/index.ts';
import {
  type AsyncFlatMapFunction,
  type AsyncFunction,
  type AsyncInvoke,
  type AsyncMapFunction,
  type AsyncRetryOptions,
  type AsyncRetryStrategy,
  AsyncWaitOperator,
  type FunctionOrFactory,
  flatMapping,
  invoking,
  mapping,
  retryStrategyOf,
} from '../../operators/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import { type FunctionObject, isPlainFunction } from '../rich-function.ts';
import type { DataStream, SingleOutputStreamOperator } from './data-stream.ts';
import { transform } from './transformation.ts';

/** Calls that may be in flight unless the user says otherwise, as in Flink. */
const DEFAULT_CAPACITY = 100;

/** How asynchronous calls are made. */
export interface AsyncOptions<Out> {
  /** How many records may be in flight: called, and their results not emitted. The stream waits for more. Default 100. */
  readonly capacity?: number;
  /**
   * How long a record may take, retries included: milliseconds or a text such as '5 s'. Then its signal is aborted, and
   * `onTimeout` answers, or the job fails (ASYNC_TIMEOUT). Default: for ever.
   */
  readonly timeout?: Duration;
  /**
   * True: results in the order of the records; a slow one holds up those behind it. False: as they come, but no result
   * overtakes a watermark or is overtaken by one. Default true.
   */
  readonly ordered?: boolean;
  /**
   * Which answers are not final, and when to ask again; as `{ attempts: 3, delay: '100 ms', multiplier: 2 }` or by {@link AsyncRetryStrategies}. Default: nothing
   * is retried.
   */
  readonly retry?: AsyncRetryStrategy<Out> | AsyncRetryOptions<Out>;
  /** Describes the results: faster exchanges and state. */
  readonly type?: TypeInformation<Out>;
}

/** Options of `mapAsync`. */
export interface AsyncMapOptions<In, Out> extends AsyncOptions<Out> {
  /** Gives the result of a record that took too long, or throws. Has no time limit of its own. */
  readonly onTimeout?: AsyncMapFunction<In, Out>;
}

/** Options of `flatMapAsync`. */
export interface AsyncFlatMapOptions<In, Out> extends AsyncOptions<Out> {
  /** Gives the results of a record that took too long, or throws. Has no time limit of its own. */
  readonly onTimeout?: AsyncFlatMapFunction<In, Out>;
}

/** An AsyncFunction, its class, or its method `asyncInvoke` alone: a function of value and ResultFuture. */
export type AsyncFunctionLike<In, Out> = AsyncInvoke<In, Out> | FunctionObject<AsyncFunction<In, Out>>;

/** For DataStream.mapAsync. */
export function mapAsync<In, Out>(
  stream: DataStream<In>,
  fn: AsyncMapFunction<In, Out>,
  options: AsyncMapOptions<In, Out>,
): SingleOutputStreamOperator<Out> {
  const names = { kind: 'map-async', name: 'Map Async', where: 'mapAsync', what: 'mapAsync function' };
  return addAsync(stream, mapping(fn, options.onTimeout), names, options);
}

/** For DataStream.flatMapAsync. */
export function flatMapAsync<In, Out>(
  stream: DataStream<In>,
  fn: AsyncFlatMapFunction<In, Out>,
  options: AsyncFlatMapOptions<In, Out>,
): SingleOutputStreamOperator<Out> {
  const where = 'flatMapAsync';
  const names = { kind: 'flat-map-async', name: 'Flat Map Async', where, what: 'flatMapAsync function' };
  return addAsync(stream, flatMapping(fn, options.onTimeout), names, options);
}

/**
 * Flink's way to call something asynchronous for each record of a stream. `mapAsync` and `flatMapAsync` of the stream do the
 * same with plain functions.
 *
 * `timeout` is milliseconds or a text such as '5 s'; a number may be followed by its TimeUnit. 0: no timeout. `capacity` is
 * how many records may be in flight, by default 100. All throw INVALID_ARGUMENT.
 */
export class AsyncDataStream {
  /** Results in the order of the records. */
  static orderedWait<In, Out>(
    stream: DataStream<In>,
    fn: AsyncFunctionLike<In, Out>,
    timeout: number,
    timeUnit: TimeUnit,
    capacity?: number,
  ): SingleOutputStreamOperator<Out>;
  static orderedWait<In, Out>(
    stream: DataStream<In>,
    fn: AsyncFunctionLike<In, Out>,
    timeout: Duration,
    capacity?: number,
  ): SingleOutputStreamOperator<Out>;
  static orderedWait<In, Out>(
    stream: DataStream<In>,
    fn: AsyncFunctionLike<In, Out>,
    timeout: Duration,
    ...rest: readonly unknown[]
  ): SingleOutputStreamOperator<Out> {
    return wait(stream, fn, 'orderedWait', timeout, rest);
  }

  /** Results as they come, but none overtakes a watermark. */
  static unorderedWait<In, Out>(
    stream: DataStream<In>,
    fn: AsyncFunctionLike<In, Out>,
    timeout: number,
    timeUnit: TimeUnit,
    capacity?: number,
  ): SingleOutputStreamOperator<Out>;
  static unorderedWait<In, Out>(
    stream: DataStream<In>,
    fn: AsyncFunctionLike<In, Out>,
    timeout: Duration,
    capacity?: number,
  ): SingleOutputStreamOperator<Out>;
  static unorderedWait<In, Out>(
    stream: DataStream<In>,
    fn: AsyncFunctionLike<In, Out>,
    timeout: Duration,
    ...rest: readonly unknown[]
  ): SingleOutputStreamOperator<Out> {
    return wait(stream, fn, 'unorderedWait', timeout, rest);
  }

  /** As orderedWait; calls are made again as `retryStrategy` says, within `timeout`, which must not be 0. */
  static orderedWaitWithRetry<In, Out>(
    stream: DataStream<In>,
    fn: AsyncFunctionLike<In, Out>,
    timeout: number,
    timeUnit: TimeUnit,
    ...capacityAndStrategy: CapacityAndStrategy<Out>
  ): SingleOutputStreamOperator<Out>;
  static orderedWaitWithRetry<In, Out>(
    stream: DataStream<In>,
    fn: AsyncFunctionLike<In, Out>,
    timeout: Duration,
    ...capacityAndStrategy: CapacityAndStrategy<Out>
  ): SingleOutputStreamOperator<Out>;
  static orderedWaitWithRetry<In, Out>(
    stream: DataStream<In>,
    fn: AsyncFunctionLike<In, Out>,
    timeout: Duration,
    ...rest: readonly unknown[]
  ): SingleOutputStreamOperator<Out> {
    return wait(stream, fn, 'orderedWaitWithRetry', timeout, rest);
  }

  /** As unorderedWait; calls are made again as `retryStrategy` says, within `timeout`, which must not be 0. */
  static unorderedWaitWithRetry<In, Out>(
    stream: DataStream<In>,
    fn: AsyncFunctionLike<In, Out>,
    timeout: number,
    timeUnit: TimeUnit,
    ...capacityAndStrategy: CapacityAndStrategy<Out>
  ): SingleOutputStreamOperator<Out>;
  static unorderedWaitWithRetry<In, Out>(
    stream: DataStream<In>,
    fn: AsyncFunctionLike<In, Out>,
    timeout: Duration,
    ...capacityAndStrategy: CapacityAndStrategy<Out>
  ): SingleOutputStreamOperator<Out>;
  static unorderedWaitWithRetry<In, Out>(
    stream: DataStream<In>,
    fn: AsyncFunctionLike<In, Out>,
    timeout: Duration,
    ...rest: readonly unknown[]
  ): SingleOutputStreamOperator<Out> {
    return wait(stream, fn, 'unorderedWaitWithRetry', timeout, rest);
  }
}

/** The last parameters of the methods with retries. */
export type CapacityAndStrategy<Out> =
  | [retryStrategy: AsyncRetryStrategy<Out>]
  | [capacity: number, retryStrategy: AsyncRetryStrategy<Out>];

type WaitMethod = Exclude<keyof typeof AsyncDataStream, 'prototype'>;

/** `rest`: the unit if there is one, the capacity if there is one, the retry strategy where the method has one. */
function wait<In, Out>(
  stream: DataStream<In>,
  fn: AsyncFunctionLike<In, Out>,
  method: WaitMethod,
  timeout: Duration,
  rest: readonly unknown[],
): SingleOutputStreamOperator<Out> {
  const where = `AsyncDataStream.${method}`;
  const unit = isTimeUnit(rest[0]) ? rest[0] : undefined;
  const others = unit === undefined ? [...rest] : rest.slice(1);
  const timeoutMs = durationWithUnitMs(timeout, unit, `${where}(timeout)`);
  const hasRetry = method.endsWith('WithRetry');
  const retry = hasRetry ? others.pop() : undefined;
  if (hasRetry && timeoutMs === 0) throw invalid(where, 'retries need a timeout that is not 0');
  if (hasRetry && retry === undefined) throw invalid(where, 'the last parameter is an AsyncRetryStrategy');
  if (others.length > 1) throw invalid(where, `found ${others.length - 1} parameters too many`);
  const given = isPlainFunction(fn) ? invoking(fn as AsyncInvoke<In, Out>) : fn;
  const names = { kind: 'async-wait', name: 'Async Wait', where, what: 'asyncInvoke function' };
  return addAsync(stream, given as FunctionOrFactory<AsyncFunction<In, Out>>, names, {
    ordered: method.startsWith('ordered'),
    timeout: timeoutMs,
    ...(others[0] !== undefined && { capacity: others[0] as number }),
    ...(retry !== undefined && { retry: retry as AsyncRetryStrategy<Out> }),
  });
}

interface AsyncNames {
  readonly kind: string;
  readonly name: string;
  /** The method of the API, and the user's function, for errors. */
  readonly where: string;
  readonly what: string;
}

function addAsync<In, Out>(
  stream: DataStream<In>,
  given: FunctionOrFactory<AsyncFunction<In, Out>>,
  { kind, name, where, what }: AsyncNames,
  options: AsyncOptions<Out>,
): SingleOutputStreamOperator<Out> {
  const { capacity = DEFAULT_CAPACITY, timeout = 0, ordered = true, retry, type } = options;
  if (!Number.isSafeInteger(capacity) || capacity < 1) {
    throw invalid(where, `capacity must be a whole number of at least 1, found ${String(capacity)}`);
  }
  if (typeof ordered !== 'boolean') throw invalid(where, `ordered must be true or false`);
  const timeoutMs = durationMs(timeout, `${where}: timeout`);
  const create = (): unknown =>
    new AsyncWaitOperator(given, {
      what,
      ordered,
      capacity,
      timeoutMs,
      retry: retry === undefined ? undefined : strategyOf(where, retry),
      inputType: stream.getType(),
    });
  return transform(stream.job, [stream.origins], { kind, name, create, type });
}

function strategyOf<Out>(
  where: string,
  given: AsyncRetryStrategy<Out> | AsyncRetryOptions<Out>,
): AsyncRetryStrategy<Out> {
  if (typeof given === 'object' && given !== null) {
    if ('attempts' in given) return retryStrategyOf(given);
    const { canRetry, getBackoffTimeMillis, getRetryPredicate } = given;
    const methods = [canRetry, getBackoffTimeMillis, getRetryPredicate];
    if (methods.every((method) => typeof method === 'function')) return given;
  }
  throw invalid(
    where,
    'retry must be { attempts, delay, … } or an AsyncRetryStrategy: did you forget build()?',
  );
}

function invalid(where: string, message: string): MillraceError {
  return new MillraceError('INVALID_ARGUMENT', `${where}: ${message}`);
}
