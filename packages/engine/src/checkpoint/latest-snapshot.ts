/**
 * Finds the newest usable checkpoint of a job in its checkpoint directory, over all executions (job ids): what `-s latest`
 * means. Reads the files that snapshot-choice.ts, which decides, asks for.
 *
 * Savepoints are not looked at: they are the user's, and may be older branches. But for the one that the job was stopped
 * with: it is newer than the job's checkpoints, and what came after them is committed.
 */
import { hasCode } from '../base/index.ts';
import type { Platform } from '../platform/index.ts';
import type { StorageOwner } from './checkpoint-storage.ts';
import { readJobFile } from './job-file.ts';
import {
  chooseSnapshot,
  type DamagePolicy,
  type SnapshotCandidate,
  type SnapshotCondition,
} from './snapshot-choice.ts';
import { checkpointIdOf, joinPath, METADATA_FILE } from './snapshot-path.ts';
import { damageOf, findDamage, type OpenedSnapshot, readSnapshot } from './snapshot-reader.ts';

const JOBS_SHOWN_MAX = 5;

/** `snapshot` is undefined if there is none: the job starts anew. */
export interface LatestSnapshot {
  readonly snapshot: OpenedSnapshot | undefined;
  /** For people: what was found, which was taken and why, which not. */
  readonly explanation: readonly string[];
  /**
   * If there is none: an execution of this job that was started and did not come as far as a checkpoint. Whoever starts
   * anew in its name, once it is sure to be dead, leaves no directory behind that nobody will ever open.
   */
  readonly abandoned: StorageOwner | undefined;
}

/**
 * `directory` is the checkpoint directory (with the job ids below it). Every file of the chosen snapshot was verified.
 * Rejects with SNAPSHOT_CORRUPT if the newest is damaged and the policy is `stop`, or none is intact.
 */
export async function findLatestSnapshot(
  platform: Platform,
  directory: string,
  jobName: string,
  policy: DamagePolicy,
): Promise<LatestSnapshot> {
  const found = await findCandidates(platform, directory, jobName);
  let { candidates } = found;
  for (;;) {
    const choice = chooseSnapshot(candidates, policy);
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
          abandoned: found.owners[0],
        };
      case 'stop':
        for (const line of choice.explanation) platform.logger.log('warn', line);
        throw choice.error;
      case 'use': {
        const snapshot = await readSnapshot(platform, choice.candidate.directory);
        return { snapshot, explanation: choice.explanation, abandoned: undefined };
      }
      case 'check': {
        const { candidate } = choice;
        const condition = await check(platform, candidate.directory);
        candidates = candidates.map((each) => (each === candidate ? { ...each, condition } : each));
      }
    }
  }
}

async function check(platform: Platform, directory: string): Promise<SnapshotCondition> {
  const damage = await findDamage(platform, await readSnapshot(platform, directory));
  return damage === undefined ? { type: 'intact' } : { type: 'damaged', ...damage };
}

interface Candidates {
  readonly candidates: SnapshotCandidate[];
  /** Executions of the job. */
  readonly owners: StorageOwner[];
  /** Names of other jobs that have checkpoints there. */
  readonly otherJobs: ReadonlySet<string>;
}

async function findCandidates(platform: Platform, directory: string, jobName: string): Promise<Candidates> {
  const { files, path } = platform.fileSystem(directory);
  const candidates: SnapshotCandidate[] = [];
  const owners: StorageOwner[] = [];
  const otherJobs = new Set<string>();
  for (const entry of await files.list(path)) {
    if (!entry.isDirectory) continue;
    const jobDirectory = joinPath(directory, entry.name);
    const owner = await readJobFile(platform, jobDirectory);
    if (owner !== undefined && owner.jobName !== jobName) {
      otherJobs.add(owner.jobName);
      continue;
    }
    if (owner !== undefined && owner.jobId === entry.name) owners.push(owner);
    if (owner?.stoppedWith !== undefined)
      candidates.push(await stoppedWith(platform, owner.stoppedWith, owner));
    for (const { name, isDirectory } of await files.list(joinPath(path, entry.name))) {
      const checkpointId = checkpointIdOf(name);
      if (checkpointId === undefined || !isDirectory) continue;
      const found = await readCandidate(platform, joinPath(jobDirectory, name), checkpointId, jobName);
      if (found === undefined) continue;
      candidates.push({
        jobId: entry.name,
        ...found,
        lineageId: found.lineageId ?? owner?.lineageId ?? entry.name,
      });
    }
  }
  return { candidates, owners, otherJobs };
}

/** A savepoint that is gone is as good as damaged: what is older would show results twice. */
async function stoppedWith(
  platform: Platform,
  directory: string,
  { jobId, jobName, lineageId }: StorageOwner,
): Promise<SnapshotCandidate> {
  const found = await readCandidate(platform, directory, Number.MAX_SAFE_INTEGER, jobName);
  const problem = 'the savepoint that the job was stopped with is not there any more';
  const gone = { directory, checkpointId: Number.MAX_SAFE_INTEGER, timestampMs: 0 };
  return found === undefined || found.condition.type === 'incomplete'
    ? { ...gone, jobId, lineageId, condition: { type: 'damaged', file: directory, problem } }
    : { ...found, jobId, lineageId };
}

type Found = Omit<SnapshotCandidate, 'jobId' | 'lineageId'> & { readonly lineageId: string | undefined };

/** undefined if it is another job's. What cannot be read is taken for this job's: better to stop than to pass it over. */
async function readCandidate(
  platform: Platform,
  directory: string,
  checkpointId: number,
  jobName: string,
): Promise<Found | undefined> {
  const { files, path } = platform.fileSystem(directory);
  const stat = await files.stat(joinPath(path, METADATA_FILE));
  const base = { directory, checkpointId, lineageId: undefined, timestampMs: stat?.modifiedMs ?? 0 };
  if (stat === undefined) return { ...base, condition: { type: 'incomplete' } };
  try {
    const { manifest } = await readSnapshot(platform, directory);
    if (manifest.jobName !== jobName) return undefined;
    const { lineageId, timestampMs } = manifest;
    return {
      directory,
      checkpointId: manifest.checkpointId,
      lineageId,
      timestampMs,
      condition: { type: 'unchecked' },
    };
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
