/**
 * The receiving side of a subtask: all channels of its one or two inputs. Finds the next channel that has something,
 * decodes its records in batches, and tells control elements apart (SingleInputGate and UnionInputGate in Flink).
 *
 * Called by the task loop, which decides: it aligns barriers by blocking channels, combines watermarks, and stops reading
 * when its outputs are full. The gate knows channels and elements, no checkpoint and no operator.
 *
 *     next ──▶ channel ──▶ kind: data           readBatch, as often as it answers true
 *                          kind: anything else  its accessor, then consume
 *
 * An input may be fed by several edges (a union), each with its own serializer. A channel belongs to one edge.
 *
 * A barrier that overtakes is announced beside the elements. The task takes it, blocks the channel, and when it takes the
 * checkpoint lets the gate copy what is in flight (in-flight-capture.ts).
 *
 * Restored channels hold data in flight of an earlier run. They are numbered behind the real ones and read before them.
 *
 * Invariants:
 * I1 Elements of a channel are read in the order in which they were sent; nothing behind a control element is read before
 *    it was consumed, nothing of a blocked channel at all.
 * I2 `next` passes over no channel that has something twice before each other one had its turn.
 * I3 Callers see a record that came in pieces as data like any other.
 * I4 No element at or behind the position of an announced barrier is read before the announcement was taken. (After each
 *    look at the ring's head and before the element is touched the gate asks for an announcement.)
 * I5 While a restored channel has elements, no element of a real one is read; one restored channel is read after the other.
 */
import { assert } from '../base/index.ts';
import { compileDecode, type DecodeRecords } from './decode-code.ts';
import { type Barrier, ElementKind, hasRecords, readBarrier, readNumber, readStatus } from './element.ts';
import { type ChannelIdentity, type ChannelState, channelState, type ElementReader } from './gate-channel.ts';
import type { ChannelCapture, RecordFormat, RestoredChannel } from './in-flight.ts';
import { InFlightCapture } from './in-flight-capture.ts';
import type { LentRecords } from './lent-records.ts';
import type { RecordBatch } from './record-batch.ts';
import { MAX_RECORD_BYTES } from './record-writer.ts';
import { RestoredReader } from './restored-reader.ts';
import type { RingReader } from './ring.ts';
import { SpanAssembly } from './span-assembly.ts';

/** One channel: from one subtask of the sending vertex of one edge. */
export interface GateChannel {
  readonly reader: RingReader;
  /** What its sender puts records into that are not written, if that is in the same thread. */
  readonly lending?: LentRecords | undefined;
  /** Which input of the operator it feeds. */
  readonly input: 0 | 1;
  readonly edgeIndex: number;
  readonly senderSubtask: number;
}

/** How the records of one edge are read. */
export interface GateEdge extends RecordFormat {
  readonly edgeIndex: number;
}

export interface InputGateOptions {
  /** For errors: "input of operator 'x'". */
  readonly label: string;
  /** None for a source whose chain has restored channels in its middle. */
  readonly channels: readonly GateChannel[];
  readonly edges: readonly GateEdge[];
  /** In the order in which they are read. */
  readonly restored?: readonly RestoredChannel[];
  /** Names this subtask within the job, for stack traces and profiles. */
  readonly unique: string;
  /** Default 64 MiB. */
  readonly maxRecordBytes?: number;
}

export class InputGate {
  readonly #label: string;
  readonly #channels: readonly ChannelState<RingReader>[];
  readonly #restored: readonly ChannelState<RestoredReader>[];
  /** The restored channel that is read. */
  #nextRestored = 0;
  #nextChannel = 0;
  #finishedCount = 0;
  #bytesIn = 0;
  #capture: InFlightCapture | undefined;

