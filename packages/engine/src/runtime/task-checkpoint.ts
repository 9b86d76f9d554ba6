/**
 * The one place where a task takes a checkpoint. The numbered steps of `take` are the synchronous part; `advance`, called
 * by the task loop between turns, is the asynchronous one.
 *
 *     take ──► waiting for the location ──► copying ──► finishing ──► acknowledged
 *       └──────────────┴──── aborted / failed (declined) ──┴──────────────┘
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
 */
import type {
  DeclineReason,
  OperatorState,
  StateStream,
  TaskAcknowledgement,
  TaskDecline,
} from '../checkpoint/index.ts';
import type { Barrier, RecordWriter } from '../exchange/index.ts';
import type { Clock } from '../platform/index.ts';
import type { KeyedStateHandle, OperatorStateHandle, OperatorStateSnapshot } from '../state/index.ts';
import type { OperatorChain, OperatorSnapshot } from './operator-chain.ts';
import type { TaskKey } from './slot-messages.ts';
import type { SourceHead } from './source-head.ts';

/** Bytes that are copied between two turns. */
const SLICE_BYTES = 256 * 1024;
/**
 * Bytes of one task that may wait for the disk before processing does. Far above the bound of the stream, from which on
 * nothing is copied ahead: what comes then are pages that processing changes, which must be kept somewhere.
 */
const BACKLOG_MAX_BYTES = 64 * 1024 * 1024;

export interface TaskCheckpointOptions {
  readonly key: TaskKey;
  readonly attemptNumber: number;
  readonly clock: Clock;
  /** The stream for a checkpoint; resolves once the slot was told where it goes. Rejects if it was aborted before. */
  openStream(checkpointId: number, name: string): Promise<StateStream>;
  /** False: everything is written before the task goes on. */
  readonly async: boolean;
  acknowledge(acknowledgement: TaskAcknowledgement): void;
  decline(decline: TaskDecline): void;
  wake(): void;
}

interface Running {
  readonly barrier: Barrier;
  readonly parts: readonly OperatorSnapshot[];
  readonly alignmentMs: number;
  readonly startDelayMs: number;
  readonly syncMs: number;
  readonly asyncStartMs: number;
  stream: StateStream | undefined;
  /** Index of the part whose keyed state is copied now, and where its bytes begin. */
  part: number;
  started: boolean;
  offset: number;
  readonly keyed: { part: number; offset: number; lengthBytes: number }[];
  awaitsDisk: boolean;
  over: boolean;
}

/** True until all keyed state of the entry was copied. */
function isCopying(entry: Running): boolean {
  return entry.part < entry.parts.length;
}

export class TaskCheckpoint {
  private readonly options: TaskCheckpointOptions;
  private running: Running[] = [];

  constructor(options: TaskCheckpointOptions) {
    this.options = options;
  }

  /** The synchronous part. Throws what the operators throw: the task fails then, not only the checkpoint. */
  take(
    barrier: Barrier,
    alignmentMs: number,
    chain: OperatorChain,
    source: SourceHead | undefined,
    writers: readonly RecordWriter<unknown>[],
  ): void {
    const { clock } = this.options;
    const startMs = clock.monotonicMs();
    const startDelayMs = Math.max(0, clock.wallMs() - barrier.timestampMs - alignmentMs);
    // 1. What belongs before the barrier is emitted.
    chain.prepareSnapshot(barrier.checkpointId);
    source?.prepareSnapshot(barrier.checkpointId);
    // 2. The barrier goes on.
    for (const writer of writers) writer.broadcastBarrier(barrier);
    // 3. The state is frozen.
    const parts = chain.snapshot(barrier.checkpointId);
    // 4. The asynchronous part begins.
    const now = clock.monotonicMs();
    const running: Running = {
      barrier,
      parts,
      alignmentMs,
      startDelayMs,
      syncMs: now - startMs,
      asyncStartMs: now,
      stream: undefined,
      part: 0,
      started: false,
      offset: 0,
      keyed: [],
      awaitsDisk: false,
      over: false,
    };
    for (const part of parts) part.deferred?.catch((error: unknown) => this.failed(running, error));
    this.running.push(running);
    this.options
      .openStream(barrier.checkpointId, `${this.options.key.vertex}-${this.options.key.subtask}`)
      .then(
        (stream) => {
          if (running.over) return stream.abort();
          running.stream = stream;
          this.options.wake();
        },
        (error: unknown) => this.failed(running, error),
      );
  }

