/**
 * Which completed checkpoints stay. Savepoints are the user's: never counted or deleted here, unless the job has claimed one.
 *
 *   job status   NO_EXTERNALIZED   DELETE_ON_CANCELLATION   RETAIN_ON_CANCELLATION
 *   FINISHED     delete (*)        delete (*)               delete (*)
 *   CANCELED     delete            delete                   keep
 *   FAILED       delete (*)        keep                     keep
 *   SUSPENDED    keep              keep                     keep        (no end: the job goes on later or elsewhere)
 *
 *   (*) but for the newest, if the job is gone on with: it starts from `latest`, or was stopped in order to go on. Without
 *   the newest it would begin anew when it is started once more, and show every result twice.
 *
 * In Flink SUSPENDED deletes in the first two columns unless there is high availability, which keeps in all of them. Here
 * the directory of checkpoints is what a job is found in again, as there.
 */
import { unreachable } from '../base/index.ts';
import type { CheckpointRetention } from './settings.ts';

/** How a job ended. */
export type JobEnd = 'FINISHED' | 'CANCELED' | 'FAILED' | 'SUSPENDED';

/** What of the retained checkpoints stays at the end. */
export type KeptAtEnd = 'all' | 'newest' | 'none';

/** What `retained` (ids, oldest first) becomes when only `count` (at least 1) may stay. */
export function retainNewest(
  retained: readonly number[],
  count: number,
): { readonly kept: readonly number[]; readonly subsumed: readonly number[] } {
  const ordered = [...retained].sort((a, b) => a - b);
  const cut = Math.max(0, ordered.length - Math.max(1, count));
  return { kept: ordered.slice(cut), subsumed: ordered.slice(0, cut) };
}

/** What stays when the job has ended like that. `goesOn`: it is going to be started again from its newest checkpoint. */
export function keptAtEnd(end: JobEnd, retention: CheckpointRetention, goesOn: boolean): KeptAtEnd {
  switch (end) {
    case 'FINISHED':
      return goesOn ? 'newest' : 'none';
    case 'CANCELED':
      return retention === 'RETAIN_ON_CANCELLATION' ? 'all' : 'none';
    case 'FAILED':
      if (retention !== 'NO_EXTERNALIZED_CHECKPOINTS') return 'all';
      return goesOn ? 'newest' : 'none';
    case 'SUSPENDED':
      return 'all';
    default:
      return unreachable(end);
  }
}
