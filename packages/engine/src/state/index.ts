/** The front door of the floor: descriptors and states, the contracts of their backends, and what snapshots hold of them. */
export type {
  AddsIfPresent,
  KeyedStateBackend,
  KeyedStateBackendFactory,
  KeyedStateBackendOptions,
  KeyedStateToRestore,
  Merging,
  Namespaced,
  OperatorStateBackend,
  RemembersNamespaces,
  RestoredNames,
  TimerQueue,
} from './backend.ts';
export {
  type AggregateFunction,
  type AggregatingState,
  AggregatingStateDescriptor,
  type BroadcastState,
  type ListState,
  ListStateDescriptor,
  type MapState,
  MapStateDescriptor,
  type ReadOnlyBroadcastState,
  type ReduceFunction,
  type ReducingState,
  ReducingStateDescriptor,
  type StateDescriptor,
  type ValueState,
  ValueStateDescriptor,
} from './descriptors.ts';
export type {
  KeyedStateHandle,
  KeyedStateKind,
  KeyedStateMetadata,
  KeyGroupRange,
  OperatorStateHandle,
  OperatorStateMode,
  OperatorSubtaskState,
  StreamHandle,
} from './handles.ts';
export {
  createHeapKeyedStateBackend,
  type HeapKeyedStateBackendOptions,
  type HeapTuning,
} from './heap/heap-keyed-state-backend.ts';
export {
  checkMaxParallelism,
  checkParallelism,
  defaultMaxParallelism,
  keyGroupOf,
  MAX_PARALLELISM_LIMIT,
  rangeOf,
  subtaskOf,
} from './key-group.ts';
export {
  createOperatorStateBackend,
  type LateElements,
  type OperatorStateBackendOptions,
  type OperatorStateSnapshot,
  type OperatorStateToRestore,
  type RestorableOperatorStateBackend,
} from './operator-state-backend.ts';
export type { KeyedStateSnapshot, SnapshotInput, SnapshotSink } from './snapshot.ts';
export {
  StateTtlConfig,
  type StateTtlConfigBuilder,
  type StateTtlIncrementalCleanup,
  type StateTtlOptions,
  type StateTtlUpdateType,
  type StateTtlVisibility,
} from './state-ttl-config.ts';
