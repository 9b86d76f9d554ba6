/**
 * Names of the files of a file sink. Pure.
 *
 *     in progress, pending   .part-<key>-<subtask>-<epoch>-<roll>.inprogress.<token>     hidden: readers skip it
 *     finished                part-<key>-<subtask>-<epoch>-<roll>-<token><suffix>
 *
 * `key` stands for the lineage of the job and the uid of the sink: files of other branches, jobs and sinks in the same
 * directory have another one and are never touched. `epoch` is the id of the last checkpoint before the file was begun:
 * a file belongs to the next checkpoint, so
 *
 * I1  after a restore from checkpoint R, files of an epoch below R belong to R or to an earlier checkpoint and are its
 *     committables or were aborted at an earlier start; files of epoch R and above belong to work that was undone.
 *
 * `roll` counts the files of one epoch; `token` is random for each writer, so no name is ever used twice.
 */
import type { Platform } from '../../platform/index.ts';

const PENDING = /^\.part-([0-9a-f]{12})-(\d+)-(\d+)-(\d+)\.inprogress\.([0-9a-f]+)$/;
const FINISHED = /^part-[0-9a-f]{12}-\d+-\d+-\d+-[0-9a-f]+[^/\\\0]*$/;
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

export function finishedName({ key, subtaskIndex, epoch, roll, token }: PartFileId, suffix: string): string {
  return `part-${key}-${subtaskIndex}-${epoch}-${roll}-${token}${suffix}`;
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
  return FINISHED.test(name);
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
