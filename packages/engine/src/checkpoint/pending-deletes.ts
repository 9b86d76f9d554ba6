/**
 * Directories of snapshots that are to be removed, and could not be yet. A delete that fails never fails a checkpoint: it
 * is reported once and tried again later. Used by the storages; one a storage.
 */
import type { Platform } from '../platform/index.ts';
import { removeSnapshot } from './snapshot-directory.ts';

/** More than that many are forgotten, oldest first: they stay on disk as incomplete snapshots. */
const REMEMBERED_MAX = 10_000;

export class PendingDeletes {
  private readonly platform: Platform;
  /** What removes each, by directory. */
  private readonly pending = new Map<string, () => Promise<void>>();

  constructor(platform: Platform) {
    this.platform = platform;
  }

  /** True if the directory is to be removed and is still there. */
  has(directory: string): boolean {
    return this.pending.has(directory);
  }

  /**
   * Removes a snapshot's directory, by `how` if there is more to it than that. False if it failed and is remembered. Never
   * rejects.
   */
  async remove(
    directory: string,
    how: () => Promise<void> = () => removeSnapshot(this.platform, directory),
  ): Promise<boolean> {
    try {
      await how();
      this.pending.delete(directory);
      return true;
    } catch (error) {
      if (!this.pending.has(directory)) {
        const reason = error instanceof Error ? error.message : String(error);
        this.platform.logger.log('warn', `a snapshot is not deleted yet, this is tried again: ${reason}`, {
          directory,
        });
      }
      this.pending.set(directory, how);
      if (this.pending.size > REMEMBERED_MAX) this.pending.delete(this.pending.keys().next().value!);
      return false;
    }
  }

  /** Tries all that are left once more. Never rejects. */
  async retry(): Promise<void> {
    for (const [directory, how] of [...this.pending]) await this.remove(directory, how);
  }
}
