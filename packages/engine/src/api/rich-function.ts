/**
 * Map, filter and flatMap functions that are objects with a life (Flink's RichMapFunction and its like): they get state
 * and metrics in `open`. They run as process functions; a plain function is faster, because it is inlined.
 */
import {
  adaptFunction,
  type Collector,
  describe,
  type FlatMapFunction,
  type FunctionOrFactory,
  type FunctionShape,
  type ProcessFunction,
  RichFunction,
} from '../operators/index.ts';

/** A MapFunction with a life: state and metrics in `open`. `DataStream.map` takes it, or its class. */
export abstract class RichMapFunction<In, Out> extends RichFunction {
  /** One result for each record. */
  abstract map(value: In): Out;
}

/** A FilterFunction with a life. */
export abstract class RichFilterFunction<T> extends RichFunction {
  /** True: the record is kept. */
  abstract filter(value: T): boolean;
}

/** A FlatMapFunction with a life. */
export abstract class RichFlatMapFunction<In, Out> extends RichFunction {
  /** Any number of results for each record: collected, or returned as an iterable. */
  abstract flatMap(value: In, out: Collector<Out>): Iterable<Out> | void;
}

/** A function object or its class: not a factory, which could not be told from a plain function. */
export type FunctionObject<F extends object> = FunctionShape<F> | (new () => FunctionShape<F>);

type Method = 'map' | 'filter' | 'flatMap';

type Methods = Record<Method, (value: unknown, out: Collector<unknown>) => unknown>;
type Element = (value: unknown, context: unknown, out: Collector<unknown>) => unknown;

/** A promise is handed back: the operator refuses it, with its name. */
const PROCESS_ELEMENT: Readonly<Record<Method, (user: Methods) => Element>> = {
  map: (user) => (value, _context, out) => {
    const result = user.map(value, out);
    if (result instanceof Promise) return result;
    return out.collect(result);
  },
  filter: (user) => (value, _context, out) => {
    const result = user.filter(value, out);
    if (result instanceof Promise) return result;
    if (typeof result !== 'boolean')
      throw new TypeError(`filter answered ${String(result)} instead of true or false`);
    return result ? out.collect(value) : undefined;
  },
  flatMap: (user) => (value, _context, out) => {
    const result = user.flatMap(value, out);
    if (result instanceof Promise) return result;
    return collectAll(result, out);
  },
};

/** True for a plain function, such as an arrow function; false for a class or an object. */
export function isPlainFunction(given: unknown): given is (...parameters: never[]) => unknown {
  return typeof given === 'function' && !isClass(given);
}

/** `given` as a process function that calls its `method`. Throws INVALID_ARGUMENT, PROMISE_NOT_EXPECTED if it is async. */
export function asProcessFunction<In, Out>(
  given: object,
  method: Method,
): FunctionOrFactory<ProcessFunction<In, Out>> {
  const adapt = (user: object): object => ({ processElement: PROCESS_ELEMENT[method](user as Methods) });
  return adaptFunction(given, [method], adapt) as FunctionOrFactory<ProcessFunction<In, Out>>;
}

/** Collects what a flatMap function returned, if it returned anything. */
export function collectAll<Out>(
  returned: ReturnType<FlatMapFunction<never, Out>> | unknown,
  out: Collector<Out>,
): void {
  if (returned === undefined) return;
  if (typeof returned !== 'object' || returned === null || !(Symbol.iterator in returned)) {
    throw new TypeError(
      `a flatMap function returns an iterable, or nothing and uses its collector; found ${describe(returned)}`,
    );
  }
  for (const value of returned as Iterable<Out>) out.collect(value);
}

function isClass(given: object): boolean {
  return /^class\b/.test(Function.prototype.toString.call(given));
}
