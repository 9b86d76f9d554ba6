/** CoProcessFunction and KeyedCoProcessFunction: two inputs, one function, in the keyed form one state. */
import { MIN_WATERMARK } from '../base/index.ts';
import type { TimerService as InternalTimers, Triggerable, TwoInputOperator } from '../runtime/index.ts';
import { Types } from '../types/index.ts';
import type {
  CoProcessFunction,
  FunctionOrFactory,
  KeyedCoProcessFunction,
  RichFunction,
  TimeDomain,
  TimerService,
} from './functions.ts';
import { USER_TIMERS } from './keyed-process-operator.ts';
import { FunctionOperator } from './operator-defaults.ts';
import { makeOnTimer, makeProcessElement1, makeProcessElement2, ON_TIMER_WHAT } from './process-call.ts';
import { createRecordScope, type RecordScope, timeWithoutTimers, userTimers } from './record-scope.ts';
import { specialise } from './specialise.ts';

const WHAT_1 = 'processElement1 function';
const WHAT_2 = 'processElement2 function';

type Process<V> = (value: V, timestampMs: number) => void;

/** What the two forms share: calls of processElement1 and processElement2. */
abstract class TwoInputFunctionOperator<
    F extends RichFunction & BothInputs<K, In1, In2, Out>,
    K,
    In1,
    In2,
    Out,
  >
  extends FunctionOperator<F, Out>
  implements TwoInputOperator<In1, In2, Out>
{
  private process1!: Process<In1>;
  private process2!: Process<In2>;
  protected shared!: RecordScope<K, Out>;

  processElement1(value: In1, timestampMs: number): void {
    this.process1(value, timestampMs);
  }

  processElement2(value: In2, timestampMs: number): void {
    this.process2(value, timestampMs);
  }

  compile1(unique: string): Process<In1> {
    this.process1 = specialise(
      makeProcessElement1<K, In1, Out>,
      unique,
    )({
      ...this.shared,
      fn: this.fn,
      wrap: this.wrapper(WHAT_1),
      refuse: this.promiseRefuser(WHAT_1),
    });
    return this.process1;
  }

  compile2(unique: string): Process<In2> {
    this.process2 = specialise(
      makeProcessElement2<K, In2, Out>,
      unique,
    )({
      ...this.shared,
      fn: this.fn,
      wrap: this.wrapper(WHAT_2),
      refuse: this.promiseRefuser(WHAT_2),
    });
    return this.process2;
  }

  protected override prepare(): void {
    const keys = this.keys();
    this.shared = createRecordScope<K, Out>(this.context.output, this.userTimers(), keys, 'two inputs');
    this.compile1('input 1');
    this.compile2('input 2');
  }

  protected abstract keys(): { readonly currentKey: K };
  protected abstract userTimers(): TimerService;
}

interface BothInputs<K, In1, In2, Out> {
  processElement1(value: In1, context: RecordScope<K, Out>['context'], out: RecordScope<K, Out>['out']): void;
  processElement2(value: In2, context: RecordScope<K, Out>['context'], out: RecordScope<K, Out>['out']): void;
}

export class CoProcessOperator<In1, In2, Out> extends TwoInputFunctionOperator<
  CoProcessFunction<In1, In2, Out>,
  undefined,
  In1,
  In2,
  Out
> {
  private watermarkMs = MIN_WATERMARK;

  /** Throws INVALID_ARGUMENT, or PROMISE_NOT_EXPECTED for async methods. */
  constructor(given: FunctionOrFactory<CoProcessFunction<In1, In2, Out>>) {
    super(given, ['processElement1', 'processElement2', 'snapshotState'], false);
  }

  override processWatermark(watermarkMs: number): void {
    this.watermarkMs = watermarkMs;
    super.processWatermark(watermarkMs);
  }

  protected keys(): { readonly currentKey: undefined } {
    return { currentKey: undefined };
  }

  protected userTimers(): TimerService {
    return timeWithoutTimers(this.context, () => this.watermarkMs);
  }
}

export class KeyedCoProcessOperator<K, In1, In2, Out>
  extends TwoInputFunctionOperator<KeyedCoProcessFunction<K, In1, In2, Out>, K, In1, In2, Out>
  implements Triggerable<undefined>
{
  private timers!: InternalTimers<undefined>;
  private fire!: (timestampMs: number, domain: TimeDomain) => void;

  /** Throws INVALID_ARGUMENT, or PROMISE_NOT_EXPECTED for async methods. */
  constructor(given: FunctionOrFactory<KeyedCoProcessFunction<K, In1, In2, Out>>) {
    super(given, ['processElement1', 'processElement2', 'onTimer', 'snapshotState'], true);
  }

  onEventTime(timestampMs: number): void {
    this.fire(timestampMs, 'EVENT_TIME');
  }

  onProcessingTime(timestampMs: number): void {
    this.fire(timestampMs, 'PROCESSING_TIME');
  }

  protected override prepare(): void {
    this.timers = this.context.timerService(USER_TIMERS, Types.VOID, this);
    super.prepare();
    this.fire = specialise(
      makeOnTimer<K, Out>,
      'onTimer',
    )({
      ...this.shared,
      fn: this.fn,
      wrap: this.wrapper(ON_TIMER_WHAT),
      refuse: this.promiseRefuser(ON_TIMER_WHAT),
    });
  }

  protected keys(): { readonly currentKey: K } {
    return this.context.keyedState as { readonly currentKey: K };
  }

  protected userTimers(): TimerService {
    return userTimers(this.timers, this.context.operatorName);
  }
}
