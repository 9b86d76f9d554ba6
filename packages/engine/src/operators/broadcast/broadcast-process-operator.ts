/**
 * BroadcastProcessFunction and KeyedBroadcastProcessFunction: input 0 brings records, with keys or without, input 1 brings
 * every record to every subtask (CoBroadcastWithNonKeyedOperator and CoBroadcastWithKeyedOperator in Flink).
 *
 * Records and timers are called through compiled code, as in all process functions. Broadcast records are few: their calls
 * open the broadcast states for changes, and close them again (declared-broadcast-states.ts). Beside keys there is no
 * current key meanwhile, so that keyed state of whatever key came last cannot be touched by mistake.
 */
import { MIN_WATERMARK } from '../../base/index.ts';
import type { TimerService as InternalTimers, Triggerable, TwoInputOperator } from '../../runtime/index.ts';
import type {
  BroadcastState,
  KeyedStateBackend,
  MapStateDescriptor,
  StateDescriptor,
} from '../../state/index.ts';
import { Types } from '../../types/index.ts';
import type { FunctionOrFactory, RichFunction, TimeDomain, TimerService } from '../functions.ts';
import { USER_TIMERS } from '../keyed-process-operator.ts';
import { FunctionOperator } from '../operator-defaults.ts';
import {
  type CallEnv,
  makeOnTimer,
  makeProcessElement,
  ON_TIMER_WHAT,
  PROCESS_WHAT,
} from '../process-call.ts';
import { createRecordScope, type RecordScope, timeWithoutTimers, userTimers } from '../record-scope.ts';
import { specialise } from '../specialise.ts';
import type {
  BroadcastOnTimerContext,
  BroadcastProcessFunction,
  KeyedBroadcastContext,
  KeyedBroadcastProcessFunction,
  KeyedStateFunction,
} from './broadcast-functions.ts';
import {
  type AnyMapStateDescriptor,
  checkBroadcastDescriptors,
  DeclaredBroadcastStates,
} from './declared-broadcast-states.ts';

const BROADCAST_WHAT = 'processBroadcastElement function';
const APPLY_WHAT = 'function of applyToKeyedState';

type Process<V> = (value: V, timestampMs: number) => void;
type ApplyToKeyedState<K> = KeyedBroadcastContext<K>['applyToKeyedState'];

/** The methods of both functions, with the widest context: what the function takes is a part of it. */
interface BothInputs<K, In, Broadcast, Out> extends RichFunction {
  processElement(value: In, context: BroadcastOnTimerContext<K>, out: RecordScope<K, Out>['out']): void;
  processBroadcastElement(
    value: Broadcast,
    context: KeyedBroadcastContext<K>,
    out: RecordScope<K, Out>['out'],
  ): void;
}

/** What both contexts have. */
interface CommonContext {
  readonly currentProcessingTime: () => number;
  readonly currentWatermark: () => number;
  readonly getBroadcastState: <UK, UV>(descriptor: MapStateDescriptor<UK, UV>) => BroadcastState<UK, UV>;
}

/** What the two forms share. */
abstract class BroadcastFunctionOperator<F extends BothInputs<K, In, Broadcast, Out>, K, In, Broadcast, Out>
  extends FunctionOperator<F, Out>
  implements TwoInputOperator<In, Broadcast, Out>
{
  protected states!: DeclaredBroadcastStates;
  protected scope!: RecordScope<K, Out> & { readonly context: BroadcastOnTimerContext<K> };
  private readonly descriptors: readonly AnyMapStateDescriptor[];
  private process!: Process<In>;
  private broadcastContext!: KeyedBroadcastContext<K>;

  protected constructor(
    given: FunctionOrFactory<F>,
    descriptors: readonly AnyMapStateDescriptor[],
    methods: readonly string[],
    isKeyed: boolean,
  ) {
    super(given, methods, isKeyed);
    checkBroadcastDescriptors(descriptors);
    this.descriptors = descriptors;
  }

  processElement1(value: In, timestampMs: number): void {
    this.process(value, timestampMs);
  }

  processElement2(value: Broadcast, timestampMs: number): void {
    this.scope.scope.timestampMs = timestampMs;
    this.states.whileWritable(true, () => this.callBroadcast(value));
  }

  compile1(unique: string): Process<In> {
    this.process = specialise(makeProcessElement<K, In, Out>, unique)(this.callEnv(PROCESS_WHAT));
    return this.process;
  }

  /** `callbacks` are what only one of the forms has in processBroadcastElement. */
  protected prepareInputs(
    timers: TimerService,
    keys: { readonly currentKey: K },
    callbacks: Partial<KeyedBroadcastContext<K>>,
  ): void {
    const { operatorName, operatorState, output } = this.context;
    this.states = new DeclaredBroadcastStates(operatorName, operatorState, this.descriptors);
    const common: CommonContext = {
      currentProcessingTime: () => timers.currentProcessingTime(),
      currentWatermark: () => timers.currentWatermark(),
      getBroadcastState: (descriptor) => this.states.get(descriptor),
    };
    const records = createRecordScope<K, Out>(output, timers, keys, 'broadcast');
    this.scope = { ...records, context: { ...records.context, ...common } };
    const { timestamp, output: collectSide } = records.context;
    this.broadcastContext = {
      ...{ ...common, timestamp, output: collectSide },
      ...callbacks,
    } as KeyedBroadcastContext<K>;
    this.compile1('broadcast');
  }

  /** What the compiled calls of a method work with. The context has more than that of other process functions. */
  protected callEnv(what: string): CallEnv<never, K, Out> {
    return {
      ...this.scope,
      fn: this.fn as never,
      wrap: this.wrapper(what),
      refuse: this.promiseRefuser(what),
    };
  }

  protected callBroadcast(value: Broadcast): void {
    this.synchronously(BROADCAST_WHAT, () =>
      this.fn.processBroadcastElement(value, this.broadcastContext, this.scope.out),
    );
  }
}

