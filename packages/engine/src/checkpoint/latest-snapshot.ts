/**
 * Finds the newest usable checkpoint of a job in its checkpoint directory, over all executions (job ids): what `-s latest`
 * means. Reads the files that snapshot-choice.ts, which decides, asks for.
 *
 * Savepoints are not looked at: they are the user's, and may be older branches. But for the one that the job was stopped
 * with: it is newer than the job's checkpoints, and what came after them is committed; and for what the job started from or
 * has claimed.
 */
import { hasCode } from '../base/index.ts';
import type { Platform } from '../platform/index.ts';
import type { StorageOwner } from './checkpoint-storage.ts';
import { type JobRecord, type LostCheckpoint, readJobFile, recordedPlace } from './job-file.ts';
import {
  chooseSnapshot,
  type DamagePolicy,
  type SnapshotCandidate,
  type SnapshotCondition,
} from './snapshot-choice.ts';
import { claimantOf } from './snapshot-claim.ts';
import { settleSnapshot } from './snapshot-directory.ts';
import { checkpointDirectoryName, checkpointIdOf, joinPath, METADATA_FILE } from './snapshot-path.ts';
import { damageOf, findDamage, type OpenedSnapshot, readSnapshot } from './snapshot-reader.ts';

const JOBS_SHOWN_MAX = 5;

/** What `latest` means at this moment. */
export interface LatestSnapshot {
  /** undefined if there is none: the job starts anew. */
  readonly snapshot: OpenedSnapshot | undefined;
  /** For people: what was found, which was taken and why, which not. */
  readonly explanation: readonly string[];
  /** What can be lost or shown twice by the choice. */
  readonly warning: string | undefined;
  /**
   * The execution that is gone on with. Without a snapshot: one of this job that was started and did not come as far as a
   * checkpoint. Whoever starts anew in its name, once it is sure to be dead, leaves no directory behind that nobody will
   * ever open.
   */
  readonly execution: { readonly jobId: string; readonly lineageId: string } | undefined;
  /** The highest id that a checkpoint or savepoint of its lineage is known to have, complete or not; undefined: of none. */
  readonly highestCheckpointId: number | undefined;
}

/**
 * `directory` is the checkpoint directory (with the job ids below it). `preferCheckpoint`: rather a checkpoint than a newer
 * savepoint that the job was stopped with. `executions`: names of the directories of its executions that are looked at, which
 * the caller has locked (job-lock.ts); undefined: of all, none of which may be running. Every file of the chosen snapshot was
 * verified. Rejects with SNAPSHOT_CORRUPT or SNAPSHOT_CLAIMED if the newest is damaged or another job's, and the policy is
 * `stop` or there is no other.
 */
export async function findLatestSnapshot(
  platform: Platform,
  directory: string,
  jobName: string,
  policy: DamagePolicy,
  preferCheckpoint = false,
  executions?: ReadonlySet<string>,
): Promise<LatestSnapshot> {
  const found = await findCandidates(platform, directory, jobName, executions);
  let { candidates } = found;
  for (;;) {
    const choice = chooseSnapshot(candidates, policy, preferCheckpoint);
    switch (choice.type) {
      case 'none':
        if (found.otherJobs.size > 0) {
          const names = [...found.otherJobs].slice(0, JOBS_SHOWN_MAX).map((name) => `"${name}"`);
          const message = `${directory} has no checkpoint of job "${jobName}", which begins anew, but of ${names.join(', ')}`;
          platform.logger.log('warn', message);
        }
        return {
          snapshot: undefined,
          explanation: [...choice.explanation, `(looked for "${jobName}" in ${directory})`],
          warning: undefined,
          execution: found.abandoned,
          highestCheckpointId: found.savepointIds.get(found.abandoned?.lineageId ?? ''),
        };
      case 'stop':
        for (const line of choice.explanation) platform.logger.log('warn', line);
        throw choice.error;
      case 'use': {
        const { explanation, warning, candidate } = choice;
        const snapshot = await readSnapshot(platform, candidate.directory);
        await settleSnapshot(platform, candidate.directory);
        const { jobId, lineageId } = candidate;
        const highestCheckpointId = highestIdOf(found, lineageId);
        return { snapshot, explanation, warning, execution: { jobId, lineageId }, highestCheckpointId };
      }
      case 'check': {
        const { candidate } = choice;
        const condition = await check(platform, candidate.directory);
        candidates = candidates.map((each) => (each === candidate ? { ...each, condition } : each));
      }
    }
  }
}

