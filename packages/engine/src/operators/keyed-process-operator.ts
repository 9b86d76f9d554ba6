/**
 * KeyedProcessFunction: records and timers of one key at a time. Nothing is allocated per record: context and collector
 * are made once (record-scope.ts), the calls are compiled per instance (process-call.ts).
 */
import type { TimerService as InternalTimers, OneInputOperator, Triggerable } from '../runtime/index.ts';
import { Types } from '../types/index.ts';
import type { FunctionOrFactory, KeyedProcessFunction, TimeDomain } from './functions.ts';
import { FunctionOperator } from './operator-defaults.ts';
import { makeOnTimer, makeProcessElement, ON_TIMER_WHAT, PROCESS_WHAT } from './process-call.ts';
import { createRecordScope, userTimers } from './record-scope.ts';
import { specialise } from './specialise.ts';

/** Flink's name for the timers of process functions; saved state knows them by it. */
export const USER_TIMERS = 'user-timers';

export class KeyedProcessOperator<K, In, Out>
  extends FunctionOperator<KeyedProcessFunction<K, In, Out>, Out>
  implements OneInputOperator<In, Out>, Triggerable<undefined>
{
  private timers!: InternalTimers<undefined>;
  private process!: (value: In, timestampMs: number) => void;
  private fire!: (timestampMs: number, domain: TimeDomain) => void;

  /** Throws INVALID_ARGUMENT, or PROMISE_NOT_EXPECTED for an async processElement or onTimer. */
  constructor(given: FunctionOrFactory<KeyedProcessFunction<K, In, Out>>) {
    super(given, ['processElement', 'onTimer', 'snapshotState'], true);
  }

  processElement(value: In, timestampMs: number): void {
    this.process(value, timestampMs);
  }

  onEventTime(timestampMs: number): void {
    this.fire(timestampMs, 'EVENT_TIME');
  }

  onProcessingTime(timestampMs: number): void {
    this.fire(timestampMs, 'PROCESSING_TIME');
  }

  compile(unique: string): (value: In, timestampMs: number) => void {
    const { output, operatorName, keyedState } = this.context;
    const keys = keyedState as { readonly currentKey: K };
    const scope = createRecordScope<K, Out>(output, userTimers(this.timers, operatorName), keys, unique);
    const fn = this.fn;
    this.process = specialise(
      makeProcessElement<K, In, Out>,
      unique,
    )({
      ...scope,
      fn,
      wrap: this.wrapper(PROCESS_WHAT),
      refuse: this.promiseRefuser(PROCESS_WHAT),
    });
    this.fire = specialise(
      makeOnTimer<K, Out>,
      unique,
    )({
      ...scope,
      fn,
      wrap: this.wrapper(ON_TIMER_WHAT),
      refuse: this.promiseRefuser(ON_TIMER_WHAT),
    });
    return this.process;
  }

  protected override prepare(): void {
    this.timers = this.context.timerService(USER_TIMERS, Types.VOID, this);
    this.compile('keyed process');
  }
}
