/** What separates the records of one checkpoint from those of the next, as the coordinator sends it out. */

/**
 * Why a checkpoint is taken. After `savepoint-suspend` and `savepoint-terminate` the job stops; the latter lets event time
 * end first, so that all timers fire.
 */
export type CheckpointKind = 'checkpoint' | 'savepoint' | 'savepoint-suspend' | 'savepoint-terminate';

/** A barrier. */
export interface CheckpointBarrier {
  readonly checkpointId: number;
  /** Wall time of the trigger, milliseconds since the epoch. */
  readonly timestampMs: number;
  readonly kind: CheckpointKind;
}

/** True for every kind that makes a savepoint. */
export function isSavepoint(kind: CheckpointKind): boolean {
  return kind !== 'checkpoint';
}

/** True if the job stops when it is complete. */
export function stopsJob(kind: CheckpointKind): boolean {
  return kind === 'savepoint-suspend' || kind === 'savepoint-terminate';
}
