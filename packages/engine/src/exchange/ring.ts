/**
 * A channel: a single-producer single-consumer ring of fixed segments in a SharedArrayBuffer, from one sending subtask to
 * one receiving subtask, in two threads or in one. The ring is also the credit scheme: a full ring stops its sender.
 *
 * Called by channel outputs (writer end) and input gates (reader end). Knows nothing of records.
 *
 *     byte 0          head i32: elements published so far (wraps)        cache line of the writer
 *          128        tail i32: elements released so far (wraps)         cache line of the reader
 *          256        announcement of a barrier, 8 words of i32          cache line of the writer, seldom written
 *          384        per slot: kind i32, length in bytes i32
 *          384 + 8 n, rounded up to 64: segment 0, segment 1, ...
 *
 * An announcement tells the reader of a barrier that overtakes what is in the ring. It is no element and needs no room:
 *
 *     word 0  finished: announcements so far (wraps)     1  begun, likewise     2  position: wrapped as head is
 *          3  barrier: checkpoint id f64, trigger time f64, kind, as in an element of that kind, in 5 words
 *
 * The position is the number of the first element behind the barrier. Only the newest announcement is kept.
 *
 * Invariants:
 * I1 head - tail, as a difference of wrapped 32-bit integers, is between 0 and the number of segments.
 * I2 Only the writer writes head, slots and segments in [tail + n, head + n); only the reader writes tail.
 * I3 A slot and its segment are written before the head that makes them visible is stored, and read before the tail that
 *    gives them back is stored. Both stores are sequentially consistent, so plain accesses to the rest suffice.
 * I4 After each store of head the reader's doorbell is rung. The writer's is rung by the release that leaves half of the
 *    ring free: a writer sleeps only while less is free, and publishes nothing meanwhile, so that release comes. (Ringing
 *    for each segment would wake a writer that cannot go on yet.)
 * I5 A reader that looks at `finished` after it saw an element knows every announcement whose position is not behind that
 *    element's number: all accesses to announcements are sequentially consistent, and the writer stores one before any head
 *    that lies behind its position. (One whose position is given lies behind a head that was stored already: the element
 *    there is the same barrier, in order.)
 * I6 An announcement is never read in halves. The writer stores `begun`, then the words, then `finished`. The reader loads
 *    `finished`, the words, `begun`: had a word been of a later announcement, `begun` would be, too, and differ from
 *    `finished`. It takes this as no announcement; its bell is rung when the later one is finished.
 *
 * The number of segments is a power of two, so that slot = counter & (n - 1) also holds across the wrap.
 * (Source: L. Lamport, "Specifying concurrent program modules", 1983; head and tail on lines of their own as in LMAX
 * Disruptor; the far counter is cached as in FastForward.)
 */
import { assert, MillraceError } from '../base/index.ts';
import { ByteView } from '../types/index.ts';
import {
  type Barrier,
  CONTROL_PAYLOAD_BYTES,
  type ElementKind,
  readBarrier,
  writeBarrier,
} from './element.ts';

const HEAD = 0;
const TAIL = 32;
const FINISHED = 64;
const BEGUN = 65;
const POSITION = 66;
const BARRIER = 67;
const BARRIER_WORDS = 5;
const SLOTS = 96;
const SLOTS_BYTES = SLOTS * 4;

const CHANNELS_MAX = 65_536;
/** All channels of a process together stay at about this size. The pages of unused segments are never touched. */
const MEMORY_BUDGET_BYTES = 128 * 1024 * 1024;

/** Size of a ring. `segments` is a power of two from 4 on, `segmentBytes` a multiple of 8. */
export interface RingLayout {
  readonly segmentBytes: number;
  readonly segments: number;
}

/** From roomy to tight; the roomiest that fits the budget is taken. */
const LAYOUTS: readonly RingLayout[] = [
  { segmentBytes: 32_768, segments: 8 },
  { segmentBytes: 16_384, segments: 8 },
  { segmentBytes: 8_192, segments: 8 },
  { segmentBytes: 8_192, segments: 4 },
  { segmentBytes: 4_096, segments: 4 },
];

