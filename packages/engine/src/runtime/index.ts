export { allocateChannels, type SharedChannels } from './channel-wiring.ts';
export type {
  JobEdge,
  JobGraph,
  JobVertex,
  KeySelector,
  KeySpec,
  OperatorSpec,
  Partitioning,
  SourceSpec,
} from './job-vertex.ts';
export type {
  AnyOperator,
  InlineForm,
  OneInputOperator,
  OperatorContext,
  OperatorFactory,
  OperatorMetrics,
  OperatorServices,
  OperatorStateContribution,
  StreamOperator,
  TimerService,
  Triggerable,
  TwoInputOperator,
} from './operator.ts';
export type { Output } from './output.ts';
export type { Committer, DeliveryGuarantee, Sink, SinkContext, SinkWriter } from './sink.ts';
export { Slot, type SlotDeployment, type SubtaskRestore, slotOf } from './slot.ts';
export type { FromSlot, TaskKey, TaskMetrics, ToSlot } from './slot-messages.ts';
export type {
  Boundedness,
  EnumeratorContext,
  PollStatus,
  ReaderContext,
  Source,
  SourceOutput,
  SourceReader,
  SourceSplit,
  SplitEnumerator,
} from './source.ts';
export { InternalTimerService, type TimerServiceOptions } from './timer-service.ts';
export type { TimestampAssigner, WatermarkGenerator, WatermarkStrategySpec } from './watermark-strategy.ts';
