/**
 * The sending side of one channel: where the next record is written, and what waits for room in the ring. Called by the
 * record writer; knows segments, not records.
 *
 * Where the reader is in the same thread, records wait as objects (lent-records.ts): a batch of them is open in place of a
 * ring segment, and its element has no bytes. Records that cannot be copied are written as ever, and so is what finds no room
 * in the ring: it is bounded in bytes.
 *
 *     none ──open──▶ ring segment, or batch ──close──▶ published
 *       │                 ▲
 *       │             drain (moves a partial segment, too)
 *       └──open, no room─▶ heap segment ──close──▶ queue ──drain──▶ published
 *
 * A barrier that overtakes is announced in the ring instead. What waits in the queue then lies before it, and will come into
 * the ring behind its position: it is copied for the checkpoint.
 *
 * Invariants:
 * I1 What was closed first is published first: while the queue is not empty no ring segment is opened.
 * I2 Records are only ever lost by a failure: a heap segment goes back to the pool after its bytes were copied.
 */
import { assert } from '../base/index.ts';
import type { ByteView } from '../types/index.ts';
import { type Barrier, ElementKind, isInFlight } from './element.ts';
import type { InFlightElement } from './in-flight.ts';
import type { LentRecords } from './lent-records.ts';
import type { OverflowPool } from './overflow.ts';
import type { RecordBatch } from './record-batch.ts';
import type { RingWriter } from './ring.ts';

/** Counts over all channels of a writer; changed once a segment. */
export interface OutputCounters {
  records: number;
  bytes: number;
}

/** Where generated code writes records: a view with room up to its limit, and a count to be raised for each record. */
export interface RecordTarget {
  view: ByteView;
  /** Records in the open segment. */
  records: number;
  /** The open batch, if records are lent now: the view has no room then. */
  readonly lent: RecordBatch | undefined;
  /** Records in the open segment or batch. */
  readonly openRecords: number;
  /** True if there are any. */
  readonly hasData: boolean;
  /** Opens a segment, or a batch, unless one is open. Throws EXCHANGE_OVERFLOW. */
  open(): void;
  /** Puts the first record, a copy, into the open batch. */
  lend(copy: unknown, timestampMs: number, hash: number): void;
  /** A record comes that cannot be lent: it and some after it are written. Closes the open batch. */
  stopLending(): void;
  /** Closes the open segment; it goes to the reader, or queues for it. An empty one stays open. */
  flush(): void;
  /** Sends `length` bytes of `bytes` as an element of its own, after what is open. They must fit a segment. */
  append(kind: ElementKind, bytes: Uint8Array, start: number, length: number): void;
}

interface QueuedElement {
  readonly kind: ElementKind;
  readonly view: ByteView;
  readonly lengthBytes: number;
}

/** Elements that are written before lending is tried again: where records of both kinds mix, elements do not become many. */
const WRITTEN_ELEMENTS = 4;

export class ChannelOutput implements RecordTarget {
  view: ByteView;
  records = 0;
  lent: RecordBatch | undefined;
  readonly ring: RingWriter;
  readonly #pool: OverflowPool;
  readonly #counters: OutputCounters;
  readonly #lending: LentRecords | undefined;
  #segment: 'none' | 'ring' | 'heap' | 'lent' = 'none';
  #start = 0;
  /** Elements still to be written before a batch is opened again. */
  #toBeWritten = 0;
  #queue: QueuedElement[] = [];
  /** Elements of the queue before this index are gone. */
  #queueFirst = 0;
  /** The newest barrier among the elements: it waits in the queue, or has this number in the ring. */
  #queuedBarrier: QueuedElement | undefined;
  #barrierSequence = -1;

  /** `lending`: shared with the reader, if that is in the same thread. */
  constructor(ring: RingWriter, pool: OverflowPool, counters: OutputCounters, lending?: LentRecords) {
    this.ring = ring;
    this.view = ring.view;
    this.#pool = pool;
    this.#counters = counters;
    this.#lending = lending;
  }

  get hasData(): boolean {
    if (this.lent !== undefined) return this.lent.count > 0;
    return this.#segment !== 'none' && this.view.pos > this.#start;
  }

  get openRecords(): number {
    return this.records + (this.lent?.count ?? 0);
  }

