/**
 * What window functions, triggers and evictors are called with, and the state of windows. One object of each per operator;
 * only the window changes.
 */
import { MillraceError } from '../../base/index.ts';
import type { MetricGroup, OperatorContext, TimerService } from '../../runtime/index.ts';
import type {
  AggregatingState,
  AggregatingStateDescriptor,
  KeyedStateBackend,
  ListState,
  ListStateDescriptor,
  Merging,
  ReducingState,
  ReducingStateDescriptor,
  StateDescriptor,
  ValueState,
  ValueStateDescriptor,
} from '../../state/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import type { KeyedStateStore, ProcessWindowContext, WindowStateStore } from '../functions.ts';
import type { OutputTag } from '../output-tag.ts';
import { FunctionRuntimeContext } from '../runtime-context.ts';
import type { EvictorContext } from './evictor.ts';
import { EVENT_TIMERS, type KnownTimers, PROCESSING_TIMERS } from './known-timers.ts';
import type { TimeWindow } from './time-window.ts';
import type { OnMergeContext } from './trigger.ts';
import type { Window } from './window.ts';

/** What the contexts of an operator have in common. */
export interface WindowContextParts<W> {
  readonly context: OperatorContext<never>;
  readonly timers: TimerService<W>;
  readonly windowType: TypeInformation<W>;
}

/** When the operator removes a window by a timer of its own; undefined if it has none for that window. */
export interface CleanupTimer<W> {
  readonly isEventTime: boolean;
  timeOf(window: W): number | undefined;
}

/** Timers and state of the window that is set. */
export class WindowTriggerContext<W extends Window> implements OnMergeContext<W>, EvictorContext {
  window!: W;
  /** While windows merge: those that `window` is the result of. */
  mergedWindows: readonly W[] = [];
  /** While the window goes: then the operator's own timer is of no use, and one that the trigger set there goes with it. */
  isClearing = false;
  private readonly timers: TimerService<W>;
  private readonly metrics: MetricGroup;
  private readonly states: StatesOfWindow<W>;
  private readonly cleanup: CleanupTimer<W>;
  private readonly known: KnownTimers | undefined;

  /** `known` only if the windows are windows of time. */
  constructor(
    { context, timers, windowType }: WindowContextParts<W>,
    cleanup: CleanupTimer<W>,
    known: KnownTimers | undefined,
  ) {
    this.timers = timers;
    this.metrics = context.metrics;
    this.states = new StatesOfWindow(context.keyedState, windowType, () => this.window);
    this.cleanup = cleanup;
    this.known = known;
  }

  getCurrentWatermark(): number {
    return this.timers.currentWatermark();
  }

  getCurrentProcessingTime(): number {
    return this.timers.currentProcessingTime();
  }

  registerEventTimeTimer(timestampMs: number): void {
    const { known, window } = this;
    if (known?.has(EVENT_TIMERS, timestampMs, asTime(window))) return;
    this.timers.registerEventTimeTimer(window, timestampMs);
    known?.noteRegistered(EVENT_TIMERS, timestampMs, asTime(window));
  }

  registerProcessingTimeTimer(timestampMs: number): void {
    const { known, window } = this;
    if (known?.has(PROCESSING_TIMERS, timestampMs, asTime(window))) return;
    this.timers.registerProcessingTimeTimer(window, timestampMs);
    known?.noteRegistered(PROCESSING_TIMERS, timestampMs, asTime(window));
  }

  deleteEventTimeTimer(timestampMs: number): void {
    if (this.isCleanup(timestampMs, true)) return;
    this.timers.deleteEventTimeTimer(this.window, timestampMs);
    this.known?.noteGone(EVENT_TIMERS, timestampMs, asTime(this.window));
  }

  deleteProcessingTimeTimer(timestampMs: number): void {
    if (this.isCleanup(timestampMs, false)) return;
    this.timers.deleteProcessingTimeTimer(this.window, timestampMs);
    this.known?.noteGone(PROCESSING_TIMERS, timestampMs, asTime(this.window));
  }

  getPartitionedState<T>(descriptor: ValueStateDescriptor<T>): ValueState<T>;
  getPartitionedState<T>(descriptor: ListStateDescriptor<T>): ListState<T>;
  getPartitionedState<T>(descriptor: ReducingStateDescriptor<T>): ReducingState<T>;
  getPartitionedState<In, Acc, Out>(
    descriptor: AggregatingStateDescriptor<In, Acc, Out>,
  ): AggregatingState<In, Out>;
  getPartitionedState(descriptor: AnyStateDescriptor): unknown {
    return this.states.of(descriptor);
  }

  mergePartitionedState(descriptor: AnyStateDescriptor): void {
    const state = this.states.of(descriptor);
    if (state.mergeNamespaces === undefined) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `mergePartitionedState: the state '${descriptor.name}' is a ${descriptor.kind} state, which cannot be merged; use list, reducing or aggregating state.`,
      );
    }
    state.mergeNamespaces(this.window, this.mergedWindows);
  }

  forEachMergedWindow(action: (window: W) => void): void {
    const result = this.window;
    for (const window of this.mergedWindows) {
      this.window = window;
      action(window);
    }
    this.window = result;
  }

  getMetricGroup(): MetricGroup {
    return this.metrics;
  }

  private isCleanup(timestampMs: number, isEventTime: boolean): boolean {
    const { cleanup } = this;
    if (this.isClearing) return false;
    return isEventTime === cleanup.isEventTime && timestampMs === cleanup.timeOf(this.window);
  }
}

