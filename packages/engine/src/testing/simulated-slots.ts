/**
 * A slot host of several slots in the test's thread. As between threads, each message arrives later, in order, as a copy;
 * the test sees all of them, may hold them back or drop them, and may take a slot away.
 */
import type { SlotEvents, SlotHandle, SlotHost } from '../coordinator/slot-host.ts';
import type { Platform } from '../platform/index.ts';
import { type FromSlot, type JobGraph, Slot, type SlotDeployment, type ToSlot } from '../runtime/index.ts';

type Direction = 'to' | 'from';

/** A message on its way; `attempt` counts from 0. */
export interface SlotMessage {
  readonly direction: Direction;
  readonly slot: number;
  /** Of the region. */
  readonly attempt: number;
  readonly region: number;
  readonly message: ToSlot | FromSlot;
}

interface Running {
  readonly attempt: number;
  readonly events: SlotEvents;
  isGone: boolean;
}

export class SimulatedSlots implements SlotHost {
  readonly slotCount: number;
  /** Every message that was sent, in order. */
  readonly sent: SlotMessage[] = [];
  /** Asked for each message: true drops it. */
  drops: (message: SlotMessage) => boolean = () => false;
  /** Slots whose `terminate` was called, as `attempt.slot`; in regions after the first `attempt.slot of region`. */
  readonly terminated: string[] = [];
  private readonly platform: Platform;
  /** The ears of the JobManager for each slot of each attempt, named likewise: for words that come too late. */
  readonly ears = new Map<string, SlotEvents>();
  private readonly running = new Map<string, Running>();

  constructor(platform: Platform, slotCount: number) {
    this.platform = platform;
    this.slotCount = slotCount;
  }

  /** The slot's thread is gone, without a word. */
  lose(slot: number, error: Error, region = 0): void {
    const running = this.running.get(`${region}.${slot}`)!;
    running.isGone = true;
    running.events.onLost(error);
  }

  prepare(): void {}

  async close(): Promise<void> {}

  start(graph: JobGraph, deployment: SlotDeployment, events: SlotEvents): SlotHandle {
    const { slotIndex: index, attemptNumber: attempt, region } = deployment;
    const name = region === 0 ? `${attempt}.${index}` : `${attempt}.${index} of ${region}`;
    const running: Running = { attempt, events, isGone: false };
    this.running.set(`${region}.${index}`, running);
    this.ears.set(name, events);
    // Memory is shared, and parking knows it by its object.
    const { channels, ...rest } = deployment;
    const slot = new Slot(graph, { ...structuredClone(rest), channels }, this.platform, (message) => {
      this.carry({ direction: 'from', slot: index, attempt, region, message }, running, (copy) =>
        events.onMessage(copy as FromSlot),
      );
    });
    void slot.open();
    return {
      post: (message) =>
        this.carry({ direction: 'to', slot: index, attempt, region, message }, running, (copy) =>
          slot.handle(copy as ToSlot),
        ),
      terminate: async () => {
        running.isGone = true;
        this.terminated.push(name);
      },
    };
  }

  private carry(sent: SlotMessage, running: Running, deliver: (copy: ToSlot | FromSlot) => void): void {
    this.sent.push(sent);
    if (running.isGone || this.drops(sent)) return;
    const copy = structuredClone(sent.message);
    queueMicrotask(() => {
      if (!running.isGone) deliver(copy);
    });
  }
}
