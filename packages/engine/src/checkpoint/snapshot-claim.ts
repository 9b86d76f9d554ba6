/**
 * Snapshots somewhere else that the job owns because it claimed them at its start. A claim has two halves:
 *
 *   <snapshot>/_claimed   which job owns it: stays when the job is gone, so that a restart of the job finds its own, and
 *                         whoever wrote the snapshot knows that it is no longer his
 *   <snapshot>/_lock.<n>  held while the job runs, so that two jobs never own it at the same time
 *
 * A snapshot that a dead job claimed may be claimed by another; the file then names that one. Used by the storages, one each.
 *
 * Invariants:
 * I1 Who holds the lock and is named in `_claimed` owns the snapshot. Both change under the lock only.
 * I2 A checkpoint in the directory of a job that runs cannot be claimed: that job would delete it.
 * I3 What is removed is what the manifest names, `_metadata` first, and the directory only if nothing else is in it: where
 *    the user put the snapshot, there may be files of his beside it.
 */
import { hasCode, MillraceError } from '../base/index.ts';
import type { DirectoryLock, Platform } from '../platform/index.ts';
import type { CompletedSnapshot, StorageOwner } from './checkpoint-storage.ts';
import { type Claimant, readJobFile, readRecord, writeJobFile, writeRecord } from './job-file.ts';
import { settleSnapshot } from './snapshot-directory.ts';
import { CLAIM_FILE, joinPath, METADATA_FILE, parentPath } from './snapshot-path.ts';
import { type OpenedSnapshot, readSnapshot } from './snapshot-reader.ts';

const LOCK_FILE = /^_lock\.[1-9]\d*$/;

/** Who has claimed the snapshot in `directory`; undefined if nobody has. */
export function claimantOf(platform: Platform, directory: string): Promise<Claimant | undefined> {
  return readRecord(platform, joinPath(directory, CLAIM_FILE), (reader) => {
    reader.word('format', ['millrace-claim']);
    return { jobId: reader.text('jobId'), jobName: reader.text('jobName') };
  });
}

export class ClaimedSnapshots {
  private readonly platform: Platform;
  /** By directory. */
  private readonly locks = new Map<string, DirectoryLock>();

  constructor(platform: Platform) {
    this.platform = platform;
  }

  has(directory: string): boolean {
    return this.locks.has(directory);
  }

  get directories(): string[] {
    return [...this.locks.keys()];
  }

  /**
   * Makes the snapshot the job's own. Rejects with CHECKPOINT_DIRECTORY_IN_USE if another running job has claimed it or
   * still owns it as its checkpoint, CHECKPOINT_DIRECTORY_NOT_WRITABLE, or SNAPSHOT_NOT_FOUND if it is gone by now.
   */
  async claim(snapshot: CompletedSnapshot, owner: StorageOwner): Promise<void> {
    const directory = snapshot.directory!;
    const lock = await this.lock(directory, `the snapshot ${directory} cannot be claimed`);
    try {
      const { files, path } = this.platform.fileSystem(directory);
      if ((await files.stat(joinPath(path, METADATA_FILE))) === undefined) {
        const message = `The snapshot ${directory} was deleted before it could be claimed.`;
        throw new MillraceError('SNAPSHOT_NOT_FOUND', message, { details: { path: directory } });
      }
      const before = await claimantOf(this.platform, directory);
      if (before === undefined) await this.takeFromItsJob(snapshot, owner);
      else if (before.jobId !== owner.jobId) {
        const message = `${directory} was claimed by job '${before.jobName}' (${before.jobId}), which does not run`;
        this.platform.logger.log('info', `${message}: it is now of job '${owner.jobName}'`);
      }
      const { jobId, jobName } = owner;
      await writeRecord(this.platform, directory, CLAIM_FILE, { format: 'millrace-claim', jobId, jobName });
      this.locks.set(directory, lock);
    } catch (error) {
      await lock.release().catch(() => {});
      throw error;
    }
  }

