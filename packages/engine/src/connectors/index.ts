/** The front door of the floor: sources and sinks that need no system of their own. */
export { CollectSink, type CollectSinkOptions, type ResultBatch } from './client/collect-sink.ts';
export { CollectedResults, ResultDelivery } from './client/collected-results.ts';
export { PrintSink, type PrintSinkOptions } from './client/print-sink.ts';
export type { CsvFormatOptions } from './file/csv-format.ts';
export type { FileEnumeratorState } from './file/file-enumerator.ts';
export {
  type CsvFileOptions,
  FileSource,
  type MonitorOptions,
  type ParquetFileOptions,
  type Paths,
  type TextFileOptions,
} from './file/file-source.ts';
export type { ByteRangeSplit, FileSplit, RowGroupSplit } from './file/file-split.ts';
export {
  BasePathBucketAssigner,
  type BucketAssigner,
  type BucketAssignerContext,
  type BucketAssignment,
} from './file-sink/bucket-assigner.ts';
export type {
  BulkFormatOptions,
  BulkOutput,
  BulkWriter,
  BulkWriterFactory,
} from './file-sink/bulk-writer.ts';
export type { CsvSinkOptions } from './file-sink/csv-format.ts';
export { DateTimeBucketAssigner, type TimeOfRecord } from './file-sink/date-time-bucket-assigner.ts';
export type { FileCommittable } from './file-sink/file-committable.ts';
export { FileSink, type RowEncoder, type RowSinkOptions } from './file-sink/file-sink.ts';
export { OutputFileConfig, OutputFileConfigBuilder } from './file-sink/output-file-config.ts';
export type { ParquetSinkOptions } from './file-sink/parquet-format.ts';
export {
  CheckpointRollingPolicy,
  DefaultRollingPolicy,
  DefaultRollingPolicyBuilder,
  type DefaultRollingPolicyOptions,
  OnCheckpointRollingPolicy,
  type PartFileInfo,
  type RollingPolicy,
} from './file-sink/rolling-policy.ts';
export { type RowFormat, UnwritableRecord } from './file-sink/row-format.ts';
export type { TimestampOf } from './generated-loop.ts';
export type { HybridEnumeratorState, HybridSplit } from './hybrid/hybrid-messages.ts';
export {
  HybridSource,
  HybridSourceBuilder,
  type NothingFollowsAnEndlessSource,
  type SourceFactory,
  type SourceSwitchContext,
} from './hybrid/hybrid-source.ts';
export { CollectionSource, type CollectionSourceOptions } from './index-range/collection-source.ts';
export {
  DataGeneratorSource,
  type GeneratorFunction,
  GeneratorSource,
  type GeneratorSourceOptions,
} from './index-range/generator-source.ts';
export type { IndexRangeEnumeratorState, IndexRangeSplit } from './index-range/index-range-split.ts';
export { type RateLimiter, RateLimiterStrategy } from './index-range/rate-limiter.ts';
export { SequenceSource, type SequenceSourceOptions } from './index-range/sequence-source.ts';
export {
  AsyncIterableSource,
  type AsyncIterableSourceOptions,
  type NonReplayableSource,
} from './iterable/async-iterable-source.ts';
export type { IterableContext, IterableFactory, ReadableLike } from './iterable/iterable-factory.ts';
export type { IterableEnumeratorState, IterableSplit } from './iterable/iterable-reader.ts';
export {
  type ChunkEncoder,
  type WritableContext,
  type WritableFactory,
  type WritableLike,
  WritableSink,
  type WritableSinkOptions,
} from './writable/writable-sink.ts';
