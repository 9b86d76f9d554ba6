/**
 * Brings back the files of FileSink that were in progress at the restored checkpoint: each is cut to the length that the
 * checkpoint knows and handed to the committer with the next; the writer begins new ones.
 *
 * | pending file | finished file | |
 * | --- | --- | --- |
 * | there, long enough, of this lineage | any | cut to its length |
 * | there, long enough, of another lineage | any | its beginning is copied: the other branch may go on with it |
 * | gone | there, long enough | a later checkpoint was completed before: its records are visible |
 * | gone or too short | gone or too short | SINK_COMMIT_LOST |
 *
 * Again is harmless: the checkpoint may be restored any number of times.
 */
import { hasCode, type MillraceError } from '../../base/index.ts';
import type { FileSystem } from '../../platform/index.ts';
import type { SinkContext } from '../../runtime/index.ts';
import { commitLost, type FileCommittable } from './file-committable.ts';
import { bucketOf, isFinishedName, parsePendingName } from './part-file-names.ts';
import { writeError } from './part-file-output.ts';

const COPY_BYTES = 1024 * 1024;

/** Where the files are, and what the names of this lineage have. */
export interface RecoveryPlace {
  readonly context: SinkContext;
  readonly files: FileSystem;
  readonly directory: string;
  readonly key: string;
}

/** Gives a new file its names. */
export type NextNames = (bucketId: string) => Pick<FileCommittable, 'pendingName' | 'finishedName'>;

/** Resolves to what is to be committed with the next checkpoint. Rejects with SINK_COMMIT_LOST or SINK_WRITE_FAILED. */
export async function recoverParts(
  place: RecoveryPlace,
  restored: readonly FileCommittable[],
  nextNames: NextNames,
): Promise<FileCommittable[]> {
  const recovered: FileCommittable[] = [];
  for (const part of restored) {
    try {
      const committable = await recoverPart(place, part, nextNames);
      if (committable !== undefined) recovered.push(committable);
    } catch (error) {
      if (hasCode(error, 'SINK_COMMIT_LOST')) throw error;
      throw writeError(place.context.sinkName, `${place.directory}/${part.pendingName}`, error);
    }
  }
  return recovered;
}

async function recoverPart(
  { context, files, directory, key }: RecoveryPlace,
  part: FileCommittable,
  nextNames: NextNames,
): Promise<FileCommittable | undefined> {
  const lost = (found: string): MillraceError => commitLost(context.sinkName, directory, part, found);
  const id = parsePendingName(part.pendingName);
  if (id === undefined || !isFinishedName(part.finishedName))
    throw lost('its name is not one that this sink gives');
  const pending = `${directory}/${part.pendingName}`;
  const found = await files.stat(pending);
  if (found === undefined) {
    const finished = await files.stat(`${directory}/${part.finishedName}`);
    if (finished === undefined) throw lost('neither the pending nor the finished file is there');
    if (finished.sizeBytes < part.sizeBytes) throw lost(`the finished file has ${finished.sizeBytes} bytes`);
    return undefined;
  }
  if (found.sizeBytes < part.sizeBytes) throw lost(`the file has ${found.sizeBytes} bytes`);
  if (id.key === key) {
    if (found.sizeBytes > part.sizeBytes) await files.truncate(pending, part.sizeBytes);
    return part;
  }
  const names = nextNames(bucketOf(part.finishedName));
  await copyBeginning(files, pending, `${directory}/${names.pendingName}`, part.sizeBytes);
  return { ...names, sizeBytes: part.sizeBytes };
}

async function copyBeginning(files: FileSystem, from: string, to: string, sizeBytes: number): Promise<void> {
  const source = await files.open(from);
  try {
    const target = await files.create(to);
    try {
      for (let at = 0; at < sizeBytes; at += COPY_BYTES)
        await target.write(await source.read(at, Math.min(COPY_BYTES, sizeBytes - at)));
      await target.sync();
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}