  /**
   * Takes up claims that the job made before it was started again. What another has claimed meanwhile, or is gone, is not
   * its own any more.
   */
  async resume(directories: readonly string[], owner: StorageOwner): Promise<void> {
    for (const directory of directories) {
      if ((await claimantOf(this.platform, directory))?.jobId !== owner.jobId) continue;
      try {
        // The claim may have been written by a process that was killed before its name was durable.
        await settleSnapshot(this.platform, directory);
        const lock = await this.lock(directory, 'a claimed snapshot cannot be taken up');
        if ((await claimantOf(this.platform, directory))?.jobId === owner.jobId)
          this.locks.set(directory, lock);
        else await lock.release();
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.platform.logger.log('warn', `a claimed snapshot is left alone: ${reason}`, { directory });
      }
    }
  }

  /** Those that can be read, oldest first. */
  async list(): Promise<OpenedSnapshot[]> {
    const snapshots: OpenedSnapshot[] = [];
    for (const directory of this.locks.keys()) {
      try {
        snapshots.push(await readSnapshot(this.platform, directory));
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.platform.logger.log('warn', `a claimed snapshot cannot be used: ${reason}`, { directory });
      }
    }
    return snapshots;
  }

  /** Removes a claimed snapshot (I3). Rejects with FILE_SYSTEM_ERROR; may be tried again. */
  async remove({ directory, manifest }: CompletedSnapshot): Promise<void> {
    const { files, path } = this.platform.fileSystem(directory!);
    if ((await files.stat(path)) !== undefined) {
      await files.delete(joinPath(path, METADATA_FILE));
      await files.syncDirectory(path);
      for (const file of manifest.files) await files.delete(joinPath(path, file.path));
      await this.unlock(directory!);
      await files.delete(joinPath(path, CLAIM_FILE));
      const rest = (await files.list(path)).map(({ name }) => name);
      const foreign = rest.filter((name) => !LOCK_FILE.test(name));
      for (const name of rest) if (!foreign.includes(name)) await files.delete(joinPath(path, name));
      if (foreign.length === 0) await files.delete(path);
      else {
        const message = `the claimed snapshot ${directory} is removed; other files beside it stay`;
        this.platform.logger.log('info', message, { files: foreign.length });
      }
    }
    await this.unlock(directory!);
  }

  /** Lets all go; they stay what they are on disk. Never rejects. */
  async release(): Promise<void> {
    for (const directory of [...this.locks.keys()]) await this.unlock(directory).catch(() => {});
  }

  private async unlock(directory: string): Promise<void> {
    const lock = this.locks.get(directory);
    this.locks.delete(directory);
    await lock?.release();
  }

  /** I2. If it is a checkpoint of a job that is dead, that job is told that it has lost it. */
  private async takeFromItsJob(snapshot: CompletedSnapshot, owner: StorageOwner): Promise<void> {
    const directory = snapshot.directory!;
    const jobDirectory = parentPath(directory);
    const record = jobDirectory === undefined ? undefined : await readJobFile(this.platform, jobDirectory);
    if (jobDirectory === undefined || record === undefined || record.jobId === owner.jobId) return;
    const what = `the snapshot ${directory} belongs to job '${record.jobName}' (${record.jobId})`;
    const lock = await this.lock(jobDirectory, `${what} and cannot be claimed`);
    try {
      const { checkpointId, timestampMs } = snapshot.manifest;
      const { jobId, jobName } = owner;
      const isNewest = checkpointId >= (record.lost?.checkpointId ?? 0);
      const lost = isNewest ? { checkpointId, timestampMs, jobId, jobName } : record.lost;
      await writeJobFile(this.platform, jobDirectory, { ...record, lost });
    } finally {
      await lock.release();
    }
  }

  private async lock(directory: string, what: string): Promise<DirectoryLock> {
    const { files, path } = this.platform.fileSystem(directory);
    try {
      return await files.lockDirectory(path);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const isHeld = hasCode(error, 'CHECKPOINT_DIRECTORY_IN_USE');
      const advice = isHeld
        ? 'A snapshot has one owner. Stop the job that has it, or start this one with the claim mode NO_CLAIM.'
        : 'The claim mode NO_CLAIM needs no right to write there.';
      throw new MillraceError(
        isHeld ? 'CHECKPOINT_DIRECTORY_IN_USE' : 'CHECKPOINT_DIRECTORY_NOT_WRITABLE',
        `${what}: ${reason.replace(/\.$/, '')}. ${advice}`,
        { cause: error, details: { directory } },
      );
    }
  }
}
