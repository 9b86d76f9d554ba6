/**
 * What a job begins with: finds the snapshot that the settings ask for, settles whose it is, and makes sure that it fits,
 * before anything runs. Called by the local executor, in two steps around the opening of the storage:
 *
 *     findBeginning ──► storage.open in the name of the execution ──► settleBeginning ──► JobMaster
 *
 * Which execution a job goes on: one that starts from `latest` takes the place of the execution that it finds, with its
 * lineage. One that starts from a path is an execution and a lineage of its own, also if it claims the snapshot: a claim is
 * about files. The job that wrote them may go on (a savepoint of it can be claimed), or may have gone on for a while, and
 * keys of commits, made of lineage and checkpoint id, must never be used twice.
 */
import { hasCode, MillraceError, RESTORE_PATH } from '../base/index.ts';
import {
  type CheckpointStorage,
  type CompletedSnapshot,
  findLatestSnapshot,
  jobThatClaimed,
  openVerifiedSnapshot,
} from '../checkpoint/index.ts';
import { type RestoredExecution, restoreExecution } from '../coordinator/index.ts';
import type { Platform } from '../platform/index.ts';
import type { JobGraph } from '../runtime/index.ts';
import type { ExecutionSettings } from './execution-settings.ts';

/** What was found. */
export interface JobBeginning {
  readonly snapshot: CompletedSnapshot | undefined;
  /** The execution whose place it takes; undefined: it is one of its own. */
  readonly continues: { readonly jobId: string; readonly lineageId: string } | undefined;
  /** The highest checkpoint id that is known of that execution. */
  readonly highestCheckpointId: number | undefined;
  /** Why this snapshot, or none, in lines for people. */
  readonly reasons: readonly string[];
}

/** What the JobMaster is told. */
export interface SettledBeginning {
  /** Completed snapshots that the job owns, oldest first. */
  readonly existing: readonly CompletedSnapshot[];
  readonly initial: CompletedSnapshot | undefined;
  readonly highestCheckpointId: number | undefined;
  /** Why it begins with `initial`, in lines for people. */
  readonly initialReasons: readonly string[];
  restore(snapshot: CompletedSnapshot): Promise<RestoredExecution>;
}

/**
 * Rejects with SNAPSHOT_NOT_FOUND, SNAPSHOT_CORRUPT and the like, and with CONFIG_INVALID if `latest` is asked for without
 * a directory.
 */
export async function findBeginning(
  platform: Platform,
  graph: JobGraph,
  settings: ExecutionSettings,
): Promise<JobBeginning> {
  const { path, fallback } = settings.restore;
  if (path === undefined)
    return { snapshot: undefined, continues: undefined, highestCheckpointId: undefined, reasons: [] };
  if (path !== 'latest') {
    const snapshot = await openGiven(platform, path, settings);
    const reasons = [`it was asked for by its path (${RESTORE_PATH.key})`];
    return { snapshot, continues: undefined, highestCheckpointId: undefined, reasons };
  }
  const { storage, preferCheckpoint = false } = settings.checkpoint;
  if (storage.kind !== 'filesystem') {
    throw new MillraceError(
      'CONFIG_INVALID',
      'The job is to start from its latest checkpoint, but its checkpoints are kept in memory and gone with the process. ' +
        'Set a directory: env.setStateBackend(new FsStateBackend("file:///...")), or state.checkpoints.dir.',
    );
  }
  const onDamage = fallback === 'newest-intact' ? 'fallback' : 'stop';
  const latest = await findLatestSnapshot(platform, storage.uri, graph.jobName, onDamage, preferCheckpoint);
  for (const line of latest.explanation) platform.logger.log('info', line);
  if (latest.warning !== undefined) platform.logger.log('warn', latest.warning);
  const { snapshot, execution, highestCheckpointId } = latest;
  const reasons = ['the latest was asked for', ...latest.explanation];
  if (latest.warning !== undefined) reasons.push(latest.warning);
  return { snapshot, continues: execution, highestCheckpointId, reasons };
}

async function openGiven(
  platform: Platform,
  path: string,
  { checkpoint: { storage } }: ExecutionSettings,
): Promise<CompletedSnapshot> {
  try {
    return await openVerifiedSnapshot(platform, path);
  } catch (error) {
    if (!hasCode(error, 'SNAPSHOT_NOT_FOUND') || storage.kind !== 'filesystem') throw error;
    const owner = await jobThatClaimed(platform, storage.uri, path);
    if (owner === undefined) throw error;
    const message =
      `The snapshot ${path} is gone: job '${owner.jobName}' (${owner.jobId}) was started from it with the claim mode CLAIM, ` +
      'and has deleted it since. To go on from its newest checkpoint, start from latest.';
    throw new MillraceError('SNAPSHOT_NOT_FOUND', message, { cause: error, details: { path } });
  }
}

/**
 * Looks again with the storage open, checks that the snapshot fits the job, and makes it the job's own if that is asked for.
 * Rejects as `findBeginning`, with RESTORE_MISMATCH, and as `CheckpointStorage.adopt` does.
 */
export async function settleBeginning(
  platform: Platform,
  graph: JobGraph,
  settings: ExecutionSettings,
  found: JobBeginning,
  storage: CheckpointStorage,
): Promise<SettledBeginning> {
  const isSuccessor = found.continues !== undefined;
  const isOwn = (snapshot: CompletedSnapshot): boolean =>
    existing.some(({ directory }) => directory === snapshot.directory);
  let existing = isSuccessor ? await storage.listCompleted() : [];
  // Until we had the lock an execution that was just ending may have completed one more, or removed them.
  const isOutdated = isSuccessor && existing.at(-1)?.checkpointId !== found.snapshot?.checkpointId;
  const settled = isOutdated ? await findBeginning(platform, graph, settings) : found;
  const { snapshot: initial, highestCheckpointId } = settled;
  const initialReasons = [...settled.reasons];
  const restoreNow = (snapshot: CompletedSnapshot): RestoredExecution =>
    restoreExecution(snapshot, graph, settings.restore, platform.logger);
  // Checked before anything starts; the first attempt takes the result, so that what is dropped is logged once.
  let checked = initial === undefined ? undefined : restoreNow(initial);
  if (initial !== undefined && !isOwn(initial)) {
    await storage.adopt(initial, settings.restore.claimMode === 'CLAIM');
    existing = await storage.listCompleted();
    initialReasons.push(
      settings.restore.claimMode === 'CLAIM'
        ? 'it belongs to the job from now on, which deletes it when it is outdated (CLAIM)'
        : 'it stays as it is: the job never deletes it (NO_CLAIM)',
    );
  }
  const restore = async (snapshot: CompletedSnapshot): Promise<RestoredExecution> => {
    const ready = snapshot === initial ? checked : undefined;
    checked = undefined;
    if (ready !== undefined) return ready;
    // Nothing is trusted without its hash, not even what this process has written.
    const { directory } = snapshot;
    return restoreNow(directory === undefined ? snapshot : await openVerifiedSnapshot(platform, directory));
  };
  return { existing, initial, highestCheckpointId, initialReasons, restore };
}
