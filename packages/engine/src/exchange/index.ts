export { type ChannelEnds, channelEnds } from './channel-pattern.ts';
export { createDoorbells, Doorbell } from './doorbell.ts';
export {
  BARRIER_KINDS,
  type Barrier,
  type BarrierKind,
  ElementKind,
  overtakes,
  type PartitionFunction,
  type Partitioning,
} from './element.ts';
export type { ChannelIdentity } from './gate-channel.ts';
export type { ChannelCapture, InFlightElement, RecordFormat, RestoredChannel } from './in-flight.ts';
export { decodeElements, encodeElements } from './in-flight-bytes.ts';
export { changeHashes, filterElements, type KeepRecord } from './in-flight-filter.ts';
export {
  type GateChannel,
  type GateEdge,
  InputGate,
  type InputGateOptions,
} from './input-gate.ts';
export { canLend, LentRecords } from './lent-records.ts';
export { RecordBatch } from './record-batch.ts';
export { customRouting, hashRouting, type RecordRouting } from './record-routing.ts';
export { createRecordWriter, type RecordWriter, type RecordWriterOptions } from './record-writer.ts';
export {
  type Announcement,
  type Bell,
  chooseLayout,
  createRing,
  type RingLayout,
  RingReader,
  RingWriter,
  ringSizeBytes,
  type SharedRing,
} from './ring.ts';
