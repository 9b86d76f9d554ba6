/**
 * What one task does with barriers: carries out what the aligner decides, takes the checkpoint at the right moment, and
 * captures what barriers overtake. Used by the task, which hands over barriers as they come and says when it has a turn.
 *
 *     in order ───────┐                 block, unblock ──▶ gate
 *     announced ──────┼──▶ aligner ──▶  aligned, overtake ──▶ TaskCheckpoint.take ──▶ outputs
 *     budget spent ───┘                 captured ──▶ TaskCheckpoint.captured
 *
 * With a budget (`alignedTimeoutMs`) a barrier begins in order. When the budget is spent what has not been decided by then
 * overtakes: here the barriers that wait for others, in the outputs those that wait for room or lie in a ring.
 *
 * Invariants:
 * I1 Announced barriers and spent budgets are attended to in any turn, however full the outputs are and whatever else the
 *    task is in the middle of, since nothing of it is needed: neither room nor the end of a watermark's timers. The same
 *    holds for barriers in order that overtake, once they are next in their channel.
 * I2 One capture at a time: only checkpoints that overtake capture, and the aligner has at most one of these.
 * I3 The receiver saves for each edge that can be overtaken the watermark of every channel that has something in flight,
 *    and the lowest of the others. So the minimum over what was saved is what all senders had promised.
 */
import { MAX_WATERMARK } from '../base/index.ts';
import { type AlignerAction, BarrierAligner, type CheckpointingMode } from '../checkpoint/index.ts';
import type { Barrier, ChannelCapture } from '../exchange/index.ts';
import type { OperatorChain } from './operator-chain.ts';
import type { InFlightData } from './snapshot-stream.ts';
import type { SourceHead } from './source-head.ts';
import type { TaskInputs, TaskOutput } from './task-channels.ts';
import {
  type Alignment,
  type CheckpointCut,
  type TaskCheckpoint,
  tooMuchInFlight,
} from './task-checkpoint.ts';

export interface TaskBarriersParts {
  readonly subtask: number;
  readonly inputs: TaskInputs | undefined;
  readonly outputs: readonly TaskOutput[];
  readonly chain: OperatorChain;
  readonly source: SourceHead | undefined;
  readonly checkpoint: TaskCheckpoint;
  readonly mode: CheckpointingMode;
  /** How long barriers wait their turn; undefined: they never overtake. */
  readonly alignedTimeoutMs: number | undefined;
  /** What a channel of the gate has brought; MAX_WATERMARK for one that is not waited for. */
  watermarkOf(channel: number): number;
  /** A checkpoint was taken. */
  taken(barrier: Barrier): void;
}

/** A checkpoint whose first barrier came. */
interface Begun {
  readonly startedMs: number;
  readonly bytesIn: number;
}

export class TaskBarriers {
  private readonly parts: TaskBarriersParts;
  private readonly aligner: BarrierAligner | undefined;
  private readonly begun = new Map<number, Begun>();
  /** The budget of this checkpoint and of those before it is spent; the task has attended to those up to the second. */
  private spentId: number;
  private attendedId: number;
  /** The newest barrier that went on, if it went in order and may still overtake. */
  private lateBarrier: Barrier | undefined;
  /** The checkpoint that is captured, and what each channel had brought when it was taken. */
  private capture: { readonly checkpointId: number; readonly watermarks: readonly number[] } | undefined;

  constructor(parts: TaskBarriersParts) {
    const { inputs, mode, alignedTimeoutMs } = parts;
    this.parts = parts;
    this.spentId = this.attendedId = alignedTimeoutMs === 0 ? Number.MAX_SAFE_INTEGER : -1;
    if (inputs === undefined || inputs.overtakable.length === 0) return;
    this.aligner = new BarrierAligner({ overtakable: inputs.overtakable, mode });
    this.aligner.budgetSpent(this.spentId);
  }

  /** True if `attend` has something to do. */
  get isUrgent(): boolean {
    return this.spentId > this.attendedId || (this.parts.inputs?.gate.hasAnnouncement() ?? false);
  }

  /** True if this barrier overtakes as soon as it comes. */
  overtakes({ checkpointId, kind }: Barrier): boolean {
    return kind === 'checkpoint' && checkpointId <= this.spentId;
  }

  /** The time in which the barriers of this checkpoint wait their turn is over: `attend` will see. */
  budgetSpent(checkpointId: number): void {
    this.spentId = Math.max(this.spentId, checkpointId);
  }

  /** Does what cannot wait (I1). True if there was anything. `nowMs` is monotonic, here and below. */
  attend(nowMs: number): boolean {
    const { gate } = this.parts.inputs ?? {};
    let worked = false;
    if (this.spentId > this.attendedId) {
      this.attendedId = this.spentId;
      worked = true;
      this.follow(this.aligner?.budgetSpent(this.spentId) ?? [], nowMs);
      this.overtakeLate();
    }
    if (gate === undefined) return worked;
    for (let channel = gate.nextAnnouncement(); channel >= 0; channel = gate.nextAnnouncement()) {
      worked = true;
      this.follow(this.aligner!.announced(channel, gate.takeAnnouncement(channel)), nowMs);
    }
    if (this.capture !== undefined && gate.capturedBytes > this.parts.checkpoint.inFlightMaxBytes)
      this.giveCaptureUp();
    return worked;
  }

