/**
 * What a task answers to a barrier: an acknowledgement with the handles of its state, or a decline.
 *
 * Plain structured-clonable data. Made by the tasks' side of the runtime, read by the checkpoint coordinator. Every
 * participant answers every checkpoint that it was told of, once.
 */
import type { OperatorSubtaskState } from '../state/index.ts';

/** A data file of a snapshot as its writer left it: synced, closed, its directory synced. */
export interface SnapshotFile {
  /** Relative to the directory of the snapshot, separated by `/`. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Of the whole file, lower-case hex. */
  readonly sha256: string;
}

/** The state of one operator of a task's chain. Operators without state may be left out. */
export interface OperatorState {
  readonly uid: string;
  readonly state: OperatorSubtaskState;
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
