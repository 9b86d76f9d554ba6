/**
 * What those need who write sources and sinks: the contracts, and the way to files and time.
 *
 * @packageDocumentation
 */
export {
  type Boundedness,
  ByteView,
  type Clock,
  type Committer,
  createSerializer,
  type DeliveryGuarantee,
  type EnumeratorContext,
  type FileEntry,
  type FileStat,
  type FileSystem,
  type Logger,
  type Platform,
  type PollStatus,
  type Random,
  type ReadableFile,
  type ReaderContext,
  type ReaderProgress,
  type SinkContext,
  type SinkWriter,
  type SourceGuarantee,
  type SourceOutput,
  type SourceReader,
  type SourceSplit,
  type SplitEnumerator,
  type TimerHandle,
  type Timers,
  type TypeSerializer,
  type WritableFile,
} from 'millrace/connector';
