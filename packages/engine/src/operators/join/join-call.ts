/** Calls of join functions: one with two parameters answers with its result, one with more collects its results. */
import type {
  Collector,
  FunctionOrFactory,
  JoinFunction,
  PlainProcessJoinFunction,
  ProcessJoinFunction,
  RichFunction,
} from '../functions.ts';
import { describe } from '../user-result.ts';

/** RichJoinFunction and RichFlatJoinFunction: the latter has three parameters. */
export interface JoinMethod<First, Second, Out> extends RichFunction {
  join(first: First, second: Second, out: Collector<Out>): Out | void;
}

/** A plain function of an interval join as an object. */
export function processJoinFunction<Left, Right, Out>(
  fn: JoinFunction<Left, Right, Out> | PlainProcessJoinFunction<Left, Right, Out>,
): FunctionOrFactory<ProcessJoinFunction<Left, Right, Out>> {
  if (isFlatJoin(fn)) return { processElement: fn as PlainProcessJoinFunction<Left, Right, Out> };
  const join = fn as JoinFunction<Left, Right, Out>;
  return {
    processElement: (left, right, _context, out) => emitJoined(join(left, right), false, out),
  };
}

/** True for a function that collects its results. */
export function isFlatJoin(fn: { readonly length: number }): boolean {
  return fn.length > 2;
}

/** Emits what a join function answered. A promise is handed back: the operator refuses it, with its name. */
export function emitJoined<Out>(result: Out | void, isFlat: boolean, out: Collector<Out>): void {
  if (result instanceof Promise) return result as unknown as undefined;
  if (!isFlat) return out.collect(result as Out);
  if (result === undefined) return;
  throw new TypeError(
    `a join function with three parameters collects its results and returns nothing, found ${describe(result)}`,
  );
}
