/**
 * The checkpoints that have begun and have not ended, in the order of their ids. Used by the checkpoint coordinator and by
 * what decides which one begins next; the diagram of the phases is in checkpoint-coordinator.ts.
 */
import type { TaskAcknowledgement } from './acknowledgement.ts';
import { type CheckpointBarrier, isSavepoint, stopsJob } from './barrier.ts';
import type { RequestId } from './checkpoint-event.ts';

export type CheckpointPhase = 'triggering' | 'acknowledging' | 'acknowledged' | 'storing';

export interface PendingCheckpoint {
  readonly barrier: CheckpointBarrier;
  /** Who asked for it; undefined: periodic, or the final one. */
  readonly requestId: RequestId | undefined;
  /** The job ends with it. */
  readonly isFinal: boolean;
  /** One of the job's checkpoints, though the job may stop with it; false: a savepoint that is somebody's. */
  readonly isOwn: boolean;
  /** Of what it is doing now: storing has its own time. */
  expiresMs: number;
  /** By subtask key. */
  readonly acknowledgements: Map<string, TaskAcknowledgement>;
  phase: CheckpointPhase;
}

/** A job may be restored from it: all but savepoints on the way. */
export function isRestorable({ kind }: CheckpointBarrier): boolean {
  return !isSavepoint(kind) || stopsJob(kind);
}

export class PendingCheckpoints {
  private readonly byId = new Map<number, PendingCheckpoint>();

  get size(): number {
    return this.byId.size;
  }

  /** Oldest first. A copy: entries may be removed meanwhile. */
  list(): PendingCheckpoint[] {
    return [...this.byId.values()];
  }

  /** Its id is higher than all before. */
  add(pending: PendingCheckpoint): void {
    this.byId.set(pending.barrier.checkpointId, pending);
  }

  remove(pending: PendingCheckpoint): void {
    this.byId.delete(pending.barrier.checkpointId);
  }

  /** The checkpoint of that id if it is in one of the phases. */
  find(checkpointId: number, ...phases: readonly CheckpointPhase[]): PendingCheckpoint | undefined {
    const pending = this.byId.get(checkpointId);
    return pending !== undefined && phases.includes(pending.phase) ? pending : undefined;
  }

  has(condition: (pending: PendingCheckpoint) => boolean): boolean {
    return this.list().some(condition);
  }

  /** Savepoints on the way. */
  get savepointCount(): number {
    return this.list().filter(({ barrier }) => !isRestorable(barrier)).length;
  }
}
