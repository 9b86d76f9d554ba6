/**
 * State of keys and of operators, and how long it lives.
 *
 * @packageDocumentation
 */
export {
  type AggregatingState,
  AggregatingStateDescriptor,
  type KeyedStateStore,
  type ListState,
  ListStateDescriptor,
  type MapState,
  MapStateDescriptor,
  type OperatorStateStore,
  type ReducingState,
  ReducingStateDescriptor,
  StateTtlConfig,
  type StateTtlConfigBuilder,
  type StateTtlIncrementalCleanup,
  type StateTtlOptions,
  type StateTtlUpdateType,
  type StateTtlVisibility,
  type ValueState,
  ValueStateDescriptor,
} from 'millrace';
