/** The constants that users write when they configure checkpoints, under Flink's names. */
import type { CheckpointingMode as Mode } from '../checkpoint/index.ts';

/** Whether each record counts exactly once after a failure, or at least once with less delay. */
export const CheckpointingMode = {
  EXACTLY_ONCE: 'EXACTLY_ONCE',
  AT_LEAST_ONCE: 'AT_LEAST_ONCE',
} as const satisfies Record<Mode, Mode>;
export type CheckpointingMode = Mode;

/**
 * What becomes of the checkpoints of a job that is cancelled. Those of a job that failed are kept in every case, so
 * NO_EXTERNALIZED_CHECKPOINTS means the same as DELETE_ON_CANCELLATION.
 */
export const ExternalizedCheckpointCleanup = {
  DELETE_ON_CANCELLATION: 'DELETE_ON_CANCELLATION',
  RETAIN_ON_CANCELLATION: 'RETAIN_ON_CANCELLATION',
  NO_EXTERNALIZED_CHECKPOINTS: 'NO_EXTERNALIZED_CHECKPOINTS',
} as const;
export type ExternalizedCheckpointCleanup = keyof typeof ExternalizedCheckpointCleanup;

/** Flink 2's name of {@link ExternalizedCheckpointCleanup}. */
export const ExternalizedCheckpointRetention = ExternalizedCheckpointCleanup;
export type ExternalizedCheckpointRetention = ExternalizedCheckpointCleanup;
