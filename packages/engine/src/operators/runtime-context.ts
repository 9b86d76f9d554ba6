/**
 * What user functions get in `open` and `initializeState`: an operator's context in the words of Flink's RuntimeContext
 * and FunctionInitializationContext.
 */
import { MillraceError } from '../base/index.ts';
import type { MetricGroup, OperatorContext } from '../runtime/index.ts';
import type {
  AggregatingState,
  AggregatingStateDescriptor,
  BroadcastState,
  KeyedStateBackend,
  ListState,
  ListStateDescriptor,
  MapState,
  MapStateDescriptor,
  ReducingState,
  ReducingStateDescriptor,
  ValueState,
  ValueStateDescriptor,
} from '../state/index.ts';
import type {
  FunctionInitializationContext,
  KeyedStateStore,
  OperatorStateStore,
  RuntimeContext,
} from './functions.ts';

export class FunctionRuntimeContext implements RuntimeContext, FunctionInitializationContext {
  private readonly context: OperatorContext<never>;
  private readonly isKeyed: boolean;

  constructor(context: OperatorContext<never>, isKeyed: boolean) {
    this.context = context;
    this.isKeyed = isKeyed;
  }

  getJobName(): string {
    return this.context.jobName;
  }

  getJobId(): string {
    return this.context.services.jobId;
  }

  getTaskName(): string {
    return this.context.operatorName;
  }

  getTaskNameWithSubtasks(): string {
    const { operatorName, subtaskIndex, parallelism, attemptNumber } = this.context;
    return `${operatorName} (${subtaskIndex + 1}/${parallelism})#${attemptNumber}`;
  }

  getIndexOfThisSubtask(): number {
    return this.context.subtaskIndex;
  }

  getNumberOfParallelSubtasks(): number {
    return this.context.parallelism;
  }

  getMaxNumberOfParallelSubtasks(): number {
    return this.context.maxParallelism;
  }

  getAttemptNumber(): number {
    return this.context.attemptNumber;
  }

  isRestored(): boolean {
    return this.context.isRestored;
  }

  getRestoredCheckpointId(): number | undefined {
    return this.context.isRestored ? this.context.services.restoredCheckpointId : undefined;
  }

  getMetricGroup(): MetricGroup {
    return this.context.metrics;
  }

  getGlobalJobParameters(): Readonly<Record<string, string>> {
    return this.context.services.globalJobParameters;
  }

  getOperatorStateStore(): OperatorStateStore {
    return this.context.operatorState;
  }

  /** In functions without keys its methods throw INVALID_ARGUMENT. */
  getKeyedStateStore(): KeyedStateStore {
    return this;
  }

  getState<T>(descriptor: ValueStateDescriptor<T>): ValueState<T> {
    return this.keyedState.getValueState(descriptor);
  }

  getListState<T>(descriptor: ListStateDescriptor<T>): ListState<T> {
    return this.keyedState.getListState(descriptor);
  }

  getMapState<K, V>(descriptor: MapStateDescriptor<K, V>): MapState<K, V> {
    return this.keyedState.getMapState(descriptor);
  }

  getReducingState<T>(descriptor: ReducingStateDescriptor<T>): ReducingState<T> {
    return this.keyedState.getReducingState(descriptor);
  }

  getAggregatingState<In, Acc, Out>(
    descriptor: AggregatingStateDescriptor<In, Acc, Out>,
  ): AggregatingState<In, Out> {
    return this.keyedState.getAggregatingState(descriptor);
  }

  getOperatorListState<T>(descriptor: ListStateDescriptor<T>): ListState<T> {
    return this.context.operatorState.getListState(descriptor);
  }

  getUnionListState<T>(descriptor: ListStateDescriptor<T>): ListState<T> {
    return this.context.operatorState.getUnionListState(descriptor);
  }

  getBroadcastState<K, V>(descriptor: MapStateDescriptor<K, V>): BroadcastState<K, V> {
    return this.context.operatorState.getBroadcastState(descriptor);
  }

  /** Refuses with INVALID_ARGUMENT in functions without keys. */
  protected get keyedState(): KeyedStateBackend {
    if (this.isKeyed) return this.context.keyedState;
    const operator = this.context.operatorName;
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `Operator '${operator}' asks for keyed state, but its input has no keys. Put keyBy before it, or use operator state (getOperatorListState).`,
      { details: { operator } },
    );
  }
}
