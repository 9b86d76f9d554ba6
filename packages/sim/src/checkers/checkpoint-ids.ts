/**
 * Ids of checkpoints rise: none completes that has an older id than one that was complete. Looks at manifests: they are
 * complete when the directory of the job is synced after they got their final names. One that is removed again, because
 * the sync seemed to fail, never was.
 */
import type { SimulatedEvent } from '../../../engine/src/testing/simulation/index.ts';

const FINAL_NAME = /^rename .* to (\/.*)\/chk-(\d+)\/_metadata$/;
const REMOVED = /^delete (\/.*)\/chk-(\d+)\/_metadata$/;
const SYNCED = /^syncDirectory (\/.*)$/;

interface Named {
  readonly id: number;
  readonly process: string;
}

export class CheckpointIds {
  /** What was wrong first. */
  problem: string | undefined;
  /** By directory of the job: the newest complete one, and one that has its name. */
  private readonly newest = new Map<string, Named>();
  private readonly named = new Map<string, Named>();

  /** An event is about to happen. */
  event({ kind, detail, thread }: SimulatedEvent): void {
    if (kind !== 'file' || thread === undefined) return;
    const removed = REMOVED.exec(detail);
    if (removed !== null) {
      for (const known of [this.newest, this.named])
        if (known.get(removed[1]!)?.id === Number(removed[2])) known.delete(removed[1]!);
    }
    const final = FINAL_NAME.exec(detail);
    if (final !== null) this.named.set(final[1]!, { id: Number(final[2]), process: thread.process.name });
    const synced = SYNCED.exec(detail);
    if (synced !== null) this.complete(synced[1]!);
  }

  private complete(directory: string): void {
    const named = this.named.get(directory);
    if (named === undefined) return;
    this.named.delete(directory);
    const before = this.newest.get(directory);
    if (before !== undefined && named.id < before.id) {
      const where = `in ${named.process} after ${before.id} in ${before.process}`;
      this.problem ??= `checkpoint ${named.id} of ${directory} completes ${where}`;
    }
    this.newest.set(directory, named);
  }
}
