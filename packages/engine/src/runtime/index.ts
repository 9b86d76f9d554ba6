/**
 * The front door of the floor: jobs as they are executed, slots and their messages, the contracts of operators, sources and
 * sinks, and what is restored into tasks.
 */
export { allocateChannels, type SharedChannels } from './channel-wiring.ts';
export { chainedEdgeIdentity, edgeIdentities } from './edge-identity.ts';
export {
  type ElementInHand,
  elementOf,
  elementSentence,
  type FailedElement,
  keepElement,
} from './failed-element.ts';
export { GeneratedWatermarks } from './generated-watermarks.ts';
export type {
  JobEdge,
  JobGraph,
  JobVertex,
  KeySelector,
  KeySpec,
  OperatorSpec,
  PartitionFunction,
  Partitioning,
  SourceSpec,
} from './job-vertex.ts';
export type { Counter, Gauge, Histogram, Meter, MetricGroup } from './metric-group.ts';
export { MetricRegistry } from './metric-registry.ts';
export type {
  AnyOperator,
  InlineForm,
  OneInputOperator,
  OperatorContext,
  OperatorFactory,
  OperatorServices,
  OperatorStateContribution,
  StreamOperator,
  TimerService,
  Triggerable,
  TwoInputOperator,
} from './operator.ts';
export type { Output } from './output.ts';
export { chainedValueType, type InFlightRestore, openRestoredInFlight } from './restored-in-flight.ts';
export type { Committer, DeliveryGuarantee, Sink, SinkContext, SinkWriter } from './sink.ts';
export { Slot, type SlotDeployment, type SubtaskRestore, slotOf } from './slot.ts';
export type { FromSlot, TaskKey, TaskMetrics, ToSlot } from './slot-messages.ts';
export type {
  Boundedness,
  EnumeratorContext,
  PollStatus,
  ReaderContext,
  ReaderProgress,
  Source,
  SourceGuarantee,
  SourceOutput,
  SourceReader,
  SourceSplit,
  SplitEnumerator,
} from './source.ts';
export { InternalTimerService, type TimerServiceOptions } from './timer-service.ts';
export type {
  TimestampAssigner,
  WatermarkAlignment,
  WatermarkGenerator,
  WatermarkOutput,
  WatermarkStrategySpec,
} from './watermark-strategy.ts';
