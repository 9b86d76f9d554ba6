/**
 * Checkpoints in the memory of the JobManager: gone with the process, for tests and jobs that can begin anew. Savepoints
 * go to files even so. Used by the JobManager alone; tasks send their state in the acknowledgements.
 */
import { assert } from '../base/index.ts';
import type { Platform } from '../platform/index.ts';
import type {
  CheckpointLocation,
  CheckpointStorage,
  CompletedSnapshot,
  SnapshotPlace,
  StorageOwner,
} from './checkpoint-storage.ts';
import { completeInDirectory, makeSavepointDirectory } from './file-storage.ts';
import { PendingDeletes } from './pending-deletes.ts';
import { ClaimedSnapshots } from './snapshot-claim.ts';
import { discardSnapshot } from './snapshot-directory.ts';
import { type SnapshotManifest, stateSizeBytes } from './snapshot-manifest.ts';

/** Of savepoints, whose state does go to files: Flink's default. */
const SAVEPOINT_INLINE_BYTES = 20 * 1024;

export class MemoryCheckpointStorage implements CheckpointStorage {
  readonly name = 'JobManagerCheckpointStorage';
  private readonly platform: Platform;
  private readonly maxStateSizeBytes: number;
  private readonly deletes: PendingDeletes;
  private readonly claims: ClaimedSnapshots;
  private readonly completed = new Map<number, CompletedSnapshot>();
  private owner: StorageOwner | undefined;

  constructor(platform: Platform, maxStateSizeBytes: number) {
    this.platform = platform;
    this.maxStateSizeBytes = maxStateSizeBytes;
    this.deletes = new PendingDeletes(platform);
    this.claims = new ClaimedSnapshots(platform);
  }

  async open(owner: StorageOwner): Promise<void> {
    this.owner = owner;
  }

  async begin(checkpointId: number): Promise<CheckpointLocation> {
    return { kind: 'memory', checkpointId, maxStateSizeBytes: this.maxStateSizeBytes };
  }

  beginSavepoint(targetDirectory: string): Promise<SnapshotPlace> {
    assert(this.owner !== undefined, 'the storage was not opened');
    return makeSavepointDirectory(this.platform, this.owner.jobId, targetDirectory, SAVEPOINT_INLINE_BYTES);
  }

  async complete(
    location: CheckpointLocation,
    manifest: SnapshotManifest,
    _stopsJob?: boolean,
    signal?: AbortSignal,
  ): Promise<CompletedSnapshot> {
    if (location.kind === 'directory') return completeInDirectory(this.platform, location, manifest, signal);
    const metadataBytes = stateSizeBytes(manifest);
    const { checkpointId, kind } = manifest;
    const snapshot: CompletedSnapshot = { checkpointId, kind, directory: undefined, manifest, metadataBytes };
    this.completed.set(checkpointId, snapshot);
    return snapshot;
  }

  async discard(location: CheckpointLocation | SnapshotPlace): Promise<boolean> {
    if (location.kind === 'directory')
      return this.deletes.remove(location.directory, () =>
        discardSnapshot(this.platform, location.directory),
      );
    this.completed.delete(location.checkpointId);
    return true;
  }

  /** A claim is known only while the process lives: the snapshot then stays, and may be claimed by another. */
  async adopt(snapshot: CompletedSnapshot, claim: boolean): Promise<void> {
    if (!claim) return;
    await this.claims.claim(snapshot, this.owner!);
    this.completed.set(snapshot.checkpointId, snapshot);
  }

  async delete(snapshot: CompletedSnapshot): Promise<boolean> {
    const { directory, checkpointId } = snapshot;
    this.completed.delete(checkpointId);
    if (directory === undefined) return true;
    if (this.claims.has(directory)) return this.deletes.remove(directory, () => this.claims.remove(snapshot));
    return this.deletes.remove(directory);
  }

  retryDeletes(): Promise<void> {
    return this.deletes.retry();
  }

  async listCompleted(): Promise<CompletedSnapshot[]> {
    return [...this.completed.values()].sort((a, b) => a.checkpointId - b.checkpointId);
  }

  async close(): Promise<void> {
    await this.deletes.retry();
    await this.claims.release();
    this.completed.clear();
  }
}
