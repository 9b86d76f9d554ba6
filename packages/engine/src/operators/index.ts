export { CoProcessOperator, KeyedCoProcessOperator } from './co-process-operator.ts';
export { FilterOperator } from './filter-operator.ts';
export { FlatMapOperator } from './flat-map-operator.ts';
export {
  type Collector,
  CoProcessFunction,
  type FilterFunction,
  type FlatMapFunction,
  type FunctionOrFactory,
  KeyedCoProcessFunction,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type KeyedStateStore,
  type KeySelector,
  type MapFunction,
  type OnTimerContext,
  type ProcessContext,
  ProcessFunction,
  type ProcessWindowContext,
  ProcessWindowFunction,
  RichFunction,
  type RuntimeContext,
  type TimeDomain,
  type TimerService,
  type WindowFunction,
  type WindowStateStore,
} from './functions.ts';
export { KeyedProcessOperator } from './keyed-process-operator.ts';
export { MapOperator } from './map-operator.ts';
export { AbstractStreamOperator } from './operator-defaults.ts';
export { OutputTag } from './output-tag.ts';
export { ProcessOperator } from './process-operator.ts';
export { ReduceOperator } from './reduce-operator.ts';
export { SinkOperator } from './sink-operator.ts';
export { TimestampsAndWatermarksOperator } from './timestamps-and-watermarks-operator.ts';
export { assertSynchronous } from './user-result.ts';
export { TimeWindow } from './window/time-window.ts';
export {
  EventTimeTrigger,
  ProcessingTimeTrigger,
  type Trigger,
  type TriggerContext,
  type TriggerResult,
} from './window/trigger.ts';
export {
  EventTimeSessionWindows,
  ProcessingTimeSessionWindows,
  type SessionGapExtractor,
  SlidingEventTimeWindows,
  SlidingProcessingTimeWindows,
  TumblingEventTimeWindows,
  TumblingProcessingTimeWindows,
  type WindowAssigner,
} from './window/window-assigner.ts';
export type { WindowContentsSpec } from './window/window-contents.ts';
export { type WindowEvaluation, WindowOperator, type WindowOptions } from './window/window-operator.ts';
