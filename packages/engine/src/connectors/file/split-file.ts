/**
 * Finds and opens the file of a split, which may have been renamed, changed or deleted since it was listed.
 *
 * Called by the readings of text and Parquet. A file whose identity is known (watched directories) is looked for under
 * other names of its directory.
 */
import { MillraceError } from '../../base/index.ts';
import type { FileStat, FileSystem, ReadableFile } from '../../platform/index.ts';
import type { ReaderContext } from '../../runtime/index.ts';
import type { FileOfSplit } from './file-split.ts';
import type { OnMissingFile } from './split-reading.ts';

/** Between looking at a file and opening it, it may be renamed: then it is looked for again. */
const ATTEMPTS_MAX = 3;

/**
 * The file, open; undefined if it is gone and may be skipped. Rejects with SOURCE_FILE_MISSING, SOURCE_FILE_CHANGED
 * (another file, shorter, or with `exactSize` of any other size).
 */
export async function openSplitFile(
  context: ReaderContext,
  split: FileOfSplit,
  onMissing: OnMissingFile,
): Promise<ReadableFile | undefined> {
  const { files, path } = context.platform.fileSystem(split.path);
  for (let attempt = 1; ; attempt++) {
    const found = await find(files, path, split);
    if (found === undefined) {
      if (onMissing === 'fail') throw missing(context.sourceName, split.path);
      const message = `source "${context.sourceName}": ${split.path} is gone; what was not read is left out`;
      context.logger.log('warn', message);
      return undefined;
    }
    if (found === 'another file') throw replaced(context.sourceName, split);
    const file = await files.open(found.path);
    if (file.identity !== found.stat.identity && attempt < ATTEMPTS_MAX) {
      await file.close();
      continue;
    }
    const { sizeBytes } = file;
    if (sizeBytes >= split.fileSizeBytes && (split.exactSize !== true || sizeBytes === split.fileSizeBytes))
      return file;
    await file.close();
    throw changed(context.sourceName, split, sizeBytes);
  }
}

/** Where the file is now. */
async function find(
  files: FileSystem,
  path: string,
  split: FileOfSplit,
): Promise<{ readonly path: string; readonly stat: FileStat } | 'another file' | undefined> {
  const stat = await files.stat(path);
  if (stat !== undefined && isFileOf(split, stat)) return { path, stat };
  if (split.identity !== undefined) {
    const directory = path.slice(0, path.lastIndexOf('/'));
    for (const { name } of await files.list(directory)) {
      const other = await files.stat(`${directory}/${name}`);
      if (other?.identity === split.identity) return { path: `${directory}/${name}`, stat: other };
    }
  }
  return stat === undefined ? undefined : 'another file';
}

/** A copy on another disk has another identity, but the same size and time. */
function isFileOf(split: FileOfSplit, stat: FileStat): boolean {
  if (split.identity === undefined || stat.identity === undefined) return true;
  if (split.identity === stat.identity) return true;
  return split.fileSizeBytes === stat.sizeBytes && split.modifiedMs === stat.modifiedMs;
}

function missing(sourceName: string, path: string): MillraceError {
  return new MillraceError(
    'SOURCE_FILE_MISSING',
    `source "${sourceName}": ${path} is gone since the source listed it, and is not read to its end. Put it back and ` +
      `start again from the checkpoint, or set onMissingFile: 'skip' to go on without the rest of it.`,
    { details: { source: sourceName, path } },
  );
}

/** The error for a file that has other than the bytes it had. */
export function changed(sourceName: string, split: FileOfSplit, sizeBytes: number): MillraceError {
  return new MillraceError(
    'SOURCE_FILE_CHANGED',
    `source "${sourceName}": ${split.path} had ${split.fileSizeBytes} bytes when the source listed it and has ` +
      `${sizeBytes} now. Positions in it no longer mean the same: put the old file back, or start without the checkpoint.`,
    { details: { source: sourceName, path: split.path, listedBytes: split.fileSizeBytes, sizeBytes } },
  );
}

function replaced(sourceName: string, split: FileOfSplit): MillraceError {
  return new MillraceError(
    'SOURCE_FILE_CHANGED',
    `source "${sourceName}": another file has taken the place of ${split.path} before it was read to its end. Put the old ` +
      'file back, also under another name in its directory, or start without the checkpoint.',
    { details: { source: sourceName, path: split.path, listedBytes: split.fileSizeBytes } },
  );
}
