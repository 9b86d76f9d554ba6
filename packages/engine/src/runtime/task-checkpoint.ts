/**
 * The one place where a task takes a checkpoint. The numbered steps of `take` are the synchronous part; `advance`, called
 * by the task loop between turns, is the asynchronous one.
 *
 *     take ──► waiting for the location ──► copying ──► [waiting for data in flight] ──► finishing ──► acknowledged
 *       └──────────────┴───────── aborted / failed (declined) ──┴────────────────────────────┘
 *
 * The order of the steps matters: what operators emit in `prepareSnapshot` belongs before the barrier; the barrier goes out
 * before the state is frozen, so that downstream tasks align meanwhile; nothing is processed in between, so the state is
 * still that of the barrier's position.
 * (As SubtaskCheckpointCoordinatorImpl.checkpointState in Flink.)
 *
 * Invariants:
 * I1 Every barrier that was taken is answered once: acknowledged, declined, or given up because the coordinator aborted it.
 * I2 At most SLICE_BYTES are copied per call, and nothing is copied while the stream has too much unwritten: the pages that
 *    the hot path changes meanwhile wait in memory, at most the size of the state once.
 * I3 Data in flight waits in memory until the state was copied, at most IN_FLIGHT_MAX_BYTES: with more the checkpoint is
 *    declined. What was restored does not count: a snapshot held it, it is in memory until it is processed, and of how many
 *    old subtasks one gets it depends on the parallelism. Were it counted no checkpoint could overtake it.
 * I4 A checkpoint is acknowledged when the last of its data in flight is known: all inputs were recorded, and its barrier,
 *    if it may still overtake what waits for room in an output, has got its place in the rings.
 */
import { formatMemorySize, MillraceError } from '../base/index.ts';
import type { DeclineReason, StateStream, TaskAcknowledgement, TaskDecline } from '../checkpoint/index.ts';
import type { Barrier, ChannelCapture } from '../exchange/index.ts';
import type { Clock } from '../platform/index.ts';
import type { OperatorChain, OperatorSnapshot } from './operator-chain.ts';
import type { TaskKey } from './slot-messages.ts';
import {
  appendInFlight,
  appendOperatorStates,
  channelStatesOf,
  type InFlightData,
  type Place,
  stateOf,
} from './snapshot-stream.ts';
import type { SourceHead } from './source-head.ts';
import type { TaskOutput } from './task-channels.ts';

/** Bytes that are copied between two turns. */
const SLICE_BYTES = 256 * 1024;
/**
 * Bytes of one task that may wait for the disk before processing does. Far above the bound of the stream, from which on
 * nothing is copied ahead: what comes then are pages that processing changes, which must be kept somewhere.
 */
const BACKLOG_MAX_BYTES = 64 * 1024 * 1024;
/** Data in flight of one task in one checkpoint. Rings hold less; what is recorded has no other limit. */
const IN_FLIGHT_MAX_BYTES = 256 * 1024 * 1024;

export interface TaskCheckpointOptions {
  readonly key: TaskKey;
  readonly attemptNumber: number;
  readonly clock: Clock;
  /** When this process heard of the checkpoint, by the monotonic clock; undefined: it has not yet. */
  triggeredMs(checkpointId: number): number | undefined;
  /** The stream for a checkpoint; resolves once the slot was told where it goes. Rejects if it was aborted before. */
  openStream(checkpointId: number, name: string): Promise<StateStream>;
  /** False: everything is written before the task goes on. */
  readonly async: boolean;
  /** Default: IN_FLIGHT_MAX_BYTES. */
  readonly inFlightMaxBytes?: number;
  acknowledge(acknowledgement: TaskAcknowledgement): void;
  decline(decline: TaskDecline): void;
  wake(): void;
}

/** How the barriers of a checkpoint came together. */
export interface Alignment {
  /** From the first barrier to the last. */
  readonly alignmentMs: number;
  /** Bytes that were read in this time. */
  readonly processedBytes: number;
  /** The channel whose barrier came last, for people; undefined for a source. */
  readonly lastChannel: string | undefined;
}

