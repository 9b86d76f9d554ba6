/**
 * Event time of restored channels: what the receiver had got from each sender of an earlier run, raised by the elements
 * that are read again. The senders of this run begin without a watermark; until they have come so far, the minimum over the
 * old ones is that of each channel of the edge. Pure; used by the task's event time.
 *
 * Invariants:
 * I1 A sender that was idle or has ended holds nobody back. If all are, nothing is known of the edge.
 * I2 The minimum of an edge is never above what each of its old senders had promised: what was not saved (a channel without
 *    anything in flight) stands in the snapshot by the lowest of its edge.
 */
import { MAX_WATERMARK, MIN_WATERMARK } from '../base/index.ts';
import type { RestoredChannel } from '../exchange/index.ts';

interface Sender {
  /** undefined: its elements enter in the middle of the chain, where their watermarks say nothing. */
  readonly edgeIndex: number | undefined;
  watermarkMs: number;
  isIdle: boolean;
}

export class RestoredWatermarks {
  private readonly senders: readonly Sender[];

  /** `channels` are numbered in their order. */
  constructor(channels: readonly Pick<RestoredChannel, 'edgeIndex' | 'watermarkMs'>[]) {
    this.senders = channels.map(({ edgeIndex, watermarkMs }) => ({ edgeIndex, watermarkMs, isIdle: false }));
  }

  /** The channel's last watermark; MAX_WATERMARK while it holds nobody back. */
  watermarkOf(channel: number): number {
    const { watermarkMs, isIdle } = this.senders[channel]!;
    return isIdle ? MAX_WATERMARK : watermarkMs;
  }

  /** What all senders of an edge have promised; undefined if that is nothing. */
  minimumOf(edgeIndex: number): number | undefined {
    let minimum = MAX_WATERMARK;
    for (const [channel, sender] of this.senders.entries()) {
      if (sender.edgeIndex === edgeIndex) minimum = Math.min(minimum, this.watermarkOf(channel));
    }
    return minimum === MIN_WATERMARK || minimum === MAX_WATERMARK ? undefined : minimum;
  }

  onWatermark(channel: number, watermarkMs: number): void {
    const sender = this.senders[channel]!;
    sender.watermarkMs = Math.max(sender.watermarkMs, watermarkMs);
  }

  onStatus(channel: number, idle: boolean): void {
    this.senders[channel]!.isIdle = idle;
  }
}
