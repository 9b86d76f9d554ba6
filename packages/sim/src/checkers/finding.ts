/** What a checker found wrong with a run. */

/** The kinds of findings. */
export type FindingKind =
  /** Committed results are not those of an undisturbed run. */
  | 'results'
  /** The job does not come to its end although nothing is done to it any more. */
  | 'hang'
  /** A promise was rejected and nobody handled it: a real process would have ended. */
  | 'unhandled-rejection'
  /** The job, or the simulator, failed of something that was not done to it. */
  | 'unexpected-error'
  /** An id of a checkpoint came again or went back. */
  | 'checkpoint-id'
  /** A checkpoint began too soon, or beside too many others; a request was not answered, or twice. */
  | 'checkpoint'
  /** More waits, or is saved of data in flight, than may be. */
  | 'memory'
  /** A split of a source is in two places of a snapshot, or in none. */
  | 'splits'
  /** Keyed state after a restore is not what it was at the barrier. */
  | 'state'
  /** A savepoint that was taken by hand is gone, or a job that starts from it does not come to the right results. */
  | 'savepoint'
  /** A file that a snapshot needs is missing or damaged, or nobody needs one that is there. */
  | 'files'
  /** The same seed gave two different runs. */
  | 'not-deterministic';

export interface Finding {
  readonly kind: FindingKind;
  /** A sentence or a few lines, for people. */
  readonly message: string;
}
