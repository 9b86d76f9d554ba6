/**
 * The scheme `file:` over `node:fs`.
 *
 * What must survive a power failure is synced where the interface says so: the data of a file by `sync`, names by
 * `syncDirectory`, and `makeDirectory` by itself.
 */
import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf, fileSystemError } from '../file-system-error.ts';
import type { FileEntry, FileStat, FileSystem, ReadableFile, WritableFile } from '../platform.ts';
import { lockDirectory } from './node-directory-lock.ts';

export const nodeFileSystem: FileSystem = {
  scheme: 'file',
  create: async (path) => writable(path, await attempt('create', path, () => open(path, 'wx'))),
  open: (path) => attempt('open', path, () => openReadable(path)),
  readAll: (path) => attempt('read', path, async () => plainBytes(await readFile(path))),
  list: (directory) => attempt('list', directory, () => listDirectory(directory)),
  stat: (path) => attempt('look at', path, () => statOf(path)),
  makeDirectory: (path) => attempt('create the directory', path, () => makeDirectory(path)),
  rename: (from, to) => attempt('rename', from, () => rename(from, to)),
  delete: (path) => attempt('delete', path, () => rm(path, { recursive: true, force: true, maxRetries: 2 })),
  syncDirectory: (path) => attempt('sync the directory', path, () => syncDirectory(path)),
  truncate: (path, sizeBytes) => attempt('truncate', path, () => truncateFile(path, sizeBytes)),
  lockDirectory: (path) => attempt('lock the directory', path, () => lockDirectory(path)),
};

/** Runs an operation and gives its error a path and a name. Errors with a code of ours are kept. */
async function attempt<T>(operation: string, path: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof Error && error.name === 'MillraceError') throw error;
    throw fileSystemError(operation, path, error);
  }
}

function writable(path: string, handle: FileHandle): WritableFile {
  return {
    path,
    write: (bytes) => attempt('write', path, () => writeAll(handle, bytes)),
    sync: () => attempt('sync', path, () => handle.sync()),
    close: () => attempt('close', path, () => handle.close()),
  };
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written);
    written += bytesWritten;
  }
}

async function openReadable(path: string): Promise<ReadableFile> {
  const handle = await open(path, 'r');
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) throw Object.assign(new Error('it is a directory'), { code: 'EISDIR' });
    return {
      sizeBytes: stats.size,
      identity: identityOf(stats),
      read: (position, lengthBytes) => attempt('read', path, () => readAt(handle, position, lengthBytes)),
      close: () => attempt('close', path, () => handle.close()),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function readAt(handle: FileHandle, position: number, lengthBytes: number): Promise<Uint8Array> {
  // Not cleared: what is not read into is not handed out.
  const bytes = plainBytes(Buffer.allocUnsafeSlow(lengthBytes));
  let read = 0;
  while (read < lengthBytes) {
    const { bytesRead } = await handle.read(bytes, read, lengthBytes - read, position + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return read === lengthBytes ? bytes : bytes.subarray(0, read);
}

/** Without the pool that a Buffer may share with others. */
function plainBytes(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer as ArrayBuffer, buffer.byteOffset, buffer.length);
}

async function listDirectory(directory: string): Promise<FileEntry[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return await Promise.all(
      entries.map(async (entry) => {
        const target = entry.isSymbolicLink() ? await statOf(`${directory}/${entry.name}`) : undefined;
        return { name: entry.name, isDirectory: target?.isDirectory ?? entry.isDirectory() };
      }),
    );
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Inode and time of birth: the inode alone is given to the next file when this one is deleted. Undefined where the file
 * system knows no times of birth (Node gives 0 then; every system that Node 20 runs on can be asked for them).
 */
function identityOf(stats: Stats): string | undefined {
  return stats.birthtimeMs === 0 ? undefined : `${stats.ino}-${stats.birthtimeMs}`;
}

async function statOf(path: string): Promise<FileStat | undefined> {
  try {
    const stats = await stat(path);
    return {
      sizeBytes: stats.size,
      isDirectory: stats.isDirectory(),
      modifiedMs: Math.floor(stats.mtimeMs),
      identity: identityOf(stats),
    };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/**
 * A directory survives when the directory that names it was synced, for each that was created, and for the lowest that is
 * there: whoever made it may have been killed before. One by one: Node's own `recursive` goes round for ever where a file
 * system has no such directories to make, as /proc or an automounter.
 */
async function makeDirectory(path: string): Promise<void> {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    const stat = await statOf(at);
    // A file in the way is left to `mkdir` to name.
    if (stat?.isDirectory === true) {
      await syncExisting(dirname(at));
      break;
    }
    if (stat !== undefined && at !== path) break;
    missing.push(at);
    if (at === dirname(at)) break;
  }
  for (const directory of missing.reverse()) {
    try {
      await mkdir(directory);
    } catch (error) {
      const isThere = errnoOf(error) === 'EEXIST' && (await statOf(directory))?.isDirectory === true;
      if (!isThere) throw error;
    }
    await syncDirectory(dirname(directory));
  }
}

/** Above a directory that is there, it may be that nothing can be read: then it was not made by this user, either. */
async function syncExisting(path: string): Promise<void> {
  try {
    await syncDirectory(path);
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes(errnoOf(error))) throw error;
  }
}

async function truncateFile(path: string, sizeBytes: number): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    await handle.truncate(sizeBytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncDirectory(path: string): Promise<void> {
  // Windows cannot open directories; its journal keeps names without being asked.
  if (process.platform === 'win32') return;
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } catch (error) {
    // The answer of file systems that have nothing to sync, as /proc or an image that can only be read.
    if (errnoOf(error) !== 'EINVAL') throw error;
  } finally {
    await handle.close();
  }
}
