/**
 * One subtask of a vertex: reads its channels or its source, runs its chain, writes to its channels, takes checkpoints.
 * A task owns no thread: the task loop gives it turns, and a turn never blocks.
 *
 *     opening ──► running ──all inputs ended──► finishing ──► finished ──► closed
 *        └───────────┴──────────── failed ──────────┴────────────┴──────────►┘
 *
 * Barriers go on flowing through finished tasks, so that checkpoints complete while a part of the job has ended.
 *
 * Invariants:
 * I1 A turn begins only if every output has room and what overflowed before has drained (never block inside a chain).
 * I2 Between the barrier's last input and its broadcast nothing is processed.
 * I3 A source emits only after `start`; a trigger that came earlier is served earlier.
 * I4 Splits that arrive after a trigger are not in its snapshot: the enumerator's snapshot of that checkpoint, taken before
 *    they were assigned, has them. The trigger may wait long here, while outputs are full.
 * I5 While an operator is busy nothing enters the chain that is a record or may make records (timers): it holds at most what
 *    one turn made before. Barriers, and watermarks that fire nothing, pass; scheduled calls go on, or nothing would end it.
 */
import { assert, MAX_WATERMARK, MIN_WATERMARK } from '../base/index.ts';
import { type AlignerAction, BarrierAligner, type CheckpointingMode } from '../checkpoint/index.ts';
import {
  type Barrier,
  ElementKind,
  type InputGate,
  type RecordBatch,
  type RecordWriter,
} from '../exchange/index.ts';
import type { JobVertex } from './job-vertex.ts';
import type { OperatorChain, RestoredOperatorState } from './operator-chain.ts';
import type { TaskKey, TaskMetrics } from './slot-messages.ts';
import type { SourceSplit } from './source.ts';
import type { SourceHead } from './source-head.ts';
import type { TaskCheckpoint } from './task-checkpoint.ts';
import { type ValveChange, WatermarkValve } from './watermark-valve.ts';

/** Records that a source emits in one turn, at most. */
const SOURCE_TURN_RECORDS = 1000;
/** Batches that are processed in one turn before others get theirs, at most. */
const BATCHES_PER_TURN = 8;
/**
 * A turn that took longer makes those after it shorter: barriers, watermarks, timers and other tasks wait for its end, and
 * a user's function may take a millisecond for each record.
 */
const LONG_TURN_MS = 10;
const TURN_GOAL_MS = 5;

/** What comes from the coordinator for a source, in order. */
type SourceMessage =
  | { readonly type: 'trigger'; readonly barrier: Barrier }
  | { readonly type: 'splits'; readonly splits: readonly SourceSplit[] }
  | { readonly type: 'no-more-splits' }
  | { readonly type: 'event'; readonly event: unknown }
  | { readonly type: 'drain' };

type TaskState = 'opening' | 'running' | 'finishing' | 'finished' | 'failed' | 'closed';

/** What the task tells its slot. */
export interface TaskEvents {
  endOfData(task: TaskKey): void;
  failed(task: TaskKey, error: unknown): void;
  wake(): void;
}

export interface TaskParts {
  readonly key: TaskKey;
  readonly vertex: JobVertex;
  readonly chain: OperatorChain;
  readonly source: SourceHead | undefined;
  readonly gate: InputGate | undefined;
  /** The logical input (0 or 1) of each channel of the gate. */
  readonly channelInputs: readonly (0 | 1)[];
  readonly writers: readonly RecordWriter<unknown>[];
  readonly checkpoint: TaskCheckpoint;
  readonly batch: RecordBatch;
  readonly mode: CheckpointingMode;
  readonly autoWatermarkIntervalMs: number;
  readonly events: TaskEvents;
}

