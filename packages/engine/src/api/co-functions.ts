/** The map and flatMap functions of connected streams, plain ones and objects, as process functions. */
import {
  adaptFunction,
  assertSynchronous,
  type CoFlatMapFunction,
  type Collector,
  type CoMapFunction,
  type CoProcessFunction,
  type FlatMapFunction,
  type FunctionOrFactory,
  type FunctionShape,
  type MapFunction,
} from '../operators/index.ts';
import { collectAll } from './rich-function.ts';

/** Throws INVALID_ARGUMENT, PROMISE_NOT_EXPECTED for async functions. */
export function coMapFunction<A, B, R>(
  given: FunctionOrFactory<CoMapFunction<A, B, R>>,
): FunctionOrFactory<CoProcessFunction<A, B, R>> {
  return adaptFunction(
    given,
    ['map1', 'map2'],
    (user): FunctionShape<CoProcessFunction<A, B, R>> => ({
      processElement1: (value, _context, out) => collectOne(user.map1(value), out),
      processElement2: (value, _context, out) => collectOne(user.map2(value), out),
    }),
  );
}

/** As coMapFunction. */
export function coFlatMapFunction<A, B, R>(
  given: FunctionOrFactory<CoFlatMapFunction<A, B, R>>,
): FunctionOrFactory<CoProcessFunction<A, B, R>> {
  return adaptFunction(
    given,
    ['flatMap1', 'flatMap2'],
    (user): FunctionShape<CoProcessFunction<A, B, R>> => ({
      processElement1: (value, _context, out) => collectReturned(user.flatMap1(value, out), out),
      processElement2: (value, _context, out) => collectReturned(user.flatMap2(value, out), out),
    }),
  );
}

/** Two plain functions as one object. */
export function coMapPair<A, B, R>(map1: MapFunction<A, R>, map2: MapFunction<B, R>): CoMapFunction<A, B, R> {
  assertSynchronous(map1, 'first map function');
  assertSynchronous(map2, 'second map function');
  return { map1, map2 };
}

/** Two plain functions as one object. */
export function coFlatMapPair<A, B, R>(
  flatMap1: FlatMapFunction<A, R>,
  flatMap2: FlatMapFunction<B, R>,
): CoFlatMapFunction<A, B, R> {
  assertSynchronous(flatMap1, 'first flatMap function');
  assertSynchronous(flatMap2, 'second flatMap function');
  return { flatMap1, flatMap2 };
}

/** A promise is handed back: the operator refuses it, with its name. */
function collectOne<R>(result: R, out: Collector<R>): void {
  return result instanceof Promise ? (result as unknown as undefined) : out.collect(result);
}

/** As collectOne. */
function collectReturned<R>(result: Iterable<R> | void, out: Collector<R>): void {
  return result instanceof Promise ? (result as unknown as undefined) : collectAll(result, out);
}
