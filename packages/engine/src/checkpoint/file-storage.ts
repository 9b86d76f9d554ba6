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
  SnapshotPlace,
  StorageOwner,
} from './checkpoint-storage.ts';
import {
  type JobRecord,
  type LostCheckpoint,
  readJobFile,
  type SnapshotElsewhere,
  writeJobFile,
} from './job-file.ts';
import { PendingDeletes } from './pending-deletes.ts';
import { ClaimedSnapshots, claimantOf } from './snapshot-claim.ts';
import { completeSnapshot, discardSnapshot } from './snapshot-directory.ts';
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
  /** The record may say something else: writing it has not ended, or failed, perhaps after its effect. */
  private isRecordDoubtful = false;
  /** Ends with the write of the record that was begun last. */
  private recording: Promise<void> = Promise.resolve();
  /** The highest that a savepoint was given. */
  private savepointId: number | undefined;
  private lost: LostCheckpoint | undefined;
  private lock: DirectoryLock | undefined;

  constructor(platform: Platform, options: FileStorageOptions) {
    this.platform = platform;
    this.options = options;
    this.deletes = new PendingDeletes(platform);
    this.claims = new ClaimedSnapshots(platform);
  }

  async open(owner: StorageOwner, lock?: DirectoryLock): Promise<void> {
    assert(this.lock === undefined, 'the storage is open already');
    this.owner = owner;
    const { files, path } = this.platform.fileSystem(this.jobDirectory());
    try {
      this.lock = lock;
      if (lock === undefined) {
        await files.makeDirectory(path);
        this.lock = await files.lockDirectory(path);
      }
      const record = await readJobFile(this.platform, this.jobDirectory());
      this.goesOnFrom = record?.goesOnFrom;
      this.savepointId = record?.savepointId;
      this.lost = await this.stillLost(record?.lost);
      await this.claims.resume(record?.claimed ?? [], owner);
      await this.recordJob();
      await this.removeUnfinished();
    } catch (error) {
      await this.letGo();
      if (!hasCode(error, 'FILE_SYSTEM_ERROR')) throw error;
      throw directoryNotWritable('checkpoint', this.options.directory, 'execution.checkpointing.dir', error);
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

  beginSavepoint(targetDirectory: string): Promise<SnapshotPlace> {
    const { inlineThresholdBytes } = this.options;
    return makeSavepointDirectory(this.platform, this.owned().jobId, targetDirectory, inlineThresholdBytes);
  }

  async complete(
    location: CheckpointLocation,
    manifest: SnapshotManifest,
    stopsJob = false,
    signal?: AbortSignal,
  ): Promise<CompletedSnapshot> {
    const { checkpointId, timestampMs, kind } = manifest;
    if (kind === 'savepoint' && !stopsJob) await this.recordSavepointId(checkpointId, signal);
    const snapshot = await completeInDirectory(this.platform, location, manifest, signal);
    signal?.throwIfAborted();
    const { directory } = snapshot;
    if (stopsJob && kind === 'savepoint') {
      await this.stopWith({ why: 'stopped-with', directory, checkpointId, sinceMs: timestampMs }, signal);
    } else if (
      kind === 'checkpoint' &&
      this.goesOnFrom !== undefined &&
      checkpointId > this.goesOnFrom.checkpointId
    ) {
      // Too late to fail: the checkpoint is complete, and newer than what is recorded. But it may still be given up.
      await this.goOnFrom(undefined, signal).catch((error: unknown) => {
        signal?.throwIfAborted();
        this.warn('the record of the job', error);
      });
    }
    return snapshot;
  }

  discard(location: CheckpointLocation | SnapshotPlace): Promise<boolean> {
    if (location.kind !== 'directory') return Promise.resolve(true);
    const { directory } = location;
    return this.deletes.remove(directory, async () => {
      // What is removed must not be what the job goes on from, nor seem to be.
      if (this.isRecordDoubtful) await this.recordJob();
      await discardSnapshot(this.platform, directory);
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

  /**
   * Before the savepoint is complete: if the job is killed then, nobody may give its id again. (With what a job stops with the
   * record is written afterwards anyway, and nobody is told of it before.)
   */
  private recordSavepointId(checkpointId: number, signal: AbortSignal | undefined): Promise<void> {
    this.savepointId = Math.max(this.savepointId ?? 0, checkpointId);
    return this.inTurn(() => this.writeRecord(this.goesOnFrom, signal));
  }

  /** The savepoint fails if it is not recorded; then the record must be written anew before it is removed. */
  private async stopWith(snapshot: SnapshotElsewhere, signal: AbortSignal | undefined): Promise<void> {
    try {
      await this.goOnFrom(snapshot, signal);
    } catch (cause) {
      const { checkpointId, directory } = snapshot;
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `that the job stops with ${directory} could not be recorded: ${reason}`;
      const details = { checkpointId, directory, outcome: 'unknown' };
      throw new MillraceError('CHECKPOINT_STORE_FAILED', message, { cause, details });
    }
  }

  /** `signal`: it is given up if it is not recorded yet. */
  private goOnFrom(snapshot: SnapshotElsewhere | undefined, signal?: AbortSignal): Promise<void> {
    return this.inTurn(() => this.writeRecord(snapshot, signal));
  }

  private recordJob(): Promise<void> {
    return this.inTurn(() => this.writeRecord(this.goesOnFrom));
  }

  /** Writes of the record come one after the other: one that takes effect late must not replace a newer one. */
  private inTurn(write: () => Promise<void>): Promise<void> {
    const written = this.recording.then(write);
    this.recording = written.catch(() => {});
    return written;
  }

  /** What the record does not say for certain is not gone by, either. */
  private async writeRecord(goesOnFrom: SnapshotElsewhere | undefined, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.isRecordDoubtful = true;
    const { claims, savepointId, lost } = this;
    const record: JobRecord = { ...this.owned(), goesOnFrom, savepointId, claimed: claims.directories, lost };
    await writeJobFile(this.platform, this.jobDirectory(), record, signal);
    signal?.throwIfAborted();
    this.goesOnFrom = goesOnFrom;
    this.isRecordDoubtful = false;
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
    return { kind: 'directory', checkpointId, directory, inlineThresholdBytes, checksum: 'crc32' };
  }

  private async checkpointDirectories(): Promise<{ directory: string; path: string }[]> {
    const jobDirectory = this.jobDirectory();
    const { files, path } = this.platform.fileSystem(jobDirectory);
    return (await files.list(path)).flatMap(({ name, isDirectory }) => {
      if (checkpointIdOf(name) === undefined || !isDirectory) return [];
      return [{ directory: joinPath(jobDirectory, name), path: joinPath(path, name) }];
    });
  }

  /** Whoever claims a checkpoint writes first that it is lost, and may have died then. */
  private async stillLost(lost: LostCheckpoint | undefined): Promise<LostCheckpoint | undefined> {
    if (lost === undefined) return undefined;
    const directory = joinPath(this.jobDirectory(), checkpointDirectoryName(lost.checkpointId));
    const { files, path } = this.platform.fileSystem(directory);
    const isThere = (await files.stat(joinPath(path, METADATA_FILE))) !== undefined;
    return isThere && (await claimantOf(this.platform, directory)) === undefined ? undefined : lost;
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
export function directoryNotWritable(
  what: string,
  directory: string,
  option: string,
  cause: unknown,
): MillraceError {
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
  jobId: string,
  targetDirectory: string,
  inlineThresholdBytes: number,
): Promise<SnapshotPlace> {
  try {
    for (let tries = 0; tries < NAME_TRIES_MAX; tries++) {
      const directory = joinPath(targetDirectory, savepointDirectoryName(jobId, platform.random.hex(6)));
      const { files, path } = platform.fileSystem(directory);
      if ((await files.stat(path)) !== undefined) continue;
      await files.makeDirectory(path);
      return { kind: 'directory', directory, inlineThresholdBytes, checksum: 'sha256' };
    }
  } catch (error) {
    if (!hasCode(error, 'FILE_SYSTEM_ERROR')) throw error;
    throw directoryNotWritable('savepoint', targetDirectory, 'execution.checkpointing.savepoint-dir', error);
  }
  throw directoryNotWritable(
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
  signal?: AbortSignal,
): Promise<OpenedSnapshot> {
  assert(location.kind === 'directory', 'a snapshot in memory has no directory');
  assert(location.checkpointId === manifest.checkpointId, 'the manifest is that of another checkpoint');
  const metadataBytes = await completeSnapshot(platform, location.directory, manifest, signal);
  const { checkpointId, kind } = manifest;
  return { checkpointId, kind, directory: location.directory, manifest, metadataBytes };
}
