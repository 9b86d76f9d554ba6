/**
 * Makes the directories of savepoints, in places that may be slow or not answer at all. Used by the checkpoint driver; knows
 * no checkpoint.
 *
 * Invariants:
 * I1 Every call is answered within the time-out. A directory that comes later is removed.
 * I2 A target that did not answer in time is not asked again until it does: a call of a file system that hangs holds a thread
 *    of the process, and checkpoints need those that are left.
 */
import type { CheckpointStorage, SnapshotPlace } from '../checkpoint/index.ts';
import type { Platform } from '../platform/index.ts';

export interface SavepointPlacesOptions {
  readonly platform: Platform;
  readonly storage: Pick<CheckpointStorage, 'beginSavepoint' | 'discard'>;
  readonly timeoutMs: number;
}

/** What became of a place that was asked for. */
export type PlaceOutcome =
  | { readonly type: 'made'; readonly place: SnapshotPlace }
  | { readonly type: 'failed'; readonly failure: 'trigger-failed' | 'expired'; readonly message: string };

export class SavepointPlaces {
  private readonly options: SavepointPlacesOptions;
  /** Targets that did not answer in time, and have not since. */
  private readonly silent = new Set<string>();

  constructor(options: SavepointPlacesOptions) {
    this.options = options;
  }

  /** Makes a directory below `targetDirectory`. Never rejects. */
  make(targetDirectory: string): Promise<PlaceOutcome> {
    const { platform, timeoutMs } = this.options;
    const expired = (message: string): PlaceOutcome => ({ type: 'failed', failure: 'expired', message });
    if (this.silent.has(targetDirectory)) {
      const message =
        `${targetDirectory} has not answered since an earlier savepoint waited ${timeoutMs} ms for its directory there, ` +
        'and is not asked again until it does. Choose another directory.';
      return Promise.resolve(expired(message));
    }
    return new Promise((resolve) => {
      let isLate = false;
      const timer = platform.timers.after(timeoutMs, () => {
        isLate = true;
        this.silent.add(targetDirectory);
        const message = `${targetDirectory} did not answer within ${timeoutMs} ms when the savepoint's directory was to be made there.`;
        resolve(expired(message));
      });
      void this.ask(targetDirectory).then((outcome) => {
        timer.cancel();
        this.silent.delete(targetDirectory);
        if (!isLate) resolve(outcome);
        else if (outcome.type === 'made') void this.remove(outcome.place);
      });
    });
  }

  /** Removes a directory that nothing was written to. Never rejects. */
  async remove(place: SnapshotPlace): Promise<void> {
    await this.options.storage.discard(place);
  }

  private async ask(targetDirectory: string): Promise<PlaceOutcome> {
    try {
      return { type: 'made', place: await this.options.storage.beginSavepoint(targetDirectory) };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { type: 'failed', failure: 'trigger-failed', message };
    }
  }
}
