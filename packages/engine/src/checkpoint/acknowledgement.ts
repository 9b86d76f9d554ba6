/**
 * What a task answers to a barrier: an acknowledgement with the handles of its state, or a decline.
 *
 * Plain structured-clonable data. Made by the tasks' side of the runtime, read by the checkpoint coordinator. Every
 * participant answers every checkpoint that it was told of, once.
 */
import type { OperatorSubtaskState, StreamHandle } from '../state/index.ts';
import type { FileChecksum } from './file-checksum.ts';

/** A data file of a snapshot as its writer left it: synced, closed, its directory synced. */
export type SnapshotFile = FileChecksum & {
  /** Relative to the directory of the snapshot, separated by `/`. */
  readonly path: string;
  readonly sizeBytes: number;
};

/** The state of one operator of a task's chain. Operators without state may be left out. */
export interface OperatorState {
  readonly uid: string;
  readonly state: OperatorSubtaskState;
}

/**
 * An exchange between two operators, as it is found again in another job graph: by the uids of its ends, whatever chains
 * they are in.
 */
export interface EdgeIdentity {
  readonly sourceUid: string;
  /** The side output that feeds it. */
  readonly sideTag: string | undefined;
  readonly targetUid: string;
  readonly input: 0 | 1;
  /** Counts edges that are equal in all the rest. */
  readonly ordinal: number;
}

/** Data in flight in one channel, as one of its ends saved it. */
export interface ChannelState {
  readonly edge: EdgeIdentity;
  /** Subtask index of the job that took the checkpoint; of an earlier one if the part is `restored`. */
  readonly sender: number;
  /** Subtask index of the job that took the checkpoint. */
  readonly receiver: number;
  /**
   * Who saved it: the receiver what it had not read (`received`), the sender what it had not got into the channel
   * (`unsent`); the receiver also what was left of an earlier run (`restored`), which comes before all that is of this one.
   */
  readonly part: 'restored' | 'received' | 'unsent';
  /** Of the channel when the receiver took the checkpoint; MAX_WATERMARK if it was idle or ended. Not with `unsent`. */
  readonly watermarkMs: number | undefined;
  /** The elements, as docs/formats/in-flight.md draws them. */
  readonly stream: StreamHandle;
}

/** How long the parts of a checkpoint took in one subtask, in milliseconds (fractions allowed), and what it weighs. */
export interface SubtaskCheckpointMetrics {
  /** From the trigger until the first barrier arrived. */
  readonly startDelayMs: number;
  /** From the first barrier until the last; 0 with one channel. */
  readonly alignmentMs: number;
  /** The task did nothing else for that long. */
  readonly syncMs: number;
  /** Writing, beside processing. */
  readonly asyncMs: number;
  /** Bytes of all state that the checkpoint refers to. */
  readonly stateSizeBytes: number;
  /** Bytes written for this checkpoint; equal to `stateSizeBytes` unless it is incremental. */
  readonly checkpointedBytes: number;
  /** Bytes that were processed during the alignment. */
  readonly processedBytes: number;
  /** Bytes of in-flight data that were saved. */
  readonly persistedBytes: number;
  /** Name of the channel whose barrier came last, for reports. */
  readonly lastChannel?: string;
  /** Its barrier overtook data, or would have if there had been any; absent: it did not. */
  readonly unaligned?: boolean;
  /** Of the task of a source: the records that it had emitted before the barrier, since the start of the attempt. */
  readonly sourceRecords?: number;
}

/** Which subtask in which attempt. A subtask that was restarted has a higher attempt number. */
export interface SubtaskAttempt {
  readonly vertexIndex: number;
  readonly subtaskIndex: number;
  readonly attemptNumber: number;
}

/** The subtask has written its state for the checkpoint. */
export interface TaskAcknowledgement extends SubtaskAttempt {
  readonly checkpointId: number;
  readonly operators: readonly OperatorState[];
  readonly files: readonly SnapshotFile[];
  /** Data in flight that its barrier overtook; absent: none. */
  readonly inFlight?: readonly ChannelState[];
  readonly metrics: SubtaskCheckpointMetrics;
}

/**
 * Why a subtask does not take part. `snapshot-failed` counts against the tolerable failures; the others are how a
 * checkpoint ends when something else happened, and do not.
 */
export type DeclineReason =
  | 'snapshot-failed'
  | 'not-ready'
  | 'newer-barrier'
  | 'cancellation-barrier'
  | 'end-of-input'
  | 'closing';

/** The subtask has not written its state and will not. */
export interface TaskDecline extends SubtaskAttempt {
  readonly checkpointId: number;
  readonly reason: DeclineReason;
  /** For people: which operator, what happened. */
  readonly message: string;
}

/** The identity of a subtask in maps and messages: `vertex.subtask`. */
export function subtaskKey(subtask: { readonly vertexIndex: number; readonly subtaskIndex: number }): string {
  return `${subtask.vertexIndex}.${subtask.subtaskIndex}`;
}
