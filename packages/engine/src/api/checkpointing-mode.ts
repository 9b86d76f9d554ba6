/** The constants that users write when they configure checkpoints, under Flink's names. */
import type { CheckpointingMode as Mode } from '../checkpoint/index.ts';

/** Whether each record counts exactly once after a failure, or at least once with less delay. */
export const CheckpointingMode = {
  EXACTLY_ONCE: 'EXACTLY_ONCE',
  AT_LEAST_ONCE: 'AT_LEAST_ONCE',
} as const satisfies Record<Mode, Mode>;
export type CheckpointingMode = Mode;

/**
 * What becomes of the checkpoints at the end of the job. DELETE_ON_CANCELLATION (the default): deleted if it is cancelled,
 * kept if it fails. RETAIN_ON_CANCELLATION: kept in both cases. NO_EXTERNALIZED_CHECKPOINTS: deleted in both.
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
