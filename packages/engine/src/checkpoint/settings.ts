/** The settings of checkpointing after configuration, setters and defaults were put together. */

export type CheckpointingMode = 'EXACTLY_ONCE' | 'AT_LEAST_ONCE';

/** What happens to retained checkpoints when the job ends: retention.ts has the table. */
export type CheckpointRetention =
  | 'NO_EXTERNALIZED_CHECKPOINTS'
  | 'DELETE_ON_CANCELLATION'
  | 'RETAIN_ON_CANCELLATION';

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
  /** Checkpoints that may be in flight at the same time; 1 if `alignedTimeoutMs` is set. */
  readonly maxConcurrent: number;
  /**
   * How long after the trigger barriers still wait their turn; then they overtake. 0: they overtake at once; undefined: they
   * never do. Savepoints never do either.
   */
  readonly alignedTimeoutMs?: number | undefined;
  /** The interval while a source works off a backlog. 0: no checkpoints meanwhile; undefined: as otherwise. */
  readonly intervalDuringBacklogMs?: number | undefined;
  /** Consecutive failed checkpoints that are tolerated; the next one fails the job. */
  readonly tolerableFailures: number;
  readonly retention: CheckpointRetention;
  readonly retainedCount: number;
  readonly storage: CheckpointStorageSettings;
  /** False: the task writes its state before it goes on (for debugging). */
  readonly asyncSnapshots: boolean;
  /**
   * Recover from the newest checkpoint even if the job was stopped with a newer savepoint: what came between is done again.
   * Default: false.
   */
  readonly preferCheckpoint?: boolean;
}
