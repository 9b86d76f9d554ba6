/**
 * What an input gate copies out of its channels for one checkpoint. Called by the gate, which says when an element is read;
 * knows no barrier but its checkpoint's.
 *
 *     barrier of the channel   when the capture begins              until the channel's barrier comes
 *     has come                 unread elements before it (none, if   (came already)
 *                              it was not announced but read)
 *     has not (recorded)       pieces and half-read segments         what is read; then what is unread before the barrier
 *
 * Restored channels are older than any barrier: all that is left of them is copied when the capture begins.
 *
 * Invariants:
 * I1 Each element before a channel's barrier was read before the capture began, or is in it, once and in order.
 * I2 A segment is copied when its reading begins: what is unread of one that is being read was copied already, when the
 *    capture began at the latest.
 *
 * The size is bounded by the rings and what a sender sends until its own barrier overtakes; whoever has to bound it further
 * looks at `sizeBytes`. Restored elements do not count: they are in memory anyway, and are shared, not copied.
 */
import { assert } from '../base/index.ts';
import { ElementKind, isInFlight } from './element.ts';
import type { ChannelState } from './gate-channel.ts';
import type { ChannelCapture, InFlightElement } from './in-flight.ts';

export class InFlightCapture {
  readonly #checkpointId: number;
  readonly #recorded: ReadonlySet<ChannelState>;
  readonly #elements = new Map<number, InFlightElement[]>();
  #sizeBytes = 0;

  /** `recorded`: those of `channels` whose barrier has not come. */
  constructor(
    checkpointId: number,
    channels: readonly ChannelState[],
    restored: readonly ChannelState[],
    recorded: readonly ChannelState[],
  ) {
    this.#checkpointId = checkpointId;
    this.#recorded = new Set(recorded);
    for (const state of restored) {
      this.#copyBegun(state);
      this.#copyUnread(state, state.reader.sequence + state.reader.backlog());
    }
    for (const state of recorded) {
      state.recorded = true;
      this.#copyBegun(state);
    }
    for (const state of channels) {
      if (!this.#hasBarrier(state)) continue;
      assert(!state.recorded, `channel ${state.index} is recorded although its barrier has come`);
      this.#copyBegun(state);
      this.#copyUnread(state, state.boundary);
    }
  }

  /** Bytes of all elements so far that came in this run. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** The first element of a recorded channel is about to be read. */
  record(state: ChannelState): void {
    this.#addElement(state, 0);
  }

  /** The barrier of a recorded channel was taken. */
  end(state: ChannelState): void {
    assert(state.recorded, `channel ${state.index} is not recorded`);
    state.recorded = false;
    if (this.#hasBarrier(state)) this.#copyUnread(state, state.boundary);
  }

  /** Stops, whatever is missing. */
  cancel(): void {
    for (const state of this.#recorded) state.recorded = false;
  }

  /** Channels that have elements, restored ones first. No channel may be recorded any more. */
  channels(): ChannelCapture[] {
    for (const { index, recorded } of this.#recorded)
      assert(!recorded, `channel ${index} is recorded: its barrier has not come`);
    return [...this.#elements].map(([channel, elements]) => ({ channel, elements }));
  }

  #hasBarrier({ checkpointId }: ChannelState): boolean {
    return checkpointId === this.#checkpointId;
  }

  /** What was read without the operator having got it: pieces of a record, the rest of a segment. */
  #copyBegun(state: ChannelState): void {
    const { assembly, dataEnd, reader } = state;
    const pieces = assembly.copy();
    if (pieces !== undefined) this.#add(state, ElementKind.spanPart, pieces);
    if (dataEnd === -1) return;
    const { kind, view } = reader;
    const bytes = kind === ElementKind.lent ? this.#encodeLent(state, 0) : view.u8.slice(view.pos, dataEnd);
    this.#add(state, ElementKind.data, bytes);
  }

  /** Elements whose reading has not begun, up to the one with the sequence number `end`. */
  #copyUnread(state: ChannelState, end: number): void {
    const { dataEnd, reader } = state;
    const count = end - reader.sequence;
    for (let i = dataEnd === -1 ? 0 : 1; i < count; i++) this.#addElement(state, i);
  }

  /** The element `offset` places behind the first, if it is kept. */
  #addElement(state: ChannelState, offset: number): void {
    const { reader } = state;
    const kind = reader.kindAt(offset);
    if (kind === ElementKind.lent) this.#add(state, ElementKind.data, this.#encodeLent(state, offset));
    else if (isInFlight(kind)) this.#add(state, kind, reader.copyAt(offset));
  }

  /** What is unread of the lent records of that element. */
  #encodeLent({ lending, reader, nextLent }: ChannelState, offset: number): Uint8Array {
    return lending!.encode(lending!.at(reader.sequence + offset), offset === 0 ? nextLent : 0);
  }

  #add({ index, identity }: ChannelState, kind: ElementKind, bytes: Uint8Array): void {
    const elements = this.#elements.get(index);
    if (elements === undefined) this.#elements.set(index, [{ kind, bytes }]);
    else elements.push({ kind, bytes });
    if (!identity.isRestored) this.#sizeBytes += bytes.length;
  }
}