  constructor(options: InputGateOptions) {
    const { label, unique, channels, edges, restored = [], maxRecordBytes = MAX_RECORD_BYTES } = options;
    this.#label = label;
    const decoders = edgeDecoders(unique, edges);
    this.#channels = channels.map((channel, index) => {
      const decode = decoders.get(channel.edgeIndex);
      assert(
        decode !== undefined,
        `the ${label} has a channel of edge ${channel.edgeIndex}, which it does not have`,
      );
      const { reader, input, edgeIndex, senderSubtask, lending } = channel;
      const identity = { isRestored: false, operator: 0, input, edgeIndex, senderSubtask };
      const assembly = new SpanAssembly(maxRecordBytes, label);
      return channelState(identity, index, reader, decode, assembly, lending);
    });
    const decodersOfRestored = restoredDecoders(unique, restored);
    this.#restored = restored.map(({ operator, input, edgeIndex, sender, elements }, i) => {
      const identity = { isRestored: true, operator, input, edgeIndex, senderSubtask: sender };
      const assembly = new SpanAssembly(maxRecordBytes, label);
      const reader = new RestoredReader(elements);
      return channelState(identity, channels.length + i, reader, decodersOfRestored[i]!, assembly);
    });
    this.#skipReadRestored();
  }

  /** Real channels. */
  get channelCount(): number {
    return this.#channels.length;
  }

  /** Channels are numbered as in the options, here and below: first the real ones, then the restored ones. */
  channel(channel: number): ChannelIdentity {
    return this.#state(channel).identity;
  }

  /** True while restored elements are left. */
  get hasRestored(): boolean {
    return this.#nextRestored < this.#restored.length;
  }

  /**
   * The next channel that is not blocked and has an element, in turn; -1 if there is none. A channel whose segment has
   * been read in part has an element; one with an announcement that was not taken is passed over.
   */
  next(): number {
    if (this.#nextRestored < this.#restored.length) return this.#channels.length + this.#nextRestored;
    const channels = this.#channels;
    let index = this.#nextChannel;
    for (let i = 0; i < channels.length; i++) {
      const channel = channels[index]!;
      const following = index + 1 === channels.length ? 0 : index + 1;
      if (isReadable(channel)) {
        this.#nextChannel = following;
        return index;
      }
      index = following;
    }
    return -1;
  }

  /** True if `next` would find something; changes nothing. What a loop asks before it sleeps. */
  hasElement(): boolean {
    return this.hasRestored || this.#channels.some(isReadable);
  }

  /** As `next`, for channels whose first element is no data: what may be read while no records may. */
  nextControl(): number {
    if (this.hasRestored) {
      const channel = this.#channels.length + this.#nextRestored;
      return this.kind(channel) === ElementKind.data ? -1 : channel;
    }
    return this.#channels.findIndex((channel) => isReadable(channel) && !hasRecords(channel.reader.kind));
  }

  /**
   * True if the first element of a real channel is a barrier in order, whatever else cannot be read now: it may be taken also
   * while restored elements are left.
   */
  isBarrierNext(channel: number): boolean {
    const state = this.#real(channel);
    return isReadable(state) && state.reader.kind === ElementKind.barrier;
  }

  /** True if a barrier was announced that was not taken; also for a moment while one is being replaced by a newer one. */
  hasAnnouncement(): boolean {
    return this.#channels.some(({ reader }) => reader.hasAnnouncement());
  }

  /** A channel with an announced barrier that was not taken, blocked or not; -1 if there is none. */
  nextAnnouncement(): number {
    const channels = this.#channels;
    for (let i = 0; i < channels.length; i++) {
      if (channels[i]!.reader.hasAnnouncement() && this.#findsAnnouncement(channels[i]!)) return i;
    }
    return -1;
  }

  /** Takes the announced barrier of the channel that `nextAnnouncement` has named. */
  takeAnnouncement(channel: number): Barrier {
    const state = this.#real(channel);
    const { barrier, sequence } = state.reader.takeAnnouncement();
    state.checkpointId = barrier.checkpointId;
    state.boundary = sequence;
    return barrier;
  }

  /** Kind of the channel's first element; pieces of a large record and lent records are `data`. There must be an element. */
  kind(channel: number): ElementKind {
    const { kind } = this.#state(channel).reader;
    return hasRecords(kind) ? ElementKind.data : kind;
  }

  /**
   * Fills `batch`, which is emptied first, from the channel's first element, which must be data. Goes on where the last
   * call stopped. True if the segment has more. The batch may stay empty: not all of a large record is there yet.
   */
  readBatch(channel: number, batch: RecordBatch): boolean {
    const state = this.#state(channel);
    const { reader } = state;
    batch.count = 0;
    if (reader.kind === ElementKind.lent) return this.#readLent(state, batch);
    if (state.dataEnd === -1) {
      if (reader.kind !== ElementKind.data) {
        this.#readSpan(state, batch);
        return false;
      }
      reader.view.pos = reader.start;
      state.dataEnd = reader.start + reader.lengthBytes;
      this.#bytesIn += reader.lengthBytes;
      if (state.recorded) this.#capture!.record(state);
    }
    state.decode(reader.view, state.dataEnd, batch);
    if (reader.view.pos < state.dataEnd) return true;
    this.#assertReadToTheEnd(reader.view.pos, state.dataEnd);
    state.dataEnd = -1;
    this.#release(state);
    return false;
  }

  /** As `readBatch`, for records that wait as objects. */
  #readLent(state: ChannelState, batch: RecordBatch): boolean {
    const { reader } = state;
    const lending = state.lending!;
    const lent = lending.at(reader.sequence);
    if (state.dataEnd === -1) {
      state.dataEnd = lent.count;
      this.#bytesIn += lent.count * lending.prefixBytes;
      if (state.recorded) this.#capture!.record(state);
    }
    state.nextLent += lent.moveTo(batch, state.nextLent);
    if (state.nextLent < lent.count) return true;
    state.dataEnd = -1;
    state.nextLent = 0;
    lending.remove(reader.sequence);
    this.#release(state);
    return false;
  }

  /** The watermark that is the channel's first element. */
  watermark(channel: number): number {
    const reader = this.#control(channel, ElementKind.watermark);
    return readNumber(reader.view, reader.start);
  }

  /** The status that is the channel's first element: true if the channel became idle, false if active. */
  isIdleStatus(channel: number): boolean {
    const reader = this.#control(channel, ElementKind.status);
    return readStatus(reader.view, reader.start);
  }

  /** The barrier that is the channel's first element. */
  barrier(channel: number): Barrier {
    const reader = this.#control(channel, ElementKind.barrier);
    return readBarrier(reader.view, reader.start);
  }

  /** The checkpoint whose cancellation is the channel's first element. */
  cancelledCheckpoint(channel: number): number {
    const reader = this.#control(channel, ElementKind.cancelBarrier);
    return readNumber(reader.view, reader.start);
  }

  /** Takes the control element that is the channel's first element. After its end of data a channel is finished. */
  consume(channel: number): void {
    const state = this.#state(channel);
    const { kind } = state.reader;
    assert(!hasRecords(kind), `the ${this.#label} consumed records as a control element`);
    if (kind === ElementKind.endOfData && !state.finished) {
      state.finished = true;
      this.#finishedCount++;
    } else if (kind === ElementKind.barrier) {
      state.checkpointId = readBarrier(state.reader.view, state.reader.start).checkpointId;
      state.boundary = state.reader.sequence;
    } else if (state.recorded) {
      this.#capture!.record(state);
    }
    this.#release(state);
  }

  /** Stops reading a channel, for alignment. */
  block(channel: number): void {
    this.#real(channel).blocked = true;
  }

  unblockAll(): void {
    for (const state of this.#channels) state.blocked = false;
  }

  isBlocked(channel: number): boolean {
    return this.#state(channel).blocked;
  }

  /** True once the channel's end of data was consumed. */
  isFinished(channel: number): boolean {
    return this.#state(channel).finished;
  }

  get finishedCount(): number {
    return this.#finishedCount;
  }

  get allFinished(): boolean {
    return this.#finishedCount === this.#channels.length;
  }

  /** Bytes of all segments with records whose reading has begun. */
  get bytesIn(): number {
    return this.#bytesIn;
  }

  /** Segments that wait in a channel, or in all. */
  backlog(channel?: number): number {
    if (channel !== undefined) return this.#state(channel).reader.backlog();
    return this.#channels.reduce((sum, { reader }) => sum + reader.backlog(), 0);
  }

  /** Share of the rings' segments that are in use, 0 to 1 (inPoolUsage). */
  usage(): number {
    const segments = this.#channels.reduce((sum, { reader }) => sum + reader.layout.segments, 0);
    return segments === 0 ? 0 : this.backlog() / segments;
  }

  /** Sequence number of the channel's first element: how many elements were taken from it before. */
  sequence(channel: number): number {
    return this.#state(channel).reader.sequence;
  }

  /**
   * Begins to copy what is in flight for a checkpoint that is taken now. `recorded`: the real channels whose barrier has not
   * come. Each of these ends by `endCapture`, the whole by `takeCapture` or `cancelCapture`. One at a time.
   */
  startCapture(checkpointId: number, recorded: readonly number[]): void {
    assert(this.#capture === undefined, `the ${this.#label} began to capture twice`);
    const states = recorded.map((channel) => this.#real(channel));
    this.#capture = new InFlightCapture(checkpointId, this.#channels, this.#restored, states);
  }

  /** The barrier of a recorded channel was taken. */
  endCapture(channel: number): void {
    assert(this.#capture !== undefined, `the ${this.#label} ended a capture that had not begun`);
    this.#capture.end(this.#real(channel));
  }

  /** Gives the capture up, if there is one. */
  cancelCapture(): void {
    this.#capture?.cancel();
    this.#capture = undefined;
  }

  /**
   * What was in flight, without the channels where nothing was; restored channels first, since they are older. No channel may
   * be recorded any more. The bytes are the caller's.
   */
  takeCapture(): ChannelCapture[] {
    assert(this.#capture !== undefined, `the ${this.#label} has no capture`);
    const captures = this.#capture.channels();
    this.#capture = undefined;
    return captures;
  }

  /** Bytes of this run that the capture has copied so far, without restored ones; 0 without one. */
  get capturedBytes(): number {
    return this.#capture?.sizeBytes ?? 0;
  }

  /** False if there is none after all, or it tells of a barrier that was read in order meanwhile. */
  #findsAnnouncement(state: ChannelState<RingReader>): boolean {
    const { reader } = state;
    const announcement = reader.announcement();
    if (announcement === undefined) return false;
    if (announcement.barrier.checkpointId > state.checkpointId) {
      assert(
        announcement.sequence >= reader.sequence,
        `the ${this.#label} read channel ${state.index} beyond an announced barrier`,
      );
      return true;
    }
    reader.takeAnnouncement();
    return false;
  }

  #release(state: ChannelState): void {
    state.reader.release();
    if (state.identity.isRestored) this.#skipReadRestored();
  }

  #skipReadRestored(): void {
    while (this.hasRestored && !this.#restored[this.#nextRestored]!.reader.hasElement()) this.#nextRestored++;
  }

  /** Collects the pieces that are there; decodes the record if its last piece is among them. */
  #readSpan(state: ChannelState, batch: RecordBatch): void {
    const { reader, assembly } = state;
    let kind: ElementKind;
    do {
      kind = reader.kind;
      assert(
        isSpan(kind),
        `the ${this.#label} got element ${kind} in the middle of a record or read it as data`,
      );
      if (state.recorded) this.#capture!.record(state);
      assembly.append(reader.view.u8, reader.start, reader.lengthBytes);
      this.#bytesIn += reader.lengthBytes;
      this.#release(state);
    } while (kind !== ElementKind.spanEnd && reader.hasElement() && !reader.hasAnnouncement());
    if (kind !== ElementKind.spanEnd) return;
    const view = assembly.take();
    state.decode(view, view.limit, batch);
    this.#assertReadToTheEnd(view.pos, view.limit);
  }

  /** Once a segment: the message is made only when it is needed, here and in `#state`. */
  #assertReadToTheEnd(pos: number, end: number): void {
    if (pos === end) return;
    assert(false, `the ${this.#label} read ${pos - end} bytes beyond a segment: its decoder does not fit`);
  }

  #control(channel: number, expected: ElementKind): ElementReader {
    const { reader } = this.#state(channel);
    assert(reader.kind === expected, `the ${this.#label} took element ${reader.kind} for ${expected}`);
    return reader;
  }

  #state(channel: number): ChannelState {
    const state = this.#channels[channel] ?? this.#restored[channel - this.#channels.length];
    if (state === undefined) assert(false, `the ${this.#label} has no channel ${channel}`);
    return state;
  }

  #real(channel: number): ChannelState<RingReader> {
    const state = this.#channels[channel];
    if (state === undefined) assert(false, `the ${this.#label} has no real channel ${channel}`);
    return state;
  }
}

