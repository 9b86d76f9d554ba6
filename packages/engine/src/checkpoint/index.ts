/**
 * The front door of the floor: everything that decides about checkpoints (alignment, coordination, retention, the choice of
 * a snapshot, the check and assignment of its state), and everything that stores and reads them.
 */
export {
  type DeclineReason,
  type OperatorState,
  type SnapshotFile,
  type SubtaskAttempt,
  type SubtaskCheckpointMetrics,
  subtaskKey,
  type TaskAcknowledgement,
  type TaskDecline,
} from './acknowledgement.ts';
export { type CheckpointBarrier, type CheckpointKind, isSavepoint, stopsJob } from './barrier.ts';
export { type AlignerAction, BarrierAligner, type BarrierAlignerOptions } from './barrier-aligner.ts';
export { CheckpointCoordinator } from './checkpoint-coordinator.ts';
export {
  CHECKPOINT_FAILURES,
  type CheckpointAction,
  type CheckpointAnswer,
  type CheckpointEvent,
  type CheckpointFailure,
  type EventTime,
  type RequestId,
} from './checkpoint-event.ts';
export {
  type CheckpointStatistics,
  CheckpointStatisticsTracker,
  type CheckpointStatus,
  type CheckpointsOverview,
  type RestoredStatistics,
  type StatisticsVertex,
  type SubtaskDetails,
  type SubtaskStatistics,
  type VertexCheckpointStatistics,
} from './checkpoint-statistics.ts';
export type {
  CheckpointLocation,
  CheckpointStorage,
  CheckpointStreams,
  CompletedSnapshot,
  FinishedStream,
  StateStream,
  StorageOwner,
} from './checkpoint-storage.ts';
export { findLatestSnapshot, type LatestSnapshot } from './latest-snapshot.ts';
export type { SummaryOf } from './quantile-summary.ts';
export { assertRestorable, checkRestore, type RestoreOptions, sameType, summarize } from './restore-check.ts';
export {
  droppedStateLines,
  type OperatorToRestore,
  type RestoreMatch,
  type RestoreOutcome,
  type RestoreReport,
  restoreReportText,
  type SavedOperatorSummary,
} from './restore-report.ts';
export { type JobEnd, keepsCheckpoints, retainNewest } from './retention.ts';
export { formatMetadata, parseMetadata } from './savepoint-metadata.ts';
export type {
  CheckpointingMode,
  CheckpointRetention,
  CheckpointSettings,
  CheckpointStorageSettings,
} from './settings.ts';
export {
  chooseSnapshot,
  type DamagePolicy,
  newestFirst,
  type SnapshotCandidate,
  type SnapshotChoice,
  type SnapshotCondition,
} from './snapshot-choice.ts';
export {
  buildManifest,
  EMPTY_STATE,
  isEmptyState,
  type JobSnapshot,
  type OperatorDescription,
  type OperatorSnapshot,
  operatorOf,
  type RestoredSubtaskState,
  type SnapshotKind,
  type SnapshotManifest,
  stateSizeBytes,
  streamLengthBytes,
  streamsOf,
} from './snapshot-manifest.ts';
export {
  findDamage,
  type OpenedSnapshot,
  openSnapshot,
  openStateInput,
  openVerifiedSnapshot,
  type SnapshotDamage,
} from './snapshot-reader.ts';
export { assignState, type StateToAssign } from './state-assignment.ts';
export { createCheckpointStreams } from './state-stream.ts';
export { createCheckpointStorage } from './storage-selection.ts';
