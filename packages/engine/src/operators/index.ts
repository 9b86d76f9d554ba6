/** The front door of the floor: the operators, and the functions and contexts that users write them with. */
export {
  type Aggregation,
  type ComparableField,
  type ComparableValue,
  type FieldAggregation,
  type FieldOf,
  fieldAggregation,
  type NumericField,
} from './aggregation/field-aggregation.ts';
export { fieldType } from './aggregation/field-path.ts';
export {
  type AsyncFlatMapFunction,
  type AsyncInvoke,
  type AsyncMapFunction,
  flatMapping,
  invoking,
  mapping,
} from './async/answering-function.ts';
export {
  type AsyncAnswer,
  type AsyncContext,
  AsyncFunction,
  type ResultFuture,
  RichAsyncFunction,
} from './async/async-function.ts';
export { AsyncWaitOperator, type AsyncWaitOptions } from './async/async-wait-operator.ts';
export {
  type AsyncRetryOptions,
  type AsyncRetryPredicate,
  AsyncRetryStrategies,
  type AsyncRetryStrategy,
  RetryPredicates,
  retryStrategyOf,
} from './async/retry-strategy.ts';
export {
  type BroadcastContext,
  type BroadcastOnTimerContext,
  BroadcastProcessFunction,
  type KeyedBroadcastContext,
  KeyedBroadcastProcessFunction,
  type KeyedReadOnlyBroadcastContext,
  type KeyedStateFunction,
  type ReadOnlyBroadcastContext,
} from './broadcast/broadcast-functions.ts';
export {
  BroadcastProcessOperator,
  KeyedBroadcastProcessOperator,
} from './broadcast/broadcast-process-operator.ts';
export {
  type AnyMapStateDescriptor,
  checkBroadcastDescriptors,
} from './broadcast/declared-broadcast-states.ts';
export { CoProcessOperator, KeyedCoProcessOperator } from './co-process-operator.ts';
export { FilterOperator } from './filter-operator.ts';
export { FlatMapOperator } from './flat-map-operator.ts';
export { adaptFunction } from './function-instance.ts';
export {
  type AllWindowFunction,
  type CheckpointedFunction,
  type CheckpointListener,
  type CoFlatMapFunction,
  type CoGroupFunction,
  type Collector,
  type CoMapFunction,
  CoProcessFunction,
  type FilterFunction,
  type FlatJoinFunction,
  type FlatMapFunction,
  type FunctionInitializationContext,
  type FunctionOrFactory,
  type FunctionShape,
  type FunctionSnapshotContext,
  type JoinFunction,
  KeyedCoProcessFunction,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type KeyedStateStore,
  type KeySelector,
  type MapFunction,
  type OnTimerContext,
  type OperatorStateStore,
  type PlainProcessJoinFunction,
  ProcessAllWindowFunction,
  type ProcessContext,
  ProcessFunction,
  type ProcessJoinContext,
  ProcessJoinFunction,
  type ProcessWindowContext,
  ProcessWindowFunction,
  RichCoFlatMapFunction,
  RichCoGroupFunction,
  RichCoMapFunction,
  RichFlatJoinFunction,
  RichFunction,
  RichJoinFunction,
  type RuntimeContext,
  type TimeDomain,
  type TimerService,
  type WindowFunction,
  type WindowStateStore,
} from './functions.ts';
export {
  coGroupWindowFunction,
  joinWindowFunction,
  type TaggedUnion,
  taggedUnionType,
} from './join/co-group-window-function.ts';
export { IntervalJoinOperator, type IntervalJoinOptions } from './join/interval-join-operator.ts';
export { type JoinMethod, processJoinFunction } from './join/join-call.ts';
export { KeyedProcessOperator } from './keyed-process-operator.ts';
export { MapOperator } from './map-operator.ts';
export { AbstractStreamOperator } from './operator-defaults.ts';
export { OutputTag } from './output-tag.ts';
export { ProcessOperator } from './process-operator.ts';
export { ReduceOperator } from './reduce-operator.ts';
export {
  RichSinkFunction,
  type SinkFunction,
  type SinkFunctionContext,
} from './sink-function/sink-function.ts';
export { SinkFunctionOperator } from './sink-function/sink-function-operator.ts';
export { SinkOperator } from './sink-operator.ts';
export { TimestampsAndWatermarksOperator } from './timestamps-and-watermarks-operator.ts';
export { assertSynchronous, describe } from './user-result.ts';
export { ContinuousEventTimeTrigger, ContinuousProcessingTimeTrigger } from './window/continuous-trigger.ts';
export { CountTrigger } from './window/count-trigger.ts';
export { type DeltaFunction, DeltaTrigger } from './window/delta-trigger.ts';
export {
  CountEvictor,
  DeltaEvictor,
  Evictor,
  type EvictorContext,
  TimeEvictor,
} from './window/evictor.ts';
export { GlobalWindow } from './window/global-window.ts';
export { GlobalWindows, NeverTrigger } from './window/global-windows.ts';
export { ProcessingTimeoutTrigger } from './window/processing-timeout-trigger.ts';
export { PurgingTrigger } from './window/purging-trigger.ts';
export { EventTimeTrigger, ProcessingTimeTrigger } from './window/time-trigger.ts';
export { type MergeCallback, TimeWindow } from './window/time-window.ts';
export { TimestampedValue } from './window/timestamped-value.ts';
export { type OnMergeContext, Trigger, type TriggerContext, TriggerResult } from './window/trigger.ts';
export { Window } from './window/window.ts';
export {
  EventTimeSessionWindows,
  MergingWindowAssigner,
  ProcessingTimeSessionWindows,
  type SessionGapExtractor,
  SlidingEventTimeWindows,
  SlidingProcessingTimeWindows,
  TumblingEventTimeWindows,
  TumblingProcessingTimeWindows,
  WindowAssigner,
  type WindowAssignerContext,
} from './window/window-assigner.ts';
export type { WindowContentsSpec } from './window/window-contents.ts';
export type { WindowEvaluation } from './window/window-evaluation.ts';
export { WindowOperator, type WindowOptions } from './window/window-operator.ts';
