/**
 * Checkpoints in a file system: `<dir>/<job id>/chk-<n>/`. The JobManager's side; tasks write by state-stream.ts.
 *
 * Used by the JobManager alone. The job's directory is locked from `open` to `close`, so nobody else writes or deletes
 * below it. Savepoints may go anywhere else and are not locked: their directories have random names. Snapshots elsewhere that
 * the job claims are locked one by one (snapshot-claim.ts).
 */
import { assert, hasCode, MillraceError } from '../base/index.ts';
import type { DirectoryLock, Platform } from '../platform/index.ts';
import type {
  CheckpointLocation,
  CheckpointStorage,
  CompletedSnapshot,
  StorageOwner,
} from './checkpoint-storage.ts';
import { type JobRecord, readJobFile, type SnapshotElsewhere, writeJobFile } from './job-file.ts';
import { PendingDeletes } from './pending-deletes.ts';
import { ClaimedSnapshots, claimantOf } from './snapshot-claim.ts';
import { completeSnapshot, removeSnapshot } from './snapshot-directory.ts';
import type { SnapshotManifest } from './snapshot-manifest.ts';
import {
  checkpointDirectoryName,
  checkpointIdOf,
  joinPath,
  METADATA_FILE,
  savepointDirectoryName,
} from './snapshot-path.ts';
import { type OpenedSnapshot, readSnapshot } from './snapshot-reader.ts';

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
  private readonly claims: ClaimedSnapshots;
  private owner: StorageOwner | undefined;
  /** What the job goes on from as long as it has no newer checkpoint: nobody would find it, were the directory removed. */
  private goesOnFrom: SnapshotElsewhere | undefined;
  /** The savepoint that is recorded, or is not: writing the record failed, perhaps after its effect. */
  private doubtful: string | undefined;
  /** Another job has claimed one of its checkpoints. */
  private isLeft: boolean | undefined;
  private lock: DirectoryLock | undefined;

  constructor(platform: Platform, options: FileStorageOptions) {
    this.platform = platform;
    this.options = options;
    this.deletes = new PendingDeletes(platform);
    this.claims = new ClaimedSnapshots(platform);
  }

  async open(owner: StorageOwner): Promise<void> {
    assert(this.lock === undefined, 'the storage is open already');
    this.owner = owner;
    const { files, path } = this.platform.fileSystem(this.jobDirectory());
    try {
      await files.makeDirectory(path);
      this.lock = await files.lockDirectory(path);
      const record = await readJobFile(this.platform, this.jobDirectory());
      this.goesOnFrom = record?.goesOnFrom;
      this.isLeft = record?.isLeft;
      await this.claims.resume(record?.claimed ?? [], owner);
      await this.recordJob();
      await this.removeUnfinished();
    } catch (error) {
      await this.letGo();
      if (!hasCode(error, 'FILE_SYSTEM_ERROR')) throw error;
      throw notWritable('checkpoint', this.options.directory, 'execution.checkpointing.dir', error);
    }
  }

  async begin(checkpointId: number): Promise<CheckpointLocation> {
    const directory = joinPath(this.jobDirectory(), checkpointDirectoryName(checkpointId));
    const { files, path } = this.platform.fileSystem(directory);
    // What an earlier process left there and could not be removed yet must not take the new one with it.
    if (this.deletes.has(directory) && !(await this.deletes.remove(directory)))
      throw new MillraceError('FILE_SYSTEM_ERROR', `${directory} is to be removed first, which fails so far`);
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
    const { checkpointId, timestampMs, kind } = manifest;
    const { directory } = snapshot;
    if (stopsJob && kind === 'savepoint') {
      await this.stopWith({ why: 'stopped-with', directory, checkpointId, sinceMs: timestampMs });
    } else if (
      kind === 'checkpoint' &&
      (this.doubtful !== undefined || checkpointId > (this.goesOnFrom?.checkpointId ?? checkpointId))
    ) {
      // Too late to fail: the checkpoint is complete, and newer than what is recorded.
      await this.goOnFrom(undefined).catch((error: unknown) => this.warn('the record of the job', error));
    }
    return snapshot;
  }

  discard(location: CheckpointLocation): Promise<boolean> {
    if (location.kind !== 'directory') return Promise.resolve(true);
    const { directory } = location;
    if (this.doubtful !== directory) return this.deletes.remove(directory);
    return this.deletes.remove(directory, async () => {
      if (this.doubtful === directory) await this.recordJob();
      await removeSnapshot(this.platform, directory);
    });
  }

  async adopt(snapshot: CompletedSnapshot, claim: boolean): Promise<void> {
    const { directory, checkpointId } = snapshot;
    assert(directory !== undefined, 'a snapshot in memory is nowhere else');
    if (claim) await this.claims.claim(snapshot, this.owned());
    const sinceMs = this.platform.clock.wallMs();
    const isKnown = this.goesOnFrom?.directory === directory;
    await this.goOnFrom(
      isKnown ? this.goesOnFrom : { why: 'started-from', directory, checkpointId, sinceMs },
    );
  }

  async delete(snapshot: CompletedSnapshot): Promise<boolean> {
    const { directory } = snapshot;
    if (directory === undefined) return true;
    if (!this.claims.has(directory)) return this.deletes.remove(directory);
    return this.deletes.remove(directory, async () => {
      if (this.goesOnFrom?.directory === directory) await this.goOnFrom(undefined);
      await this.claims.remove(snapshot);
    });
  }

  retryDeletes(): Promise<void> {
    return this.deletes.retry();
  }

  async listCompleted(): Promise<CompletedSnapshot[]> {
    const { files } = this.platform.fileSystem(this.jobDirectory());
    const completed: CompletedSnapshot[] = await this.claims.list();
    for (const { directory, path } of await this.checkpointDirectories()) {
      if ((await files.stat(joinPath(path, METADATA_FILE))) === undefined) continue;
      const claimant = await claimantOf(this.platform, directory);
      if (claimant !== undefined && claimant.jobId !== this.owned().jobId) continue;
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

  async close(goesOn = true): Promise<void> {
    if (this.lock === undefined) return;
    await this.deletes.retry();
    try {
      if (!goesOn && this.goesOnFrom?.why === 'started-from') await this.goOnFrom(undefined);
      const isNeeded = this.goesOnFrom !== undefined || this.claims.directories.length > 0;
      if (!isNeeded && (await this.checkpointDirectories()).length === 0) {
        const { files, path } = this.platform.fileSystem(this.jobDirectory());
        await files.delete(path);
      }
    } catch (error) {
      this.warn("the job's checkpoint directory", error);
    }
    await this.letGo();
  }

  private async goOnFrom(snapshot: SnapshotElsewhere | undefined): Promise<void> {
    this.goesOnFrom = snapshot;
    await this.recordJob();
  }

  /** The savepoint fails if it cannot be recorded; then the record must be written anew before it is removed. */
  private async stopWith(snapshot: SnapshotElsewhere): Promise<void> {
    const before = this.goesOnFrom;
    try {
      await this.goOnFrom(snapshot);
    } catch (error) {
      this.goesOnFrom = before;
      this.doubtful = snapshot.directory;
      throw error;
    }
  }

  private async recordJob(): Promise<void> {
    const record: JobRecord = {
      ...this.owned(),
      goesOnFrom: this.goesOnFrom,
      claimed: this.claims.directories,
      isLeft: this.isLeft,
    };
    await writeJobFile(this.platform, this.jobDirectory(), record);
    this.doubtful = undefined;
  }

  private warn(what: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.platform.logger.log('warn', `${what} could not be brought up to date: ${reason}`);
  }

  private async letGo(): Promise<void> {
    const { lock } = this;
    this.lock = undefined;
    await this.claims.release();
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
): Promise<OpenedSnapshot> {
  assert(location.kind === 'directory', 'a snapshot in memory has no directory');
  assert(location.checkpointId === manifest.checkpointId, 'the manifest is that of another checkpoint');
  const metadataBytes = await completeSnapshot(platform, location.directory, manifest);
  const { checkpointId, kind } = manifest;
  return { checkpointId, kind, directory: location.directory, manifest, metadataBytes };
}
