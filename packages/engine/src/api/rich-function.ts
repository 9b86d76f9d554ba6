/**
 * Map, filter and flatMap functions that are objects with a life (Flink's RichMapFunction and its like): they get state
 * and metrics in `open`. They run as process functions; a plain function is faster, because it is inlined.
 */
import { MillraceError } from '../base/index.ts';
import {
  assertSynchronous,
  type Collector,
  type FlatMapFunction,
  type FunctionOrFactory,
  type ProcessFunction,
  RichFunction,
} from '../operators/index.ts';

export abstract class RichMapFunction<In, Out> extends RichFunction {
  abstract map(value: In): Out;
}

export abstract class RichFilterFunction<T> extends RichFunction {
  abstract filter(value: T): boolean;
}

export abstract class RichFlatMapFunction<In, Out> extends RichFunction {
  abstract flatMap(value: In, out: Collector<Out>): Iterable<Out> | void;
}

/** A function object or its class: not a factory, which could not be told from a plain function. */
export type FunctionObject<F extends object> = F | (new () => F);

type Method = 'map' | 'filter' | 'flatMap';

type Methods = Record<Method, (value: unknown, out: Collector<unknown>) => unknown>;
type Element = (this: Methods, value: unknown, context: unknown, out: Collector<unknown>) => unknown;

/** A promise is handed back: the operator refuses it, with its name. */
const PROCESS_ELEMENT: Readonly<Record<Method, Element>> = {
  map(value, _context, out) {
    const result = this.map(value, out);
    if (result instanceof Promise) return result;
    return out.collect(result);
  },
  filter(value, _context, out) {
    const result = this.filter(value, out);
    if (result instanceof Promise) return result;
    if (typeof result !== 'boolean')
      throw new TypeError(`filter answered ${String(result)} instead of true or false`);
    return result ? out.collect(value) : undefined;
  },
  flatMap(value, _context, out) {
    const result = this.flatMap(value, out);
    if (result instanceof Promise) return result;
    return collectAll(result, out);
  },
};

/** True for a plain function, such as an arrow function; false for a class or an object. */
export function isPlainFunction(given: unknown): given is (...parameters: never[]) => unknown {
  return typeof given === 'function' && !isClass(given);
}

/**
 * `given` as a process function that calls its `method`. An object gets a hidden property for that, so that operators
 * copy it for each subtask like any function object. Throws INVALID_ARGUMENT if it has no such
 * method, PROMISE_NOT_EXPECTED if that is async.
 */
export function asProcessFunction<In, Out>(
  given: object,
  method: Method,
): FunctionOrFactory<ProcessFunction<In, Out>> {
  const processElement = { value: PROCESS_ELEMENT[method], enumerable: false, configurable: true };
  if (typeof given === 'function') {
    const inherited = (given.prototype as Partial<Methods>)[method];
    if (inherited !== undefined) assertSynchronous(inherited, `method ${method} of ${given.name}`);
    const made = class extends (given as new () => object) {};
    Object.defineProperty(made, 'name', { value: given.name });
    Object.defineProperty(made.prototype, 'processElement', processElement);
    return made as unknown as new () => ProcessFunction<In, Out>;
  }
  const own = (given as Partial<Methods> | null)?.[method];
  if (typeof own !== 'function') {
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `${method}(…): expected a function, an object with a method ${method}, or its class`,
    );
  }
  assertSynchronous(own, `method ${method} of ${given.constructor?.name ?? 'an object'}`);
  return Object.defineProperty(given, 'processElement', processElement) as ProcessFunction<In, Out>;
}

/** Collects what a flatMap function returned, if it returned anything. */
export function collectAll<Out>(
  returned: ReturnType<FlatMapFunction<never, Out>> | unknown,
  out: Collector<Out>,
): void {
  if (returned === undefined) return;
  if (typeof returned !== 'object' || returned === null || !(Symbol.iterator in returned)) {
    throw new MillraceError(
      'INVALID_ARGUMENT',
      'a flatMap function returns an iterable, or nothing and uses its collector',
    );
  }
  for (const value of returned as Iterable<Out>) out.collect(value);
}

function isClass(given: object): boolean {
  return /^class\b/.test(Function.prototype.toString.call(given));
}