export class Task {
  readonly key: TaskKey;
  readonly vertex: JobVertex;
  readonly chain: OperatorChain;
  readonly source: SourceHead | undefined;
  readonly checkpoint: TaskCheckpoint;
  private readonly parts: TaskParts;
  private readonly gate: InputGate | undefined;
  private readonly writers: readonly RecordWriter<unknown>[];
  private readonly valve: WatermarkValve;
  private readonly aligner: BarrierAligner | undefined;
  private state: TaskState = 'opening';
  private started = false;
  private readonly sourceMessages: SourceMessage[] = [];
  /** The checkpoint after which the job stops: nothing new begins unless it is given up. */
  private suspendedBy: number | undefined;
  private openChannels: [number, number] = [0, 0];
  private alignmentStartMs = 0;
  private waiting: Promise<void> | undefined;
  /** The last turn was refused because an output was full: there is work as soon as it is not. */
  private starved = false;
  /** A watermark whose timers have not all fired yet. */
  private pendingWatermark: { readonly watermarkMs: number; readonly thenIdle: boolean } | undefined;
  /** The last one that went into the chain. */
  private watermarkMs = MIN_WATERMARK;
  /** No more data comes; the chain finishes when the last watermark is through. */
  private ended = false;
  private lastWatermarkCheckMs = Number.NEGATIVE_INFINITY;
  private recordsIn = 0;
  private busyMs = 0;
  /** Of the greatest turn, what the next may do. Begins small: nobody knows yet how fast the functions are. */
  private turnShare = 1 / 16;
  private recordsAtLastTurn = 0;
  private backPressuredMs = 0;

  constructor(parts: TaskParts) {
    this.parts = parts;
    this.key = parts.key;
    this.vertex = parts.vertex;
    this.chain = parts.chain;
    this.source = parts.source;
    this.gate = parts.gate;
    this.writers = parts.writers;
    this.checkpoint = parts.checkpoint;
    const channels = parts.channelInputs.length;
    this.valve = new WatermarkValve(channels);
    this.aligner = channels === 0 ? undefined : new BarrierAligner({ channels, mode: parts.mode });
    for (const input of parts.channelInputs) this.openChannels[input]++;
  }

  get isFinished(): boolean {
    return this.state === 'finished' || this.state === 'closed';
  }

  get isSource(): boolean {
    return this.source !== undefined;
  }

  /** `restored`: state by uid of the operators. */
  async open(restored: ReadonlyMap<string, RestoredOperatorState>): Promise<void> {
    await this.chain.open(restored);
    await this.source?.open();
    this.state = 'running';
  }

  /** Sources may emit from now on. */
  start(): void {
    this.started = true;
  }

  /** A checkpoint was triggered: a source injects the barrier in its next turn. */
  trigger(barrier: Barrier): void {
    if (this.isSource) this.sourceMessages.push({ type: 'trigger', barrier });
  }

  /** A source reads on only while its watermark is not above `maxAllowedMs`. */
  alignWatermark(maxAllowedMs: number): void {
    this.source?.alignWatermark(maxAllowedMs);
  }

  /** A source ends here, as if it had no more records. Its reader keeps its position. */
  drain(): void {
    if (this.isSource) this.sourceMessages.push({ type: 'drain' });
  }