  /** True if anything waits for room in the ring. */
  get hasOverflow(): boolean {
    if (this.#queueFirst < this.#queue.length) return true;
    return this.#segment === 'heap' && this.hasData;
  }

  /** True while the newest barrier that was sent in order waits for room in the ring. */
  get barrierWaits(): boolean {
    return this.#queuedBarrier !== undefined;
  }

  /** Tells the receiver of a barrier that overtakes all there is; answers with what waits here before it. */
  announce(barrier: Barrier): InFlightElement[] {
    this.flush();
    this.ring.announce(barrier);
    return this.#copyQueue(this.#queue.length);
  }

  /** As `announce`, for the newest barrier, which was sent in order. It stays where it is. */
  overtakeWith(barrier: Barrier): InFlightElement[] {
    if (this.#queuedBarrier === undefined) {
      this.ring.announce(barrier, this.#barrierSequence);
      return [];
    }
    this.ring.announce(barrier);
    return this.#copyQueue(this.#queue.indexOf(this.#queuedBarrier));
  }

  open(): void {
    if (this.#segment !== 'none') return;
    if (this.#lending === undefined || this.#toBeWritten > 0 || !this.#hasRoom()) return this.#openSegment();
    this.lent = this.#lending.take();
    this.#segment = 'lent';
  }

  lend(copy: unknown, timestampMs: number, hash: number): void {
    this.#lending!.begin(this.lent!, copy, timestampMs, hash);
  }

  stopLending(): void {
    this.#toBeWritten = WRITTEN_ELEMENTS;
    this.flush();
    this.#dropEmptyBatch();
  }

  /** True if the next element goes into the ring (I1). */
  #hasRoom(): boolean {
    return this.#queueFirst === this.#queue.length && this.ring.hasFree(1);
  }

  #openSegment(): void {
    if (this.#hasRoom()) {
      this.#start = this.ring.begin();
      this.view = this.ring.view;
      this.#segment = 'ring';
    } else {
      this.view = this.#pool.take();
      this.#start = 0;
      this.#segment = 'heap';
    }
  }

  flush(): void {
    if (!this.hasData) return;
    if (this.lent === undefined) this.#close(ElementKind.data);
    else this.#closeBatch(this.lent);
  }

  append(kind: ElementKind, bytes: Uint8Array, start: number, length: number): void {
    this.flush();
    this.#dropEmptyBatch();
    if (this.#segment === 'none') this.#openSegment();
    this.view.u8.set(bytes.subarray(start, start + length), this.view.pos);
    this.view.pos += length;
    this.#close(kind);
  }

  /** Moves what waits into the ring, in order, as far as there is room. True if nothing waits any more. */
  drain(): boolean {
    while (this.#queueFirst < this.#queue.length) {
      if (!this.ring.hasFree(1)) return false;
      const element = this.#queue[this.#queueFirst++]!;
      const { kind, view, lengthBytes } = element;
      this.#copyToRing(view, lengthBytes);
      if (element === this.#queuedBarrier) this.#barrierInRing();
      this.ring.publish(kind, lengthBytes);
    }
    if (this.#queue.length > 0) {
      this.#queue = [];
      this.#queueFirst = 0;
    }
    return this.#segment !== 'heap' || this.#moveOpenSegment();
  }

  /** Goes on in the ring with the records of the open heap segment. */
  #moveOpenSegment(): boolean {
    const lengthBytes = this.view.pos;
    if (lengthBytes > 0 && !this.ring.hasFree(1)) return false;
    if (lengthBytes > 0) {
      this.#start = this.#copyToRing(this.view, lengthBytes);
      this.#segment = 'ring';
    } else {
      this.#pool.give(this.view);
      this.#segment = 'none';
    }
    this.view = this.ring.view;
    return true;
  }

  #copyToRing(from: ByteView, lengthBytes: number): number {
    const start = this.ring.begin();
    this.ring.view.u8.set(from.u8.subarray(0, lengthBytes), start);
    this.ring.view.pos = start + lengthBytes;
    this.#pool.give(from);
    return start;
  }

  #close(kind: ElementKind): void {
    const lengthBytes = this.view.pos - this.#start;
    this.#counters.records += this.records;
    this.#counters.bytes += lengthBytes;
    this.records = 0;
    if (this.#toBeWritten > 0) this.#toBeWritten--;
    if (this.#segment === 'ring') {
      if (kind === ElementKind.barrier) this.#barrierInRing();
      this.ring.publish(kind, lengthBytes);
    } else {
      const element = { kind, view: this.view, lengthBytes };
      if (kind === ElementKind.barrier) this.#queuedBarrier = element;
      this.#queue.push(element);
      this.view = this.ring.view;
    }
    this.#segment = 'none';
  }

  /** There is room in the ring: there was when it was opened. */
  #closeBatch(batch: RecordBatch): void {
    this.#counters.records += batch.count;
    this.#counters.bytes += batch.count * this.#lending!.prefixBytes;
    this.ring.begin();
    this.#lending!.put(this.ring.sequence, batch);
    this.ring.publish(ElementKind.lent, batch.count);
    this.lent = undefined;
    this.#segment = 'none';
  }

  #dropEmptyBatch(): void {
    if (this.lent === undefined) return;
    assert(this.lent.count === 0, 'a batch of lent records was dropped');
    this.#lending!.give(this.lent);
    this.lent = undefined;
    this.#segment = 'none';
  }

  /** The next element of the ring is the newest barrier. */
  #barrierInRing(): void {
    this.#barrierSequence = this.ring.sequence;
    this.#queuedBarrier = undefined;
  }

  /** What waits before `end` and belongs into a checkpoint. */
  #copyQueue(end: number): InFlightElement[] {
    return this.#queue
      .slice(this.#queueFirst, end)
      .filter(({ kind }) => isInFlight(kind))
      .map(({ kind, view, lengthBytes }) => ({ kind, bytes: view.u8.slice(0, lengthBytes) }));
  }
}
