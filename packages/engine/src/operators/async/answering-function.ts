/**
 * The plain functions of `mapAsync`, `flatMapAsync` and AsyncDataStream as asynchronous functions. Called by the API; what
 * they return is checked where it is answered (async-call.ts).
 */
import type { FunctionShape } from '../functions.ts';
import { assertFunction } from '../user-result.ts';
import type { AsyncAnswer, AsyncContext, AsyncFunction, ResultFuture } from './async-function.ts';

/** One result for each value: a promise of it, or at once. */
export type AsyncMapFunction<In, Out> = (value: In, context: AsyncContext) => Out | PromiseLike<Out>;

/**
 * Any number of results for each value: a promise of an iterable (an array, a generator), an iterable at once, or an async
 * generator, whose results go on together when it has ended.
 */
export type AsyncFlatMapFunction<In, Out> = (
  value: In,
  context: AsyncContext,
) => Iterable<Out> | AsyncIterable<Out> | PromiseLike<Iterable<Out> | AsyncIterable<Out>>;

/** An asynchronous function as a plain object. */
export type AsyncFunctionShape<In, Out> = FunctionShape<AsyncFunction<In, Out>>;

/** `asyncInvoke` alone, as in Java a lambda. */
export type AsyncInvoke<In, Out> = (value: In, resultFuture: ResultFuture<Out>) => AsyncAnswer<Out>;

/** Throws INVALID_ARGUMENT unless `fn` is a function. */
export function mapping<In, Out>(
  fn: AsyncMapFunction<In, Out>,
  onTimeout: AsyncMapFunction<In, Out> | undefined,
): AsyncFunctionShape<In, Out> {
  return answering('mapAsync', fn, onTimeout, (future, result) => future.complete([result]));
}

/** Throws INVALID_ARGUMENT unless `fn` is a function. */
export function flatMapping<In, Out>(
  fn: AsyncFlatMapFunction<In, Out>,
  onTimeout: AsyncFlatMapFunction<In, Out> | undefined,
): AsyncFunctionShape<In, Out> {
  return answering('flatMapAsync', fn, onTimeout, answerAll);
}

/** A function alone as an object with that one method. Without a second parameter it must return its results. */
export function invoking<In, Out>(fn: AsyncInvoke<In, Out>): AsyncFunctionShape<In, Out> {
  if (fn.length >= 2) return { asyncInvoke: (value, resultFuture) => fn(value, resultFuture) };
  const returning = fn as AsyncFlatMapFunction<In, Out>;
  return answering('asyncInvoke', returning, undefined, answerAll);
}

function answerAll<Out>(future: ResultFuture<Out>, results: Iterable<Out> | AsyncIterable<Out>): void {
  if (typeof results !== 'object' || results === null || !(Symbol.asyncIterator in results)) {
    return future.complete(results as Iterable<Out>);
  }
  collect(results, future.signal).then(
    (collected) => future.complete(collected),
    (error: unknown) => future.completeExceptionally(error),
  );
}

/** Ends early, and the generator with it, when nobody wants the results any more. */
async function collect<Out>(results: AsyncIterable<Out>, signal: AbortSignal): Promise<Out[]> {
  const collected: Out[] = [];
  for await (const result of results) {
    if (signal.aborted) break;
    collected.push(result);
  }
  return collected;
}

function answering<In, Out, Result>(
  method: string,
  fn: (value: In, context: AsyncContext) => Result | PromiseLike<Result>,
  onTimeout: ((value: In, context: AsyncContext) => Result | PromiseLike<Result>) | undefined,
  answer: (future: ResultFuture<Out>, result: Result) => void,
): AsyncFunctionShape<In, Out> {
  assertFunction(fn, `function of ${method}`);
  if (onTimeout !== undefined) assertFunction(onTimeout, `onTimeout of ${method}`);
  const answerBy =
    (given: typeof fn): AsyncInvoke<In, Out> =>
    (value, future) => {
      const result = given(value, future);
      if (!isPromiseLike(result)) return answer(future, result);
      result.then(
        (settled) => answer(future, settled),
        (error: unknown) => future.completeExceptionally(error),
      );
    };
  return {
    asyncInvoke: answerBy(fn),
    ...(onTimeout !== undefined && { timeout: answerBy(onTimeout) }),
  };
}

/** True for what has a method `then`: promises of any library. */
export function isPromiseLike<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
