/**
 * Names of the files of a file sink. Pure.
 *
 *     in progress, pending   .part-<key>-<subtask>-<epoch>-<roll>.inprogress.<token>               hidden: readers skip it
 *     finished               <bucket>/<prefix>-<key>-<subtask>-<epoch>-<roll>-<token><suffix>
 *
 * Pending files of all buckets lie in the sink's directory itself, so that what was left can be found without looking
 * through the buckets, and a bucket has no folder before it has a finished file.
 *
 * `key` stands for the lineage of the job and the uid of the sink: files of other branches, jobs and sinks in the same
 * directory have another one and are never touched. `epoch` is the id of the last checkpoint before the file was begun:
 * a file belongs to a later checkpoint, so
 *
 * I1  after a restore from checkpoint R, files of an epoch below R belong to R or to an earlier checkpoint: they are its
 *     committables, or its files in progress, or were aborted at an earlier start; files of epoch R and above belong to
 *     work that was undone.
 *
 * `roll` counts the files of a writer; `token` is random for each writer, so no name is ever used twice.
 */
import type { Platform } from '../../platform/index.ts';
import { bucketIdObjection } from './bucket-assigner.ts';

const PENDING = /^\.part-([0-9a-f]{12})-(\d+)-(\d+)-(\d+)\.inprogress\.([0-9a-f]+)$/;
const FINISHED = /^[^._/\\\0][^/\\\0]*-[0-9a-f]{12}-\d+-\d+-\d+-[0-9a-f]+[^/\\\0]*$/;
const KEY_DIGITS = 12;

export interface PartFileId {
  readonly key: string;
  readonly subtaskIndex: number;
  readonly epoch: number;
  readonly roll: number;
  readonly token: string;
}

/** What stands for lineage and sink in names. */
export function partFileKey(platform: Platform, lineageId: string, sinkUid: string): string {
  const hasher = platform.hasher();
  hasher.update(Buffer.from(`${lineageId}\0${sinkUid}`, 'utf8'));
  return hasher.digestHex().slice(0, KEY_DIGITS);
}

export function pendingName({ key, subtaskIndex, epoch, roll, token }: PartFileId): string {
  return `.part-${key}-${subtaskIndex}-${epoch}-${roll}.inprogress.${token}`;
}

/** What the name of a finished file has beside the id. */
export interface FinishedNameParts {
  readonly bucketId: string;
  readonly prefix: string;
  readonly suffix: string;
}

/** Relative to the sink's directory. */
export function finishedName(id: PartFileId, { bucketId, prefix, suffix }: FinishedNameParts): string {
  const { key, subtaskIndex, epoch, roll, token } = id;
  const name = `${prefix}-${key}-${subtaskIndex}-${epoch}-${roll}-${token}${suffix}`;
  return bucketId === '' ? name : `${bucketId}/${name}`;
}

/** The bucket of a finished file. */
export function bucketOf(finished: string): string {
  return finished.slice(0, Math.max(0, finished.lastIndexOf('/')));
}

/** What a name of a pending file says; undefined for any other name. */
export function parsePendingName(name: string): PartFileId | undefined {
  const match = PENDING.exec(name);
  if (match === null) return undefined;
  const [, key, subtask, epoch, roll, token] = match;
  return {
    key: key!,
    subtaskIndex: Number(subtask),
    epoch: Number(epoch),
    roll: Number(roll),
    token: token!,
  };
}

/** True for names that this sink gives to finished files: nothing else is ever renamed to. */
export function isFinishedName(name: string): boolean {
  const bucketId = bucketOf(name);
  const file = bucketId === '' ? name : name.slice(bucketId.length + 1);
  return bucketIdObjection(bucketId) === undefined && FINISHED.test(file);
}

/** Whether a file was left by work that is undone, as `mine` may judge it at its start (I1). */
export function isLeftover(
  file: PartFileId,
  mine: {
    readonly key: string;
    readonly subtaskIndex: number;
    readonly parallelism: number;
    readonly restoredCheckpointId: number | undefined;
  },
): boolean {
  if (file.key !== mine.key || file.epoch < (mine.restoredCheckpointId ?? 0)) return false;
  // Of the other subtasks that run now, some may have begun to write: each judges its own files only.
  const vanished = file.subtaskIndex >= mine.parallelism;
  return file.subtaskIndex === mine.subtaskIndex || (vanished && mine.subtaskIndex === 0);
}
