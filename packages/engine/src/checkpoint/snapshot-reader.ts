/**
 * Opens a snapshot by its path and makes sure of every byte before anything is restored from it.
 *
 * The JobManager opens and verifies; the tasks then read slices by `openStateInput`, without hashing again. A path may be
 * the directory of a checkpoint or savepoint, its `_metadata`, or a URI of either.
 *
 * Invariants:
 * I1 Nothing of a snapshot is trusted before its length and checksum were compared with the manifest's, and the manifest with
 *    its own hash.
 * I2 Nothing is restored that a power failure could still take away.
 */
import { hasCode, MillraceError, nearestName } from '../base/index.ts';
import { errnoOf, type FileSystem, type Platform } from '../platform/index.ts';
import type { SnapshotInput, StreamHandle } from '../state/index.ts';
import type { SnapshotFile } from './acknowledgement.ts';
import type { CompletedSnapshot } from './checkpoint-storage.ts';
import { isSame, kindOf, startChecksum } from './file-checksum.ts';
import { METADATA_BYTES_MAX, parseMetadata } from './savepoint-metadata.ts';
import { settleSnapshot } from './snapshot-directory.ts';
import { checkpointIdOf, joinPath, lastName, METADATA_FILE, parentPath } from './snapshot-path.ts';

const READ_BYTES = 1024 * 1024;
/** A directory that holds more checkpoints is not searched for an alternative any further. */
const ALTERNATIVES_MAX = 100;

/** A complete snapshot in a file system whose manifest is intact. */
export interface OpenedSnapshot extends CompletedSnapshot {
  /** URI or plain path of its directory: what handles are relative to. */
  readonly directory: string;
}

/** A damage that was found: which file, what about it. */
export interface SnapshotDamage {
  readonly file: string;
  readonly problem: string;
}

/**
 * Reads the manifest of the snapshot at `path`. Rejects with SNAPSHOT_NOT_FOUND, SNAPSHOT_CORRUPT (naming the newest
 * intact snapshot beside it), SNAPSHOT_FORMAT_NEWER, SNAPSHOT_FORMAT_UNKNOWN.
 */
export async function openSnapshot(platform: Platform, path: string): Promise<OpenedSnapshot> {
  const directory = await directoryOf(platform, path);
  try {
    return await readSnapshot(platform, directory);
  } catch (error) {
    if (!hasCode(error, 'SNAPSHOT_CORRUPT')) throw error;
    const { file, problem } = damageOf(error, directory);
    throw await damageError(platform, directory, { file, problem });
  }
}

/** Opens, verifies every file, and settles it. Rejects as `openSnapshot` does. `verifiedBytes` counts what was hashed. */
export async function openVerifiedSnapshot(
  platform: Platform,
  path: string,
): Promise<OpenedSnapshot & { readonly verifiedBytes: number }> {
  const snapshot = await openSnapshot(platform, path);
  const damage = await findDamage(platform, snapshot);
  if (damage !== undefined) throw await damageError(platform, snapshot.directory, damage);
  await settleSnapshot(platform, snapshot.directory);
  const verifiedBytes = snapshot.manifest.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return { ...snapshot, verifiedBytes };
}

/** Compares every file of a snapshot with its manifest; the first difference, or undefined. */
export async function findDamage(
  platform: Platform,
  snapshot: OpenedSnapshot,
): Promise<SnapshotDamage | undefined> {
  const { files, path } = platform.fileSystem(snapshot.directory);
  for (const file of snapshot.manifest.files) {
    const problem = await fileProblem(platform, files, path, file);
    if (problem !== undefined) return { file: joinPath(snapshot.directory, file.path), problem };
  }
  return undefined;
}