/** The job that has claimed the snapshot `path`, by the records below the checkpoint directory; undefined: none. */
export async function jobThatClaimed(
  platform: Platform,
  directory: string,
  path: string,
): Promise<StorageOwner | undefined> {
  const { files, path: root } = platform.fileSystem(directory);
  const wanted = recordedPlace(platform, path);
  for (const { name, isDirectory } of await files.list(root)) {
    const record = isDirectory ? await readJobFile(platform, joinPath(directory, name)) : undefined;
    if (record?.claimed?.includes(wanted)) return record;
  }
  return undefined;
}

function highestIdOf({ candidates, savepointIds }: Candidates, lineageId: string): number {
  const ids = candidates.filter((each) => each.lineageId === lineageId).map((each) => each.checkpointId);
  return ids.reduce((a, b) => Math.max(a, b), savepointIds.get(lineageId) ?? 0);
}

async function check(platform: Platform, directory: string): Promise<SnapshotCondition> {
  const damage = await findDamage(platform, await readSnapshot(platform, directory));
  return damage === undefined ? { type: 'intact' } : { type: 'damaged', ...damage };
}

interface Candidates {
  readonly candidates: SnapshotCandidate[];
  /** An execution of the job; if it has no candidate, it did not come as far as a checkpoint. */
  readonly abandoned: LatestSnapshot['execution'];
  /** The highest id of a savepoint by lineage, as far as there was one: it lies elsewhere. */
  readonly savepointIds: ReadonlyMap<string, number>;
  /** Names of other jobs that have checkpoints there. */
  readonly otherJobs: ReadonlySet<string>;
}

async function findCandidates(
  platform: Platform,
  directory: string,
  jobName: string,
  executions: ReadonlySet<string> | undefined,
): Promise<Candidates> {
  const { files, path } = platform.fileSystem(directory);
  const candidates: SnapshotCandidate[] = [];
  let abandoned: Candidates['abandoned'];
  const savepointIds = new Map<string, number>();
  const otherJobs = new Set<string>();
  for (const entry of await files.list(path)) {
    if (!entry.isDirectory) continue;
    const jobDirectory = joinPath(directory, entry.name);
    const record = await readJobFile(platform, jobDirectory);
    if (record !== undefined && record.jobName !== jobName) {
      otherJobs.add(record.jobName);
      continue;
    }
    if (executions?.has(entry.name) === false) continue;
    if (record?.savepointId !== undefined) {
      const before = savepointIds.get(record.lineageId) ?? 0;
      savepointIds.set(record.lineageId, Math.max(before, record.savepointId));
    }
    if (record?.jobId === entry.name && record.lost === undefined)
      abandoned ??= { jobId: record.jobId, lineageId: record.lineageId };
    const own = { jobId: entry.name, lineageId: record?.lineageId ?? entry.name };
    candidates.push(...(await checkpointsOf(platform, jobDirectory, jobName, own, record?.lost)));
    if (record !== undefined) candidates.push(...(await snapshotsElsewhere(platform, record)));
  }
  return { candidates, abandoned, savepointIds, otherJobs };
}

/** What lies in the directory of an execution, or was claimed there. `own`: whose they are if they do not say it. */
async function checkpointsOf(
  platform: Platform,
  jobDirectory: string,
  jobName: string,
  own: { readonly jobId: string; readonly lineageId: string },
  lost: LostCheckpoint | undefined,
): Promise<SnapshotCandidate[]> {
  const { files, path } = platform.fileSystem(jobDirectory);
  const candidates: SnapshotCandidate[] = [];
  for (const { name, isDirectory } of await files.list(path)) {
    const checkpointId = checkpointIdOf(name);
    if (checkpointId === undefined || !isDirectory) continue;
    const directory = joinPath(jobDirectory, name);
    const found = await readCandidate(platform, directory, checkpointId, jobName);
    if (found === undefined) continue;
    const { jobId = own.jobId, lineageId = own.lineageId } = found;
    const by = await claimantOf(platform, directory);
    if (by === undefined) candidates.push({ ...found, jobId, lineageId });
    else if (by.jobId !== jobId)
      candidates.push({ ...found, jobId, lineageId, condition: { type: 'claimed', by, isGone: false } });
  }
  const isThere = candidates.some(
    (each) => each.checkpointId === lost?.checkpointId && each.condition.type !== 'incomplete',
  );
  if (lost === undefined || isThere) return candidates;
  const { checkpointId, timestampMs } = lost;
  const directory = joinPath(jobDirectory, checkpointDirectoryName(checkpointId));
  const condition = { type: 'claimed', by: lost, isGone: true } as const;
  return [...candidates, { ...own, directory, checkpointId, timestampMs, condition }];
}