/** Once a channel whenever the gate looks for something to read. The order of the looks matters (I4). */
function isReadable({ blocked, reader }: ChannelState<RingReader>): boolean {
  return !blocked && reader.hasElement() && !reader.hasAnnouncement();
}

function edgeDecoders(unique: string, edges: readonly GateEdge[]): Map<number, DecodeRecords> {
  return new Map(
    edges.map(({ edgeIndex, valueSerializer, hashed }) => [
      edgeIndex,
      compileDecode(`${unique} edge ${edgeIndex}`, valueSerializer, hashed),
    ]),
  );
}

/** One decoder for each serializer and format, not for each channel. */
function restoredDecoders(unique: string, restored: readonly RestoredChannel[]): DecodeRecords[] {
  const compiled: { readonly format: RecordFormat; readonly decode: DecodeRecords }[] = [];
  return restored.map(({ format }) => {
    const { valueSerializer, hashed } = format;
    const isSame = (other: RecordFormat) =>
      other.valueSerializer === valueSerializer && other.hashed === hashed;
    const known = compiled.find((each) => isSame(each.format));
    if (known !== undefined) return known.decode;
    const decode = compileDecode(`${unique} restored ${compiled.length}`, valueSerializer, hashed);
    compiled.push({ format, decode });
    return decode;
  });
}

function isSpan(kind: ElementKind): boolean {
  return kind === ElementKind.spanPart || kind === ElementKind.spanEnd;
}