  /**
   * True while processing must wait: a snapshot whose changed pages pile up because the disk is slow, or a synchronous
   * snapshot that is being written.
   */
  isCongested(): boolean {
    if (this.running.length === 0) return false;
    if (!this.options.async) return this.running.some((entry) => !entry.over);
    // What was copied to its end takes no changed pages any more: only the disk is waited for then.
    return this.running.some(
      (entry) => isCopying(entry) && (entry.stream?.backlogBytes ?? 0) > BACKLOG_MAX_BYTES,
    );
  }

  /** Copies a slice of the oldest running snapshot. True if anything was copied. */
  advance(): boolean {
    for (const entry of this.running) {
      if (entry.stream === undefined || !isCopying(entry)) continue;
      if (entry.stream.isCongested()) {
        this.wakeWhenReady(entry, entry.stream);
        return false;
      }
      return this.copySlice(entry);
    }
    return false;
  }

  /** The coordinator has given the checkpoint up. */
  abort(checkpointId: number): void {
    for (const entry of this.running) {
      if (entry.barrier.checkpointId === checkpointId) this.release(entry);
    }
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
      if (entry.part < entry.parts.length) return true;
      this.finish(entry).catch((error: unknown) => this.failed(entry, error));
      return false;
    } catch (error) {
      this.failed(entry, error);
      return false;
    }
  }

  private async finish(entry: Running): Promise<void> {
    const stream = entry.stream!;
    const operatorParts: { uid: string; snapshots: { snapshot: OperatorStateSnapshot; offset: number }[] }[] =
      [];
    for (const part of entry.parts) {
      const deferred = await part.deferred;
      if (entry.over) return;
      const snapshots = [...part.operator, ...(deferred ?? [])].map((snapshot) => {
        const offset = stream.position;
        stream.append(snapshot.bytes);
        return { snapshot, offset };
      });
      operatorParts.push({ uid: part.uid, snapshots });
    }
    const written = await stream.finish();
    if (entry.over) return;
    const operators: OperatorState[] = entry.parts.map((part, index) => {
      const place = entry.keyed.find((keyed) => keyed.part === index);
      const keyed: KeyedStateHandle[] = [];
      if (part.keyed !== undefined && place !== undefined) {
        keyed.push({
          format: part.keyed.format,
          keyGroups: part.keyed.keyGroups,
          maxParallelism: part.keyed.maxParallelism,
          states: part.keyed.metadata(),
          stream: written.handleOf(place.offset, place.lengthBytes),
        });
      }
      const operator: OperatorStateHandle[] = operatorParts[index]!.snapshots.map(({ snapshot, offset }) => ({
        name: snapshot.name,
        mode: snapshot.mode,
        element: snapshot.element,
        offsets: snapshot.offsets,
        stream: written.handleOf(offset, snapshot.bytes.length),
      }));
      return { uid: part.uid, state: { keyed, operator } };
    });
    this.release(entry);
    const { key, attemptNumber, clock } = this.options;
    this.options.acknowledge({
      vertexIndex: key.vertex,
      subtaskIndex: key.subtask,
      attemptNumber,
      checkpointId: entry.barrier.checkpointId,
      operators,
      files: written.file === undefined ? [] : [written.file],
      metrics: {
        startDelayMs: entry.startDelayMs,
        alignmentMs: entry.alignmentMs,
        syncMs: entry.syncMs,
        asyncMs: clock.monotonicMs() - entry.asyncStartMs,
        stateSizeBytes: written.lengthBytes,
        checkpointedBytes: written.lengthBytes,
        processedBytes: 0,
        persistedBytes: 0,
      },
    });
  }

  /** Answers a checkpoint that is not taken here because its alignment was given up. */
  decline(checkpointId: number, reason: DeclineReason): void {
    this.answerNo(checkpointId, reason, `its barriers did not all arrive: ${reason}`);
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