/**
 * The layout for each of `channelCount` channels of a process: `largest`, or as much of it as the budget allows: 32 KB x 8
 * up to 512 channels. Throws INVALID_ARGUMENT above 65,536 channels.
 */
export function chooseLayout(channelCount: number, largest: RingLayout = LAYOUTS[0]!): RingLayout {
  if (channelCount > CHANNELS_MAX) {
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `The job needs ${channelCount} channels between its subtasks; ${CHANNELS_MAX} is the limit of one process. ` +
        'Lower the parallelism: an exchange between operators of parallelism m and n has m times n channels.',
    );
  }
  const fits = (layout: RingLayout) =>
    layout.segmentBytes * layout.segments * channelCount <= MEMORY_BUDGET_BYTES;
  const smaller = LAYOUTS.filter((layout) => ringSizeBytes(layout) < ringSizeBytes(largest));
  return [largest, ...smaller].find(fits) ?? smaller.at(-1) ?? largest;
}

/** Bytes of a ring with this layout. */
export function ringSizeBytes(layout: RingLayout): number {
  return segmentsOffset(layout) + layout.segmentBytes * layout.segments;
}

function segmentsOffset(layout: RingLayout): number {
  return (SLOTS_BYTES + layout.segments * 8 + 63) & ~63;
}

/** A ring as it is handed to the two threads at its ends: structured-clonable, the buffer is shared. */
export interface SharedRing {
  readonly buffer: SharedArrayBuffer;
  readonly layout: RingLayout;
}

/** Makes an empty ring. `firstSequence` is where the counters start (tests: near the wrap). */
export function createRing(layout: RingLayout, firstSequence = 0): SharedRing {
  const { segmentBytes, segments } = layout;
  const isPowerOfTwo = segments >= 4 && (segments & (segments - 1)) === 0;
  if (!isPowerOfTwo || segmentBytes % 8 !== 0 || segmentBytes < CONTROL_PAYLOAD_BYTES) {
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `A ring of ${segments} segments of ${segmentBytes} bytes: the number of segments must be a power of two from 4 ` +
        `on, their size a multiple of 8 from ${CONTROL_PAYLOAD_BYTES} on.`,
    );
  }
  const buffer = new SharedArrayBuffer(ringSizeBytes(layout));
  const words = new Int32Array(buffer);
  words[HEAD] = firstSequence | 0;
  words[TAIL] = firstSequence | 0;
  return { buffer, layout };
}

/** Free segments that are enough for a turn of the sender: never more than half of them, see I4. */
export function segmentsForTurn(layout: RingLayout): number {
  return layout.segments >= 8 ? 3 : 2;
}

/** A barrier that overtakes what is in the ring. */
export interface Announcement {
  readonly barrier: Barrier;
  /** Of the first element behind it, counted as the reader's `sequence`. */
  readonly sequence: number;
}

/** What an end of a ring wakes when it moved: the doorbell of the other end's thread. */
export interface Bell {
  ring(): void;
}

/** The sending end. `begin`, write to `view`, `publish`; or read `freeSegments` and do something else. */
export class RingWriter {
  readonly layout: RingLayout;
  /** Over the whole ring; `begin` points it at the segment to be written. */
  readonly view: ByteView;
  readonly #words: Int32Array;
  readonly #segmentsOffset: number;
  readonly #mask: number;
  readonly #reader: Bell;
  #head: number;
  /** As last seen; the real tail is never behind it. */
  #tail: number;
  #sequence = 0;