  /**
   * For turns in which nothing is read: takes barriers that are next in their channels and overtake. What is before them
   * elsewhere is saved; here they would only wait for their turn. True if there was any.
   */
  takeNext(nowMs: number): boolean {
    let worked = false;
    for (let channel = this.nextOvertaking(); channel >= 0; channel = this.nextOvertaking()) {
      worked = true;
      const { gate } = this.parts.inputs!;
      const barrier = gate.barrier(channel);
      gate.consume(channel);
      if (this.barrier(channel, barrier, nowMs)) break;
    }
    return worked;
  }

  /** True if `takeNext` has something to do. */
  get hasNext(): boolean {
    return this.nextOvertaking() >= 0;
  }

  /** A barrier was taken from a channel, in order. False if nothing came of it. */
  barrier(channel: number, barrier: Barrier, nowMs: number): boolean {
    return this.follow(this.aligner!.barrier(channel, barrier), nowMs);
  }

  /** As `barrier`. */
  cancelBarrier(channel: number, checkpointId: number, nowMs: number): boolean {
    return this.follow(this.aligner!.cancelBarrier(channel, checkpointId), nowMs);
  }

  /** A source takes the checkpoint: nothing has to come together. */
  inject(barrier: Barrier, nowMs: number): void {
    const alignment = { alignmentMs: 0, processedBytes: 0, lastChannel: undefined };
    this.takeWhole(barrier, nowMs, alignment);
  }

  /** The coordinator has given the checkpoint up. */
  abort(checkpointId: number): void {
    this.follow(this.aligner?.abortedByCoordinator(checkpointId) ?? [], 0);
    this.begun.delete(checkpointId);
    if (this.capture?.checkpointId === checkpointId) this.capture = undefined;
    if (this.lateBarrier?.checkpointId === checkpointId) this.lateBarrier = undefined;
    this.parts.checkpoint.abort(checkpointId);
  }

  private nextOvertaking(): number {
    const { inputs, alignedTimeoutMs } = this.parts;
    if (inputs === undefined || alignedTimeoutMs === undefined) return -1;
    const { gate, overtakable } = inputs;
    return overtakable.findIndex(
      (_, channel) => gate.isBarrierNext(channel) && this.overtakes(gate.barrier(channel)),
    );
  }

  /** False if there are none. */
  private follow(actions: readonly AlignerAction[], nowMs: number): boolean {
    const { gate } = this.parts.inputs ?? {};
    for (const action of actions) {
      switch (action.type) {
        case 'started':
          this.begun.set(action.checkpointId, { startedMs: nowMs, bytesIn: gate!.bytesIn });
          break;
        case 'block':
          gate!.block(action.channel);
          break;
        case 'unblock-all':
          gate!.unblockAll();
          break;
        case 'aligned': {
          const { barrier, lastChannel } = action;
          const { startedMs } = this.begun.get(barrier.checkpointId)!;
          const alignment = this.endAlignment(barrier.checkpointId, lastChannel, nowMs);
          this.takeWhole(barrier, startedMs, alignment);
          break;
        }
        case 'overtake': {
          const { barrier, recorded } = action;
          const { startedMs } = this.begun.get(barrier.checkpointId)!;
          this.take({ barrier, startedMs, alignment: undefined, ahead: true, recorded });
          break;
        }
        case 'recorded':
          gate!.endCapture(action.channel);
          break;
        case 'captured': {
          const { checkpointId, lastChannel } = action;
          this.captured(checkpointId, this.endAlignment(checkpointId, lastChannel, nowMs));
          break;
        }
        case 'cancel-capture':
          gate!.cancelCapture();
          break;
        case 'aborted':
          this.giveUp(action);
          break;
      }
    }
    return actions.length > 0;
  }

  /** All barriers are there, in order. Restored elements may be left all the same, if they overtake. */
  private takeWhole(barrier: Barrier, startedMs: number, alignment: Alignment): void {
    const ahead = this.overtakes(barrier);
    if (!ahead || this.parts.inputs?.gate.hasRestored !== true)
      return this.take({ barrier, startedMs, alignment, ahead, recorded: undefined });
    this.take({ barrier, startedMs, alignment: undefined, ahead, recorded: [] });
    this.captured(barrier.checkpointId, alignment);
  }

