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
 * I1 A turn begins only if every output has room and what overflowed before has drained (never block inside a chain). Only
 *    barriers that overtake do not wait for it: what is emitted before them is little, and saved with them.
 * I2 Between the barrier's last input and its broadcast nothing is processed.
 * I3 A source emits only after `start`; a trigger that came earlier is served earlier.
 * I4 Splits that arrive after a trigger are not in its snapshot: the enumerator's snapshot of that checkpoint, taken before
 *    they were assigned, has them. The trigger may wait long here, while outputs are full.
 * I5 While an operator is busy nothing enters the chain that is a record or may make records (timers): it holds at most what
 *    one turn made before. Barriers, and watermarks that fire nothing, pass; scheduled calls go on, or nothing would end it.
 * I6 What was in flight in an earlier run is processed before anything that arrives or that a source reads.
 */
import { assert } from '../base/index.ts';
import type { CheckpointingMode } from '../checkpoint/index.ts';
import { type Barrier, ElementKind, type InputGate, type RecordBatch } from '../exchange/index.ts';
import type { JobVertex } from './job-vertex.ts';
import type { OperatorChain, RestoredOperatorState } from './operator-chain.ts';
import type { TaskKey, TaskMetrics } from './slot-messages.ts';
import type { SourceSplit } from './source.ts';
import type { SourceHead } from './source-head.ts';
import { SourceInbox } from './source-inbox.ts';
import { TaskBarriers } from './task-barriers.ts';
import type { TaskInputs, TaskOutput } from './task-channels.ts';
import type { TaskCheckpoint } from './task-checkpoint.ts';
import { TaskEventTime } from './task-event-time.ts';

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
  /** undefined: it has none; a source has only restored ones. */
  readonly inputs: TaskInputs | undefined;
  readonly outputs: readonly TaskOutput[];
  readonly checkpoint: TaskCheckpoint;
  readonly batch: RecordBatch;
  readonly mode: CheckpointingMode;
  /** How long after its trigger barriers of a checkpoint wait their turn; undefined: they never overtake. */
  readonly alignedTimeoutMs: number | undefined;
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
  private readonly outputs: readonly TaskOutput[];
  /** By output: what it had sent when `sendTogether` last looked. */
  private readonly bytesSent: number[];
  private readonly eventTime: TaskEventTime;
  private readonly barriers: TaskBarriers;
  private state: TaskState = 'opening';
  private started = false;
  private readonly inbox = new SourceInbox();
  /** The source took one since it last read or made a scheduled call: triggers that come one upon the other keep it from neither. */
  private tookMessage = false;
  /** The checkpoint after which the job stops: nothing new begins unless it is given up. */
  private suspendedBy: number | undefined;
  private openChannels: [number, number] = [0, 0];
  private waiting: Promise<void> | undefined;
  /** The last turn was refused because an output was full: there is work as soon as it is not. */
  private starved = false;
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
    this.gate = parts.inputs?.gate;
    this.outputs = parts.outputs;
    this.bytesSent = parts.outputs.map(() => 0);
    this.checkpoint = parts.checkpoint;
    const { chain, inputs } = parts;
    this.eventTime = new TaskEventTime({
      chain,
      inputs,
      isBusy: () => this.isBusy(),
      over: () => this.beginFinish(),
    });
    this.barriers = new TaskBarriers({
      ...parts,
      subtask: parts.key.subtask,
      watermarkOf: (channel) => this.eventTime.watermarkOf(channel),
      taken: ({ kind, checkpointId }) => {
        if (kind === 'savepoint-suspend') this.suspendedBy = checkpointId;
      },
    });
    for (const input of inputs?.channelInputs ?? []) this.openChannels[input]++;
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
    if (this.isSource) this.inbox.push({ type: 'trigger', barrier });
  }

  /** The barriers of this checkpoint overtake from now on what they have not passed. */
  budgetSpent(checkpointId: number): void {
    this.barriers.budgetSpent(checkpointId);
  }

  /** A source reads on only while its watermark is not above `maxAllowedMs`. */
  alignWatermark(maxAllowedMs: number): void {
    this.source?.alignWatermark(maxAllowedMs);
  }

  /** A source ends here, as if it had no more records. Its reader keeps its position. */
  drain(): void {
    if (this.isSource) this.inbox.push({ type: 'drain' });
  }

  /** One turn. True if anything was done. `nowMs` is wall time, `monotonicMs` the time of intervals; constant for the turn. */
  turn(nowMs: number, monotonicMs: number): boolean {
    if (!this.hasTurns) return false;
    try {
      const attended = this.attend(monotonicMs);
      const hasRoom = this.hasRoom();
      if ((!hasRoom || this.isHeldUp) && this.barriers.takeNext(monotonicMs)) return true;
      if (!hasRoom) return attended;
      const called = this.isActive && this.chain.runScheduled(monotonicMs);
      // Nor do calls that come one upon the other keep messages waiting.
      if (called && this.waiting !== undefined) this.tookMessage = false;
      const worked = this.elementTurn(nowMs, monotonicMs);
      if (worked && this.outputs.length > 1) this.sendTogether();
      return worked || called || attended;
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  private elementTurn(nowMs: number, monotonicMs: number): boolean {
    if (this.eventTime.isAdvancing) return this.eventTime.continue();
    if (this.isBusy()) return this.busyTurn(monotonicMs);
    if (this.isRunning && this.chain.nextProcessingTime() <= nowMs) this.chain.advanceProcessingTime(nowMs);
    if (this.gate?.hasRestored) return this.restoredTurn();
    return this.source === undefined ? this.inputTurn(monotonicMs) : this.sourceTurn(monotonicMs);
  }

  /**
   * When an output has sent a segment, what the others hold goes too. Otherwise a stream with few records would come a segment
   * later than one with many, and whatever brings the two together would have to keep all that comes in between.
   */
  private sendTogether(): void {
    const { outputs, bytesSent } = this;
    if (outputs.every(({ writer }, i) => writer.bytesOut === bytesSent[i])) return;
    for (const [i, { writer }] of outputs.entries()) {
      if (writer.bytesOut === bytesSent[i] && writer.isAvailable()) writer.flush();
      bytesSent[i] = writer.bytesOut;
    }
  }

  /** Messages that wait neither for room nor for restored records. */
  private urgentCount(): number {
    return this.inbox.isEmpty ? 0 : this.inbox.urgentCount((barrier) => this.barriers.overtakes(barrier));
  }

  /** What barriers that overtake need: done in every turn. */
  private attend(monotonicMs: number): boolean {
    let worked = this.barriers.attend(monotonicMs);
    if (this.tookMessage && (this.readsNext() || this.callsNext(monotonicMs))) return worked;
    for (let count = this.urgentCount(); count > 0; count--) {
      worked = this.takeSourceMessage(monotonicMs) || worked;
      this.tookMessage = true;
    }
    return worked;
  }

  /** Sends partial segments on: before the thread sleeps, and after the buffer time-out. */
  flushOutputs(): void {
    if (this.state === 'closed' || this.state === 'opening' || this.state === 'failed') return;
    for (const { writer } of this.outputs) writer.flush();
  }

  /** True if a turn would find something to do: asked after the doorbell was armed. */
  hasWork(): boolean {
    if (!this.hasTurns) return false;
    if (this.barriers.isUrgent || this.urgentCount() > 0) return true;
    const hasRoom = this.drainOutputs();
    if (this.checkpoint.hasWork()) return true;
    if ((!hasRoom || this.isHeldUp) && this.barriers.hasNext) return true;
    // Whoever ends such a wait wakes the loop.
    if (!hasRoom || this.checkpoint.isCongested()) return false;
    if (this.starved) return true;
    if (this.eventTime.isAdvancing) return this.waiting === undefined;
    if (this.gate?.hasRestored) return this.waiting === undefined;
    if (!this.inbox.isEmpty) return true;
    if (this.waiting !== undefined) return (this.gate?.nextControl() ?? -1) >= 0;
    return this.gate?.hasElement() ?? false;
  }

  /** How long the task needs no turn if nothing arrives; Infinity: for ever. Times as in `turn`. */
  idleForMs(nowMs: number, monotonicMs: number): number {
    if (!this.isActive || this.starved || this.checkpoint.isCongested()) return Number.POSITIVE_INFINITY;
    const scheduled = this.chain.nextScheduled() - monotonicMs;
    if (this.waiting !== undefined || !this.isRunning) return scheduled;
    const watermark =
      this.source === undefined || !this.started
        ? Number.POSITIVE_INFINITY
        : this.lastWatermarkCheckMs + this.parts.autoWatermarkIntervalMs - monotonicMs;
    return Math.min(scheduled, watermark, this.chain.nextProcessingTime() - nowMs);
  }

  /** The coordinator has given the checkpoint up. */
  abortCheckpoint(checkpointId: number): void {
    if (this.state === 'failed' || this.state === 'closed') return;
    try {
      this.inbox.removeTrigger(checkpointId);
      if (this.suspendedBy === checkpointId) this.suspendedBy = undefined;
      this.barriers.abort(checkpointId);
      this.chain.notifyCheckpointAborted(checkpointId);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Splits for the reader, from the enumerator (I4). */
  addSplits(splits: readonly SourceSplit[]): void {
    if (this.isSource) this.inbox.push({ type: 'splits', splits });
  }

  noMoreSplits(): void {
    if (this.isSource) this.inbox.push({ type: 'no-more-splits' });
  }

  /** What the enumerator tells the reader besides splits. */
  enumeratorEvent(event: unknown): void {
    if (this.isSource) this.inbox.push({ type: 'event', event });
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
    for (const { writer } of this.outputs) {
      numRecordsOut += writer.recordsOut;
      numBytesOut += writer.bytesOut;
    }
    return {
      task: this.key,
      numRecordsIn: this.source?.recordsIn ?? this.recordsIn,
      numRecordsOut,
      numBytesOut,
      currentInputWatermark: this.source?.watermark ?? this.eventTime.watermark,
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
    return this.state === 'running' && this.outputs.some(({ writer }) => !writer.isAvailable());
  }

  /** False also after the checkpoint with which the job stops: what came later would be in no snapshot. */
  private get isActive(): boolean {
    return (this.state === 'running' || this.isDraining) && this.suspendedBy === undefined;
  }

  /** Records and timers may come. */
  private get isRunning(): boolean {
    return this.state === 'running' && this.isActive;
  }

  /** Of a source: it may emit records. */
  private get mayRead(): boolean {
    return this.started && this.isRunning;
  }

  /** Of a source: it reads in this turn unless it takes a message. */
  private readsNext(): boolean {
    return this.mayRead && this.hasRoom() && !this.isHeldUp && !this.isBusy();
  }

  /** It makes a scheduled call in this turn unless it takes a message: one that is busy may wait for nothing else. */
  private callsNext(monotonicMs: number): boolean {
    return this.isActive && this.chain.nextScheduled() <= monotonicMs && this.hasRoom();
  }

  private get hasTurns(): boolean {
    return this.state === 'running' || this.state === 'finished' || this.isDraining;
  }

  /** All data was read, and an operator has not emitted all its results. */
  private get isDraining(): boolean {
    return this.state === 'finishing' && this.chain.isDraining;
  }

  /** Something else comes before what the channels have. */
  private get isHeldUp(): boolean {
    return this.eventTime.isAdvancing || this.gate?.hasRestored === true;
  }

  private hasRoom(): boolean {
    this.starved = !this.drainOutputs();
    return !this.starved && !this.checkpoint.isCongested();
  }

  /** True if all have room for a turn. */
  private drainOutputs(): boolean {
    let hasRoom = true;
    for (let i = 0; i < this.outputs.length; i++) {
      const { writer } = this.outputs[i]!;
      if (!writer.isAvailable() && !(writer.drain() && writer.isAvailable())) hasRoom = false;
    }
    return hasRoom;
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
    const { gate } = this;
    // Restored records go first, and they wait.
    if (gate?.hasRestored) return false;
    if (this.source !== undefined) return this.takeSourceMessage(monotonicMs);
    let worked = false;
    for (let channel = gate!.nextControl(); channel >= 0; channel = gate!.nextControl()) {
      worked = true;
      if (this.control(gate!.kind(channel), channel, monotonicMs)) break;
    }
    if (worked) this.chain.flush();
    return worked;
  }

  private takeSourceMessage(monotonicMs: number): boolean {
    const source = this.source!;
    const message = this.inbox.take();
    if (message === undefined) return false;
    if (message.type === 'trigger') this.barriers.inject(message.barrier, monotonicMs);
    else if (message.type === 'splits') source.addSplits(message.splits);
    else if (message.type === 'no-more-splits') source.noMoreSplits();
    else if (message.type === 'event') source.handleEvent(message.event);
    else if (this.state === 'running') this.endOfData();
    return true;
  }

  /** One batch, or a watermark, of what was in flight in an earlier run. */
  private restoredTurn(): boolean {
    const gate = this.gate!;
    const { batch } = this.parts;
    const channel = gate.next();
    const { operator, input } = gate.channel(channel);
    // What this moves comes first.
    if (operator === 0 && this.eventTime.beginRestored()) return true;
    const kind = gate.kind(channel);
    if (kind > ElementKind.spanEnd) {
      this.timeElement(kind, channel);
    } else {
      gate.readBatch(channel, batch);
      this.recordsIn += batch.count;
      if (batch.count > 0) this.chain.processRestored(operator, input, batch);
      batch.clear();
    }
    this.chain.flush();
    return true;
  }

  private sourceTurn(monotonicMs: number): boolean {
    const source = this.source!;
    const { mayRead } = this;
    if (!(this.tookMessage && mayRead) && this.takeSourceMessage(monotonicMs)) {
      this.tookMessage = true;
      return true;
    }
    this.tookMessage = false;
    if (!mayRead) return false;
    const status = source.poll(Math.max(1, Math.floor(SOURCE_TURN_RECORDS * this.turnShare)));
    this.chain.flush();
    if (monotonicMs - this.lastWatermarkCheckMs >= this.parts.autoWatermarkIntervalMs) {
      this.lastWatermarkCheckMs = monotonicMs;
      source.emitWatermark(monotonicMs);
    }
    if (status === 'end') this.endOfData();
    return status !== 'nothing' || !this.inbox.isEmpty;
  }

  private inputTurn(monotonicMs: number): boolean {
    const gate = this.gate!;
    const batch = this.parts.batch;
    let batches = Math.max(1, Math.floor(BATCHES_PER_TURN * this.turnShare));
    let worked = false;
    while (batches > 0) {
      const channel = gate.next();
      if (channel < 0) break;
      worked = true;
      const kind = gate.kind(channel);
      if (kind > ElementKind.spanEnd) {
        if (this.control(kind, channel, monotonicMs)) break;
        continue;
      }
      batches--;
      gate.readBatch(channel, batch);
      this.recordsIn += batch.count;
      if (batch.count > 0) this.chain.processBatch(this.parts.inputs!.channelInputs[channel]!, batch);
      batch.clear();
      if (!this.hasRoom() || this.isBusy()) break;
    }
    if (worked) this.chain.flush();
    return worked;
  }

  /**
   * False if the turn goes on as if it had not been there: a barrier of which nothing comes, mostly because its checkpoint is
   * over or it was announced. Those come without waiting for room: if each took a turn they might come faster than they go,
   * and nothing behind them would be read.
   */
  private control(kind: ElementKind, channel: number, monotonicMs: number): boolean {
    const gate = this.gate!;
    switch (kind) {
      case ElementKind.watermark:
      case ElementKind.status:
        this.timeElement(kind, channel);
        return true;
      case ElementKind.barrier: {
        const barrier = gate.barrier(channel);
        gate.consume(channel);
        return this.barriers.barrier(channel, barrier, monotonicMs);
      }
      case ElementKind.cancelBarrier: {
        const checkpointId = gate.cancelledCheckpoint(channel);
        gate.consume(channel);
        return this.barriers.cancelBarrier(channel, checkpointId, monotonicMs);
      }
      case ElementKind.endOfData: {
        gate.consume(channel);
        this.endChannel(channel);
        return true;
      }
      default:
        assert(false, `channel ${channel} of '${this.vertex.name}' has an element of unknown kind ${kind}`);
    }
  }

  /** A watermark or a status. */
  private timeElement(kind: ElementKind, channel: number): void {
    const gate = this.gate!;
    if (kind === ElementKind.watermark) {
      const watermarkMs = gate.watermark(channel);
      gate.consume(channel);
      this.eventTime.onWatermark(channel, watermarkMs);
    } else {
      const idle = gate.isIdleStatus(channel);
      gate.consume(channel);
      this.eventTime.onStatus(channel, idle);
    }
  }

  private endChannel(channel: number): void {
    const input = this.parts.inputs!.channelInputs[channel]!;
    this.openChannels[input]--;
    const isLast = this.openChannels[0] + this.openChannels[1] === 0;
    if (this.openChannels[input] === 0) this.chain.endInput(input);
    // An input that has ended must not hold back event time of the other one.
    this.eventTime.onEnd(channel, isLast);
    if (isLast) this.endOfData();
  }

  /** All data was read: event time is over. */
  private endOfData(): void {
    this.source?.end();
    this.eventTime.end();
  }

  private beginFinish(): void {
    this.state = 'finishing';
    this.chain.finish().then(
      () => {
        if (this.state !== 'finishing') return;
        for (const { writer } of this.outputs) writer.broadcastEnd();
        this.state = 'finished';
        this.parts.events.endOfData(this.key);
        this.parts.events.wake();
      },
      (error: unknown) => this.fail(error),
    );
  }

  private fail(error: unknown): void {
    if (this.state === 'closed' || this.state === 'failed') return;
    this.state = 'failed';
    this.checkpoint.abortAll();
    this.parts.events.failed(this.key, error);
  }
}
