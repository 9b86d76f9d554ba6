/** The front door of the floor: what users write jobs with. */
export { CheckpointConfig } from './checkpoint-config.ts';
export {
  type CheckpointStorageChoice,
  FileSystemCheckpointStorage,
  JobManagerCheckpointStorage,
} from './checkpoint-storage-choice.ts';
export {
  CheckpointingMode,
  ExternalizedCheckpointCleanup,
  ExternalizedCheckpointRetention,
} from './checkpointing-mode.ts';
export { ExecutionConfig } from './execution-config.ts';
export type {
  CheckpointingOptions,
  ExecutionOptions,
  RestoreOptions,
  RunOptions,
} from './execution-options.ts';
export { type ExecutionSettings, type RestoreSettings, resolveSettings } from './execution-settings.ts';
export type {
  Deliver,
  JobClient,
  JobExecutionResult,
  JobExecutor,
  JobMetrics,
  SourceProgress,
  StopResult,
  TaskMetricValues,
} from './job-executor.ts';
export { LocalExecutor } from './local-executor.ts';
export type { Partitioner } from './partitioner.ts';
export { RestartStrategies, type RestartStrategyConfiguration } from './restart-strategies.ts';
export {
  type FunctionObject,
  RichFilterFunction,
  RichFlatMapFunction,
  RichMapFunction,
} from './rich-function.ts';
export {
  FsStateBackend,
  HashMapStateBackend,
  MemoryStateBackend,
  RocksDBStateBackend,
  type StateBackend,
} from './state-backend.ts';
export { StreamExecutionEnvironment } from './stream-execution-environment.ts';
export { AllWindowedStream } from './streams/all-windowed-stream.ts';
export {
  AsyncDataStream,
  type AsyncFlatMapOptions,
  type AsyncFunctionLike,
  type AsyncMapOptions,
  type AsyncOptions,
} from './streams/async-data-stream.ts';
export {
  BroadcastConnectedStream,
  BroadcastStream,
  KeyedBroadcastConnectedStream,
} from './streams/broadcast-stream.ts';
export {
  CoGroupedPair,
  CoGroupedStreams,
  CoGroupWindows,
  WhereClause,
} from './streams/co-grouped-streams.ts';
export { ConnectedStreams, KeyedConnectedStreams } from './streams/connected-streams.ts';
export { DataStream, KeyedStream, SingleOutputStreamOperator } from './streams/data-stream.ts';
export { DataStreamSink } from './streams/data-stream-sink.ts';
export { IntervalJoin, IntervalJoined } from './streams/interval-join.ts';
export { JoinedPair, JoinedStreams, JoinWindows } from './streams/joined-streams.ts';
export type { WindowTypes } from './streams/stream-windows.ts';
export { WindowedStream } from './streams/windowed-stream.ts';
export { WatermarkStrategy } from './watermark-strategy.ts';
