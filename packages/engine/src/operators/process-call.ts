/**
 * The hot calls of process functions: makers for `specialise`, so they refer to nothing but their parameter. The operators
 * of process functions use them, each instance with copies of its own.
 */
import type { TimeDomain } from './functions.ts';
import type { RecordScope } from './record-scope.ts';

/** What an error message calls the method. */
export const PROCESS_WHAT = 'processElement function';
export const ON_TIMER_WHAT = 'onTimer function';

export interface CallEnv<F, K, Out> extends RecordScope<K, Out> {
  readonly fn: F;
  readonly wrap: (error: unknown) => Error;
  readonly refuse: (result: unknown) => void;
}

type Context<K, Out> = RecordScope<K, Out>['context'];
type OutOf<K, Out> = RecordScope<K, Out>['out'];
type Call<V, K, Out> = (value: V, context: Context<K, Out>, out: OutOf<K, Out>) => unknown;

export const makeProcessElement = <K, In, Out>({
  fn,
  scope,
  context,
  out,
  wrap,
  refuse,
}: CallEnv<{ processElement: Call<In, K, Out> }, K, Out>) => {
  return (value: In, timestampMs: number): void => {
    scope.timestampMs = timestampMs;
    let result: unknown;
    try {
      result = fn.processElement(value, context, out);
    } catch (error) {
      throw wrap(error);
    }
    if (result !== undefined) refuse(result);
  };
};

export const makeProcessElement1 = <K, In, Out>({
  fn,
  scope,
  context,
  out,
  wrap,
  refuse,
}: CallEnv<{ processElement1: Call<In, K, Out> }, K, Out>) => {
  return (value: In, timestampMs: number): void => {
    scope.timestampMs = timestampMs;
    let result: unknown;
    try {
      result = fn.processElement1(value, context, out);
    } catch (error) {
      throw wrap(error);
    }
    if (result !== undefined) refuse(result);
  };
};

export const makeProcessElement2 = <K, In, Out>({
  fn,
  scope,
  context,
  out,
  wrap,
  refuse,
}: CallEnv<{ processElement2: Call<In, K, Out> }, K, Out>) => {
  return (value: In, timestampMs: number): void => {
    scope.timestampMs = timestampMs;
    let result: unknown;
    try {
      result = fn.processElement2(value, context, out);
    } catch (error) {
      throw wrap(error);
    }
    if (result !== undefined) refuse(result);
  };
};

export const makeOnTimer = <K, Out>({
  fn,
  scope,
  context,
  out,
  wrap,
  refuse,
}: CallEnv<{ onTimer?: Call<number, K, Out> }, K, Out>) => {
  return (timestampMs: number, domain: TimeDomain): void => {
    if (fn.onTimer === undefined) return;
    scope.timestampMs = timestampMs;
    scope.domain = domain;
    let result: unknown;
    try {
      result = fn.onTimer(timestampMs, context, out);
    } catch (error) {
      throw wrap(error);
    }
    if (result !== undefined) refuse(result);
  };
};
