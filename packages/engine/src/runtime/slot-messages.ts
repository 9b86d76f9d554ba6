/**
 * What the JobManager and the slots (threads that run tasks) say to each other. Plain structured-clonable data: the same
 * messages go over a MessagePort between threads and by direct call within one. Delivery is in order, each way.
 *
 * Consistency of sources rests on that order: splits that were assigned before a trigger message reach the reader before
 * the barrier, splits assigned after it do not.
 */
import type { SerializedError } from '../base/index.ts';
import type { CheckpointLocation, TaskAcknowledgement, TaskDecline } from '../checkpoint/index.ts';
import type { BarrierKind } from '../exchange/index.ts';
import type { FailedElement } from './failed-element.ts';
import type { SourceSplit } from './source.ts';

/** A subtask of a vertex in one execution. */
export interface TaskKey {
  readonly vertex: number;
  readonly subtask: number;
}

export type ToSlot =
  /** All slots are open: sources may emit. */
  | { readonly type: 'start' }
  | {
      readonly type: 'trigger';
      readonly checkpointId: number;
      readonly timestampMs: number;
      readonly kind: BarrierKind;
      readonly location: CheckpointLocation;
    }
  | { readonly type: 'complete'; readonly checkpointId: number }
  | { readonly type: 'aborted'; readonly checkpointId: number }
  | { readonly type: 'assign-splits'; readonly task: TaskKey; readonly splits: readonly SourceSplit[] }
  | { readonly type: 'no-more-splits'; readonly task: TaskKey }
  | { readonly type: 'enumerator-event'; readonly task: TaskKey; readonly event: unknown }
  /** All data was processed and, with checkpointing, the final checkpoint is complete. `commit`: commit without one. */
  | { readonly type: 'finish'; readonly commit: boolean }
  /** The subtasks of the vertex read on only while their watermark is not above this one. */
  | { readonly type: 'align-watermark'; readonly vertex: number; readonly maxAllowedMs: number }
  /** Sources end here, as if they had no more records: event time ends, windows are evaluated. */
  | { readonly type: 'drain' }
  /** Close the tasks as they are. */
  | { readonly type: 'cancel' };

export type FromSlot =
  | { readonly type: 'opened'; readonly planHash: string }
  | { readonly type: 'register-reader'; readonly task: TaskKey }
  | { readonly type: 'request-split'; readonly task: TaskKey }
  /** For alignment; MAX_WATERMARK: the subtask is not to be waited for. */
  | { readonly type: 'report-watermark'; readonly task: TaskKey; readonly watermarkMs: number }
  | { readonly type: 'reader-event'; readonly task: TaskKey; readonly event: unknown }
  | { readonly type: 'acknowledge'; readonly acknowledgement: TaskAcknowledgement }
  | { readonly type: 'decline'; readonly decline: TaskDecline }
  /** Everything that follows from `complete` was done by all tasks of the slot. */
  | { readonly type: 'completed'; readonly checkpointId: number }
  | { readonly type: 'end-of-data'; readonly task: TaskKey }
  | {
      readonly type: 'failed';
      readonly task: TaskKey | undefined;
      readonly error: SerializedError;
      /** What was being processed, if it is known. */
      readonly element: FailedElement | undefined;
    }
  | { readonly type: 'metrics'; readonly tasks: readonly TaskMetrics[] }
  | { readonly type: 'deliver'; readonly channelId: string; readonly values: readonly unknown[] }
  | { readonly type: 'closed' };

/** Numbers of one task, for reports. Counts are since the start of the attempt. */
export interface TaskMetrics {
  readonly task: TaskKey;
  /** When the JobManager got them, by its monotonic clock, which sets it. */
  readonly reportedMs?: number;
  readonly numRecordsIn: number;
  readonly numRecordsOut: number;
  readonly numBytesOut: number;
  readonly currentInputWatermark: number;
  readonly busyTimeMs: number;
  readonly backPressuredTimeMs: number;
  readonly stateEntries: number;
  readonly stateSizeBytes: number;
  /** Only the sum over the subtasks of a source means something: restored splits may have gone to others. */
  readonly sourceProgress:
    | { readonly done: number; readonly total: number | undefined; readonly unit: 'records' | 'bytes' }
    | undefined;
  /** Metrics of operators by operator and name. */
  readonly operators: Readonly<Record<string, Readonly<Record<string, number>>>>;
}
