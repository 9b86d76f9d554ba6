/**
 * Which completed checkpoints stay. Savepoints are the user's and never counted or deleted here.
 *
 *   job status   DELETE_ON_CANCELLATION   RETAIN_ON_CANCELLATION
 *   FINISHED     delete                   delete
 *   CANCELED     delete                   keep
 *   FAILED       keep                     keep
 *   SUSPENDED    keep                     keep        (not an end: the job goes on elsewhere or later)
 */
import { unreachable } from '../base/index.ts';
import type { CheckpointRetention } from './settings.ts';

/** How a job ended. */
export type JobEnd = 'FINISHED' | 'CANCELED' | 'FAILED' | 'SUSPENDED';

/** What `retained` (ids, oldest first) becomes when only `count` (at least 1) may stay. */
export function retainNewest(
  retained: readonly number[],
  count: number,
): { readonly kept: readonly number[]; readonly subsumed: readonly number[] } {
  const ordered = [...retained].sort((a, b) => a - b);
  const cut = Math.max(0, ordered.length - Math.max(1, count));
  return { kept: ordered.slice(cut), subsumed: ordered.slice(0, cut) };
}

/** Whether the retained checkpoints are kept when the job has ended like that. */
export function keepsCheckpoints(end: JobEnd, retention: CheckpointRetention): boolean {
  switch (end) {
    case 'FINISHED':
      return false;
    case 'CANCELED':
      return retention === 'RETAIN_ON_CANCELLATION';
    case 'FAILED':
    case 'SUSPENDED':
      return true;
    default:
      return unreachable(end);
  }
}
