/**
 * Compares a directory of checkpoints with the manifests in it: is everything there that a snapshot refers to, and is
 * nothing there that none refers to? For tests and simulations, when a job is at rest: nothing is being written, and what
 * was to be deleted is gone.
 *
 *   <directory>/…/<snapshot>/_metadata    the manifest: refers to itself and to its files, by paths relative to it
 *                           /<files>      referred to, or left over
 *   <directory>/<job id>/_job, _lock.<n>  the engine's own
 *
 * Whatever lies anywhere below the directory is looked at. It knows no storage and no coordinator: files only.
 */
import { findDamage, type OpenedSnapshot, openSnapshot } from '../checkpoint/index.ts';
import type { FileSystem, Platform } from '../platform/index.ts';

const METADATA_FILE = '_metadata';
const ENGINE_FILE = /^(_job|_claimed|_lock\.[1-9]\d*)$/;
const SNAPSHOT_DIRECTORY = /^(chk-\d+|savepoint-[0-9a-f]+-[0-9a-f]+)$/;

/** What is wrong with a directory of checkpoints; all lists are empty if nothing is. Paths are those of the file system. */
export interface SnapshotFilesReport {
  /** Directories of complete snapshots, sorted. */
  readonly snapshots: readonly string[];
  /** Files, and directories of snapshots without a file (`…/chk-3/`), that no manifest refers to. */
  readonly unreferenced: readonly string[];
  /** Files that a manifest refers to and that are not there. */
  readonly missing: readonly string[];
  /** Files that are there and are not what their manifest says, manifests themselves included: `<file>: <problem>`. */
  readonly damaged: readonly string[];
}

/** The state of the files below `directory` (a URI or a path). Rejects with FILE_SYSTEM_ERROR. */
export async function checkSnapshotFiles(
  platform: Platform,
  directory: string,
): Promise<SnapshotFilesReport> {
  const { files, path } = platform.fileSystem(directory);
  const tree = await walk(files, path);
  const referenced = new Set<string>();
  const snapshots: string[] = [];
  const missing: string[] = [];
  const damaged: string[] = [];
  const present = new Set(tree.files);
  for (const file of tree.files.filter((each) => nameOf(each) === METADATA_FILE)) {
    const snapshotDirectory = file.slice(0, -METADATA_FILE.length - 1);
    snapshots.push(snapshotDirectory);
    referenced.add(file);
    const snapshot = await openedOr(platform, snapshotDirectory, damaged);
    if (snapshot === undefined) continue;
    const named = snapshot.manifest.files.map((each) => `${snapshotDirectory}/${each.path}`);
    for (const each of named) referenced.add(each);
    const absent = named.filter((each) => !present.has(each));
    missing.push(...absent);
    const damage = absent.length > 0 ? undefined : await findDamage(platform, snapshot);
    if (damage !== undefined) damaged.push(`${damage.file}: ${damage.problem}`);
  }
  const isKnown = (each: string): boolean => referenced.has(each) || ENGINE_FILE.test(nameOf(each));
  const unreferenced = [...tree.files.filter((each) => !isKnown(each)), ...tree.emptySnapshots].sort();
  return { snapshots: snapshots.sort(), unreferenced, missing, damaged };
}

async function openedOr(
  platform: Platform,
  directory: string,
  damaged: string[],
): Promise<OpenedSnapshot | undefined> {
  try {
    return await openSnapshot(platform, directory);
  } catch (error) {
    damaged.push(`${directory}/${METADATA_FILE}: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

interface Tree {
  readonly files: string[];
  /** Directories named as snapshots with nothing in them, with a slash at the end. */
  readonly emptySnapshots: string[];
}

async function walk(files: FileSystem, root: string): Promise<Tree> {
  const tree: Tree = { files: [], emptySnapshots: [] };
  for (const open = [root]; open.length > 0; ) {
    const directory = open.pop()!;
    const entries = await files.list(directory);
    if (entries.length === 0 && SNAPSHOT_DIRECTORY.test(nameOf(directory)))
      tree.emptySnapshots.push(`${directory}/`);
    for (const { name, isDirectory } of entries)
      (isDirectory ? open : tree.files).push(`${directory.replace(/\/$/, '')}/${name}`);
  }
  return tree;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
