/**
 * Records of a channel whose two ends are in one thread: copies of them wait here as objects, one batch for each element of
 * kind `lent` in the ring, instead of being written into a segment and read again. Strings are shared: they are what takes
 * most of the time. (Flink's LocalInputChannel hands buffers over within a process, but serialises what is in them.)
 *
 * Called by both ends. A copy is what encoding and decoding would have given, so that no operator can tell the difference,
 * and a checkpoint gets the bytes that the record would have had.
 */
import { assert } from '../base/index.ts';
import { ByteView, type TypeSerializer } from '../types/index.ts';
import { HASHED_PREFIX_BYTES, PLAIN_PREFIX_BYTES, writeNumber } from './element.ts';
import type { RecordFormat } from './in-flight.ts';
import { RecordBatch } from './record-batch.ts';
import type { RingLayout } from './ring.ts';

/** Bytes of a segment for each record that may wait in its place: fewer wait where a job has many channels. */
const BYTES_PER_RECORD = 128;
const BATCH_RECORDS_MIN = 2;
const BATCH_RECORDS_MAX = 256;
/** Batches kept for reuse. */
const IDLE_BATCHES_MAX = 4;
const ENCODED_BYTES_MIN = 1024;

/** True if records can wait as objects. */
export function canLend(serializer: TypeSerializer<unknown>): boolean {
  return serializer.copyGiven !== undefined;
}

export class LentRecords {
  /** Bytes before each record where it is written, which is what a lent one counts. */
  readonly prefixBytes: number;
  readonly #format: RecordFormat;
  readonly #batchRecords: number;
  /** By sequence number in the ring, modulo its segments. */
  readonly #batches: (RecordBatch | undefined)[];
  readonly #idle: RecordBatch[] = [];

  /** For a ring of that layout. */
  constructor({ segmentBytes, segments }: RingLayout, format: RecordFormat) {
    this.#format = format;
    this.prefixBytes = format.hashed ? HASHED_PREFIX_BYTES : PLAIN_PREFIX_BYTES;
    const fitting = Math.floor(segmentBytes / BYTES_PER_RECORD);
    this.#batchRecords = Math.min(Math.max(fitting, BATCH_RECORDS_MIN), BATCH_RECORDS_MAX);
    this.#batches = new Array(segments).fill(undefined);
  }

  /** An empty batch. */
  take(): RecordBatch {
    return this.#idle.pop() ?? new RecordBatch(this.#batchRecords);
  }

  /** Takes back a batch whose records are gone. */
  give(batch: RecordBatch): void {
    batch.count = 0;
    if (this.#idle.length < IDLE_BATCHES_MAX) this.#idle.push(batch);
  }

  /** The batch of element `sequence`, which is about to be published. */
  put(sequence: number, batch: RecordBatch): void {
    this.#batches[sequence % this.#batches.length] = batch;
  }

  /** The batch of an element that is in the ring. */
  at(sequence: number): RecordBatch {
    const batch = this.#batches[sequence % this.#batches.length];
    assert(batch !== undefined, 'a channel has an element of lent records without its batch');
    return batch;
  }

  /** The element, whose records were moved, is about to be released. */
  remove(sequence: number): void {
    this.give(this.at(sequence));
    this.#batches[sequence % this.#batches.length] = undefined;
  }

  /** The records from index `first` on, as a record writer would have written them. */
  encode(batch: RecordBatch, first = 0): Uint8Array {
    let view = ByteView.allocate(ENCODED_BYTES_MIN);
    for (let i = first; i < batch.count; i++) {
      while (!this.#encodeRecord(view, batch, i)) {
        const larger = ByteView.allocate(2 * view.limit);
        larger.u8.set(view.u8.subarray(0, view.pos));
        larger.pos = view.pos;
        view = larger;
      }
    }
    return view.u8.subarray(0, view.pos);
  }

  #encodeRecord(view: ByteView, { values, timestamps, hashes }: RecordBatch, i: number): boolean {
    const start = view.pos;
    if (start + this.prefixBytes > view.limit) return false;
    if (this.#format.hashed) {
      view.dv.setInt32(start, hashes[i]!, true);
      view.pos += 4;
    }
    writeNumber(view, timestamps[i]!);
    if (this.#format.valueSerializer.encode(view, values[i])) return true;
    view.pos = start;
    return false;
  }
}
