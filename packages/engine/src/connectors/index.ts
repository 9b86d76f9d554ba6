export { CollectSink, type CollectSinkOptions, type ResultBatch } from './client/collect-sink.ts';
export { CollectedResults } from './client/collected-results.ts';
export { PrintSink, type PrintSinkOptions } from './client/print-sink.ts';
export type { CsvFormatOptions } from './file/csv-format.ts';
export type { FileEnumeratorState } from './file/file-enumerator.ts';
export {
  type CsvFileOptions,
  FileSource,
  type ParquetFileOptions,
  type Paths,
  type TextFileOptions,
} from './file/file-source.ts';
export type { ByteRangeSplit, FileSplit, RowGroupSplit } from './file/file-split.ts';
export type { CsvSinkOptions } from './file-sink/csv-format.ts';
export { FileSink, type RowEncoder } from './file-sink/file-sink.ts';
export type { FileCommittable } from './file-sink/part-file-writer.ts';
export { type RowFormat, UnwritableRecord } from './file-sink/row-format.ts';
export type { TimestampOf } from './generated-loop.ts';
export { CollectionSource, type CollectionSourceOptions } from './index-range/collection-source.ts';
export { GeneratorSource, type GeneratorSourceOptions } from './index-range/generator-source.ts';
export type { IndexRangeEnumeratorState, IndexRangeSplit } from './index-range/index-range-split.ts';
export { SequenceSource, type SequenceSourceOptions } from './index-range/sequence-source.ts';
