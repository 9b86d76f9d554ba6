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
import { HASHED_PREFIX_BYTES, PLAIN_PREFIX_BYTES, writeRecord } from './element.ts';
import type { RecordFormat } from './in-flight.ts';
import { RecordBatch } from './record-batch.ts';
import type { RingLayout } from './ring.ts';

/** More do not wait in the place of a segment, however small they are. */
const BATCH_RECORDS_MAX = 1024;
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
  readonly #segmentBytes: number;
  /** Where the first record of each batch is encoded, to see its size. */
  #scratch = ByteView.allocate(ENCODED_BYTES_MIN);
  /** By sequence number in the ring, modulo its segments. */
  readonly #batches: (RecordBatch | undefined)[];
  readonly #idle: RecordBatch[] = [];

  /** For a ring of that layout. */
  constructor({ segmentBytes, segments }: RingLayout, format: RecordFormat) {
    this.#format = format;
    this.prefixBytes = format.hashed ? HASHED_PREFIX_BYTES : PLAIN_PREFIX_BYTES;
    this.#segmentBytes = segmentBytes;
    this.#batches = new Array(segments).fill(undefined);
  }

  /** An empty batch. */
  take(): RecordBatch {
    return this.#idle.pop() ?? new RecordBatch(BATCH_RECORDS_MAX);
  }

  /**
   * Adds the first record to a batch, and limits the batch to about as many as a segment would have if all were of its size: a
   * channel holds as much as one between threads.
   */
  begin(batch: RecordBatch, copy: unknown, timestampMs: number, hash: number): void {
    batch.add(copy, timestampMs, hash);
    this.#scratch.pos = 0;
    while (!this.#encodeRecord(this.#scratch, batch, 0))
      this.#scratch = ByteView.allocate(2 * this.#scratch.limit);
    const fitting = Math.floor(this.#segmentBytes / this.#scratch.pos);
    batch.limit = Math.min(Math.max(fitting, 1), BATCH_RECORDS_MAX);
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
    return writeRecord(view, this.#format, values[i], timestamps[i]!, hashes[i]!);
  }
}
