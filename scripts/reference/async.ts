/**
 * Calls of services whose answers are awaited: capacity, order, time-outs, retries.
 *
 * @packageDocumentation
 */
export {
  type AsyncAnswer,
  type AsyncContext,
  AsyncDataStream,
  type AsyncFlatMapFunction,
  type AsyncFlatMapOptions,
  AsyncFunction,
  type AsyncFunctionLike,
  type AsyncInvoke,
  type AsyncMapFunction,
  type AsyncMapOptions,
  type AsyncOptions,
  type AsyncRetryOptions,
  type AsyncRetryPredicate,
  AsyncRetryStrategies,
  type AsyncRetryStrategy,
  type ResultFuture,
  RetryPredicates,
  RichAsyncFunction,
} from 'millrace';
