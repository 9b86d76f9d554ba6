/**
 * Makes finished files visible, and removes what undone work left: the committer of FileSink.
 *
 * Committing renames a pending file into the folder of its bucket, which is made when it is first needed, and syncs both
 * directories. Again is harmless:
 *
 * | pending file | finished file | |
 * | --- | --- | --- |
 * | there, right size | any | rename |
 * | gone | there, right size | done before |
 * | gone | gone | SINK_COMMIT_LOST |
 * | there or gone, wrong size | | SINK_COMMIT_LOST |
 *
 * I1  Only names that this sink gives are renamed to or deleted, in and below the sink's own directory.
 * I2  What is deleted is not seen again after a power failure: the directory is synced, as after renaming.
 * I3  After a power failure a file has at least one of its names: the new is synced before the loss of the old.
 */
import type { FileSystem } from '../../platform/index.ts';
import type { Committer, SinkContext } from '../../runtime/index.ts';
import { commitLost, type FileCommittable } from './file-committable.ts';
import { bucketOf, isFinishedName, isLeftover, parsePendingName, partFileKey } from './part-file-names.ts';
import { writeError } from './part-file-output.ts';

export class FileCommitter implements Committer<FileCommittable> {
  readonly #context: SinkContext;
  readonly #files: FileSystem;
  readonly #directory: string;

  constructor(context: SinkContext, files: FileSystem, directory: string) {
    this.#context = context;
    this.#files = files;
    this.#directory = directory;
  }

  async commit(committables: readonly FileCommittable[]): Promise<void> {
    if (committables.length === 0) return;
    for (const committable of committables) this.#check(committable);
    const buckets = new Set(committables.map(({ finishedName }) => bucketOf(finishedName)));
    buckets.delete('');
    for (const bucket of buckets) {
      const path = `${this.#directory}/${bucket}`;
      await this.#attempt(path, () => this.#files.makeDirectory(path));
    }
    for (const committable of committables) await this.#rename(committable);
    // Also when all were renamed before: that may have been just before the power failed. The buckets first (I3).
    for (const path of [...[...buckets].map((bucket) => `${this.#directory}/${bucket}`), this.#directory])
      await this.#attempt(path, () => this.#files.syncDirectory(path));
  }

  async abortLeftovers(): Promise<void> {
    const { platform, lineageId, sinkUid, subtaskIndex, parallelism, restoredCheckpointId } = this.#context;
    const mine = {
      key: partFileKey(platform, lineageId, sinkUid),
      subtaskIndex,
      parallelism,
      restoredCheckpointId,
    };
    const entries = await this.#attempt(this.#directory, () => this.#files.list(this.#directory));
    let deleted = 0;
    for (const { name, isDirectory } of entries) {
      const file = parsePendingName(name);
      if (file === undefined || isDirectory || !isLeftover(file, mine)) continue;
      const path = `${this.#directory}/${name}`;
      await this.#attempt(path, () => this.#files.delete(path));
      deleted += 1;
    }
    if (deleted === 0) return;
    await this.#attempt(this.#directory, () => this.#files.syncDirectory(this.#directory));
    this.#context.logger.log(
      'info',
      `sink "${this.#context.sinkName}": removed files of work that was undone`,
      {
        files: deleted,
        directory: this.#directory,
      },
    );
  }

  close(): void {}

  #check(committable: FileCommittable): void {
    const { pendingName, finishedName } = committable;
    if (parsePendingName(pendingName) === undefined || !isFinishedName(finishedName))
      throw this.#lost(committable, 'its name is not one that this sink gives');
  }

  async #rename(committable: FileCommittable): Promise<void> {
    const { pendingName, finishedName, sizeBytes } = committable;
    const pending = `${this.#directory}/${pendingName}`;
    const finished = `${this.#directory}/${finishedName}`;
    const found = await this.#attempt(pending, () => this.#files.stat(pending));
    if (found !== undefined) {
      if (found.sizeBytes !== sizeBytes)
        throw this.#lost(committable, `the file has ${found.sizeBytes} bytes`);
      await this.#attempt(finished, () => this.#files.rename(pending, finished));
      return;
    }
    const done = await this.#attempt(finished, () => this.#files.stat(finished));
    if (done === undefined)
      throw this.#lost(committable, 'neither the pending nor the finished file is there');
    if (done.sizeBytes !== sizeBytes)
      throw this.#lost(committable, `the finished file has ${done.sizeBytes} bytes`);
  }

  async #attempt<R>(path: string, action: () => Promise<R>): Promise<R> {
    try {
      return await action();
    } catch (error) {
      throw writeError(this.#context.sinkName, path, error);
    }
  }

  #lost(committable: FileCommittable, found: string): Error {
    return commitLost(this.#context.sinkName, this.#directory, committable, found);
  }
}