  /** One turn. True if anything was done. `nowMs` is wall time, constant for the turn; `monotonicMs` is for statistics. */
  turn(nowMs: number, monotonicMs: number): boolean {
    if (!this.hasTurns) return false;
    try {
      if (!this.hasRoom()) return false;
      const worked = this.isActive && this.chain.runScheduled(nowMs);
      return this.elementTurn(nowMs, monotonicMs) || worked;
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  private elementTurn(nowMs: number, monotonicMs: number): boolean {
    if (this.pendingWatermark !== undefined) return this.continueWatermark();
    if (this.isBusy()) return this.busyTurn(monotonicMs);
    if (this.isRunning && this.chain.nextProcessingTime() <= nowMs) this.chain.advanceProcessingTime(nowMs);
    return this.source === undefined ? this.inputTurn(monotonicMs) : this.sourceTurn(nowMs);
  }

  /** Sends partial segments on: before the thread sleeps, and after the buffer time-out. */
  flushOutputs(): void {
    if (this.state === 'closed' || this.state === 'opening' || this.state === 'failed') return;
    for (const writer of this.writers) writer.flush();
  }

  /** True if a turn would find something to do: asked after the doorbell was armed. */
  hasWork(): boolean {
    // Whoever ends such a wait wakes the loop.
    if (!this.hasTurns || this.checkpoint.isCongested()) return false;
    for (const writer of this.writers)
      if (!writer.isAvailable() && !(writer.drain() && writer.isAvailable())) return false;
    if (this.starved) return true;
    if (this.pendingWatermark !== undefined) return this.waiting === undefined;
    if (this.sourceMessages.length > 0) return true;
    if (this.waiting !== undefined) return (this.gate?.nextControl() ?? -1) >= 0;
    return this.gate?.hasElement() ?? false;
  }

  /** When the task wants a turn although nothing arrived, in wall time. */
  nextTimeMs(): number {
    if (!this.isActive || this.starved || this.checkpoint.isCongested()) return Number.POSITIVE_INFINITY;
    const scheduled = this.chain.nextScheduled();
    if (this.waiting !== undefined || !this.isRunning) return scheduled;
    const watermark =
      this.source === undefined || !this.started
        ? Number.POSITIVE_INFINITY
        : this.lastWatermarkCheckMs + this.parts.autoWatermarkIntervalMs;
    return Math.min(scheduled, this.chain.nextProcessingTime(), watermark);
  }

  /** The coordinator has given the checkpoint up. */
  abortCheckpoint(checkpointId: number): void {
    if (this.state === 'failed' || this.state === 'closed') return;
    try {
      const triggered = this.sourceMessages.findIndex(
        (message) => message.type === 'trigger' && message.barrier.checkpointId === checkpointId,
      );
      if (triggered >= 0) this.sourceMessages.splice(triggered, 1);
      if (this.suspendedBy === checkpointId) this.suspendedBy = undefined;
      this.align(this.aligner?.abortedByCoordinator(checkpointId) ?? [], 0);
      this.checkpoint.abort(checkpointId);
      this.chain.notifyCheckpointAborted(checkpointId);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Splits for the reader, from the enumerator (I4). */
  addSplits(splits: readonly SourceSplit[]): void {
    if (this.isSource) this.sourceMessages.push({ type: 'splits', splits });
  }

  noMoreSplits(): void {
    if (this.isSource) this.sourceMessages.push({ type: 'no-more-splits' });
  }

  /** What the enumerator tells the reader besides splits. */
  enumeratorEvent(event: unknown): void {
    if (this.isSource) this.sourceMessages.push({ type: 'event', event });
  }

  async notifyCheckpointComplete(checkpointId: number): Promise<void> {
    await this.chain.notifyCheckpointComplete(checkpointId);
    await this.source?.notifyCheckpointComplete(checkpointId);
  }

  /** Commits everything without a checkpoint: the end of a job that takes none. */
  async commitWithoutCheckpoint(): Promise<void> {
    const last = Number.MAX_SAFE_INTEGER;
    this.chain.prepareSnapshot(last);
    const parts = this.chain.snapshot(last);
    await Promise.all(parts.map((part) => part.deferred));
    for (const part of parts) part.keyed?.release();
    await this.chain.notifyCheckpointComplete(last);
  }

  async close(): Promise<void> {
    if (this.state === 'closed') return;
    this.state = 'closed';
    this.checkpoint.abortAll();
    let first: unknown;
    await this.source?.close().catch((error: unknown) => (first = error));
    await this.chain.close().catch((error: unknown) => (first ??= error));
    if (first !== undefined) throw first;
  }

  metrics(): TaskMetrics {
    const state = this.state === 'opening' ? { entries: 0, sizeBytes: 0 } : this.chain.stateStatistics();
    let numRecordsOut = 0;
    let numBytesOut = 0;
    for (const writer of this.writers) {
      numRecordsOut += writer.recordsOut;
      numBytesOut += writer.bytesOut;
    }
    return {
      task: this.key,
      numRecordsIn: this.source?.recordsIn ?? this.recordsIn,
      numRecordsOut,
      numBytesOut,
      currentInputWatermark: this.source?.watermark ?? this.valve.watermark,
      busyTimeMs: this.busyMs,
      backPressuredTimeMs: this.backPressuredMs,
      stateEntries: state.entries,
      stateSizeBytes: state.sizeBytes,
      sourceProgress: this.state === 'opening' ? undefined : this.source?.sourceProgress(),
      operators: this.chain.metrics.read(),
    };
  }

  /** Called by the loop, which measures: how long turns took, and how long the task could not run for lack of room. */
  addTime(busyMs: number, backPressuredMs: number): void {
    this.busyMs += busyMs;
    this.backPressuredMs += backPressuredMs;
    const records = this.source?.recordsIn ?? this.recordsIn;
    const hasRecords = records !== this.recordsAtLastTurn;
    this.recordsAtLastTurn = records;
    // Turns without records, a message of the coordinator for example, say nothing of the functions.
    if (!hasRecords) return;
    if (busyMs > LONG_TURN_MS)
      this.turnShare = Math.max(1 / SOURCE_TURN_RECORDS, (this.turnShare * TURN_GOAL_MS) / busyMs);
    else if (busyMs < TURN_GOAL_MS) this.turnShare = Math.min(1, this.turnShare * 2);
  }

  get isBackPressured(): boolean {
    return this.state === 'running' && this.writers.some((writer) => !writer.isAvailable());
  }

  /** False also after the checkpoint with which the job stops: what came later would be in no snapshot. */
  private get isActive(): boolean {
    return (this.state === 'running' || this.isDraining) && this.suspendedBy === undefined;
  }

  /** Records and timers may come. */
  private get isRunning(): boolean {
    return this.state === 'running' && this.isActive;
  }

  private get hasTurns(): boolean {
    return this.state === 'running' || this.state === 'finished' || this.isDraining;
  }

  /** All data was read, and an operator has not emitted all its results. */
  private get isDraining(): boolean {
    return this.state === 'finishing' && this.chain.isDraining;
  }

  private hasRoom(): boolean {
    this.starved = true;
    for (const writer of this.writers) {
      if (!writer.isAvailable() && !(writer.drain() && writer.isAvailable())) return false;
    }
    this.starved = false;
    return !this.checkpoint.isCongested();
  }

  /** True while some operator takes no records (I5). Whatever ends that wakes the loop. */
  private isBusy(): boolean {
    if (this.waiting !== undefined) return true;
    const busy = this.chain.busy();
    if (busy === undefined) return false;
    this.waiting = busy.then(
      () => {
        this.waiting = undefined;
        this.parts.events.wake();
      },
      (error: unknown) => this.fail(error),
    );
    return true;
  }

  /** No records, but what only marks a place in the stream: barriers wait for nobody. */
  private busyTurn(monotonicMs: number): boolean {
    if (this.gate === undefined) return this.takeSourceMessage();
    const channel = this.gate.nextControl();
    if (channel < 0) return false;
    this.control(this.gate.kind(channel), channel, monotonicMs);
    this.chain.flush();
    return true;
  }

  private takeSourceMessage(): boolean {
    const source = this.source!;
    const message = this.sourceMessages.shift();
    if (message === undefined) return false;
    if (message.type === 'trigger') this.takeCheckpoint(message.barrier, 0);
    else if (message.type === 'splits') source.addSplits(message.splits);
    else if (message.type === 'no-more-splits') source.noMoreSplits();
    else if (message.type === 'event') source.handleEvent(message.event);
    else if (this.state === 'running') this.endOfData();
    return true;
  }

  private sourceTurn(nowMs: number): boolean {
    const source = this.source!;
    if (this.takeSourceMessage()) return true;
    if (!this.started || !this.isRunning) return false;
    const status = source.poll(Math.max(1, Math.floor(SOURCE_TURN_RECORDS * this.turnShare)));
    this.chain.flush();
    if (nowMs - this.lastWatermarkCheckMs >= this.parts.autoWatermarkIntervalMs) {
      this.lastWatermarkCheckMs = nowMs;
      source.emitWatermark(nowMs);
    }
    if (status === 'end') this.endOfData();
    return status !== 'nothing';
  }

  private inputTurn(monotonicMs: number): boolean {
    const gate = this.gate!;
    const batch = this.parts.batch;
    const batches = Math.max(1, Math.floor(BATCHES_PER_TURN * this.turnShare));
    for (let i = 0; i < batches; i++) {
      const channel = gate.next();
      if (channel < 0) {
        if (i === 0) return false;
        break;
      }
      const kind = gate.kind(channel);
      if (kind > ElementKind.spanEnd) {
        this.control(kind, channel, monotonicMs);
        break;
      }
      gate.readBatch(channel, batch);
      this.recordsIn += batch.count;
      if (batch.count > 0) this.chain.processBatch(this.parts.channelInputs[channel]!, batch);
      batch.clear();
      if (!this.hasRoom() || this.isBusy()) break;
    }
    this.chain.flush();
    return true;
  }

  private control(kind: ElementKind, channel: number, monotonicMs: number): void {
    const gate = this.gate!;
    switch (kind) {
      case ElementKind.watermark: {
        const watermarkMs = gate.watermark(channel);
        gate.consume(channel);
        if (watermarkMs === MAX_WATERMARK) return this.follow(this.valve.onEnd(channel));
        const watermark = this.valve.onWatermark(channel, watermarkMs);
        if (watermark !== undefined) this.advanceWatermark(watermark);
        return;
      }
      case ElementKind.status: {
        const change = this.valve.onStatus(channel, gate.isIdleStatus(channel));
        gate.consume(channel);
        return this.follow(change);
      }
      case ElementKind.barrier: {
        const barrier = gate.barrier(channel);
        gate.consume(channel);
        this.align(this.aligner!.barrier(channel, barrier), monotonicMs);
        return;
      }
      case ElementKind.cancelBarrier: {
        const checkpointId = gate.cancelledCheckpoint(channel);
        gate.consume(channel);
        this.align(this.aligner!.cancelBarrier(checkpointId), monotonicMs);
        return;
      }
      case ElementKind.endOfData: {
        gate.consume(channel);
        this.endChannel(channel);
        return;
      }
      default:
        assert(false, `channel ${channel} of '${this.vertex.name}' has an element of unknown kind ${kind}`);
    }
  }

  private endChannel(channel: number): void {
    const input = this.parts.channelInputs[channel]!;
    // An input that has ended must not hold back event time of the other one.
    const change = this.valve.onEnd(channel);
    this.openChannels[input]--;
    if (this.openChannels[input] === 0) this.chain.endInput(input);
    if (this.openChannels[0] + this.openChannels[1] === 0) this.endOfData();
    else this.follow(change);
  }

  private follow(change: ValveChange): void {
    if (change.idle === false) this.chain.processWatermarkStatus(false);
    if (change.watermark !== undefined) this.advanceWatermark(change.watermark, change.idle === true);
    else if (change.idle === true) this.chain.processWatermarkStatus(true);
  }

  /** Event time goes on; as long as timers are left to fire, turns do nothing else. */
  private advanceWatermark(watermarkMs: number, thenIdle = false): void {
    this.watermarkMs = watermarkMs;
    this.pendingWatermark = { watermarkMs, thenIdle };
    this.continueWatermark();
  }

  private continueWatermark(): boolean {
    const { watermarkMs, thenIdle } = this.pendingWatermark!;
    if (this.isBusy() && this.chain.firesTimers(watermarkMs)) return false; // I5
    if (!this.chain.processWatermark(watermarkMs)) return true;
    this.pendingWatermark = undefined;
    if (thenIdle) this.chain.processWatermarkStatus(true);
    if (this.ended) this.beginFinish();
    return true;
  }

  /** All data was read: event time is over. */
  private endOfData(): void {
    this.source?.end();
    if (this.watermarkMs === MAX_WATERMARK) return this.beginFinish();
    this.ended = true;
    this.advanceWatermark(MAX_WATERMARK);
  }

  private beginFinish(): void {
    this.ended = false;
    this.state = 'finishing';
    this.chain.finish().then(
      () => {
        if (this.state !== 'finishing') return;
        for (const writer of this.writers) writer.broadcastEnd();
        this.state = 'finished';
        this.parts.events.endOfData(this.key);
        this.parts.events.wake();
      },
      (error: unknown) => this.fail(error),
    );
  }

  private align(actions: readonly AlignerAction[], monotonicMs: number): void {
    for (const action of actions) {
      switch (action.type) {
        case 'block':
          this.gate!.block(action.channel);
          break;
        case 'unblock-all':
          this.gate!.unblockAll();
          break;
        case 'started':
          this.alignmentStartMs = monotonicMs;
          break;
        case 'aligned':
          this.takeCheckpoint(action.barrier, monotonicMs - this.alignmentStartMs);
          break;
        case 'aborted':
          this.checkpoint.decline(action.checkpointId, action.reason);
          // The decline makes the coordinator give the checkpoint up, and it tells the operators of all tasks.
          for (const writer of this.writers) writer.broadcastCancelBarrier(action.checkpointId);
          break;
      }
    }
  }

  private takeCheckpoint(barrier: Barrier, alignmentMs: number): void {
    this.checkpoint.take(barrier, alignmentMs, this.chain, this.source, this.writers);
    if (barrier.kind === 'savepoint-suspend') this.suspendedBy = barrier.checkpointId;
  }

  private fail(error: unknown): void {
    if (this.state === 'closed' || this.state === 'failed') return;
    this.state = 'failed';
    this.checkpoint.abortAll();
    this.parts.events.failed(this.key, error);
  }
}
