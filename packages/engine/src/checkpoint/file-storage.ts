/**
 * Checkpoints in a file system: `<dir>/<job id>/chk-<n>/`. The JobManager's side; tasks write by state-stream.ts.
 *
 * Used by the JobManager alone. The job's directory is locked from `open` to `close`, so nobody else writes or deletes
 * below it. Savepoints may go anywhere else and are not locked: their directories have random names.
 */
import { assert, hasCode, MillraceError } from '../base/index.ts';
import type { DirectoryLock, Platform } from '../platform/index.ts';
import type {
  CheckpointLocation,
  CheckpointStorage,
  CompletedSnapshot,
  StorageOwner,
} from './checkpoint-storage.ts';
import { readJobFile, writeJobFile } from './job-file.ts';
import { PendingDeletes } from './pending-deletes.ts';
import { completeSnapshot } from './snapshot-directory.ts';
import type { SnapshotManifest } from './snapshot-manifest.ts';
import {
  checkpointDirectoryName,
  checkpointIdOf,
  joinPath,
  METADATA_FILE,
  savepointDirectoryName,
} from './snapshot-path.ts';
import { readSnapshot } from './snapshot-reader.ts';

/** A random name is taken once in 2^48 tries; ten in a row are not bad luck. */
const NAME_TRIES_MAX = 10;

export interface FileStorageOptions {
  /** URI or plain path of the checkpoint directory. */
  readonly directory: string;
  readonly inlineThresholdBytes: number;
}

export class FileCheckpointStorage implements CheckpointStorage {
  readonly name = 'FileSystemCheckpointStorage';
  private readonly platform: Platform;
  private readonly options: FileStorageOptions;
  private readonly deletes: PendingDeletes;
  private owner: StorageOwner | undefined;
  /** The savepoint that the job was stopped with: nobody would find it, were the directory removed. */
  private stoppedWith: string | undefined;
  private lock: DirectoryLock | undefined;

  constructor(platform: Platform, options: FileStorageOptions) {
    this.platform = platform;
    this.options = options;
    this.deletes = new PendingDeletes(platform);
  }

  async open(owner: StorageOwner): Promise<void> {
    assert(this.lock === undefined, 'the storage is open already');
    this.owner = owner;
    const { files, path } = this.platform.fileSystem(this.jobDirectory());
    try {
      await files.makeDirectory(path);
      this.lock = await files.lockDirectory(path);
      this.stoppedWith = (await readJobFile(this.platform, this.jobDirectory()))?.stoppedWith;
      await this.recordJob();
      await this.removeUnfinished();
    } catch (error) {
      await this.unlock();
      if (!hasCode(error, 'FILE_SYSTEM_ERROR')) throw error;
      throw notWritable('checkpoint', this.options.directory, 'execution.checkpointing.dir', error);
    }
  }

  async begin(checkpointId: number): Promise<CheckpointLocation> {
    const directory = joinPath(this.jobDirectory(), checkpointDirectoryName(checkpointId));
    const { files, path } = this.platform.fileSystem(directory);
    await files.makeDirectory(path);
    return this.locationOf(checkpointId, directory);
  }

  beginSavepoint(checkpointId: number, targetDirectory: string): Promise<CheckpointLocation> {
    const { inlineThresholdBytes } = this.options;
    const { jobId } = this.owned();
    return makeSavepointDirectory(this.platform, checkpointId, jobId, targetDirectory, inlineThresholdBytes);
  }

  async complete(
    location: CheckpointLocation,
    manifest: SnapshotManifest,
    stopsJob = false,
  ): Promise<CompletedSnapshot> {
    const snapshot = await completeInDirectory(this.platform, location, manifest);
    if (stopsJob && manifest.kind === 'savepoint') {
      this.stoppedWith = snapshot.directory;
      await this.recordJob();
    }
    return snapshot;
  }

  discard(location: CheckpointLocation): Promise<boolean> {
    return location.kind === 'directory' ? this.deletes.remove(location.directory) : Promise.resolve(true);
  }

  delete(snapshot: CompletedSnapshot): Promise<boolean> {
    return snapshot.directory === undefined ? Promise.resolve(true) : this.deletes.remove(snapshot.directory);
  }

  retryDeletes(): Promise<void> {
    return this.deletes.retry();
  }

