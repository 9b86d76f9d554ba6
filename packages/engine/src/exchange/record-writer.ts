/**
 * The sending side of one edge in one subtask: finds the channel of each record, encodes it into that channel's open
 * segment, and sends control elements to all channels (RecordWriter and ResultPartition in Flink).
 *
 * Called by the generated code of a chain (`collect`) and by the task (everything else). It knows no clock and no thread:
 * the task flushes after the buffer timeout, before it sleeps, and when another of its edges has sent a segment; and it asks
 * `isAvailable` before it gives the chain a turn.
 *
 * A call never waits. What does not fit into a full ring goes into heap segments, in order; the task calls `drain` until
 * they are gone.
 *
 * Invariants:
 * I1 In each channel elements arrive in the order of the calls, none lost, none twice.
 * I2 A control element comes after every record that was collected before it, in every channel.
 * I3 A record that fails (selector, hash, encoder) leaves nothing behind.
 */
import { assert, MAX_WATERMARK, MIN_WATERMARK, MillraceError } from '../base/index.ts';
import { subtaskOf } from '../state/index.ts';
import { ByteView, type KeySerializer, type TypeSerializer } from '../types/index.ts';
import { BroadcastOutput } from './broadcast-output.ts';
import { ChannelOutput, type OutputCounters, type RecordTarget } from './channel-output.ts';
import { type CustomParts, compileCollect, type HashParts } from './collect-code.ts';
import {
  type Barrier,
  CONTROL_PAYLOAD_BYTES,
  ElementKind,
  overtakes,
  type PartitionFunction,
  type Partitioning,
  writeBarrier,
  writeNumber,
  writeRecord,
  writeStatus,
} from './element.ts';
import type { ChannelCapture, InFlightElement, RecordFormat } from './in-flight.ts';
import type { LentRecords } from './lent-records.ts';
import { OverflowPool } from './overflow.ts';
import { failureOf, notAPartitionOf } from './record-routing.ts';
import { type RingWriter, segmentsForTurn } from './ring.ts';

/** The largest record, encoded, that an exchange takes. Reader and writer have the same limit. */
export const MAX_RECORD_BYTES = 64 * 1024 * 1024;

const MAX_OVERFLOW_BYTES = 512 * 1024 * 1024;

/** A scratch buffer above this size is let go after use. */
const KEPT_SCRATCH_BYTES = 1024 * 1024;

export interface RecordWriterOptions<T> {
  /** For errors: "output of operator 'x'". */
  readonly label: string;
  readonly partitioning: Partitioning;
  /** False: barriers keep their place among the records, as they do in any case where the partitioning demands it (`overtakes`). */
  readonly overtakable?: boolean;
  readonly valueSerializer: TypeSerializer<T>;
  /** For `hash`, and only then. The selector is the user's. */
  readonly key?: {
    readonly selector: (value: never) => unknown;
    readonly serializer: KeySerializer<unknown>;
    readonly maxParallelism: number;
  };
  /** For `custom`, and only then. Both functions are the user's. */
  readonly custom?: {
    readonly selector: (value: never) => unknown;
    readonly partitioner: PartitionFunction;
  };
  /** For `shuffle`: a random number of 32 bits. */
  readonly seed?: number;
  /**
   * One for each receiving subtask that this one has a channel to, in order; for `forward` exactly one. All of one layout.
   */
  readonly channels: readonly RingWriter[];
  /**
   * For each channel whose receiver is in this thread, if the serializer can lend: what its reader gets, too. Absent: none.
   * Broadcasts do not lend.
   */
  readonly lending?: readonly (LentRecords | undefined)[];
  /** Names this edge and subtask within the job, for stack traces and profiles. */
  readonly unique: string;
  /** Of the sending subtask: where `rebalance` and `rescale` begin. */
  readonly subtaskIndex: number;
  /** Default 64 MiB. */
  readonly maxRecordBytes?: number;
  /** Default 512 MiB. */
  readonly maxOverflowBytes?: number;
}

