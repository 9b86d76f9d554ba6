/**
 * The sending side of one channel: where the next record is written, and what waits for room in the ring. Called by the
 * record writer; knows segments, not records.
 *
 *     none ──open──▶ ring segment ──close──▶ published
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
import type { ByteView } from '../types/index.ts';
import { type Barrier, ElementKind, isInFlight } from './element.ts';
import type { InFlightElement } from './in-flight.ts';
import type { OverflowPool } from './overflow.ts';
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
  /** True if the open segment has records. */
  readonly hasData: boolean;
  /** Opens a segment unless one is open. Throws EXCHANGE_OVERFLOW. */
  open(): void;
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

export class ChannelOutput implements RecordTarget {
  view: ByteView;
  records = 0;
  readonly ring: RingWriter;
  readonly #pool: OverflowPool;
  readonly #counters: OutputCounters;
  #segment: 'none' | 'ring' | 'heap' = 'none';
  #start = 0;
  #queue: QueuedElement[] = [];
  /** Elements of the queue before this index are gone. */
  #queueFirst = 0;
  /** The newest barrier among the elements: it waits in the queue, or has this number in the ring. */
  #queuedBarrier: QueuedElement | undefined;
  #barrierSequence = -1;

  constructor(ring: RingWriter, pool: OverflowPool, counters: OutputCounters) {
    this.ring = ring;
    this.view = ring.view;
    this.#pool = pool;
    this.#counters = counters;
  }

  get hasData(): boolean {
    return this.#segment !== 'none' && this.view.pos > this.#start;
  }

  /** True if anything waits for room in the ring. */
  get hasOverflow(): boolean {
    return this.#queueFirst < this.#queue.length || (this.#segment === 'heap' && this.hasData);
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
    if (this.#queueFirst === this.#queue.length && this.ring.hasFree(1)) {
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
    if (this.hasData) this.#close(ElementKind.data);
  }

  append(kind: ElementKind, bytes: Uint8Array, start: number, length: number): void {
    this.flush();
    this.open();
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