/** Where timers can be known, windows are windows of time. */
function asTime(window: Window): TimeWindow {
  return window as TimeWindow;
}

/** The context of window functions. Results get the last timestamp of the window. */
export class WindowFunctionContext<W extends Window> implements ProcessWindowContext<W> {
  current!: W;
  private readonly context: OperatorContext<never>;
  private readonly timers: TimerService<W>;
  private readonly stateOfWindow: WindowStateStore | undefined;
  private readonly stateOfKey: KeyedStateStore;

  /** Merging windows have no state of their own: it could not be merged. */
  constructor({ context, timers, windowType }: WindowContextParts<W>, isMerging: boolean) {
    this.context = context;
    this.timers = timers;
    this.stateOfKey = new FunctionRuntimeContext(context, true);
    this.stateOfWindow = isMerging
      ? undefined
      : new StatesOfWindow(context.keyedState, windowType, () => this.current);
  }

  window(): W {
    return this.current;
  }

  currentProcessingTime(): number {
    return this.timers.currentProcessingTime();
  }

  currentWatermark(): number {
    return this.timers.currentWatermark();
  }

  windowState(): WindowStateStore {
    if (this.stateOfWindow !== undefined) return this.stateOfWindow;
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `Operator '${this.context.operatorName}': windowState() is not there for merging windows such as sessions, because it could not be merged. Use globalState().`,
      { details: { operator: this.context.operatorName } },
    );
  }

  globalState(): KeyedStateStore {
    return this.stateOfKey;
  }

  output<T>(tag: OutputTag<T>, value: T): void {
    this.context.output.collectSide(tag.id, value, this.current.maxTimestamp());
  }
}

/** Whatever its types are. */
type AnyStateDescriptor = Pick<StateDescriptor, 'kind' | 'name'>;

/** Of the states that windows can have. */
type WindowStateDescriptor =
  | ValueStateDescriptor<never>
  | ListStateDescriptor<never>
  | ReducingStateDescriptor<never>
  | AggregatingStateDescriptor<never, never, never>;

type StateOfWindow<W> = { setNamespace(window: W): void } & Partial<Merging<W>>;

/** State in the namespace of the window that is current when it is asked for. */
class StatesOfWindow<W> implements WindowStateStore {
  private readonly backend: KeyedStateBackend;
  private readonly windowType: TypeInformation<W>;
  private readonly window: () => W;
  /** Asking the backend takes longer than asking here, and triggers ask for every element. */
  private readonly known = new WeakMap<object, StateOfWindow<W>>();

  constructor(backend: KeyedStateBackend, windowType: TypeInformation<W>, window: () => W) {
    this.backend = backend;
    this.windowType = windowType;
    this.window = window;
  }

  getState<T>(descriptor: ValueStateDescriptor<T>): ValueState<T> {
    return this.of(descriptor) as unknown as ValueState<T>;
  }

  getListState<T>(descriptor: ListStateDescriptor<T>): ListState<T> {
    return this.of(descriptor) as unknown as ListState<T>;
  }

  getReducingState<T>(descriptor: ReducingStateDescriptor<T>): ReducingState<T> {
    return this.of(descriptor) as unknown as ReducingState<T>;
  }

  getAggregatingState<In, Acc, Out>(
    descriptor: AggregatingStateDescriptor<In, Acc, Out>,
  ): AggregatingState<In, Out> {
    return this.of(descriptor) as unknown as AggregatingState<In, Out>;
  }

  /** The state that the descriptor describes, whichever it is. */
  of(descriptor: AnyStateDescriptor): StateOfWindow<W> {
    let state = this.known.get(descriptor);
    if (state === undefined) {
      state = this.ask(descriptor as WindowStateDescriptor);
      this.known.set(descriptor, state);
    }
    state.setNamespace(this.window());
    return state;
  }

  private ask(descriptor: WindowStateDescriptor): StateOfWindow<W> {
    const { backend, windowType } = this;
    switch (descriptor.kind) {
      case 'value':
        return backend.getNamespacedValueState(descriptor, windowType);
      case 'list':
        return backend.getNamespacedListState(descriptor, windowType);
      case 'reducing':
        return backend.getNamespacedReducingState(descriptor, windowType);
      case 'aggregating':
        return backend.getNamespacedAggregatingState(descriptor, windowType);
      default:
        throw noSuchState(descriptor);
    }
  }
}

function noSuchState({ name, kind }: AnyStateDescriptor): MillraceError {
  return new MillraceError(
    'INVALID_ARGUMENT',
    `The state '${name}' is a ${kind} state, which windows do not have: use value, list, reducing or aggregating state.`,
  );
}
