/**
 * What travels through a channel: segments of records, and control elements between them. Written by record writers and
 * read by input gates; knows bytes, not rings or threads.
 *
 * A segment holds elements of one kind. Records lie one after the other, each with its prefix:
 *
 *     hashed edge  | hash i32 | timestamp f64 | value ... |
 *     other edges  | timestamp f64 | value ... |
 *
 * The hash is KeySerializer.hash of the record's key, computed once, by the sender. Control payloads:
 *
 *     watermark       | milliseconds f64 |
 *     status          | idle u8 (1) or active (0) |
 *     barrier         | checkpoint id f64 | trigger time f64 | kind u8, position in BARRIER_KINDS |
 *     cancel-barrier  | checkpoint id f64 |
 *     end-of-data     no payload
 *
 * Records may wait as objects instead (lent-records.ts); their element has no payload, and as its length their number.
 *
 * Little-endian throughout; docs/formats/exchange.md has the drawing. (The elements are those of
 * org.apache.flink.streaming.runtime.streamrecord and of io.network.api: CheckpointBarrier, EndOfData, ...)
 */
import { assert } from '../base/index.ts';
import type { CheckpointBarrier, CheckpointKind, EdgePartitioning } from '../checkpoint/index.ts';
import type { ByteView, TypeSerializer } from '../types/index.ts';

/** Kinds of elements, as numbers because they are stored in the ring. Their values are part of the format. */
export const ElementKind = {
  /** Whole records. */
  data: 0,
  /** A piece of one record that is larger than a segment; more pieces follow. */
  spanPart: 1,
  /** The last piece of such a record. */
  spanEnd: 2,
  watermark: 3,
  status: 4,
  barrier: 5,
  cancelBarrier: 6,
  endOfData: 7,
  /** Whole records that wait beside the ring as objects: only where both ends are in one thread. */
  lent: 8,
} as const;

export type ElementKind = (typeof ElementKind)[keyof typeof ElementKind];

/**
 * True if a checkpoint keeps such an element when its barrier overtakes it: whoever sent the others sends them again. (Lent
 * records it keeps as `data`.)
 */
export function isInFlight(kind: ElementKind): boolean {
  return kind <= ElementKind.status;
}

/** True if the element has records, or a piece of one. */
export function hasRecords(kind: ElementKind): boolean {
  return kind <= ElementKind.spanEnd || kind === ElementKind.lent;
}

/**
 * How records find their channel:
 *
 *     forward    the one channel there is
 *     hash       that of the key group of the record's key
 *     rebalance  all channels in turn
 *     rescale    in turn those to a group of receivers near by: no others exist (channel-pattern.ts)
 *     shuffle    one at random, all equally often
 *     global     the first
 *     custom     the one that the user's partitioner names
 *     broadcast  all
 *
 * Control elements take all channels in any case.
 */
export type Partitioning = EdgePartitioning;

/**
 * True if barriers may overtake the records of such an edge. Records in flight are given to a receiver again when the job is
 * restored with another parallelism: by their hash, by asking the partitioner again, or to any receiver (`rebalance`,
 * `shuffle`, `global`). By `forward`, `rescale` and `broadcast` the channel itself says where a record belongs, and there
 * may be no such channel any more: barriers wait for their turn.
 */
export function overtakes(partitioning: Partitioning): boolean {
  return partitioning !== 'forward' && partitioning !== 'rescale' && partitioning !== 'broadcast';
}

/**
 * Chooses the receiver of a record: answers with a whole number from 0 to `numPartitions` - 1. Pure: for records in flight it
 * is asked again, by each receiver for itself.
 */
export type PartitionFunction = (key: never, numPartitions: number) => number;

/** A checkpoint barrier: separates what is in the checkpoint from what is not. */
export type Barrier = CheckpointBarrier;

export type BarrierKind = CheckpointKind;

/** Kinds of barriers by their stored number: new kinds go to the end. */
export const BARRIER_KINDS: readonly BarrierKind[] = [
  'checkpoint',
  'savepoint',
  'savepoint-suspend',
  'savepoint-terminate',
];

/** Bytes before the value of each record. */
export const HASHED_PREFIX_BYTES = 12;
export const PLAIN_PREFIX_BYTES = 8;

/** Enough for the payload of every control element. */
export const CONTROL_PAYLOAD_BYTES = 32;

/** Appends one f64 at `view.pos`: payload of watermarks and cancellation barriers. */
export function writeNumber(view: ByteView, value: number): void {
  view.dv.setFloat64(view.pos, value, true);
  view.pos += 8;
}

/**
 * Appends a record with its prefix; false if it does not fit below the limit. Then, and if the
 * encoder throws, nothing is appended.
 * What generated code does for most records (collect-code.ts). `hash` counts only where the format has one.
 */
export function writeRecord(
  view: ByteView,
  format: { readonly valueSerializer: TypeSerializer<unknown>; readonly hashed: boolean },
  value: unknown,
  timestampMs: number,
  hash: number,
): boolean {
  const { valueSerializer, hashed } = format;
  const start = view.pos;
  if (start + (hashed ? HASHED_PREFIX_BYTES : PLAIN_PREFIX_BYTES) > view.limit) return false;
  let written = false;
  try {
    if (hashed) {
      view.dv.setInt32(start, hash, true);
      view.pos += 4;
    }
    writeNumber(view, timestampMs);
    written = valueSerializer.encode(view, value);
  } finally {
    if (!written) view.pos = start;
  }
  return written;
}

/** Appends the payload of a status element. */
export function writeStatus(view: ByteView, idle: boolean): void {
  view.u8[view.pos++] = idle ? 1 : 0;
}

/** Appends the payload of a barrier. */
export function writeBarrier(view: ByteView, barrier: Barrier): void {
  const kind = BARRIER_KINDS.indexOf(barrier.kind);
  assert(kind >= 0, `unknown kind of barrier ${barrier.kind}`);
  writeNumber(view, barrier.checkpointId);
  writeNumber(view, barrier.timestampMs);
  view.u8[view.pos++] = kind;
}

/** Reads a payload of one f64 at `position`. */
export function readNumber(view: ByteView, position: number): number {
  return view.dv.getFloat64(position, true);
}

/** Reads the payload of a status element at `position`: true if idle. */
export function readStatus(view: ByteView, position: number): boolean {
  return view.u8[position] === 1;
}

/** Reads the payload of a barrier at `position`. */
export function readBarrier(view: ByteView, position: number): Barrier {
  const kind = BARRIER_KINDS[view.u8[position + 16]!];
  assert(kind !== undefined, 'a barrier in a channel has a kind that does not exist');
  return {
    checkpointId: view.dv.getFloat64(position, true),
    timestampMs: view.dv.getFloat64(position + 8, true),
    kind,
  };
}
