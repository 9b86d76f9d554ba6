/**
 * Where records come from.
 *
 * @packageDocumentation
 */
export {
  AsyncIterableSource,
  type AsyncIterableSourceOptions,
  CollectionSource,
  type CollectionSourceOptions,
  type CsvFileOptions,
  DataGeneratorSource,
  FileSource,
  type GeneratorFunction,
  GeneratorSource,
  type GeneratorSourceOptions,
  HybridSource,
  HybridSourceBuilder,
  type IterableContext,
  type IterableFactory,
  type MonitorOptions,
  type NonReplayableSource,
  type NothingFollowsAnEndlessSource,
  type ParquetFileOptions,
  type RateLimiter,
  RateLimiterStrategy,
  type ReadableLike,
  SequenceSource,
  type SequenceSourceOptions,
  type Source,
  type SourceFactory,
  type SourceSwitchContext,
  type TextFileOptions,
} from 'millrace';
