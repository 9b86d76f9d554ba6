/**
 * Which checkpoint a restart begins from, and which completed ones stay. Used by the checkpoint coordinator alone.
 *
 * The newest restorable checkpoint that completed is the one. A checkpoint that may or may not have become complete stands
 * in the way of the answer until its files are gone, unless a newer one completed: nobody looks at older ones then.
 */
import { retainNewest } from './retention.ts';

export class RestorePoint {
  private readonly retainedCount: number;
  private retained: readonly number[] = [];
  private newest: number | undefined;
  private readonly uncertain = new Set<number>();

  constructor(retainedCount: number) {
    this.retainedCount = retainedCount;
  }

  /** undefined: the job begins anew. */
  get checkpointId(): number | undefined {
    return this.newest;
  }

  /** False while whoever looks into the directory might find a newer one. */
  get isCertain(): boolean {
    return this.uncertain.size === 0;
  }

  /** Oldest first. */
  get retainedIds(): readonly number[] {
    return this.retained;
  }

  /** It is there already and the job begins with it, or it is an older one of the job's own. */
  found(checkpointId: number, isRetained: boolean): void {
    this.newest = checkpointId;
    if (isRetained && !this.retained.includes(checkpointId))
      this.retained = [...this.retained, checkpointId].sort((a, b) => a - b);
  }

  /** A restorable checkpoint completed. */
  completed(checkpointId: number): void {
    this.newest = checkpointId;
    for (const id of this.uncertain) if (id < checkpointId) this.uncertain.delete(id);
  }

  /** It is one of the job's checkpoints, which are limited in number. Returns those that have to go. */
  retain(checkpointId: number): readonly number[] {
    const { kept, subsumed } = retainNewest([...this.retained, checkpointId], this.retainedCount);
    this.retained = kept;
    return subsumed;
  }

  /** Nobody knows whether it became complete. */
  doubt(checkpointId: number): void {
    this.uncertain.add(checkpointId);
  }

  /** Its files are gone. */
  discarded(checkpointId: number): void {
    this.uncertain.delete(checkpointId);
  }
}
