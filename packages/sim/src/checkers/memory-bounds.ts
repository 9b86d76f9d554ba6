/**
 * Whether what data needs of memory stays within its limits at every moment: what waits beside the rings of one sender, and
 * what checkpoints take along of data in flight. Rings themselves have one size. How many checkpoints may be under way is
 * looked at by checkpoint-conversations.ts.
 */
import type { CheckpointEvent } from '../../../engine/src/checkpoint/index.ts';

export interface MemoryLimits {
  /** Beside the rings of one sender. */
  readonly overflowBytesMax: number;
  /** Of data in flight, in one checkpoint. */
  readonly inFlightBytesMax: number;
}

export class MemoryBounds {
  /** What was wrong first. */
  problem: string | undefined;
  private readonly limits: MemoryLimits;
  /** Data in flight that was acknowledged, by coordinator and checkpoint. */
  private readonly inFlight = new Map<object, Map<number, number>>();

  constructor(limits: MemoryLimits) {
    this.limits = limits;
  }

  /** So much waits beside the rings of a sender. */
  overflowed(usedBytes: number): void {
    const { overflowBytesMax } = this.limits;
    if (usedBytes > overflowBytesMax)
      this.problem ??= `${usedBytes} bytes wait beside the rings of a sender, more than ${overflowBytesMax}`;
  }

  /** A coordinator was told of something. */
  told(coordinator: object, event: CheckpointEvent): void {
    if (event.type !== 'acknowledge') return;
    const { checkpointId, metrics } = event.acknowledgement;
    let byId = this.inFlight.get(coordinator);
    if (byId === undefined) this.inFlight.set(coordinator, (byId = new Map()));
    const bytes = (byId.get(checkpointId) ?? 0) + metrics.persistedBytes;
    byId.set(checkpointId, bytes);
    const { inFlightBytesMax } = this.limits;
    if (bytes > inFlightBytesMax)
      this.problem ??= `checkpoint ${checkpointId} holds ${bytes} bytes in flight, more than ${inFlightBytesMax}`;
  }
}