export interface RecordWriter<T> {
  /**
   * Sends a record. A function of its own: it needs no `this`. Throws USER_FUNCTION_FAILED (key selector, partitioner),
   * RESULT_NOT_ALLOWED (partitioner), KEY_NOT_ALLOWED, TYPE_MISMATCH, RECORD_TOO_LARGE, EXCHANGE_OVERFLOW; the record is then not sent.
   */
  readonly collect: (value: T, timestampMs: number) => void;
  /** To all channels. A watermark that equals the last one is not sent again; it must not be lower. */
  broadcastWatermark(watermarkMs: number): void;
  /** To all channels, if it is a change. A writer begins as active. */
  broadcastStatus(idle: boolean): void;
  /** In order: behind everything that was sent before. */
  broadcastBarrier(barrier: Barrier): void;
  /** True if barriers may overtake records here: what `announceBarrier` and `overtakeWith` need. */
  readonly overtakes: boolean;
  /**
   * Sends a barrier that overtakes everything. Answers with what waits for room in the rings, which belongs into the
   * checkpoint of this subtask; channels where nothing waits are left out. The bytes are the caller's.
   */
  announceBarrier(barrier: Barrier): ChannelCapture[];
  /**
   * Lets the barrier that was sent last, in order, overtake what is before it. Answers as `announceBarrier`. Receivers that
   * have got it already are not disturbed. One that is not the last any more goes on waiting its turn, and nothing is saved.
   */
  overtakeWith(barrier: Barrier): ChannelCapture[];
  /**
   * True while the barrier of this checkpoint, sent in order, waits for room in a ring: while `overtakeWith` would have
   * something to save. Never after it, nor for a writer whose barriers do not overtake, or that has sent a newer one.
   */
  barrierWaits(checkpointId: number): boolean;
  broadcastCancelBarrier(checkpointId: number): void;
  /** No record or watermark follows in any channel; barriers may. */
  broadcastEnd(): void;
  /** Publishes partial segments. */
  flush(): void;
  /** Moves overflow into the rings. True if none is left. */
  drain(): boolean;
  /** True if every channel has room for a turn: a few free segments and no overflow. */
  isAvailable(): boolean;
  /** Index of the first channel that has no room, or -1: what to name when a job is slow. */
  fullChannel(): number;
  /** Share of the rings' segments that are in use, 0 to 1 (outPoolUsage). */
  usage(): number;
  /** Heap segments in use, in bytes. */
  readonly overflowBytes: number;
  /** Records sent so far; a broadcast record counts once. */
  readonly recordsOut: number;
  /** Bytes of closed segments so far, over all channels. */
  readonly bytesOut: number;
}

/** Makes the sending side of one edge for one subtask. Throws INVALID_ARGUMENT, assertions for wrong wiring. */
export function createRecordWriter<T>(options: RecordWriterOptions<T>): RecordWriter<T> {
  return new SegmentRecordWriter(options);
}

class SegmentRecordWriter<T> implements RecordWriter<T> {
  readonly collect: (value: T, timestampMs: number) => void;
  readonly overtakes: boolean;
  readonly #label: string;
  readonly #valueSerializer: TypeSerializer<T>;
  readonly #format: RecordFormat;
  readonly #maxRecordBytes: number;
  readonly #segmentBytes: number;
  readonly #pool: OverflowPool;
  readonly #channels: readonly ChannelOutput[];
  readonly #targets: readonly RecordTarget[];
  readonly #counters: OutputCounters = { records: 0, bytes: 0 };
  readonly #freeNeeded: number;
  readonly #payload = ByteView.allocate(CONTROL_PAYLOAD_BYTES);
  #scratch: ByteView | undefined;
  #watermarkMs = MIN_WATERMARK;
  #idle = false;
  #ended = false;
  /** The checkpoint of the last barrier, if that was sent in order and has not been announced since. */
  #orderedCheckpoint: number | undefined;

