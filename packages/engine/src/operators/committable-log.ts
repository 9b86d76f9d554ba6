/**
 * Which committables wait for which checkpoint: the decisions of the sink operator, without I/O.
 *
 *     opened(n) ──► filled(n) ──► taken when a checkpoint >= n completed ──► removed when the commit is done
 *
 * Invariants:
 * I1 Entries are in the order of their checkpoints.
 * I2 A snapshot holds every entry that is not removed: also those that are being committed (committing twice is harmless,
 *    losing one is not), and those of checkpoints that were aborted.
 * I3 An entry is taken once.
 */
import { assert } from '../base/index.ts';

/** What one checkpoint of the writer left. */
export interface CommittableEntry<CommT> {
  readonly checkpointId: number;
  /** undefined until the writer has made them durable. */
  committables: readonly CommT[] | undefined;
  isTaken: boolean;
}

export class CommittableLog<CommT> {
  private entries: CommittableEntry<CommT>[] = [];

  /** At the barrier of the checkpoint, before its committables are known. */
  open(checkpointId: number): CommittableEntry<CommT> {
    const last = this.entries.at(-1);
    assert(
      last === undefined || last.checkpointId < checkpointId,
      `checkpoint ${checkpointId} comes after a later one`,
    );
    const entry: CommittableEntry<CommT> = { checkpointId, committables: undefined, isTaken: false };
    this.entries.push(entry);
    return entry;
  }

  /** Everything a snapshot taken now must hold (I2). Their committables may not be known yet. */
  waiting(): readonly CommittableEntry<CommT>[] {
    return [...this.entries];
  }

  /** What is to be committed now that `checkpointId` completed, in order (I3). Its snapshot held all of them, filled. */
  take(checkpointId: number): readonly CommittableEntry<CommT>[] {
    const taken = this.entries.filter((entry) => !entry.isTaken && entry.checkpointId <= checkpointId);
    for (const entry of taken) {
      assert(
        entry.committables !== undefined,
        `checkpoint ${checkpointId} completed before its committables were known`,
      );
      entry.isTaken = true;
    }
    return taken;
  }

  /** The commit of `entry` is done. */
  remove(entry: CommittableEntry<CommT>): void {
    this.entries = this.entries.filter((each) => each !== entry);
  }

  get size(): number {
    return this.entries.length;
  }
}