/** Where a checkpoint cuts the stream. */
export interface CheckpointCut {
  readonly barrier: Barrier;
  /** When its first barrier came, by the monotonic clock. */
  readonly startedMs: number;
  /** undefined: barriers are missing, and their channels are recorded; `captured` will tell. */
  readonly alignment: Alignment | undefined;
  /** How the barrier leaves: `ahead` of what is in the outputs, or in order; `late` if it may overtake there later. */
  readonly leaves: 'ahead' | 'in-order' | 'late';
  /** Begins to copy what is in flight in the inputs; undefined: nothing is. */
  readonly startCapture: (() => void) | undefined;
}

interface Running {
  readonly barrier: Barrier;
  readonly parts: readonly OperatorSnapshot[];
  /** Where the barrier may wait for room, and then overtake. */
  readonly lateOutputs: readonly TaskOutput[];
  alignment: Alignment | undefined;
  /** Of the inputs, known with the alignment, then of the outputs. */
  received: readonly InFlightData[];
  readonly unsent: InFlightData[];
  readonly startDelayMs: number;
  readonly syncMs: number;
  readonly asyncStartMs: number;
  /** Its barrier overtook, here or in an output. */
  readonly isUnaligned: boolean;
  /** That the source had emitted before the barrier. */
  readonly sourceRecords: number | undefined;
  stream: StateStream | undefined;
  /** Index of the part whose keyed state is copied now, and where its bytes begin. */
  part: number;
  started: boolean;
  offset: number;
  readonly keyed: (Place & { readonly part: number })[];
  awaitsDisk: boolean;
  finishing: boolean;
  over: boolean;
}

/** True until all keyed state of the entry was copied. */
function isCopying(entry: Running): boolean {
  return entry.part < entry.parts.length;
}

/** I4 */
function knowsInFlight({ alignment, lateOutputs, barrier }: Running): boolean {
  return (
    alignment !== undefined && !lateOutputs.some(({ writer }) => writer.barrierWaits(barrier.checkpointId))
  );
}

/** True if everything is there that has to be written. */
function isComplete(entry: Running): boolean {
  return entry.stream !== undefined && !isCopying(entry) && knowsInFlight(entry);
}

export class TaskCheckpoint {
  /** Data in flight that came in this run, in one checkpoint. */
  readonly inFlightMaxBytes: number;
  private readonly options: TaskCheckpointOptions;
  private running: Running[] = [];

  constructor(options: TaskCheckpointOptions) {
    this.options = options;
    this.inFlightMaxBytes = options.inFlightMaxBytes ?? IN_FLIGHT_MAX_BYTES;
  }

  /** The synchronous part. Throws what the operators throw: the task fails then, not only the checkpoint. */
  take(
    cut: CheckpointCut,
    chain: OperatorChain,
    source: SourceHead | undefined,
    outputs: readonly TaskOutput[],
  ): void {
    const { clock } = this.options;
    const { barrier, startedMs, leaves } = cut;
    const { checkpointId } = barrier;
    const startMs = clock.monotonicMs();
    // 1. What belongs before the barrier is emitted.
    chain.prepareSnapshot(checkpointId);
    source?.prepareSnapshot(checkpointId);
    // 2. The barrier goes on. What it overtakes in the outputs is copied.
    const unsent: InFlightData[] = [];
    for (const output of outputs) {
      if (leaves === 'ahead' && output.writer.overtakes)
        unsent.push(...this.unsent(output, output.writer.announceBarrier(barrier)));
      else output.writer.broadcastBarrier(barrier);
    }
    // 3. What it has overtaken in the inputs is copied.
    cut.startCapture?.();
    // 4. The state is frozen.
    const parts = chain.snapshot(checkpointId);
    // 5. The asynchronous part begins.
    const now = clock.monotonicMs();
    const running: Running = {
      barrier,
      parts,
      lateOutputs: leaves === 'late' ? outputs.filter(({ writer }) => writer.overtakes) : [],
      alignment: cut.alignment,
      received: [],
      unsent,
      startDelayMs: Math.max(0, startedMs - (this.options.triggeredMs(checkpointId) ?? startedMs)),
      syncMs: now - startMs,
      asyncStartMs: now,
      isUnaligned: leaves === 'ahead' || cut.startCapture !== undefined,
      sourceRecords: source?.recordsIn,
      stream: undefined,
      part: 0,
      started: false,
      offset: 0,
      keyed: [],
      awaitsDisk: false,
      finishing: false,
      over: false,
    };
    for (const part of parts) part.deferred?.catch((error: unknown) => this.failed(running, error));
    this.running.push(running);
    this.options.openStream(checkpointId, `${this.options.key.vertex}-${this.options.key.subtask}`).then(
      (stream) => {
        if (running.over) return stream.abort();
        running.stream = stream;
        this.options.wake();
      },
      (error: unknown) => this.failed(running, error),
    );
  }