  constructor(options: RecordWriterOptions<T>) {
    const { layout } = checkWiring(options);
    const { label, channels, partitioning, overtakable = true, valueSerializer, lending = [] } = options;
    this.#label = label;
    this.#valueSerializer = valueSerializer;
    this.#format = {
      valueSerializer: valueSerializer as TypeSerializer<unknown>,
      hashed: partitioning === 'hash',
    };
    this.overtakes = overtakable && overtakes(partitioning);
    this.#maxRecordBytes = options.maxRecordBytes ?? MAX_RECORD_BYTES;
    this.#segmentBytes = layout.segmentBytes;
    this.#freeNeeded = segmentsForTurn(layout);
    this.#pool = new OverflowPool(layout.segmentBytes, options.maxOverflowBytes ?? MAX_OVERFLOW_BYTES, label);
    this.#channels = channels.map(
      (ring, i) => new ChannelOutput(ring, this.#pool, this.#counters, lending[i]),
    );
    this.#targets =
      partitioning === 'broadcast' && channels.length > 1
        ? [new BroadcastOutput(this.#channels, layout.segmentBytes, this.#counters)]
        : this.#channels;
    this.collect = compileCollect(partitioning, {
      unique: options.unique,
      targets: this.#targets,
      firstTarget: options.subtaskIndex % channels.length,
      valueSerializer,
      lends: lending.some((each) => each !== undefined),
      seed: options.seed ?? 0,
      hash: this.#format.hashed ? hashParts(options, this.#targets) : undefined,
      custom: partitioning === 'custom' ? customParts(options) : undefined,
      collectSlowly: this.#collectSlowly.bind(this),
    });
  }

  get recordsOut(): number {
    return this.#targets.reduce((sum, target) => sum + target.openRecords, this.#counters.records);
  }

  get bytesOut(): number {
    return this.#counters.bytes;
  }

  get overflowBytes(): number {
    return this.#pool.usedBytes;
  }

  broadcastWatermark(watermarkMs: number): void {
    assert(
      watermarkMs >= this.#watermarkMs && watermarkMs <= MAX_WATERMARK,
      `the ${this.#label} sent watermark ${watermarkMs} after ${this.#watermarkMs}`,
    );
    if (watermarkMs === this.#watermarkMs) return;
    this.#watermarkMs = watermarkMs;
    writeNumber(this.#payload, watermarkMs);
    this.#broadcastPayload(ElementKind.watermark);
  }

  broadcastStatus(idle: boolean): void {
    if (idle === this.#idle) return;
    this.#idle = idle;
    writeStatus(this.#payload, idle);
    this.#broadcastPayload(ElementKind.status);
  }

  broadcastBarrier(barrier: Barrier): void {
    writeBarrier(this.#payload, barrier);
    this.#broadcastPayload(ElementKind.barrier, true);
    this.#orderedCheckpoint = barrier.checkpointId;
  }

  announceBarrier(barrier: Barrier): ChannelCapture[] {
    this.#orderedCheckpoint = undefined;
    return this.#capture((channel) => channel.announce(barrier));
  }

  overtakeWith(barrier: Barrier): ChannelCapture[] {
    if (barrier.checkpointId !== this.#orderedCheckpoint) return [];
    this.#orderedCheckpoint = undefined;
    return this.#capture((channel) => channel.overtakeWith(barrier));
  }

  barrierWaits(checkpointId: number): boolean {
    if (!this.overtakes || checkpointId !== this.#orderedCheckpoint) return false;
    return this.#channels.some((channel) => channel.barrierWaits);
  }

  #capture(tell: (channel: ChannelOutput) => InFlightElement[]): ChannelCapture[] {
    assert(
      this.overtakes,
      `a barrier would overtake records of the ${this.#label}, which keep their channel`,
    );
    const captures = this.#channels.map((output, channel) => ({ channel, elements: tell(output) }));
    return captures.filter(({ elements }) => elements.length > 0);
  }

  broadcastCancelBarrier(checkpointId: number): void {
    writeNumber(this.#payload, checkpointId);
    this.#broadcastPayload(ElementKind.cancelBarrier, true);
  }

  broadcastEnd(): void {
    this.#broadcastPayload(ElementKind.endOfData);
    this.#ended = true;
  }

  flush(): void {
    for (const target of this.#targets) target.flush();
  }

  drain(): boolean {
    let drained = true;
    for (const channel of this.#channels) {
      if (!channel.drain()) drained = false;
    }
    return drained;
  }

  isAvailable(): boolean {
    return this.fullChannel() === -1;
  }

  fullChannel(): number {
    for (let i = 0; i < this.#channels.length; i++) {
      const channel = this.#channels[i]!;
      if (channel.hasOverflow || !channel.ring.hasFree(this.#freeNeeded)) return i;
    }
    return -1;
  }

  usage(): number {
    let used = 0;
    let all = 0;
    for (const { ring } of this.#channels) {
      all += ring.layout.segments;
      used += ring.layout.segments - ring.freeSegments();
    }
    return used / all;
  }

  /** Barriers go on after the end of data: checkpoints complete while a part of the job has ended. */
  #broadcastPayload(kind: ElementKind, afterEnd = false): void {
    if (!afterEnd) this.#assertOpen();
    const { u8, pos } = this.#payload;
    this.#payload.pos = 0;
    for (const target of this.#targets) target.append(kind, u8, 0, pos);
  }

  #assertOpen(): void {
    assert(!this.#ended, `the ${this.#label} sent a record or watermark after its end of data`);
  }

  #collectSlowly(target: RecordTarget, value: T, timestampMs: number, hash: number): void {
    this.#assertOpen();
    target.flush();
    target.open();
    if (target.lent !== undefined) {
      const copy = this.#valueSerializer.copyGiven!(value);
      if (copy !== undefined) {
        target.lend(copy, timestampMs, hash);
        return;
      }
      target.stopLending();
      target.open();
    }
    if (writeRecord(target.view, this.#format, value, timestampMs, hash)) target.records++;
    else this.#collectSpanning(target, value, timestampMs, hash);
  }

  /** Encodes into a buffer that grows until the record fits, and sends that in pieces. */
  #collectSpanning(target: RecordTarget, value: T, timestampMs: number, hash: number): void {
    let scratch = this.#scratch ?? ByteView.allocate(Math.min(4 * this.#segmentBytes, this.#maxRecordBytes));
    while (!writeRecord(scratch, this.#format, value, timestampMs, hash)) {
      if (scratch.limit >= this.#maxRecordBytes) throw this.#recordTooLarge();
      scratch = ByteView.allocate(Math.min(4 * scratch.limit, this.#maxRecordBytes));
    }
    const lengthBytes = scratch.pos;
    scratch.pos = 0;
    this.#scratch = scratch.limit <= KEPT_SCRATCH_BYTES ? scratch : undefined;
    for (let start = 0; start < lengthBytes; start += this.#segmentBytes) {
      const end = Math.min(start + this.#segmentBytes, lengthBytes);
      const kind = end === lengthBytes ? ElementKind.spanEnd : ElementKind.spanPart;
      target.append(kind, scratch.u8, start, end - start);
    }
    this.#counters.records++;
  }

  #recordTooLarge(): MillraceError {
    return new MillraceError(
      'RECORD_TOO_LARGE',
      `A record of the ${this.#label} takes more than ${this.#maxRecordBytes} bytes when it is encoded. Put large ` +
        'contents into a file or an object store and send their address, or split the record.',
      { details: { limitBytes: this.#maxRecordBytes } },
    );
  }
}

/** Refuses wiring that cannot work; these are the engine's mistakes, not the user's. */
function checkWiring<T>(options: RecordWriterOptions<T>): RingWriter {
  const { label, partitioning, key, custom, channels } = options;
  const first = channels[0];
  assert(first !== undefined, `the ${label} has no channels`);
  assert(partitioning !== 'forward' || channels.length === 1, `the ${label} forwards to several channels`);
  assert(
    (partitioning === 'hash') === (key !== undefined),
    `the ${label} needs a key if and only if it is hashed`,
  );
  assert(
    (partitioning === 'custom') === (custom !== undefined),
    `the ${label} needs a partitioner if and only if its partitioning is custom`,
  );
  const { segmentBytes, segments } = first.layout;
  for (const { layout } of channels) {
    const isSame = layout.segmentBytes === segmentBytes && layout.segments === segments;
    assert(isSame, `the channels of the ${label} differ in layout`);
  }
  return first;
}

function hashParts<T>({ label, key }: RecordWriterOptions<T>, targets: readonly RecordTarget[]): HashParts {
  const { selector, serializer, maxParallelism } = key!;
  const targetOfGroup = Array.from(
    { length: maxParallelism },
    (_, keyGroup) => targets[subtaskOf(keyGroup, targets.length, maxParallelism)]!,
  );
  return {
    selector,
    serializer,
    maxParallelism,
    targetOfGroup,
    selectorFailed: failureOf(`key selector of the ${label}`),
  };
}

function customParts<T>({ label, custom, channels }: RecordWriterOptions<T>): CustomParts {
  return {
    ...custom!,
    selectorFailed: failureOf(`key selector of the ${label}`),
    partitionerFailed: failureOf(`partitioner of the ${label}`),
    notAPartition: notAPartitionOf(label, channels.length),
  };
}
