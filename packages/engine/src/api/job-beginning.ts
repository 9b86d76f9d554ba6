/**
 * What a job begins with: finds the snapshot that the settings ask for, settles whose it is, and makes sure that it fits,
 * before anything runs. Called by the local executor.
 *
 *     lockJob (latest only) ──► find the snapshot ──► storage.open in the name of the execution ──► settle ──► JobMaster
 *
 * Which execution a job goes on: one that starts from `latest` takes the place of the execution that it finds, with its
 * lineage. One that starts from a path is an execution and a lineage of its own, also if it claims the snapshot: a claim is
 * about files. The job that wrote them may go on (a savepoint of it can be claimed), or may have gone on for a while, and
 * keys of commits, made of lineage and checkpoint id, must never be used twice.
 *
 * Invariants:
 * I1 The latest is looked for under the locks of the job, and the one of its execution is handed to the storage: what was
 *    found is the latest until the job itself has a newer one.
 */
import { hasCode, MillraceError, RESTORE_PATH } from '../base/index.ts';
import {
  type CheckpointStorage,
  type CompletedSnapshot,
  findLatestSnapshot,
  jobThatClaimed,
  lockJob,
  openVerifiedSnapshot,
} from '../checkpoint/index.ts';
import { type RestoredExecution, restoreExecution } from '../coordinator/index.ts';
import type { Platform } from '../platform/index.ts';
import type { JobGraph } from '../runtime/index.ts';
import type { ExecutionSettings } from './execution-settings.ts';

/** An execution of a job, and the lineage of its results. */
interface Execution {
  readonly jobId: string;
  readonly lineageId: string;
}

/** What was found. */
interface Found {
  readonly snapshot: CompletedSnapshot | undefined;
  /** The execution whose place it takes; undefined: it is one of its own. */
  readonly continues: Execution | undefined;
  /** The highest checkpoint id that is known of that execution. */
  readonly highestCheckpointId: number | undefined;
  /** Why this snapshot, or none, in lines for people. */
  readonly reasons: readonly string[];
}

/** What the JobMaster is told. */
export interface JobBeginning {
  /** Completed snapshots that the job owns, oldest first. */
  readonly existing: readonly CompletedSnapshot[];
  readonly initial: CompletedSnapshot | undefined;
  readonly highestCheckpointId: number | undefined;
  /** Why it begins with `initial`, in lines for people. */
  readonly initialReasons: readonly string[];
  restore(snapshot: CompletedSnapshot): Promise<RestoredExecution>;
}

/**
 * Opens the storage for the job and finds what it begins with. Rejects with CHECKPOINT_DIRECTORY_IN_USE if the job is to
 * start from `latest` and is running already, SNAPSHOT_NOT_FOUND, SNAPSHOT_CORRUPT and the like, RESTORE_MISMATCH,
 * CONFIG_INVALID if `latest` is asked for without a directory, and as `CheckpointStorage.open` and `adopt` do; the storage is
 * closed then.
 */
export async function beginJob(
  platform: Platform,
  graph: JobGraph,
  settings: ExecutionSettings,
  storage: CheckpointStorage,
): Promise<Execution & { readonly beginning: JobBeginning }> {
  const { found, execution } = await openStorage(platform, graph, settings, storage);
  try {
    return { ...execution, beginning: await settle(platform, graph, settings, found, storage) };
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** Whatever is locked is the storage's in the end, or nobody's. */
async function openStorage(
  platform: Platform,
  { jobName }: JobGraph,
  settings: ExecutionSettings,
  storage: CheckpointStorage,
): Promise<{ readonly found: Found; readonly execution: Execution }> {
  const { path } = settings.restore;
  if (path !== 'latest') {
    const execution = newExecution(platform);
    const found = path === undefined ? NOTHING : await findGiven(platform, path, settings);
    await storage.open({ ...execution, jobName });
    return { found, execution };
  }
  const directory = checkpointDirectory(settings);
  const lock = await lockJob(platform, directory, jobName);
  try {
    const found = await findLatest(platform, directory, jobName, settings, lock.executions);
    const execution = found.continues ?? newExecution(platform);
    await storage.open({ ...execution, jobName }, await lock.take(execution.jobId));
    return { found, execution };
  } finally {
    await lock.release();
  }
}

const NOTHING: Found = {
  snapshot: undefined,
  continues: undefined,
  highestCheckpointId: undefined,
  reasons: [],
};

function newExecution({ random }: Platform): Execution {
  return { jobId: random.hex(16), lineageId: random.hex(8) };
}

function checkpointDirectory({ checkpoint: { storage } }: ExecutionSettings): string {
  if (storage.kind === 'filesystem') return storage.uri;
  throw new MillraceError(
    'CONFIG_INVALID',
    'The job is to start from its latest checkpoint, but its checkpoints are kept in memory and gone with the process. ' +
      'Set a directory: env.setStateBackend(new FsStateBackend("file:///...")), or state.checkpoints.dir.',
  );
}

async function findGiven(platform: Platform, path: string, settings: ExecutionSettings): Promise<Found> {
  const snapshot = await openGiven(platform, path, settings);
  return { ...NOTHING, snapshot, reasons: [`it was asked for by its path (${RESTORE_PATH.key})`] };
}

async function findLatest(
  platform: Platform,
  directory: string,
  jobName: string,
  { restore, checkpoint: { preferCheckpoint = false } }: ExecutionSettings,
  executions: ReadonlySet<string>,
): Promise<Found> {
  const policy = restore.fallback === 'newest-intact' ? 'fallback' : 'stop';
  const latest = await findLatestSnapshot(platform, directory, jobName, policy, preferCheckpoint, executions);
  for (const line of latest.explanation) platform.logger.log('info', line);
  if (latest.warning !== undefined) platform.logger.log('warn', latest.warning);
  const { snapshot, execution: continues, highestCheckpointId } = latest;
  const reasons = ['the latest was asked for', ...latest.explanation];
  if (latest.warning !== undefined) reasons.push(latest.warning);
  return { snapshot, continues, highestCheckpointId, reasons };
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

/** Checks that the snapshot fits the job, and makes it the job's own if that is asked for. The storage is open. */
async function settle(
  platform: Platform,
  graph: JobGraph,
  settings: ExecutionSettings,
  { snapshot: initial, continues, highestCheckpointId, reasons }: Found,
  storage: CheckpointStorage,
): Promise<JobBeginning> {
  const initialReasons = [...reasons];
  let existing = continues === undefined ? [] : await storage.listCompleted();
  const isOwn = existing.some(({ directory }) => directory === initial?.directory);
  const restoreNow = (snapshot: CompletedSnapshot): RestoredExecution =>
    restoreExecution(snapshot, graph, settings.restore, platform.logger);
  // Checked before anything starts; the first attempt takes the result, so that what is dropped is logged once.
  let checked = initial === undefined ? undefined : restoreNow(initial);
  if (initial !== undefined && !isOwn) {
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
    // Nothing is trusted without its checksum, not even what this process has written.
    const { directory } = snapshot;
    return restoreNow(directory === undefined ? snapshot : await openVerifiedSnapshot(platform, directory));
  };
  return { existing, initial, highestCheckpointId, initialReasons, restore };
}
