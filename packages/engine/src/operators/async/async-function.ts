/**
 * Asynchronous functions as users write them, with Flink's names (org.apache.flink.streaming.api.functions.async). Called by
 * async-wait-operator.ts; `mapAsync` and `flatMapAsync` of a stream become such functions too (answering-function.ts).
 */
import { RichFunction } from '../functions.ts';

/** What an asynchronous function knows about the call that it answers. */
export interface AsyncContext {
  /**
   * Aborted when the answer is no longer wanted: after the timeout, when the job fails or is cancelled. Hand it on, as in
   * `fetch(url, { signal })`, so that nothing goes on in vain.
   */
  readonly signal: AbortSignal;
  /** 1 for the first call for a record; one more for each retry. */
  readonly attempt: number;
  /** Of the record, in milliseconds; undefined if it has none. The results get it too. */
  timestamp(): number | undefined;
}

/** Where the answer to one call goes. The first answer counts; others are ignored. May be called at any time. */
export interface ResultFuture<Out> extends AsyncContext {
  /** The results: none, one or many. */
  complete(results: Iterable<Out>): void;
  /** There are none, for that reason: the call is made again if the retry strategy says so, else the job fails. */
  completeExceptionally(error: unknown): void;
}

/** Nothing, if the answer is given through the ResultFuture; or a promise of the results. */
export type AsyncAnswer<Out> = void | PromiseLike<Iterable<Out> | void>;

/**
 * Any number of results for each value, later. A plain object with the same methods is as good as a class.
 *
 * The stream is at most `capacity` calls ahead. A call that was not answered when a snapshot was taken is made again after a
 * restore from it: what it does outside must bear that. There is no keyed state: when the answer comes, the key is another.
 */
export abstract class AsyncFunction<In, Out> extends RichFunction {
  /** Begins the call; must not block. What it throws is an answer, like a promise that is rejected. */
  abstract asyncInvoke(value: In, resultFuture: ResultFuture<Out>): AsyncAnswer<Out>;
  /**
   * The call was not answered in time, retries included: answers in its place. Its own answer has no time limit. Without
   * this method the job fails (ASYNC_TIMEOUT).
   */
  timeout?(value: In, resultFuture: ResultFuture<Out>): AsyncAnswer<Out>;
}

/** Flink's name for an AsyncFunction with `open` and `close`, which each of them may have. */
export abstract class RichAsyncFunction<In, Out> extends AsyncFunction<In, Out> {}
