/**
 * Why a checkpoint fails: each kind with Flink's text, and whether it counts against the tolerable failures.
 *
 * Read by the coordinator, whose messages end with the text, and by its failure counter. What counts is trouble that the
 * next checkpoint will probably meet again. What does not: the checkpoint was in the way of something else that happened.
 *
 * (org.apache.flink.runtime.checkpoint.CheckpointFailureReason and CheckpointFailureManager.)
 */
import type { DeclineReason } from './acknowledgement.ts';

/** Why a checkpoint failed, or a request for one was refused. Declined ones fail for the reason that the task gave. */
export type CheckpointFailure =
  | DeclineReason
  | 'trigger-failed'
  | 'expired'
  | 'store-failed'
  | 'subsumed'
  | 'task-failed'
  | 'region-failover'
  | 'shutdown'
  | 'not-running'
  | 'too-many-requests'
  | 'stopping';

interface FailureInfo {
  /** Flink's text for it. */
  readonly text: string;
  /** Whether it counts against the tolerable failures. Failures of savepoints never do. */
  readonly counts: boolean;
}

export const CHECKPOINT_FAILURES: Readonly<Record<CheckpointFailure, FailureInfo>> = {
  'trigger-failed': {
    text: 'An Exception occurred while triggering the checkpoint. IO-problem detected.',
    counts: true,
  },
  'snapshot-failed': { text: 'Asynchronous task checkpoint failed.', counts: true },
  expired: { text: 'Checkpoint expired before completing.', counts: true },
  'store-failed': { text: 'Failure to finalize checkpoint.', counts: true },

  'not-ready': { text: 'Checkpoint was declined (tasks not ready)', counts: false },
  closing: { text: 'Checkpoint was declined (task is closing)', counts: false },
  'newer-barrier': {
    text: 'Checkpoint was canceled because a barrier from newer checkpoint was received.',
    counts: false,
  },
  'cancellation-barrier': { text: 'Task received cancellation from one of its inputs', counts: false },
  'end-of-input': { text: 'Checkpoint was declined because one input stream is finished', counts: false },

  subsumed: { text: 'Checkpoint has been subsumed.', counts: false },
  'task-failed': { text: 'Task has failed.', counts: false },
  'region-failover': { text: 'FailoverRegion is restarting.', counts: false },
  shutdown: { text: 'CheckpointCoordinator shutdown.', counts: false },

  'not-running': { text: 'Not all required tasks are currently running.', counts: false },
  'too-many-requests': { text: 'The maximum number of queued checkpoint requests exceeded', counts: false },
  stopping: { text: 'Periodic checkpoint scheduler is shut down.', counts: false },
};
