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
  private readonly directories = new Set<string>();

  constructor(platform: Platform) {
    this.platform = platform;
  }

  /** Removes a snapshot's directory. False if it failed and is remembered. Never rejects. */
  async remove(directory: string): Promise<boolean> {
    try {
      await removeSnapshot(this.platform, directory);
      this.directories.delete(directory);
      return true;
    } catch (error) {
      if (!this.directories.has(directory)) {
        const reason = error instanceof Error ? error.message : String(error);
        this.platform.logger.log('warn', `a snapshot is not deleted yet, this is tried again: ${reason}`, {
          directory,
        });
      }
      this.directories.add(directory);
      if (this.directories.size > REMEMBERED_MAX)
        this.directories.delete(this.directories.values().next().value!);
      return false;
    }
  }

  /** Tries all that are left once more. Never rejects. */
  async retry(): Promise<void> {
    for (const directory of [...this.directories]) await this.remove(directory);
  }
}
