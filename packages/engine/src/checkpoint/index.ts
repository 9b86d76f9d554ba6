/**
 * The front door of the floor: everything that decides about checkpoints (alignment, coordination, retention, the choice of
 * a snapshot, the check and assignment of its state), and everything that stores and reads them.
 */
export {
  type ChannelState,
  type DeclineReason,
  type EdgeIdentity,
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
export { type CheckpointConfigInfo, checkpointConfigInfo } from './checkpoint-config-info.ts';
export { CheckpointCoordinator } from './checkpoint-coordinator.ts';
export type {
  CheckpointAction,
  CheckpointAnswer,
  CheckpointEvent,
  EventTime,
  RequestId,
} from './checkpoint-event.ts';
export { CHECKPOINT_FAILURES, type CheckpointFailure } from './checkpoint-failure.ts';
export type { StatisticsVertex, SubtaskRef } from './checkpoint-record.ts';
export type {
  CheckpointingStatistics,
  CheckpointStatistics,
  CheckpointStatus,
  RestoredCheckpointStatistics,
  SubtaskCheckpointStatistics,
  TaskCheckpointStatistics,
  TaskCheckpointStatisticsWithSubtaskDetails,
} from './checkpoint-statistics.ts';
export { CheckpointStatisticsTracker, type CheckpointSummary } from './checkpoint-statistics-tracker.ts';
export type {
  CheckpointLocation,
  CheckpointStorage,
  CheckpointStreams,
  CompletedSnapshot,
  FinishedStream,
  SnapshotPlace,
  StateStream,
  StorageOwner,
} from './checkpoint-storage.ts';
export { assignInFlight, type InFlightFilter, type InFlightPiece } from './in-flight-assignment.ts';
export {
  type ChannelSnapshot,
  type EdgeDescription,
  type EdgePartitioning,
  type EdgeSnapshot,
  edgeKey,
  inFlightBytes,
} from './in-flight-data.ts';
export { lockJob } from './job-lock.ts';
export { findLatestSnapshot, jobThatClaimed, type LatestSnapshot } from './latest-snapshot.ts';
export type { CheckpointSurroundings, SubtaskActivity } from './missing-subtasks.ts';
export type { StatsSummary } from './quantile-summary.ts';
export {
  explainRecovery,
  type Recovery,
  type ReplayedRecords,
  type RestoredSnapshot,
  recoveryLine,
} from './recovery-explanation.ts';
export {
  assertRestorable,
  checkRestore,
  type JobToRestore,
  type RestoreOptions,
  summarize,
} from './restore-check.ts';
export {
  droppedStateLines,
  type EdgeMatch,
  type EdgeOutcome,
  type OperatorToRestore,
  type RestoreMatch,
  type RestoreOutcome,
  type RestoreReport,
  restoreReportText,
  type SavedOperatorSummary,
} from './restore-report.ts';
export { type JobEnd, type KeptAtEnd, keptAtEnd, retainNewest } from './retention.ts';
export { sameType } from './same-type.ts';
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
  preferredCheckpointText,
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
export { streamLengthBytes } from './stream-length.ts';
