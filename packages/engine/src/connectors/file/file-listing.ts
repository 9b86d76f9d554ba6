/**
 * Lists the files of a source: once, in the enumerator, before the first record.
 *
 * Directories are walked with everything below them; names that begin with `.` or `_` are left out (files that are still
 * being written, markers). The result is sorted by path and has each file once.
 */
import { MillraceError } from '../../base/index.ts';
import type { FileSystem, Platform } from '../../platform/index.ts';
import type { ListedFile } from './file-split.ts';

const FILES_MAX = 100_000;

/** The files at `paths` (files or directories). Rejects with SOURCE_FILE_MISSING if there is nothing at a path. */
export async function listFiles(
  platform: Platform,
  sourceName: string,
  paths: readonly string[],
): Promise<ListedFile[]> {
  const found = new Map<string, ListedFile>();
  for (const given of paths) {
    const { files, path } = platform.fileSystem(given);
    const stat = await files.stat(path);
    if (stat === undefined) throw missing(sourceName, given);
    const shown = hasScheme(given) ? given.replace(/\/+$/, '') : path;
    if (stat.isDirectory) await walk(files, path, shown, found, sourceName);
    else found.set(shown, { path: shown, sizeBytes: stat.sizeBytes });
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

async function walk(
  files: FileSystem,
  directory: string,
  shown: string,
  found: Map<string, ListedFile>,
  sourceName: string,
): Promise<void> {
  for (const entry of await files.list(directory)) {
    if (entry.name.startsWith('.') || entry.name.startsWith('_')) continue;
    const path = `${directory}/${entry.name}`;
    const shownPath = `${shown}/${entry.name}`;
    if (entry.isDirectory) {
      await walk(files, path, shownPath, found, sourceName);
      continue;
    }
    const stat = await files.stat(path);
    if (stat === undefined) continue;
    found.set(shownPath, { path: shownPath, sizeBytes: stat.sizeBytes });
    if (found.size > FILES_MAX) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `source "${sourceName}": more than ${FILES_MAX} files below ${shown}; read them by several sources`,
        { details: { source: sourceName, directory: shown } },
      );
    }
  }
}

function hasScheme(path: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(path) && !path.startsWith('file:');
}

function missing(sourceName: string, path: string): MillraceError {
  return new MillraceError(
    'SOURCE_FILE_MISSING',
    `source "${sourceName}": there is no file or directory at ${path}`,
    {
      details: { source: sourceName, path },
    },
  );
}
