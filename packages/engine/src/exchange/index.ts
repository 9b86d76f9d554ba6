export { type ChannelEnds, channelEnds } from './channel-pattern.ts';
export { createDoorbells, Doorbell } from './doorbell.ts';
export {
  BARRIER_KINDS,
  type Barrier,
  type BarrierKind,
  ElementKind,
  type PartitionFunction,
  type Partitioning,
} from './element.ts';
export { type GateChannel, type GateEdge, InputGate, type InputGateOptions } from './input-gate.ts';
export { RecordBatch } from './record-batch.ts';
export { createRecordWriter, type RecordWriter, type RecordWriterOptions } from './record-writer.ts';
export {
  type Bell,
  chooseLayout,
  createRing,
  type RingLayout,
  RingReader,
  RingWriter,
  ringSizeBytes,
  type SharedRing,
} from './ring.ts';
