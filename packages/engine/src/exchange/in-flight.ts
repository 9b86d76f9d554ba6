/**
 * Data in flight: what a barrier overtook, as it lay in a channel, and what of an earlier run has still to be processed.
 * The words that the sending and the receiving end of a channel, the task and the checkpoint share.
 *
 * The state of one channel is what its receiver had not read when it took the checkpoint, then what the sender had not got
 * into the ring when it announced the barrier. Both are lists of elements, whole or in pieces as they lay in segments; a
 * record in pieces may begin in the first and end in the second. Barriers and ends of data are left out: whoever sent them
 * sends them again.
 */
import type { TypeSerializer } from '../types/index.ts';
import type { ElementKind } from './element.ts';

/** How the records of one edge lie in its elements: as its record writers wrote them. */
export interface RecordFormat {
  readonly valueSerializer: TypeSerializer<unknown>;
  /** True if each begins with the hash of its key: the edge is, or was, partitioned by hash. */
  readonly hashed: boolean;
}

/** An element that was copied out of a channel: records, a piece of a large one, a watermark or a status. */
export interface InFlightElement {
  readonly kind: ElementKind;
  readonly bytes: Uint8Array;
}

/** What one end of a channel contributes to a checkpoint. */
export interface ChannelCapture {
  /** As the channels of the gate or of the writer are numbered. */
  readonly channel: number;
  readonly elements: readonly InFlightElement[];
}

/** What a receiver has to process before anything that arrives: the data in flight of one channel of an earlier run. */
export interface RestoredChannel {
  /** The edge of this job; undefined if both its operators are in one chain now. */
  readonly edgeIndex: number | undefined;
  /** The operator of the chain where the records enter; 0, the head, unless the edge is inside the chain now. */
  readonly operator: number;
  readonly input: 0 | 1;
  /** The sending subtask of the earlier run: what is captured again keeps it. */
  readonly sender: number;
  /** The watermark that the receiver had got from the sender; MAX_WATERMARK for one that is not to be waited for. */
  readonly watermarkMs: number;
  /** Of the records in `elements`. Channels of one edge share the serializer: there is one decoder for each. */
  readonly format: RecordFormat;
  /** Only what belongs to this subtask. */
  readonly elements: readonly InFlightElement[];
}