  /** All barriers are there, and this is what was in flight in the inputs. Nothing if the checkpoint was given up. */
  captured(checkpointId: number, alignment: Alignment, received: readonly InFlightData[]): void {
    const entry = this.find(checkpointId);
    if (entry === undefined) return;
    entry.alignment = alignment;
    entry.received = received;
    this.checkInFlight(entry);
  }

  /** The barrier of a checkpoint that was sent in order, `late`, overtakes what is in the outputs after all. */
  overtakeInOutputs(barrier: Barrier, outputs: readonly TaskOutput[]): void {
    const unsent = outputs
      .filter(({ writer }) => writer.overtakes)
      .flatMap((output) => this.unsent(output, output.writer.overtakeWith(barrier)));
    // By I4 there is nothing to be saved any more if it was acknowledged.
    const entry = this.find(barrier.checkpointId);
    if (entry === undefined) return;
    entry.unsent.push(...unsent);
    this.checkInFlight(entry);
  }

  /**
   * True while processing must wait: a snapshot whose changed pages pile up because the disk is slow, or a synchronous
   * snapshot that is being written.
   */
  isCongested(): boolean {
    if (this.running.length === 0) return false;
    // What is recorded comes only if processing goes on.
    if (!this.options.async)
      return this.running.some((entry) => isCopying(entry) || entry.finishing || isComplete(entry));
    // What was copied to its end takes no changed pages any more: only the disk is waited for then.
    return this.running.some(
      (entry) => isCopying(entry) && (entry.stream?.backlogBytes ?? 0) > BACKLOG_MAX_BYTES,
    );
  }

  /** Copies a slice of the oldest running snapshot. True if anything was copied. */
  advance(): boolean {
    for (const entry of this.running) {
      if (entry.stream === undefined) continue;
      if (isCopying(entry)) {
        if (!entry.stream.isCongested()) return this.copySlice(entry);
        this.wakeWhenReady(entry, entry.stream);
        return false;
      }
      this.finishIfComplete(entry);
    }
    return false;
  }

  /** True if `advance` would finish a snapshot that has waited for data in flight. */
  hasWork(): boolean {
    return this.running.some((entry) => !entry.finishing && isComplete(entry));
  }

  /** The coordinator has given the checkpoint up. */
  abort(checkpointId: number): void {
    const entry = this.find(checkpointId);
    if (entry !== undefined) this.release(entry);
  }

  abortAll(): void {
    for (const entry of [...this.running]) this.release(entry);
  }

  /** Once for each wait: the loop asks in every round. */
  private wakeWhenReady(entry: Running, stream: StateStream): void {
    if (entry.awaitsDisk) return;
    entry.awaitsDisk = true;
    void stream.ready().then(() => {
      entry.awaitsDisk = false;
      this.options.wake();
    });
  }

  private copySlice(entry: Running): boolean {
    try {
      const stream = entry.stream!;
      const snapshot = entry.parts[entry.part]?.keyed;
      if (snapshot !== undefined) {
        if (!entry.started) {
          entry.started = true;
          entry.offset = stream.position;
          snapshot.start(stream);
        }
        if (!snapshot.advance(SLICE_BYTES)) return true;
        entry.keyed.push({
          part: entry.part,
          offset: entry.offset,
          lengthBytes: stream.position - entry.offset,
        });
      }
      entry.part++;
      entry.started = false;
      if (isCopying(entry)) return true;
      this.finishIfComplete(entry);
      return false;
    } catch (error) {
      this.failed(entry, error);
      return false;
    }
  }

  private finishIfComplete(entry: Running): void {
    if (entry.finishing || !isComplete(entry)) return;
    entry.finishing = true;
    this.finish(entry).catch((error: unknown) => this.failed(entry, error));
  }