export class BroadcastProcessOperator<In, Broadcast, Out> extends BroadcastFunctionOperator<
  BroadcastProcessFunction<In, Broadcast, Out>,
  undefined,
  In,
  Broadcast,
  Out
> {
  private watermarkMs = MIN_WATERMARK;

  /** Throws INVALID_ARGUMENT, or PROMISE_NOT_EXPECTED for async methods. */
  constructor(
    given: FunctionOrFactory<BroadcastProcessFunction<In, Broadcast, Out>>,
    descriptors: readonly AnyMapStateDescriptor[],
  ) {
    super(given, descriptors, ['processElement', 'processBroadcastElement', 'snapshotState'], false);
  }

  override processWatermark(watermarkMs: number): void {
    this.watermarkMs = watermarkMs;
    super.processWatermark(watermarkMs);
  }

  protected override prepare(): void {
    const timers = timeWithoutTimers(this.context, () => this.watermarkMs);
    this.prepareInputs(timers, { currentKey: undefined }, {});
  }
}

export class KeyedBroadcastProcessOperator<K, In, Broadcast, Out>
  extends BroadcastFunctionOperator<
    KeyedBroadcastProcessFunction<K, In, Broadcast, Out>,
    K,
    In,
    Broadcast,
    Out
  >
  implements Triggerable<undefined>
{
  private keyedState!: KeyedStateBackend<K>;
  private fire!: (timestampMs: number, domain: TimeDomain) => void;

  /** Throws INVALID_ARGUMENT, or PROMISE_NOT_EXPECTED for async methods. */
  constructor(
    given: FunctionOrFactory<KeyedBroadcastProcessFunction<K, In, Broadcast, Out>>,
    descriptors: readonly AnyMapStateDescriptor[],
  ) {
    super(
      given,
      descriptors,
      ['processElement', 'processBroadcastElement', 'onTimer', 'snapshotState'],
      true,
    );
  }

  onEventTime(timestampMs: number): void {
    this.fire(timestampMs, 'EVENT_TIME');
  }

  onProcessingTime(timestampMs: number): void {
    this.fire(timestampMs, 'PROCESSING_TIME');
  }

  protected override prepare(): void {
    this.keyedState = this.context.keyedState as KeyedStateBackend<K>;
    const timers: InternalTimers<undefined> = this.context.timerService(USER_TIMERS, Types.VOID, this);
    const applyToKeyedState = this.applyToKeyedState.bind(this) as never as ApplyToKeyedState<K>;
    this.prepareInputs(userTimers(timers, this.context.operatorName), this.keyedState, { applyToKeyedState });
    this.fire = specialise(makeOnTimer<K, Out>, 'onTimer')(this.callEnv(ON_TIMER_WHAT));
  }

  protected override callBroadcast(value: Broadcast): void {
    this.keyedState.clearCurrentKey();
    super.callBroadcast(value);
  }

  /** Keys differ from subtask to subtask, so what is done for them must not change broadcast state. */
  private applyToKeyedState(descriptor: StateDescriptor, fn: KeyedStateFunction<K, never>): void {
    const { keyedState } = this;
    const state = keyedStateOf(this.context.keyedState, descriptor) as never;
    this.states.whileWritable(false, () => {
      try {
        for (const key of keyedState.keys(descriptor.name)) {
          keyedState.setCurrentKey(key, keyedState.hashOf(key));
          this.synchronously(APPLY_WHAT, () => fn(key, state));
        }
      } finally {
        keyedState.clearCurrentKey();
      }
    });
  }
}

function keyedStateOf(backend: KeyedStateBackend, descriptor: StateDescriptor): unknown {
  switch (descriptor.kind) {
    case 'value':
      return backend.getValueState(descriptor);
    case 'list':
      return backend.getListState(descriptor);
    case 'map':
      return backend.getMapState(descriptor);
    case 'reducing':
      return backend.getReducingState(descriptor);
    case 'aggregating':
      return backend.getAggregatingState(descriptor);
  }
}
