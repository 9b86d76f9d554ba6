/** `@millrace/engine/connector`: the contracts for those who write sources and sinks. */
export { type Logger, MillraceError, NO_TIMESTAMP } from './base/index.ts';
export type {
  Clock,
  FileEntry,
  FileStat,
  FileSystem,
  Platform,
  Random,
  ReadableFile,
  TimerHandle,
  Timers,
  WritableFile,
} from './platform/index.ts';
export type {
  Boundedness,
  Committer,
  DeliveryGuarantee,
  EnumeratorContext,
  PollStatus,
  ReaderContext,
  ReaderProgress,
  Sink,
  SinkContext,
  SinkWriter,
  Source,
  SourceGuarantee,
  SourceOutput,
  SourceReader,
  SourceSplit,
  SplitEnumerator,
} from './runtime/index.ts';
export {
  ByteView,
  createSerializer,
  type Infer,
  type TypeInformation,
  type TypeSerializer,
  Types,
} from './types/index.ts';