  private take(cut: {
    readonly barrier: Barrier;
    readonly startedMs: number;
    readonly alignment: Alignment | undefined;
    readonly ahead: boolean;
    /** undefined: nothing is captured. */
    readonly recorded: readonly number[] | undefined;
  }): void {
    const { chain, source, outputs, checkpoint, alignedTimeoutMs } = this.parts;
    const { barrier, startedMs, alignment, ahead, recorded } = cut;
    const isLate = !ahead && barrier.kind === 'checkpoint' && alignedTimeoutMs !== undefined;
    this.lateBarrier = isLate ? barrier : undefined;
    const leaves: CheckpointCut['leaves'] = ahead ? 'ahead' : isLate ? 'late' : 'in-order';
    const startCapture =
      recorded === undefined ? undefined : () => this.startCapture(barrier.checkpointId, recorded);
    checkpoint.take({ barrier, startedMs, alignment, leaves, startCapture }, chain, source, outputs);
    this.parts.taken(barrier);
  }

  private startCapture(checkpointId: number, recorded: readonly number[]): void {
    const { gate, channelInputs, restored } = this.parts.inputs!;
    const channels = Array.from({ length: channelInputs.length + restored.length }, (_, channel) => channel);
    this.capture = { checkpointId, watermarks: channels.map((channel) => this.parts.watermarkOf(channel)) };
    gate.startCapture(checkpointId, recorded);
  }

  private captured(checkpointId: number, alignment: Alignment): void {
    const captures = this.parts.inputs!.gate.takeCapture();
    this.parts.checkpoint.captured(checkpointId, alignment, this.received(captures));
    this.capture = undefined;
  }

  /** I3 */
  private received(captures: readonly ChannelCapture[]): InFlightData[] {
    const { gate, channelInputs, overtakable } = this.parts.inputs!;
    const { watermarks } = this.capture!;
    const hasData = new Set(captures.map(({ channel }) => channel));
    /** By edge: the channel with the lowest watermark. */
    const lowest = new Map<number, number>();
    for (const channel of channelInputs.keys()) {
      if (!overtakable[channel] || hasData.has(channel)) continue;
      const edge = gate.channel(channel).edgeIndex!;
      const other = lowest.get(edge);
      if (other === undefined || watermarks[channel]! < watermarks[other]!) lowest.set(edge, channel);
    }
    return [
      ...captures.map(({ channel, elements }) => this.dataOf(channel, elements)),
      ...[...lowest.values()]
        .filter((channel) => watermarks[channel]! < MAX_WATERMARK)
        .map((channel) => this.dataOf(channel, [])),
    ];
  }

  private dataOf(channel: number, elements: InFlightData['elements']): InFlightData {
    const { gate, edgeOf } = this.parts.inputs!;
    const { senderSubtask: sender, isRestored } = gate.channel(channel);
    return {
      edge: edgeOf(channel),
      sender,
      receiver: this.parts.subtask,
      part: isRestored ? 'restored' : 'received',
      watermarkMs: this.capture!.watermarks[channel]!,
      elements,
    };
  }

  private overtakeLate(): void {
    const barrier = this.lateBarrier;
    if (barrier === undefined || !this.overtakes(barrier)) return;
    this.lateBarrier = undefined;
    this.parts.checkpoint.overtakeInOutputs(barrier, this.parts.outputs);
  }

  private endAlignment(checkpointId: number, lastChannel: number, nowMs: number): Alignment {
    const { startedMs, bytesIn } = this.begun.get(checkpointId)!;
    this.begun.delete(checkpointId);
    const { gate, nameOf } = this.parts.inputs!;
    return {
      alignmentMs: nowMs - startedMs,
      processedBytes: gate.bytesIn - bytesIn,
      lastChannel: nameOf(lastChannel),
    };
  }

  private giveUp({ checkpointId, reason, missing }: AlignerAction & { readonly type: 'aborted' }): void {
    const { checkpoint, outputs, inputs } = this.parts;
    this.begun.delete(checkpointId);
    const first = missing[0] === undefined ? '' : `; missing is that of ${inputs!.nameOf(missing[0])}`;
    const others = missing.length > 1 ? ` and ${missing.length - 1} more` : '';
    const message = `its barriers did not all arrive: ${reason}${first}${others}`;
    if (this.capture?.checkpointId === checkpointId) {
      this.capture = undefined;
      checkpoint.giveUp(checkpointId, reason, message);
    } else {
      checkpoint.decline(checkpointId, reason, message);
    }
    // The decline makes the coordinator give the checkpoint up, and it tells the operators of all tasks.
    for (const { writer } of outputs) writer.broadcastCancelBarrier(checkpointId);
  }

  private giveCaptureUp(): void {
    const { checkpointId } = this.capture!;
    const { inputs, checkpoint } = this.parts;
    const { message } = tooMuchInFlight(inputs!.gate.capturedBytes, checkpoint.inFlightMaxBytes);
    this.follow(this.aligner!.abortedByCoordinator(checkpointId), 0);
    this.capture = undefined;
    this.begun.delete(checkpointId);
    checkpoint.giveUp(checkpointId, 'snapshot-failed', message);
  }
}
