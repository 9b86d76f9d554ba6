/**
 * The event time of one task: combines the watermarks of its channels and moves the chain's time on, timers in slices.
 * Used by the task, which feeds it and gives it turns; knows no barrier.
 *
 *     watermark, status, end of a channel ──▶ valve ──▶ advance ──▶ [continue, as long as timers are left] ──▶ chain
 *
 * Invariants:
 * I1 Between two slices of a watermark the task feeds the chain nothing. A checkpoint may be taken there: timers that have
 *    not fired are in it, and `watermarkOf` says what each channel has brought, this watermark included, so that a
 *    restored task gets it again.
 * I2 While an operator is busy no timers fire that would make records before it.
 * I3 The time of restored channels begins when the first of their elements reaches the head: what is in flight inside the
 *    chain was sent before.
 */
import { MAX_WATERMARK, MIN_WATERMARK } from '../base/index.ts';
import type { OperatorChain } from './operator-chain.ts';
import { RestoredWatermarks } from './restored-watermarks.ts';
import type { TaskInputs } from './task-channels.ts';
import { type ValveChange, WatermarkValve } from './watermark-valve.ts';

export interface TaskEventTimeParts {
  readonly chain: OperatorChain;
  readonly inputs: TaskInputs | undefined;
  isBusy(): boolean;
  /** The last watermark is through: called once, after `end`. */
  over(): void;
}

export class TaskEventTime {
  private readonly parts: TaskEventTimeParts;
  private readonly channelCount: number;
  private readonly valve: WatermarkValve;
  private readonly restored: RestoredWatermarks;
  private restoredHasBegun = false;
  /** A watermark whose timers have not all fired yet. */
  private pending: { readonly watermarkMs: number; readonly thenIdle: boolean } | undefined;
  /** The last one that went into the chain. */
  private watermarkMs = MIN_WATERMARK;
  /** No more data comes: after the last watermark it is over. */
  private ended = false;

  constructor(parts: TaskEventTimeParts) {
    this.parts = parts;
    this.channelCount = parts.inputs?.channelInputs.length ?? 0;
    this.valve = new WatermarkValve(this.channelCount);
    this.restored = new RestoredWatermarks(parts.inputs?.restored ?? []);
  }

  /** The combined watermark of all channels. */
  get watermark(): number {
    return this.valve.watermark;
  }

  /** True while `continue` has timers to fire. */
  get isAdvancing(): boolean {
    return this.pending !== undefined;
  }

  /** What the channel has brought; MAX_WATERMARK while it is not waited for. Channels are numbered as by the gate. */
  watermarkOf(channel: number): number {
    const restored = channel - this.channelCount;
    if (restored >= 0) return this.restored.watermarkOf(restored);
    // A checkpoint may be taken before I3 has given the channel what the old senders had promised.
    const promised = this.restored.minimumOf(this.parts.inputs!.gate.channel(channel).edgeIndex!);
    return Math.max(this.valve.watermarkOf(channel), promised ?? MIN_WATERMARK);
  }

  onWatermark(channel: number, watermarkMs: number): void {
    if (channel >= this.channelCount) {
      this.restored.onWatermark(channel - this.channelCount, watermarkMs);
      this.followRestored(channel);
    } else if (watermarkMs === MAX_WATERMARK) {
      this.follow(this.valve.onEnd(channel));
    } else {
      const watermark = this.valve.onWatermark(channel, watermarkMs);
      if (watermark !== undefined) this.advance(watermark);
    }
  }

  onStatus(channel: number, idle: boolean): void {
    if (channel < this.channelCount) return this.follow(this.valve.onStatus(channel, idle));
    this.restored.onStatus(channel - this.channelCount, idle);
    this.followRestored(channel);
  }

  /** Nothing more comes from the channel. `isLast`: from none, so that the task ends event time itself. */
  onEnd(channel: number, isLast: boolean): void {
    const change = this.valve.onEnd(channel);
    if (!isLast) this.follow(change);
  }

  /** Elements of a restored channel reach the head from now on (I3). True if event time moved by that. */
  beginRestored(): boolean {
    if (this.restoredHasBegun) return false;
    this.restoredHasBegun = true;
    const edges = this.parts.inputs!.restored.map(({ edgeIndex }) => edgeIndex);
    return this.raise(edges.filter((edge) => edge !== undefined));
  }

  /** Fires a slice of timers. False if it has to wait for an operator. */
  continue(): boolean {
    const { watermarkMs, thenIdle } = this.pending!;
    const { chain } = this.parts;
    if (this.parts.isBusy() && chain.firesTimers(watermarkMs)) return false; // I2
    if (!chain.processWatermark(watermarkMs)) return true;
    this.pending = undefined;
    if (thenIdle) chain.processWatermarkStatus(true);
    if (this.ended) this.parts.over();
    return true;
  }

  /** All data was read. */
  end(): void {
    this.ended = true;
    if (this.watermarkMs === MAX_WATERMARK) this.parts.over();
    else this.advance(MAX_WATERMARK);
  }

  private follow(change: ValveChange): void {
    const { chain } = this.parts;
    if (change.idle === false) chain.processWatermarkStatus(false);
    if (change.watermark !== undefined) this.advance(change.watermark, change.idle === true);
    else if (change.idle === true) chain.processWatermarkStatus(true);
  }

  private followRestored(channel: number): void {
    const { edgeIndex } = this.parts.inputs!.gate.channel(channel);
    if (edgeIndex !== undefined) this.raise([edgeIndex]);
  }

  /** Gives what the old senders of these edges have promised to their channels. True if event time moved. */
  private raise(edges: readonly number[]): boolean {
    const { gate } = this.parts.inputs!;
    let combined: number | undefined;
    for (let channel = 0; channel < this.channelCount; channel++) {
      const edgeIndex = gate.channel(channel).edgeIndex!;
      const minimum = edges.includes(edgeIndex) ? this.restored.minimumOf(edgeIndex) : undefined;
      if (minimum !== undefined) combined = this.valve.onWatermark(channel, minimum) ?? combined;
    }
    if (combined !== undefined) this.advance(combined);
    return combined !== undefined;
  }

  private advance(watermarkMs: number, thenIdle = false): void {
    this.watermarkMs = watermarkMs;
    this.pending = { watermarkMs, thenIdle };
    this.continue();
  }
}