/** Snapshots outside of its directory that the job goes on from, or owns. */
async function snapshotsElsewhere(platform: Platform, record: JobRecord): Promise<SnapshotCandidate[]> {
  const { jobId, lineageId, goesOnFrom, claimed = [] } = record;
  const candidates: SnapshotCandidate[] = [];
  if (goesOnFrom !== undefined) {
    const { why, directory, checkpointId, sinceMs } = goesOnFrom;
    const base = { jobId, lineageId, directory, checkpointId, elsewhere: why, sinceMs };
    const found = await readCandidate(platform, directory, checkpointId, undefined);
    const by = await claimantOf(platform, directory);
    if (by !== undefined && by.jobId !== jobId) {
      candidates.push({ ...base, timestampMs: sinceMs, condition: { type: 'claimed', by, isGone: false } });
    } else if (found === undefined || found.condition.type === 'incomplete') {
      const what =
        why === 'stopped-with' ? 'savepoint that it was stopped with' : 'snapshot that it was started from';
      // As good as damaged: what is older would show results twice.
      const condition = {
        type: 'damaged',
        file: directory,
        problem: `the ${what} is not there any more; whoever claims one may delete it`,
      } as const;
      candidates.push({ ...base, timestampMs: sinceMs, condition });
    } else candidates.push({ ...found, ...base });
  }
  for (const directory of claimed) {
    if (directory === goesOnFrom?.directory) continue;
    if ((await claimantOf(platform, directory))?.jobId !== jobId) continue;
    const found = await readCandidate(platform, directory, 0, undefined);
    if (found !== undefined && found.condition.type !== 'incomplete')
      candidates.push({ ...found, jobId, lineageId, elsewhere: 'claimed' });
  }
  return candidates;
}

type Found = Omit<SnapshotCandidate, 'jobId' | 'lineageId'> & {
  readonly jobId: string | undefined;
  readonly lineageId: string | undefined;
};

/**
 * undefined if it is another job's, which with `jobName` undefined it is not. What cannot be read is taken for this job's:
 * better to stop than to pass it over.
 */
async function readCandidate(
  platform: Platform,
  directory: string,
  checkpointId: number,
  jobName: string | undefined,
): Promise<Found | undefined> {
  const { files, path } = platform.fileSystem(directory);
  const stat = await files.stat(joinPath(path, METADATA_FILE));
  const timestampMs = stat?.modifiedMs ?? 0;
  const base = { directory, checkpointId, jobId: undefined, lineageId: undefined, timestampMs };
  if (stat === undefined) return { ...base, condition: { type: 'incomplete' } };
  try {
    const { manifest } = await readSnapshot(platform, directory);
    if (jobName !== undefined && manifest.jobName !== jobName) return undefined;
    const { jobId, lineageId } = manifest;
    const known = { checkpointId: manifest.checkpointId, timestampMs: manifest.timestampMs };
    return { directory, jobId, lineageId, ...known, condition: { type: 'unchecked' } };
  } catch (error) {
    if (!isUnusable(error)) throw error;
    return { ...base, condition: { type: 'damaged', ...damageOf(error, directory) } };
  }
}

function isUnusable(error: unknown): boolean {
  return (
    hasCode(error, 'SNAPSHOT_CORRUPT') ||
    hasCode(error, 'SNAPSHOT_FORMAT_UNKNOWN') ||
    hasCode(error, 'SNAPSHOT_FORMAT_NEWER')
  );
}
