/**
 * Where snapshots go, as the JobManager and the tasks see it. Two implementations: memory-storage.ts (state travels in
 * the acknowledgements and is gone with the process) and file-storage.ts.
 *
 * JobManager:  open ─▶ (begin ─▶ complete | discard)* ─▶ delete old ones … ─▶ close
 * Task:        createStream ─▶ append* ─▶ finish | abort
 *
 * Invariants:
 * I1 What `complete` resolved for survives a power failure and is found by `listCompleted` and at a restore.
 * I2 A snapshot without `_metadata` is incomplete and is never restored from.
 * I3 Nothing below the directory of a completed snapshot changes, until the snapshot is deleted; then `_metadata` goes
 *    first, durably, so that a half deleted snapshot is an incomplete one. (A job that claims it adds who has it.)
 */
import type { DirectoryLock } from '../platform/index.ts';
import type { SnapshotSink, StreamHandle } from '../state/index.ts';
import type { SnapshotFile } from './acknowledgement.ts';
import type { ChecksumKind } from './file-checksum.ts';
import type { SnapshotManifest } from './snapshot-manifest.ts';

/** Where the tasks write the data of one checkpoint. Plain data; travels with the barrier's announcement. */
export type CheckpointLocation =
  | { readonly kind: 'memory'; readonly checkpointId: number; readonly maxStateSizeBytes: number }
  | ({ readonly checkpointId: number } & SnapshotPlace);

/** A directory for a snapshot, which may not have its id yet. */
export interface SnapshotPlace {
  readonly kind: 'directory';
  /** URI or plain path of the snapshot's directory, which exists. */
  readonly directory: string;
  /** Streams that stay smaller make no file. */
  readonly inlineThresholdBytes: number;
  /** Of the state files. */
  readonly checksum: ChecksumKind;
}

/** A snapshot that is complete. */
export interface CompletedSnapshot {
  readonly checkpointId: number;
  readonly kind: SnapshotManifest['kind'];
  /** URI or plain path of its directory; undefined: it exists in memory only. */
  readonly directory: string | undefined;
  readonly manifest: SnapshotManifest;
  /** Size of `_metadata`; in memory the size of all state. */
  readonly metadataBytes: number;
}

/** Whose checkpoints they are. */
export interface StorageOwner {
  readonly jobId: string;
  readonly jobName: string;
  readonly lineageId: string;
}

/** The JobManager's side. Calls for different checkpoints may overlap, calls for one may not, but for `discard`. */
export interface CheckpointStorage {
  /** `JobManagerCheckpointStorage` or `FileSystemCheckpointStorage`, as Flink's REST API names them. */
  readonly name: string;
  /**
   * Takes the job's directory. Rejects with CHECKPOINT_DIRECTORY_IN_USE, or CHECKPOINT_DIRECTORY_NOT_WRITABLE with the
   * reason. Removes attempts that an earlier process of this job left unfinished. `lock`: the caller has taken it already;
   * it is the storage's from now on, also if this rejects.
   */
  open(owner: StorageOwner, lock?: DirectoryLock): Promise<void>;
  /** Makes the place for a checkpoint. */
  begin(checkpointId: number): Promise<CheckpointLocation>;
  /** Makes `<targetDirectory>/savepoint-<short id>-<random>/`. */
  beginSavepoint(targetDirectory: string): Promise<SnapshotPlace>;
  /**
   * Makes the snapshot complete. Rejects with CHECKPOINT_STORE_FAILED; its `details.outcome` is `absent` (it is certainly
   * not complete and never will be) or `unknown` (`discard` must succeed before anybody restores from an older one).
   * `stopsJob`: the job stops with it, so that it is what `latest` means from now on, wherever it is. `signal`: the
   * checkpoint is given up, because this takes too long; the snapshot never becomes complete once `discard` has succeeded.
   */
  complete(
    location: CheckpointLocation,
    manifest: SnapshotManifest,
    stopsJob?: boolean,
    signal?: AbortSignal,
  ): Promise<CompletedSnapshot>;
  /**
   * Removes what was written for a checkpoint that did not complete, even if `complete` was given up and has not answered.
   * Resolves to false if it has to be tried again.
   */
  discard(location: CheckpointLocation | SnapshotPlace): Promise<boolean>;
  /** Deletes a completed snapshot. Resolves to false if it has to be tried again; `retryDeletes` does that. */
  delete(snapshot: CompletedSnapshot): Promise<boolean>;
  /** Tries again what could not be deleted. Call it now and then; never rejects. */
  retryDeletes(): Promise<void>;
  /**
   * The job starts from a snapshot of somewhere else: until it has a checkpoint of its own, that is what `latest` means.
   * `claim`: from now on it is the job's own. Rejects as ClaimedSnapshots.claim does.
   */
  adopt(snapshot: CompletedSnapshot, claim: boolean): Promise<void>;
  /** Checkpoints of this job that are complete, and snapshots that it has claimed, oldest first. */
  listCompleted(): Promise<CompletedSnapshot[]>;
  /**
   * Lets the directory go. Removes the job's directory if no checkpoint is left in it. `goesOn` false: what the job started
   * from is not gone on with, either.
   */
  close(goesOn?: boolean): Promise<void>;
}

/** What a stream has become. */
export interface FinishedStream {
  readonly lengthBytes: number;
  /** undefined: the bytes are inline. */
  readonly file: SnapshotFile | undefined;
  /** The handle of a slice of the stream. */
  handleOf(offset: number, lengthBytes: number): StreamHandle;
}

/**
 * A stream of state being written. Appending never blocks; watch `backlogBytes` and await `ready` between
 * slices. After an error `append` drops what it is given and `finish` rejects.
 */
export interface StateStream extends SnapshotSink {
  /** Bytes that were appended and are not written yet. */
  readonly backlogBytes: number;
  /** True while the backlog is above its bound: append only what cannot wait. */
  isCongested(): boolean;
  /** What went wrong so far. */
  readonly error: unknown;
  /** Resolves when there is room in the backlog, or nothing more will be written. Never rejects. */
  ready(): Promise<void>;
  /** Writes the rest and makes it durable: file, then its directory. Once, instead of `abort`. */
  finish(): Promise<FinishedStream>;
  /** Gives up and removes the file. Never rejects. Harmless after `finish` failed. */
  abort(): Promise<void>;
}

/** The tasks' side, one a thread. */
export interface CheckpointStreams {
  /**
   * `name` becomes the beginning of the file's name. `operatorName` is for errors: STATE_TOO_LARGE names it.
   */
  createStream(location: CheckpointLocation, name: string, operatorName: string): StateStream;
}
