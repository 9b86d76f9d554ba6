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
 * Invariants:
 * I1 Elements of a channel are read in the order in which they were sent; nothing behind a control element is read before
 *    it was consumed, nothing of a blocked channel at all.
 * I2 `next` passes over no channel that has something twice before each other one had its turn.
 * I3 Callers see a record that came in pieces as data like any other.
 */
import { assert } from '../base/index.ts';
import type { TypeSerializer } from '../types/index.ts';
import { compileDecode, type DecodeRecords } from './decode-code.ts';
import { type Barrier, ElementKind, readBarrier, readNumber, readStatus } from './element.ts';
import type { RecordBatch } from './record-batch.ts';
import { MAX_RECORD_BYTES } from './record-writer.ts';
import type { RingReader } from './ring.ts';
import { SpanAssembly } from './span-assembly.ts';

/** One channel: from one subtask of the sending vertex of one edge. */
export interface GateChannel {
  readonly reader: RingReader;
  /** Which input of the operator it feeds. */
  readonly input: 0 | 1;
  readonly edgeIndex: number;
  readonly senderSubtask: number;
}

/** How the records of one edge are read: as its record writers wrote them. */
export interface GateEdge {
  readonly edgeIndex: number;
  readonly valueSerializer: TypeSerializer<unknown>;
  /** True if the edge is partitioned by hash. */
  readonly hashed: boolean;
}

export interface InputGateOptions {
  /** For errors: "input of operator 'x'". */
  readonly label: string;
  readonly channels: readonly GateChannel[];
  readonly edges: readonly GateEdge[];
  /** Names this subtask within the job, for stack traces and profiles. */
  readonly unique: string;
  /** Default 64 MiB. */
  readonly maxRecordBytes?: number;
}

interface ChannelState extends GateChannel {
  readonly decode: DecodeRecords;
  readonly assembly: SpanAssembly;
  blocked: boolean;
  finished: boolean;
  /** End of the data segment that is being read; -1 between elements. */
  dataEnd: number;
}

export class InputGate {
  readonly #label: string;
  readonly #channels: readonly ChannelState[];
  #nextChannel = 0;
  #finishedCount = 0;

  constructor(options: InputGateOptions) {
    const { label, unique, maxRecordBytes = MAX_RECORD_BYTES } = options;
    const decoders = new Map<number, DecodeRecords>();
    for (const { edgeIndex, valueSerializer, hashed } of options.edges) {
      decoders.set(edgeIndex, compileDecode(`${unique} edge ${edgeIndex}`, valueSerializer, hashed));
    }
    this.#label = label;
    this.#channels = options.channels.map((channel) => {
      const decode = decoders.get(channel.edgeIndex);
      assert(
        decode !== undefined,
        `the ${label} has a channel of edge ${channel.edgeIndex}, which it does not have`,
      );
      const assembly = new SpanAssembly(maxRecordBytes, label);
      return { ...channel, decode, assembly, blocked: false, finished: false, dataEnd: -1 };
    });
  }

  get channelCount(): number {
    return this.#channels.length;
  }

  /** The channel as it was given. Channels are numbered as in the options, here and below. */
  channel(channel: number): GateChannel {
    return this.#state(channel);
  }

  /**
   * The next channel that is not blocked and has an element, in turn; -1 if there is none. A channel whose segment has
   * been read in part has an element.
   */
  next(): number {
    const channels = this.#channels;
    let index = this.#nextChannel;
    for (let i = 0; i < channels.length; i++) {
      const channel = channels[index]!;
      const following = index + 1 === channels.length ? 0 : index + 1;
      if (!channel.blocked && channel.reader.hasElement()) {
        this.#nextChannel = following;
        return index;
      }
      index = following;
    }
    return -1;
  }

  /** True if `next` would find something; changes nothing. What a loop asks before it sleeps. */
  hasElement(): boolean {
    return this.#channels.some((channel) => !channel.blocked && channel.reader.hasElement());
  }

  /** As `next`, for channels whose first element is no data: what may be read while no records may. */
  nextControl(): number {
    return this.#channels.findIndex(
      ({ blocked, reader }) => !blocked && reader.hasElement() && reader.kind > ElementKind.spanEnd,
    );
  }

  /** Kind of the channel's first element; pieces of a large record are `data`. There must be an element. */
  kind(channel: number): ElementKind {
    const { kind } = this.#state(channel).reader;
    return isSpan(kind) ? ElementKind.data : kind;
  }

  /**
   * Fills `batch`, which is emptied first, from the channel's first element, which must be data. Goes on where the last
   * call stopped. True if the segment has more. The batch may stay empty: not all of a large record is there yet.
   */
  readBatch(channel: number, batch: RecordBatch): boolean {
    const state = this.#state(channel);
    const { reader } = state;
    batch.count = 0;
    if (state.dataEnd === -1) {
      if (reader.kind !== ElementKind.data) {
        this.#readSpan(state, batch);
        return false;
      }
      reader.view.pos = reader.start;
      state.dataEnd = reader.start + reader.lengthBytes;
    }
    state.decode(reader.view, state.dataEnd, batch);
    if (reader.view.pos < state.dataEnd) return true;
    this.#assertReadToTheEnd(reader.view.pos, state.dataEnd);
    state.dataEnd = -1;
    reader.release();
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
    assert(
      kind !== ElementKind.data && !isSpan(kind),
      `the ${this.#label} consumed records as a control element`,
    );
    if (kind === ElementKind.endOfData && !state.finished) {
      state.finished = true;
      this.#finishedCount++;
    }
    state.reader.release();
  }

  /** Stops reading a channel, for alignment. */
  block(channel: number): void {
    this.#state(channel).blocked = true;
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
      assembly.append(reader.view.u8, reader.start, reader.lengthBytes);
      reader.release();
    } while (kind !== ElementKind.spanEnd && reader.hasElement());
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

  #control(channel: number, expected: ElementKind): RingReader {
    const { reader } = this.#state(channel);
    assert(reader.kind === expected, `the ${this.#label} took element ${reader.kind} for ${expected}`);
    return reader;
  }

  #state(channel: number): ChannelState {
    const state = this.#channels[channel];
    if (state === undefined) assert(false, `the ${this.#label} has no channel ${channel}`);
    return state;
  }
}

function isSpan(kind: ElementKind): boolean {
  return kind === ElementKind.spanPart || kind === ElementKind.spanEnd;
}
