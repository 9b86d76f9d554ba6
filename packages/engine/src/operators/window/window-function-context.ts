/** What window functions and triggers are called with. One object of each per operator; only the window changes. */
import { MillraceError } from '../../base/index.ts';
import type { OperatorContext, TimerService } from '../../runtime/index.ts';
import type {
  AggregatingState,
  AggregatingStateDescriptor,
  KeyedStateBackend,
  ListState,
  ListStateDescriptor,
  ReducingState,
  ReducingStateDescriptor,
  ValueState,
  ValueStateDescriptor,
} from '../../state/index.ts';
import type { KeyedStateStore, ProcessWindowContext, WindowStateStore } from '../functions.ts';
import type { OutputTag } from '../output-tag.ts';
import { FunctionRuntimeContext } from '../runtime-context.ts';
import { TIME_WINDOW_TYPE, TimeWindow } from './time-window.ts';
import type { TriggerContext } from './trigger.ts';

/** Timers of the window that is set. */
export class WindowTriggerContext implements TriggerContext {
  window = new TimeWindow();
  private readonly timers: TimerService<TimeWindow>;

  constructor(timers: TimerService<TimeWindow>) {
    this.timers = timers;
  }

  getCurrentWatermark(): number {
    return this.timers.currentWatermark();
  }

  getCurrentProcessingTime(): number {
    return this.timers.currentProcessingTime();
  }

  registerEventTimeTimer(timestampMs: number): void {
    this.timers.registerEventTimeTimer(this.window, timestampMs);
  }

  registerProcessingTimeTimer(timestampMs: number): void {
    this.timers.registerProcessingTimeTimer(this.window, timestampMs);
  }

  deleteEventTimeTimer(timestampMs: number): void {
    this.timers.deleteEventTimeTimer(this.window, timestampMs);
  }

  deleteProcessingTimeTimer(timestampMs: number): void {
    this.timers.deleteProcessingTimeTimer(this.window, timestampMs);
  }
}

/** The context of ProcessWindowFunction. Results get the last timestamp of the window. */
export class WindowFunctionContext implements ProcessWindowContext<TimeWindow> {
  current = new TimeWindow();
  private readonly context: OperatorContext<never>;
  private readonly timers: TimerService<TimeWindow>;
  private readonly stateOfWindow: WindowStateStore | undefined;
  private readonly stateOfKey: KeyedStateStore;

  /** Merging windows have no state of their own: it could not be merged. */
  constructor(context: OperatorContext<never>, timers: TimerService<TimeWindow>, isMerging: boolean) {
    this.context = context;
    this.timers = timers;
    this.stateOfKey = new FunctionRuntimeContext(context, true);
    this.stateOfWindow = isMerging ? undefined : new StateOfWindow(context.keyedState, () => this.current);
  }

  window(): TimeWindow {
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
      `Operator '${this.context.operatorName}': windowState() is not there for session windows, because it could not be merged. Use globalState().`,
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

/** State in the namespace of the window that is current when it is asked for. */
class StateOfWindow implements WindowStateStore {
  private readonly backend: KeyedStateBackend;
  private readonly window: () => TimeWindow;

  constructor(backend: KeyedStateBackend, window: () => TimeWindow) {
    this.backend = backend;
    this.window = window;
  }

  getState<T>(descriptor: ValueStateDescriptor<T>): ValueState<T> {
    return this.inWindow(this.backend.getNamespacedValueState(descriptor, TIME_WINDOW_TYPE));
  }

  getListState<T>(descriptor: ListStateDescriptor<T>): ListState<T> {
    return this.inWindow(this.backend.getNamespacedListState(descriptor, TIME_WINDOW_TYPE));
  }

  getReducingState<T>(descriptor: ReducingStateDescriptor<T>): ReducingState<T> {
    return this.inWindow(this.backend.getNamespacedReducingState(descriptor, TIME_WINDOW_TYPE));
  }

  getAggregatingState<In, Acc, Out>(
    descriptor: AggregatingStateDescriptor<In, Acc, Out>,
  ): AggregatingState<In, Out> {
    return this.inWindow(this.backend.getNamespacedAggregatingState(descriptor, TIME_WINDOW_TYPE));
  }

  private inWindow<S extends { setNamespace(window: TimeWindow): void }>(state: S): S {
    state.setNamespace(this.window());
    return state;
  }
}