  async listCompleted(): Promise<CompletedSnapshot[]> {
    const { files } = this.platform.fileSystem(this.jobDirectory());
    const completed: CompletedSnapshot[] = [];
    for (const { directory, path } of await this.checkpointDirectories()) {
      if ((await files.stat(joinPath(path, METADATA_FILE))) === undefined) continue;
      try {
        completed.push(await readSnapshot(this.platform, directory));
      } catch (error) {
        if (hasCode(error, 'FILE_SYSTEM_ERROR')) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        this.platform.logger.log('warn', `a checkpoint cannot be used: ${reason}`, { directory });
      }
    }
    return completed.sort((a, b) => a.checkpointId - b.checkpointId);
  }

  async close(): Promise<void> {
    if (this.lock === undefined) return;
    await this.deletes.retry();
    try {
      if (this.stoppedWith === undefined && (await this.checkpointDirectories()).length === 0) {
        const { files, path } = this.platform.fileSystem(this.jobDirectory());
        await files.delete(path);
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.platform.logger.log('warn', `the job's checkpoint directory could not be removed: ${reason}`);
    }
    await this.unlock();
  }

  private recordJob(): Promise<void> {
    const { platform, stoppedWith } = this;
    return writeJobFile(platform, this.jobDirectory(), { ...this.owned(), stoppedWith });
  }

  private async unlock(): Promise<void> {
    const { lock } = this;
    this.lock = undefined;
    await lock?.release();
  }

  private owned(): StorageOwner {
    assert(this.owner !== undefined, 'the storage was not opened');
    return this.owner;
  }

  private jobDirectory(): string {
    return joinPath(this.options.directory, this.owned().jobId);
  }

  private locationOf(checkpointId: number, directory: string): CheckpointLocation {
    const { inlineThresholdBytes } = this.options;
    return { kind: 'directory', checkpointId, directory, inlineThresholdBytes };
  }

  private async checkpointDirectories(): Promise<{ directory: string; path: string }[]> {
    const jobDirectory = this.jobDirectory();
    const { files, path } = this.platform.fileSystem(jobDirectory);
    return (await files.list(path)).flatMap(({ name, isDirectory }) => {
      if (checkpointIdOf(name) === undefined || !isDirectory) return [];
      return [{ directory: joinPath(jobDirectory, name), path: joinPath(path, name) }];
    });
  }

  /** What an earlier process of this job did not complete. It is dead: we have its lock. */
  private async removeUnfinished(): Promise<void> {
    for (const { directory, path } of await this.checkpointDirectories()) {
      const { files } = this.platform.fileSystem(directory);
      if ((await files.stat(joinPath(path, METADATA_FILE))) === undefined)
        await this.deletes.remove(directory);
    }
  }
}

/** CHECKPOINT_DIRECTORY_NOT_WRITABLE with the file system's own words. */
function notWritable(what: string, directory: string, option: string, cause: unknown): MillraceError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new MillraceError(
    'CHECKPOINT_DIRECTORY_NOT_WRITABLE',
    `the ${what} directory ${directory} (${option}) cannot be used: ${reason}`,
    { cause, details: { directory } },
  );
}

/** Makes `<targetDirectory>/savepoint-<short id>-<random>/`. Rejects with CHECKPOINT_DIRECTORY_NOT_WRITABLE. */
export async function makeSavepointDirectory(
  platform: Platform,
  checkpointId: number,
  jobId: string,
  targetDirectory: string,
  inlineThresholdBytes: number,
): Promise<CheckpointLocation> {
  try {
    for (let tries = 0; tries < NAME_TRIES_MAX; tries++) {
      const directory = joinPath(targetDirectory, savepointDirectoryName(jobId, platform.random.hex(6)));
      const { files, path } = platform.fileSystem(directory);
      if ((await files.stat(path)) !== undefined) continue;
      await files.makeDirectory(path);
      return { kind: 'directory', checkpointId, directory, inlineThresholdBytes };
    }
  } catch (error) {
    if (!hasCode(error, 'FILE_SYSTEM_ERROR')) throw error;
    throw notWritable('savepoint', targetDirectory, 'execution.checkpointing.savepoint-dir', error);
  }
  throw notWritable(
    'savepoint',
    targetDirectory,
    'execution.checkpointing.savepoint-dir',
    'every random name is taken',
  );
}

/** Completes a snapshot whose location is a directory. */
export async function completeInDirectory(
  platform: Platform,
  location: CheckpointLocation,
  manifest: SnapshotManifest,
): Promise<CompletedSnapshot> {
  assert(location.kind === 'directory', 'a snapshot in memory has no directory');
  assert(location.checkpointId === manifest.checkpointId, 'the manifest is that of another checkpoint');
  const metadataBytes = await completeSnapshot(platform, location.directory, manifest);
  const { checkpointId, kind } = manifest;
  return { checkpointId, kind, directory: location.directory, manifest, metadataBytes };
}
