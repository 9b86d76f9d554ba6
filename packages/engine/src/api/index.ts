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
export type { CheckpointingOptions, ExecutionOptions, RestoreOptions } from './execution-options.ts';
export { type ExecutionSettings, type RestoreSettings, resolveSettings } from './execution-settings.ts';
export type {
  Deliver,
  JobClient,
  JobExecutionResult,
  JobExecutor,
  JobMetrics,
  TaskMetricValues,
} from './job-executor.ts';
export { LocalExecutor } from './local-executor.ts';
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
export { ConnectedStreams, KeyedConnectedStreams } from './streams/connected-streams.ts';
export { DataStream, KeyedStream, SingleOutputStreamOperator } from './streams/data-stream.ts';
export { DataStreamSink } from './streams/data-stream-sink.ts';
export { WindowedStream, type WindowTypes } from './streams/windowed-stream.ts';
export { WatermarkStrategy } from './watermark-strategy.ts';