  private async finish(entry: Running): Promise<void> {
    const stream = entry.stream!;
    const isOver = () => entry.over;
    const operatorStates = await appendOperatorStates(entry.parts, stream, isOver);
    const inFlight = await appendInFlight([...entry.received, ...entry.unsent], stream, isOver);
    if (entry.over) return;
    const written = await stream.finish();
    if (entry.over) return;
    const operators = entry.parts.map((part, index) => {
      const keyed = entry.keyed.find((place) => place.part === index);
      return stateOf(part, keyed, operatorStates[index]!, written);
    });
    this.release(entry);
    const { key, attemptNumber, clock } = this.options;
    const { alignmentMs, processedBytes, lastChannel } = entry.alignment!;
    this.options.acknowledge({
      vertexIndex: key.vertex,
      subtaskIndex: key.subtask,
      attemptNumber,
      checkpointId: entry.barrier.checkpointId,
      operators,
      files: written.file === undefined ? [] : [written.file],
      ...(inFlight.length > 0 && { inFlight: channelStatesOf(inFlight, written) }),
      metrics: {
        startDelayMs: entry.startDelayMs,
        alignmentMs,
        syncMs: entry.syncMs,
        asyncMs: clock.monotonicMs() - entry.asyncStartMs,
        stateSizeBytes: written.lengthBytes,
        checkpointedBytes: written.lengthBytes,
        processedBytes,
        persistedBytes: inFlight.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0),
        ...(lastChannel !== undefined && { lastChannel }),
        unaligned: entry.isUnaligned || inFlight.length > 0,
        ...(entry.sourceRecords !== undefined && { sourceRecords: entry.sourceRecords }),
      },
    });
  }

  /** Answers a checkpoint that was not taken here. */
  decline(checkpointId: number, reason: DeclineReason, message: string): void {
    this.answerNo(checkpointId, reason, message);
  }

  /** Ends a checkpoint that was taken, and declines it unless it was answered before. */
  giveUp(checkpointId: number, reason: DeclineReason, message: string): void {
    const entry = this.find(checkpointId);
    if (entry === undefined) return;
    this.release(entry);
    this.answerNo(checkpointId, reason, message);
  }

  private find(checkpointId: number): Running | undefined {
    return this.running.find(({ barrier }) => barrier.checkpointId === checkpointId);
  }

  private unsent({ edge, receivers }: TaskOutput, captures: readonly ChannelCapture[]): InFlightData[] {
    const sender = this.options.key.subtask;
    return captures.map(({ channel, elements }) => ({
      edge,
      sender,
      receiver: receivers[channel]!,
      part: 'unsent',
      watermarkMs: undefined,
      elements,
    }));
  }

  /** I3 */
  private checkInFlight(entry: Running): void {
    const { inFlightMaxBytes } = this;
    const sizeBytes = [...entry.received, ...entry.unsent]
      .filter(({ part }) => part !== 'restored')
      .flatMap(({ elements }) => elements)
      .reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (sizeBytes > inFlightMaxBytes) this.failed(entry, tooMuchInFlight(sizeBytes, inFlightMaxBytes));
  }

  private failed(entry: Running, error: unknown): void {
    if (entry.over) return;
    this.release(entry);
    this.answerNo(
      entry.barrier.checkpointId,
      'snapshot-failed',
      error instanceof Error ? error.message : String(error),
    );
  }

  private answerNo(checkpointId: number, reason: DeclineReason, message: string): void {
    const { key, attemptNumber } = this.options;
    this.options.decline({
      vertexIndex: key.vertex,
      subtaskIndex: key.subtask,
      attemptNumber,
      checkpointId,
      reason,
      message,
    });
  }

  /** Ends an entry, complete or not. A stream that was not finished removes its file. */
  private release(entry: Running): void {
    if (entry.over) return;
    entry.over = true;
    this.running = this.running.filter((other) => other !== entry);
    for (const part of entry.parts) part.keyed?.release();
    void entry.stream?.abort();
    this.options.wake();
  }
}

/** STATE_TOO_LARGE, for the reader of the checkpoint's report. */
export function tooMuchInFlight(sizeBytes: number, maxBytes: number): MillraceError {
  return new MillraceError(
    'STATE_TOO_LARGE',
    `The barriers of this checkpoint overtook ${formatMemorySize(sizeBytes)} of data in flight in one subtask, more than ` +
      `the ${formatMemorySize(maxBytes)} that are kept in memory for one checkpoint. A barrier is missing on some ` +
      'channel although others have overtaken what was before them: look for an operator before it that is slow and whose ' +
      'inputs cannot be overtaken (forward, rescale or broadcast).',
    { details: { sizeBytes, maxBytes } },
  );
}
