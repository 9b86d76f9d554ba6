/**
 * Lists the files of a source, for its enumerator: once before the first record, or again and again.
 *
 * Directories are walked with everything below them; names that begin with `.` or `_` are left out unless they are wanted
 * (files that are still being written, markers). The result is sorted by path and has each file once.
 */
import { MillraceError } from '../../base/index.ts';
import type { FileStat, FileSystem, Platform } from '../../platform/index.ts';
import type { ListedFile } from './file-split.ts';

const FILES_MAX = 100_000;

/** Which files of a directory are left out. */
export interface ListingOptions {
  /** Read names that begin with `.` or `_`, too. Default false. */
  readonly includeHidden?: boolean | undefined;
  /** Leave out names that end like this, such as `['.tmp', '.part']`. Default none. */
  readonly ignoredSuffixes?: readonly string[] | undefined;
}

/**
 * The files at `paths` (files or directories). Rejects with SOURCE_FILE_MISSING if there is nothing at a path, unless it may
 * be missing.
 */
export async function listFiles(
  platform: Platform,
  sourceName: string,
  paths: readonly string[],
  options: ListingOptions & { readonly mayBeMissing?: (path: string) => boolean },
): Promise<ListedFile[]> {
  const found = new Map<string, ListedFile>();
  for (const given of paths) {
    const { files, path } = platform.fileSystem(given);
    const stat = await files.stat(path);
    const shown = shownPath(platform, given);
    if (stat === undefined) {
      if (options.mayBeMissing?.(shown) === true) continue;
      throw missing(sourceName, given);
    }
    if (stat.isDirectory) await walk(files, path, shown, found, sourceName, options);
    else found.set(shown, listed(shown, stat));
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** A path that was given to a source, as it stands in positions: a URI as it is, others absolute. */
export function shownPath(platform: Platform, given: string): string {
  return hasScheme(given) ? given.replace(/\/+$/, '') : platform.fileSystem(given).path;
}

async function walk(
  files: FileSystem,
  directory: string,
  shown: string,
  found: Map<string, ListedFile>,
  sourceName: string,
  options: ListingOptions,
): Promise<void> {
  for (const entry of await files.list(directory)) {
    if (isLeftOut(entry.name, options)) continue;
    const path = `${directory}/${entry.name}`;
    const shownPath = `${shown}/${entry.name}`;
    if (entry.isDirectory) {
      await walk(files, path, shownPath, found, sourceName, options);
      continue;
    }
    const stat = await files.stat(path);
    if (stat === undefined) continue;
    found.set(shownPath, listed(shownPath, stat));
    if (found.size > FILES_MAX) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `source "${sourceName}": more than ${FILES_MAX} files below ${shown}; read them by several sources`,
        { details: { source: sourceName, directory: shown } },
      );
    }
  }
}

function isLeftOut(name: string, { includeHidden = false, ignoredSuffixes = [] }: ListingOptions): boolean {
  if (!includeHidden && (name.startsWith('.') || name.startsWith('_'))) return true;
  return ignoredSuffixes.some((suffix) => name.endsWith(suffix));
}

function listed(path: string, { sizeBytes, modifiedMs, identity }: FileStat): ListedFile {
  return { path, sizeBytes, modifiedMs, identity };
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
