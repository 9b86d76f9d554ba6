/**
 * Combines the watermarks of several channels into one: the minimum over the channels that are not idle. Pure.
 * (As Flink's StatusWatermarkValve.)
 *
 * Invariants:
 * I1 The combined watermark never goes back; a channel's own watermark that goes back is ignored.
 * I2 An idle channel does not count. When it comes back it counts again from its own last watermark, which may be behind.
 * I3 If all channels become idle the combined watermark stays where it is and the output is idle.
 * I4 A channel that has ended does not count either, as long as another one has not: event time is not over because the
 *    only channels that go on are idle just now. (Here Flink's valve lets the end of the others through, and what the idle
 *    channel brings later is late.)
 */
import { MAX_WATERMARK, MIN_WATERMARK } from '../base/index.ts';

/** What follows from an event; undefined: unchanged. */
export interface ValveChange {
  readonly watermark: number | undefined;
  readonly idle: boolean | undefined;
}

export class WatermarkValve {
  private readonly watermarks: number[];
  private readonly idle: boolean[];
  private readonly ended: boolean[];
  private combined = MIN_WATERMARK;
  private allIdle = false;

  constructor(channelCount: number) {
    this.watermarks = new Array<number>(channelCount).fill(MIN_WATERMARK);
    this.idle = new Array<boolean>(channelCount).fill(false);
    this.ended = new Array<boolean>(channelCount).fill(false);
  }

  get watermark(): number {
    return this.combined;
  }

  get isIdle(): boolean {
    return this.allIdle;
  }

  /** The channel's own last watermark; MAX_WATERMARK while it does not count. */
  watermarkOf(channel: number): number {
    return this.idle[channel] || this.ended[channel] ? MAX_WATERMARK : this.watermarks[channel]!;
  }

  /** Returns the new combined watermark if it advanced, else undefined. */
  onWatermark(channel: number, watermarkMs: number): number | undefined {
    if (watermarkMs <= this.watermarks[channel]!) return undefined;
    this.watermarks[channel] = watermarkMs;
    return this.advance();
  }

  /**
   * A channel became idle or active. `watermark` is set if the combined watermark advanced by it, `idle` if the combined
   * status changed.
   */
  onStatus(channel: number, idle: boolean): ValveChange {
    if (this.idle[channel] === idle || this.ended[channel]) return { watermark: undefined, idle: undefined };
    this.idle[channel] = idle;
    return this.changed();
  }

  /** No more records come from the channel. Once all have ended the combined watermark is MAX_WATERMARK. */
  onEnd(channel: number): ValveChange {
    if (this.ended[channel]) return { watermark: undefined, idle: undefined };
    this.ended[channel] = true;
    if (!this.ended.includes(false)) {
      this.idle.fill(false);
      this.watermarks.fill(MAX_WATERMARK);
      this.ended.fill(false);
    }
    return this.changed();
  }

  private changed(): ValveChange {
    const before = this.allIdle;
    this.allIdle = this.idle.every((idle, channel) => idle || this.ended[channel]);
    return { watermark: this.advance(), idle: before === this.allIdle ? undefined : this.allIdle };
  }

  private advance(): number | undefined {
    let minimum = Number.MAX_SAFE_INTEGER;
    let active = false;
    for (let i = 0; i < this.watermarks.length; i++) {
      if (this.idle[i] || this.ended[i]) continue;
      active = true;
      if (this.watermarks[i]! < minimum) minimum = this.watermarks[i]!;
    }
    if (!active || minimum <= this.combined) return undefined;
    this.combined = minimum;
    return minimum;
  }
}