  /** Takes the sending end of `ring`; `reader` is rung after each element. One writer a ring. */
  constructor(ring: SharedRing, reader: Bell) {
    this.layout = ring.layout;
    this.view = new ByteView(ring.buffer, 0, ringSizeBytes(ring.layout));
    this.#words = new Int32Array(ring.buffer, 0, SLOTS + ring.layout.segments * 2);
    this.#segmentsOffset = segmentsOffset(ring.layout);
    this.#mask = ring.layout.segments - 1;
    this.#reader = reader;
    this.#head = Atomics.load(this.#words, HEAD);
    this.#tail = Atomics.load(this.#words, TAIL);
    this.view.pos = this.view.limit = 0;
  }

  /** Segments that can be published before the ring is full: exact, one atomic load. */
  freeSegments(): number {
    this.#tail = Atomics.load(this.#words, TAIL);
    return this.layout.segments - ((this.#head - this.#tail) | 0);
  }

  /** True if at least `count` segments are free; looks at the reader's counter only if need be. */
  hasFree(count: number): boolean {
    if (this.layout.segments - ((this.#head - this.#tail) | 0) >= count) return true;
    return this.freeSegments() >= count;
  }

  /** Elements published so far, never wrapping: the sequence number of the next one. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Points `view` (pos, limit) at the next segment and returns its first position. There must be a free one. */
  begin(): number {
    assert(this.hasFree(1), 'a segment was begun in a full ring');
    const start = this.#segmentsOffset + (this.#head & this.#mask) * this.layout.segmentBytes;
    this.view.pos = start;
    this.view.limit = start + this.layout.segmentBytes;
    return start;
  }

  /** Makes the segment that was begun visible to the reader, with the bytes from its start on. */
  publish(kind: ElementKind, lengthBytes: number): void {
    const slot = SLOTS + (this.#head & this.#mask) * 2;
    this.#words[slot] = kind;
    this.#words[slot + 1] = lengthBytes;
    this.#head = (this.#head + 1) | 0;
    this.#sequence++;
    this.view.pos = this.view.limit = 0;
    Atomics.store(this.#words, HEAD, this.#head);
    this.#reader.ring();
  }

  /**
   * Tells the reader of a barrier in front of the element with this sequence number: the next one, or the same barrier if it
   * was published. Replaces an announcement that the reader has not taken.
   */
  announce(barrier: Barrier, sequence = this.#sequence): void {
    assert(sequence <= this.#sequence, 'a barrier was announced behind elements that are not there yet');
    const words = this.#words;
    const count = (words[BEGUN]! + 1) | 0;
    const payload = barrierWords(barrier);
    Atomics.store(words, BEGUN, count);
    Atomics.store(words, POSITION, (this.#head - (this.#sequence - sequence)) | 0);
    for (let i = 0; i < BARRIER_WORDS; i++) Atomics.store(words, BARRIER + i, payload[i]!);
    Atomics.store(words, FINISHED, count);
    this.#reader.ring();
  }
}

/** The receiving end: `hasElement`, look at `kind`, `start` and `lengthBytes`, read by `view`, `release`. */
export class RingReader {
  readonly layout: RingLayout;
  /** Over the whole ring; positions are those of `start`. */
  readonly view: ByteView;
  readonly #words: Int32Array;
  readonly #segmentsOffset: number;
  readonly #mask: number;
  readonly #writer: Bell;
  /** As last seen; the real head is never behind it. */
  #head: number;
  #tail: number;
  #sequence = 0;
  /** Announcements so far when the last one was taken, and when `announcement` found the one that may be taken. */
  #taken: number;
  #found: number;
  #announcement: Announcement | undefined;

  /** Takes the receiving end of `ring`; `writer` is rung when half of it is free again. One reader a ring. */
  constructor(ring: SharedRing, writer: Bell) {
    this.layout = ring.layout;
    this.view = new ByteView(ring.buffer, 0, ringSizeBytes(ring.layout));
    this.#words = new Int32Array(ring.buffer, 0, SLOTS + ring.layout.segments * 2);
    this.#segmentsOffset = segmentsOffset(ring.layout);
    this.#mask = ring.layout.segments - 1;
    this.#writer = writer;
    this.#tail = Atomics.load(this.#words, TAIL);
    this.#head = this.#tail;
    this.#taken = this.#found = Atomics.load(this.#words, FINISHED);
  }

  /** True if there is an element. Looks at the writer's counter only when all seen so far was released. */
  hasElement(): boolean {
    if (this.#head !== this.#tail) return true;
    this.#head = Atomics.load(this.#words, HEAD);
    return this.#head !== this.#tail;
  }

  /** Elements waiting now. */
  backlog(): number {
    this.#head = Atomics.load(this.#words, HEAD);
    return (this.#head - this.#tail) | 0;
  }

  /** Kind of the first element. There must be one, here and below. */
  get kind(): ElementKind {
    return this.#words[SLOTS + (this.#tail & this.#mask) * 2] as ElementKind;
  }

  /** Bytes of the first element. */
  get lengthBytes(): number {
    return this.#words[SLOTS + (this.#tail & this.#mask) * 2 + 1]!;
  }

  /** Position of the first element's first byte in `view`. */
  get start(): number {
    return this.#segmentsOffset + (this.#tail & this.#mask) * this.layout.segmentBytes;
  }

  /** Elements released so far, never wrapping: the sequence number of the first element in this channel. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Kind of the element `offset` places behind the first. There must be one. */
  kindAt(offset: number): ElementKind {
    return this.#words[this.#slotAt(offset)] as ElementKind;
  }

  /** A copy of that element's bytes. */
  copyAt(offset: number): Uint8Array {
    const lengthBytes = this.#words[this.#slotAt(offset) + 1]!;
    const start = this.#segmentsOffset + ((this.#tail + offset) & this.#mask) * this.layout.segmentBytes;
    return this.view.u8.slice(start, start + lengthBytes);
  }

  #slotAt(offset: number): number {
    assert(offset < this.backlog(), 'an element was looked at that is not there');
    return SLOTS + ((this.#tail + offset) & this.#mask) * 2;
  }

  /** True if there is an announcement that was not taken. To be asked after `hasElement`, before the element is taken. */
  hasAnnouncement(): boolean {
    return Atomics.load(this.#words, FINISHED) !== this.#taken;
  }

  /** The newest announcement that was not taken; undefined also while the writer is replacing it. */
  announcement(): Announcement | undefined {
    const words = this.#words;
    const count = Atomics.load(words, FINISHED);
    if (count === this.#found) return this.#announcement;
    const position = Atomics.load(words, POSITION);
    const payload = new Int32Array(BARRIER_WORDS);
    for (let i = 0; i < BARRIER_WORDS; i++) payload[i] = Atomics.load(words, BARRIER + i);
    if (Atomics.load(words, BEGUN) !== count) return undefined;
    this.#found = count;
    this.#announcement = {
      barrier: readBarrier(ByteView.of(new Uint8Array(payload.buffer)), 0),
      sequence: this.#sequence + ((position - this.#tail) | 0),
    };
    return this.#announcement;
  }

  /** Takes the announcement that `announcement` has found. A newer one may be there already. */
  takeAnnouncement(): Announcement {
    const announcement = this.#announcement;
    assert(announcement !== undefined, 'an announcement was taken that was not found');
    this.#taken = this.#found;
    this.#announcement = undefined;
    return announcement;
  }

  /** Gives the first element's segment back to the writer. */
  release(): void {
    assert(this.#head !== this.#tail, 'an element was released that was not there');
    this.#tail = (this.#tail + 1) | 0;
    this.#sequence++;
    Atomics.store(this.#words, TAIL, this.#tail);
    this.#head = Atomics.load(this.#words, HEAD);
    if (((this.#head - this.#tail) | 0) === this.layout.segments >> 1) this.#writer.ring();
  }
}

/** As the payload of an element, in whole words. */
function barrierWords(barrier: Barrier): Int32Array {
  const words = new Int32Array(BARRIER_WORDS);
  writeBarrier(ByteView.of(new Uint8Array(words.buffer)), barrier);
  return words;
}