async function fileProblem(
  platform: Platform,
  files: FileSystem,
  directory: string,
  expected: SnapshotFile,
): Promise<string | undefined> {
  const path = joinPath(directory, expected.path);
  const stat = await files.stat(path);
  if (stat === undefined) return 'it is missing';
  if (stat.isDirectory) return 'it is a directory';
  if (stat.sizeBytes !== expected.sizeBytes)
    return `it has ${stat.sizeBytes} bytes instead of ${expected.sizeBytes}`;
  const file = await files.open(path);
  try {
    const checksum = startChecksum(kindOf(expected), platform);
    const read = (from: number) => file.read(from, Math.min(READ_BYTES, expected.sizeBytes - from));
    let ahead: Promise<Uint8Array> | undefined;
    for (let position = 0; position < expected.sizeBytes; ) {
      const bytes = await (ahead ?? read(position));
      if (bytes.length === 0) return 'it became shorter while it was read';
      position += bytes.length;
      // The disk reads on while this is hashed.
      ahead = position < expected.sizeBytes ? read(position) : undefined;
      checksum.update(bytes);
    }
    return isSame(checksum.finish(), expected) ? undefined : 'its content has changed: its checksum differs';
  } finally {
    await file.close();
  }
}

/** Reads and checks `_metadata` in a directory. SNAPSHOT_CORRUPT has `details.file` and `details.problem`. */
export async function readSnapshot(platform: Platform, directory: string): Promise<OpenedSnapshot> {
  const metadata = joinPath(directory, METADATA_FILE);
  const { files, path } = platform.fileSystem(metadata);
  const stat = await files.stat(path);
  if (stat !== undefined && stat.sizeBytes > METADATA_BYTES_MAX) {
    throw new MillraceError('SNAPSHOT_CORRUPT', `${metadata} is larger than any that is written`, {
      details: { file: metadata, problem: `it has ${stat.sizeBytes} bytes, more than is ever written` },
    });
  }
  const bytes = await files.readAll(path);
  const manifest = parseMetadata(bytes, metadata, platform);
  const { checkpointId, kind } = manifest;
  return { checkpointId, kind, directory, manifest, metadataBytes: bytes.length };
}

/** The file and the problem in a SNAPSHOT_CORRUPT. */
export function damageOf(error: unknown, directory: string): SnapshotDamage {
  const details = error instanceof MillraceError ? error.details : {};
  const file = details['file'] ?? joinPath(directory, METADATA_FILE);
  const problem = details['problem'] ?? (error instanceof Error ? error.message : error);
  return { file: String(file), problem: String(problem) };
}

/** The directory of the snapshot that a user's path means. */
async function directoryOf(platform: Platform, given: string): Promise<string> {
  const trimmed = given.length > 1 ? given.replace(/\/+$/, '') : given;
  const { files, path } = platform.fileSystem(trimmed);
  const stat = await files.stat(path);
  if (stat === undefined) {
    const looked = path === given ? '' : ` (looked for ${path})`;
    const advice = nearestName(given, ['latest']) === undefined ? '' : " Did you mean 'latest'?";
    const text = `Cannot find checkpoint or savepoint file/directory '${given}' on file system '${files.scheme}'${looked}.${advice}`;
    throw new MillraceError('SNAPSHOT_NOT_FOUND', text, { details: { path: given } });
  }
  if (!stat.isDirectory) {
    const parent = parentPath(trimmed);
    if (lastName(trimmed) === METADATA_FILE && parent !== undefined) return parent;
    throw new MillraceError(
      'SNAPSHOT_NOT_FOUND',
      `'${given}' is a file, but no ${METADATA_FILE}: give the directory of a checkpoint or savepoint`,
      { details: { path: given } },
    );
  }
  if ((await files.stat(joinPath(path, METADATA_FILE))) !== undefined) return trimmed;
  const within = (await files.list(path)).filter(({ isDirectory }) => isDirectory).map(({ name }) => name);
  const checkpoints = within.filter((name) => checkpointIdOf(name) !== undefined);
  const savepoints = within.filter((name) => name.startsWith('savepoint-'));
  const hint =
    checkpoints.length > 0
      ? `It holds checkpoints: give one of them, such as ${joinPath(trimmed, newestName(checkpoints))}.`
      : savepoints.length > 0
        ? `It holds savepoints: give one of them, such as ${joinPath(trimmed, savepoints.sort()[0]!)}.`
        : checkpointIdOf(lastName(trimmed)) === undefined
          ? 'Please try to load the checkpoint/savepoint directly from the metadata file instead of the directory.'
          : 'This checkpoint was never completed.';
  throw new MillraceError(
    'SNAPSHOT_NOT_FOUND',
    `Cannot find meta data file '${METADATA_FILE}' in directory '${given}'. ${hint}`,
    { details: { path: given } },
  );
}

