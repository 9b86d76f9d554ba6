/** The plain functions of connected streams as one process function. */
import {
  assertSynchronous,
  type Collector,
  type CoProcessFunction,
  type FlatMapFunction,
  type MapFunction,
} from '../operators/index.ts';
import { collectAll } from './rich-function.ts';

/** Throws PROMISE_NOT_EXPECTED for async functions. */
export function coMapFunction<A, B, R>(
  first: MapFunction<A, R>,
  second: MapFunction<B, R>,
): () => CoProcessFunction<A, B, R> {
  assertSynchronous(first, 'first map function');
  assertSynchronous(second, 'second map function');
  return () => ({
    processElement1: (value, _context, out) => collectOne(first(value), out),
    processElement2: (value, _context, out) => collectOne(second(value), out),
  });
}

/** Throws PROMISE_NOT_EXPECTED for async functions. */
export function coFlatMapFunction<A, B, R>(
  first: FlatMapFunction<A, R>,
  second: FlatMapFunction<B, R>,
): () => CoProcessFunction<A, B, R> {
  assertSynchronous(first, 'first flatMap function');
  assertSynchronous(second, 'second flatMap function');
  return () => ({
    processElement1: (value, _context, out) => collectAll(first(value, out), out),
    processElement2: (value, _context, out) => collectAll(second(value, out), out),
  });
}

/** A promise is handed back: the operator refuses it, with its name. */
function collectOne<R>(result: R, out: Collector<R>): void {
  return result instanceof Promise ? (result as unknown as undefined) : out.collect(result);
}
