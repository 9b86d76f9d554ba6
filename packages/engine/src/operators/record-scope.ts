/**
 * The context and the collector that process functions are called with. Made once per operator instance and used for
 * every record and timer: only the fields of `scope` change, so that nothing is allocated.
 */
import { MillraceError, NO_TIMESTAMP } from '../base/index.ts';
import type { TimerService as InternalTimers, OperatorContext, Output } from '../runtime/index.ts';
import type { Collector, OnTimerContext, TimeDomain, TimerService } from './functions.ts';
import { specialise } from './specialise.ts';
import { describe } from './user-result.ts';

export interface RecordScope<K, Out> {
  /** What changes from call to call. */
  readonly scope: { timestampMs: number; domain: TimeDomain };
  readonly context: OnTimerContext<K>;
  readonly out: Collector<Out>;
}

interface ScopeEnv<K, Out> {
  readonly output: Output<Out>;
  readonly timers: TimerService;
  readonly keys: { readonly currentKey: K };
  readonly noTimestamp: number;
}

/** `keys` is the keyed backend, or anything with undefined as current key. */
export function createRecordScope<K, Out>(
  output: Output<Out>,
  timers: TimerService,
  keys: { readonly currentKey: K },
  unique: string,
): RecordScope<K, Out> {
  const make = specialise(makeScope<K, Out>, unique);
  return make({ output, timers, keys, noTimestamp: NO_TIMESTAMP });
}

const makeScope = <K, Out>({ output, timers, keys, noTimestamp }: ScopeEnv<K, Out>): RecordScope<K, Out> => {
  const scope = { timestampMs: noTimestamp, domain: 'EVENT_TIME' as TimeDomain };
  const context: OnTimerContext<K> = {
    timestamp: () => (scope.timestampMs === noTimestamp ? undefined : scope.timestampMs),
    timerService: () => timers,
    output: (tag, value) => output.collectSide(tag.id, value, scope.timestampMs),
    getCurrentKey: () => keys.currentKey,
    timeDomain: () => scope.domain,
  };
  const out: Collector<Out> = { collect: (value) => output.collect(value, scope.timestampMs) };
  return { scope, context, out };
};

/** Timers as users see them: those of the operator in the one namespace undefined. */
export function userTimers(timers: InternalTimers<undefined>, operatorName: string): TimerService {
  const checked = (timestampMs: number): number => {
    if (Number.isSafeInteger(timestampMs)) return timestampMs;
    throw new MillraceError(
      'TIMESTAMP_INVALID',
      `Operator '${operatorName}' asks for a timer at ${describe(timestampMs)}; it must be an integer (milliseconds since the epoch).`,
      { details: { operator: operatorName } },
    );
  };
  return {
    currentProcessingTime: () => timers.currentProcessingTime(),
    currentWatermark: () => timers.currentWatermark(),
    registerEventTimeTimer: (timestampMs) => timers.registerEventTimeTimer(undefined, checked(timestampMs)),
    registerProcessingTimeTimer: (timestampMs) =>
      timers.registerProcessingTimeTimer(undefined, checked(timestampMs)),
    deleteEventTimeTimer: (timestampMs) => timers.deleteEventTimeTimer(undefined, checked(timestampMs)),
    deleteProcessingTimeTimer: (timestampMs) =>
      timers.deleteProcessingTimeTimer(undefined, checked(timestampMs)),
  };
}

/** For operators without keys: time can be read, timers are refused. */
export function timeWithoutTimers(
  context: OperatorContext<never>,
  currentWatermark: () => number,
): TimerService {
  const refuse = (): never => {
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `Operator '${context.operatorName}' sets a timer, but its input has no keys: timers belong to keys. Put keyBy before it.`,
      { details: { operator: context.operatorName } },
    );
  };
  return {
    currentProcessingTime: () => context.processingTimeMs(),
    currentWatermark,
    registerEventTimeTimer: refuse,
    registerProcessingTimeTimer: refuse,
    deleteEventTimeTimer: refuse,
    deleteProcessingTimeTimer: refuse,
  };
}