function newestName(names: readonly string[]): string {
  return names.reduce((a, b) => (checkpointIdOf(b)! > checkpointIdOf(a)! ? b : a));
}

async function damageError(
  platform: Platform,
  directory: string,
  damage: SnapshotDamage,
): Promise<MillraceError> {
  const alternative = await newestIntactBeside(platform, directory);
  const advice =
    alternative === undefined
      ? 'There is no intact checkpoint beside it.'
      : `The newest intact checkpoint beside it is ${alternative}; starting from that one replays more input, and sinks ` +
        'may see duplicates.';
  return new MillraceError(
    'SNAPSHOT_CORRUPT',
    `The snapshot ${directory} is damaged. ${damage.file}: ${damage.problem}. ${advice}`,
    {
      details: { directory, ...damage, alternative },
    },
  );
}

/** Another checkpoint in the same directory, complete and intact. Never rejects: it only helps an error message. */
async function newestIntactBeside(platform: Platform, directory: string): Promise<string | undefined> {
  const parent = parentPath(directory);
  if (parent === undefined) return undefined;
  try {
    const { files, path } = platform.fileSystem(parent);
    const names = (await files.list(path))
      .map(({ name }) => name)
      .filter((name) => checkpointIdOf(name) !== undefined && name !== lastName(directory))
      .sort((a, b) => checkpointIdOf(b)! - checkpointIdOf(a)!);
    for (const name of names.slice(0, ALTERNATIVES_MAX)) {
      if (await isIntact(platform, joinPath(parent, name))) return joinPath(parent, name);
    }
  } catch {
    return undefined;
  }
  return undefined;
}

async function isIntact(platform: Platform, directory: string): Promise<boolean> {
  try {
    return (await findDamage(platform, await readSnapshot(platform, directory))) === undefined;
  } catch {
    return false;
  }
}

/**
 * The bytes behind a handle of a verified snapshot. `directory` is the snapshot's; undefined if it is in memory, where all
 * handles are inline. Reads reject with SNAPSHOT_CORRUPT if the file has changed since, in a way that shows.
 */
export function openStateInput(
  platform: Platform,
  directory: string | undefined,
  handle: StreamHandle,
): SnapshotInput {
  if (handle.kind === 'inline') {
    const { bytes } = handle;
    return {
      lengthBytes: bytes.length,
      read: async (position, lengthBytes) =>
        bytes.slice(position, Math.min(bytes.length, position + lengthBytes)),
    };
  }
  if (directory === undefined) {
    throw new MillraceError(
      'ASSERTION_FAILED',
      `the state file ${handle.path} belongs to a snapshot without directory`,
    );
  }
  const { files, path } = platform.fileSystem(joinPath(directory, handle.path));
  return {
    lengthBytes: handle.lengthBytes,
    read: (position, lengthBytes) => {
      const length = Math.max(0, Math.min(lengthBytes, handle.lengthBytes - position));
      return readExactly(files, path, handle.offset + position, length);
    },
  };
}

/** Opened for each read: restores read few and large pieces, and nothing is left open. */
async function readExactly(
  files: FileSystem,
  path: string,
  position: number,
  length: number,
): Promise<Uint8Array> {
  try {
    const file = await files.open(path);
    try {
      const bytes = await file.read(position, length);
      if (bytes.length === length) return bytes;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
  throw new MillraceError(
    'SNAPSHOT_CORRUPT',
    `the state file ${path} was deleted or cut off while it was being restored`,
    {
      details: { file: path, problem: 'it was deleted or cut off while it was being restored' },
    },
  );
}
