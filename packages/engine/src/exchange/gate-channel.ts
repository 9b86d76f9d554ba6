/**
 * One channel of an input gate: what it is, how its elements are read, and how far. Made and changed by the gate; what a
 * checkpoint copies of it is in-flight-capture.ts.
 *
 * A real channel is read from a ring, a restored one from the elements of an earlier run, by the same code.
 */
import type { ByteView } from '../types/index.ts';
import type { DecodeRecords } from './decode-code.ts';
import type { ElementKind } from './element.ts';
import type { LentRecords } from './lent-records.ts';
import type { SpanAssembly } from './span-assembly.ts';

/** What a channel is. */
export interface ChannelIdentity {
  readonly isRestored: boolean;
  /** The operator of the chain where its elements enter: 0, the head, for all real ones. */
  readonly operator: number;
  /** Of that operator. */
  readonly input: 0 | 1;
  /** undefined for a restored channel of an edge that is inside the chain. */
  readonly edgeIndex: number | undefined;
  /** Of this run; of the one that sent them for restored elements. */
  readonly senderSubtask: number;
}

/** The receiving end of a channel: that of a ring (`RingReader` says what the members mean), or of restored elements. */
export interface ElementReader {
  readonly view: ByteView;
  readonly start: number;
  readonly kind: ElementKind;
  readonly lengthBytes: number;
  readonly sequence: number;
  hasElement(): boolean;
  hasAnnouncement(): boolean;
  backlog(): number;
  kindAt(offset: number): ElementKind;
  copyAt(offset: number): Uint8Array;
  release(): void;
}

export interface ChannelState<R extends ElementReader = ElementReader> {
  readonly identity: ChannelIdentity;
  readonly index: number;
  readonly reader: R;
  readonly decode: DecodeRecords;
  /** Shared with the sender, if that is in the same thread. */
  readonly lending: LentRecords | undefined;
  readonly assembly: SpanAssembly;
  blocked: boolean;
  finished: boolean;
  /** End of the data segment that is being read, or number of lent records; -1 between elements. */
  dataEnd: number;
  /** The lent record that is read next. */
  nextLent: number;
  /** True while a checkpoint copies what is read: its barrier has not come. */
  recorded: boolean;
  /** Of the barrier that was taken last, announced or in order; -1 before the first. */
  checkpointId: number;
  /** Where that barrier is: elements with lower sequence numbers are before it. */
  boundary: number;
}

/** A channel of which nothing was read. */
export function channelState<R extends ElementReader>(
  identity: ChannelIdentity,
  index: number,
  reader: R,
  decode: DecodeRecords,
  assembly: SpanAssembly,
  lending?: LentRecords,
): ChannelState<R> {
  return {
    identity,
    index,
    reader,
    decode,
    lending,
    assembly,
    blocked: false,
    finished: false,
    dataEnd: -1,
    nextLent: 0,
    recorded: false,
    checkpointId: -1,
    boundary: 0,
  };
}
