/**
 * The steps on which everything rests: making the directory of a snapshot complete, and making it incomplete again.
 * Called by the storages. All are orders of operations; the orders are the point.
 *
 *   complete   write the manifest to a new name ─▶ sync it ─▶ rename to `_metadata` ─▶ sync the directory ─▶ sync its parent
 *   remove     delete `_metadata` ─▶ sync the directory ─▶ delete the directory with everything in it
 *   discard    delete what would be renamed ─▶ remove
 *
 * A call of the file system may hang and take effect much later, when the checkpoint was given up long ago. What comes after
 * it sees that and stops; a rename finds nothing to rename, or is taken back.
 *
 * Between rename and sync the process may be killed: the next one sees a complete snapshot that a power failure would still
 * take away, and with it what was committed on the strength of it. So whoever restores from a snapshot settles it first.
 *
 * A power failure at any point leaves either a complete snapshot or one without `_metadata`. The data files were synced by
 * those who wrote them, before they acknowledged. In the wrong order a removal could lose data files and keep `_metadata`,
 * and the snapshot would look complete.
 */
import { MillraceError } from '../base/index.ts';
import type { FileSystem, Platform } from '../platform/index.ts';
import { formatMetadata } from './savepoint-metadata.ts';
import type { SnapshotManifest } from './snapshot-manifest.ts';
import { joinPath, METADATA_FILE, parentPath } from './snapshot-path.ts';

/** How the name of a manifest begins that is being written. */
const TEMPORARY_PREFIX = '.metadata-';

/**
 * Writes the manifest into `directory` (URI or plain path). Returns the size of `_metadata`. Rejects with
 * CHECKPOINT_STORE_FAILED: `details.outcome` says whether the snapshot is certainly incomplete (`absent`) or `unknown`.
 * `signal`: it is given up, and `discardSnapshot` is called.
 */
export async function completeSnapshot(
  platform: Platform,
  directory: string,
  manifest: SnapshotManifest,
  signal?: AbortSignal,
): Promise<number> {
  const { files, path } = platform.fileSystem(directory);
  const temporary = joinPath(path, `${TEMPORARY_PREFIX}${platform.random.hex(8)}`);
  const metadata = joinPath(path, METADATA_FILE);
  let isNamed = false;
  try {
    await assertFilesPresent(files, path, manifest);
    const bytes = formatMetadata(manifest, platform);
    const file = await files.create(temporary);
    try {
      await file.write(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    signal?.throwIfAborted();
    isNamed = true;
    await files.rename(temporary, metadata);
    signal?.throwIfAborted();
    await files.syncDirectory(path);
    signal?.throwIfAborted();
    await files.syncDirectory(parentPath(path) ?? path);
    return bytes.length;
  } catch (error) {
    const outcome = await undo(files, path, isNamed ? [metadata, temporary] : [temporary], isNamed);
    const reason = error instanceof Error ? error.message : String(error);
    throw new MillraceError(
      'CHECKPOINT_STORE_FAILED',
      `checkpoint ${manifest.checkpointId} could not be completed in ${directory}: ${reason}`,
      { cause: error, details: { checkpointId: manifest.checkpointId, directory, outcome } },
    );
  }
}

/** Makes a complete snapshot that is found survive a power failure. Rejects with FILE_SYSTEM_ERROR. */
export async function settleSnapshot(platform: Platform, directory: string): Promise<void> {
  const { files, path } = platform.fileSystem(directory);
  await files.syncDirectory(path);
}

/** A file that somebody has deleted meanwhile (a cleaner of old files) must not be missed first at a restore. */
async function assertFilesPresent(
  files: FileSystem,
  path: string,
  manifest: SnapshotManifest,
): Promise<void> {
  const present = new Set((await files.list(path)).map(({ name }) => name));
  const missing = manifest.files.find((file) => !present.has(file.path.split('/')[0]!));
  if (missing === undefined) return;
  throw new MillraceError(
    'SNAPSHOT_CORRUPT',
    `the state file ${joinPath(path, missing.path)} has disappeared`,
    {
      details: { file: joinPath(path, missing.path) },
    },
  );
}

/** Takes back what was written of a manifest. `absent` only if that is certain, power failures included. */
async function undo(
  files: FileSystem,
  path: string,
  names: readonly string[],
  isNamed: boolean,
): Promise<'absent' | 'unknown'> {
  try {
    for (const name of names) await files.delete(name);
    if (isNamed) await files.syncDirectory(path);
    return 'absent';
  } catch {
    return isNamed ? 'unknown' : 'absent';
  }
}

/** Removes a snapshot, complete or not. Rejects with FILE_SYSTEM_ERROR; may be tried again. */
export async function removeSnapshot(platform: Platform, directory: string): Promise<void> {
  const { files, path } = platform.fileSystem(directory);
  if ((await files.stat(path)) === undefined) return;
  await files.delete(joinPath(path, METADATA_FILE));
  await files.syncDirectory(path);
  await files.delete(path);
}

/** Removes a snapshot that was given up while it was being completed, also if it still is. As `removeSnapshot`. */
export async function discardSnapshot(platform: Platform, directory: string): Promise<void> {
  const { files, path } = platform.fileSystem(directory);
  if ((await files.stat(path)) === undefined) return;
  for (const { name } of await files.list(path))
    if (name.startsWith(TEMPORARY_PREFIX)) await files.delete(joinPath(path, name));
  await removeSnapshot(platform, directory);
}
