/** The settings of checkpointing after configuration, setters and defaults were put together. */

export type CheckpointingMode = 'EXACTLY_ONCE' | 'AT_LEAST_ONCE';

/** What happens to retained checkpoints when the job is cancelled. FAILED always keeps them, FINISHED deletes. */
export type CheckpointRetention = 'DELETE_ON_CANCELLATION' | 'RETAIN_ON_CANCELLATION';

/** Where checkpoints go. `jobmanager`: memory of this process, gone with it. */
export type CheckpointStorageSettings =
  | { readonly kind: 'jobmanager'; readonly maxStateSizeBytes: number }
  | { readonly kind: 'filesystem'; readonly uri: string; readonly inlineThresholdBytes: number };

export interface CheckpointSettings {
  /** undefined: no periodic checkpoints. */
  readonly intervalMs: number | undefined;
  readonly mode: CheckpointingMode;
  readonly timeoutMs: number;
  readonly minPauseMs: number;
  /** More than 1 is stored; its mechanism comes later. */
  readonly maxConcurrent: number;
  /** Consecutive failed checkpoints that are tolerated; the next one fails the job. */
  readonly tolerableFailures: number;
  readonly retention: CheckpointRetention;
  readonly retainedCount: number;
  readonly storage: CheckpointStorageSettings;
  /** False: the task writes its state before it goes on (for debugging). */
  readonly asyncSnapshots: boolean;
}
