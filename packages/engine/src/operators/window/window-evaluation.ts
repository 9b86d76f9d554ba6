/**
 * What is done with the contents of a window when it fires: a user's function, with key or without, plain or with a life;
 * or nothing, and the contents are the results. The window operator takes all of them as one kind of object.
 */
import type {
  AllWindowFunction,
  Collector,
  FunctionOrFactory,
  ProcessAllWindowFunction,
  ProcessWindowContext,
  ProcessWindowFunction,
  WindowFunction,
} from '../functions.ts';
import { assertSynchronous } from '../user-result.ts';
import type { TimeWindow } from './time-window.ts';

/** What an error message calls it. */
export const WINDOW_FUNCTION = 'window function';

export type WindowEvaluation<K, Content, Out, W = TimeWindow> =
  | { readonly kind: 'process'; readonly fn: FunctionOrFactory<ProcessWindowFunction<Content, Out, K, W>> }
  | { readonly kind: 'apply'; readonly fn: WindowFunction<Content, Out, K, W> }
  | {
      readonly kind: 'process-all';
      readonly fn: FunctionOrFactory<ProcessAllWindowFunction<Content, Out, W>>;
    }
  | { readonly kind: 'apply-all'; readonly fn: AllWindowFunction<Content, Out, W> };

/** The function object, whichever of the two it is. */
export type AnyWindowFunction<K, Content, Out, W> =
  | ProcessWindowFunction<Content, Out, K, W>
  | ProcessAllWindowFunction<Content, Out, W>;

/** The user's function as an object; one that emits the contents if there is none. Throws PROMISE_NOT_EXPECTED. */
export function windowFunctionOf<K, Content, Out, W>(
  evaluation: WindowEvaluation<K, Content, Out, W> | undefined,
): FunctionOrFactory<AnyWindowFunction<K, Content, Out, W>> {
  switch (evaluation?.kind) {
    case undefined:
      return () => ({
        process: (
          _key: K,
          _context: ProcessWindowContext<W>,
          elements: Iterable<Content>,
          out: Collector<Out>,
        ) => {
          for (const element of elements) out.collect(element as unknown as Out);
        },
      });
    case 'process':
    case 'process-all':
      return evaluation.fn;
    case 'apply': {
      const { fn } = evaluation;
      assertSynchronous(fn, WINDOW_FUNCTION);
      return () => ({
        process: (
          key: K,
          context: ProcessWindowContext<W>,
          elements: Iterable<Content>,
          out: Collector<Out>,
        ) => fn(key, context.window(), elements, out),
      });
    }
    case 'apply-all': {
      const { fn } = evaluation;
      assertSynchronous(fn, WINDOW_FUNCTION);
      return () => ({
        process: (
          _key: K,
          context: ProcessWindowContext<W>,
          elements: Iterable<Content>,
          out: Collector<Out>,
        ) => fn(context.window(), elements, out),
      });
    }
  }
}

/** Calls the function that `windowFunctionOf` gave; its result is for the caller to refuse. */
export type CallWindowFunction<K, Content, Out, W> = (
  key: K,
  context: ProcessWindowContext<W>,
  elements: readonly Content[],
  out: Collector<Out>,
) => unknown;

export function windowCall<K, Content, Out, W>(
  evaluation: WindowEvaluation<K, Content, Out, W> | undefined,
  fn: AnyWindowFunction<K, Content, Out, W>,
): CallWindowFunction<K, Content, Out, W> {
  if (evaluation?.kind === 'process-all') {
    const ofStream = fn as ProcessAllWindowFunction<Content, Out, W>;
    return (_key, context, elements, out) => ofStream.process(context, elements, out);
  }
  const ofKey = fn as ProcessWindowFunction<Content, Out, K, W>;
  return (key, context, elements, out) => ofKey.process(key, context, elements, out);
}
