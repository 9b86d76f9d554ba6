/**
 * The ends of the channels that one subtask holds, with what is known of them beyond their elements: what they are named in
 * a checkpoint and in reports. Made by the wiring of the job; used by the task and its parts.
 */
import type { EdgeIdentity } from '../checkpoint/index.ts';
import type { InputGate, RecordWriter, RestoredChannel } from '../exchange/index.ts';

/** The receiving ends of a subtask. Channels are numbered as by the gate: real ones first, then restored ones. */
export interface TaskInputs {
  readonly gate: InputGate;
  /** For each real channel: which input of the head it feeds, and whether barriers may overtake what is in it. */
  readonly channelInputs: readonly (0 | 1)[];
  readonly overtakable: readonly boolean[];
  /** In the order of their numbers. */
  readonly restored: readonly RestoredChannel[];
  edgeOf(channel: number): EdgeIdentity;
  /** For people: "input 0 from subtask 3 of 'map'". */
  nameOf(channel: number): string;
}

/** The sending end of one edge in a subtask. */
export interface TaskOutput {
  /** The operator of the chain that sends, and its side output. */
  readonly operator: number;
  readonly sideTag: string | undefined;
  readonly writer: RecordWriter<unknown>;
  readonly edge: EdgeIdentity;
  /** The receiving subtask of each channel. */
  readonly receivers: readonly number[];
}
