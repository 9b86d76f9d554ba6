/**
 * The file system as one thread of a simulated process sees it. Every operation takes time and takes effect at one moment
 * of it, as an event; if the thread is dead by then it does not, unless it was on its way to the disk already.
 *
 * Below is one `ManualFiles` for all processes of the world: it forgets what was not synced when the power fails.
 */
import { assert, type MillraceError } from '../../base/index.ts';
import {
  type DirectoryLock,
  type FileEntry,
  type FileStat,
  type FileSystem,
  fileSystemError,
  type ReadableFile,
  type WritableFile,
} from '../../platform/index.ts';
import type { ManualFiles } from '../manual-files.ts';

/** The operations, as traces and faults name them. */
export type FileOperation =
  | 'close'
  | 'create'
  | 'delete'
  | 'list'
  | 'lockDirectory'
  | 'makeDirectory'
  | 'open'
  | 'read'
  | 'readAll'
  | 'rename'
  | 'stat'
  | 'sync'
  | 'syncDirectory'
  | 'truncate'
  | 'unlock'
  | 'write';

/** What goes wrong with one operation. */
export type FileFault =
  /** It fails without effect. */
  | { readonly type: 'error'; readonly errno: string }
  /** A write fails after a part of the bytes; any other operation fails after its effect. */
  | { readonly type: 'late-error'; readonly errno: string; readonly share: number }
  /** It takes that much longer. */
  | { readonly type: 'delay'; readonly delayMs: number };

/** The disk of a world. */
export interface SimulatedDisk {
  readonly files: ManualFiles;
  /** Asked once for each operation, when it is begun. */
  interfere(operation: FileOperation, path: string): FileFault | undefined;
}

/** What of the thread operations need. */
export interface FileUser {
  /** Lets `effect` happen after a while. Not at all if the thread is dead by then, though at its death perhaps. */
  operate(detail: string, extraDelayMs: number, effect: () => void): void;
  /** Is held until it is released or the process is gone. */
  hold(release: () => void): () => void;
}

export function simulatedFiles({ files, interfere }: SimulatedDisk, user: FileUser): FileSystem {
  const operate = <R>(
    operation: FileOperation,
    path: string,
    action: () => Promise<R>,
    partly?: (share: number) => Promise<unknown>,
  ): Promise<R> => {
    const fault = interfere(operation, path);
    const { promise, resolve, reject } = Promise.withResolvers<R>();
    user.operate(`${operation} ${path}`, fault?.type === 'delay' ? fault.delayMs : 0, () => {
      if (fault === undefined || fault.type === 'delay') return void action().then(resolve, reject);
      const error = injected(operation, path, fault.errno);
      if (fault.type === 'error') return reject(error);
      const effect = partly === undefined ? action() : partly(fault.share);
      effect.then(() => reject(error), reject);
    });
    return promise;
  };
  return {
    scheme: 'file',
    create: (path) => operate('create', path, async () => writable(await files.create(path), operate)),
    open: (path) => operate('open', path, async () => readable(path, await files.open(path), operate)),
    readAll: (path) => operate<Uint8Array>('readAll', path, () => files.readAll(path)),
    list: (path) => operate<FileEntry[]>('list', path, () => files.list(path)),
    stat: (path) => operate<FileStat | undefined>('stat', path, () => files.stat(path)),
    makeDirectory: (path) => operate('makeDirectory', path, () => files.makeDirectory(path)),
    rename: (from, to) => operate('rename', `${from} to ${to}`, () => files.rename(from, to)),
    delete: (path) => operate('delete', path, () => files.delete(path)),
    syncDirectory: (path) => operate('syncDirectory', path, () => files.syncDirectory(path)),
    truncate: (path, sizeBytes) => operate('truncate', path, () => files.truncate(path, sizeBytes)),
    lockDirectory: (path) =>
      operate<DirectoryLock>('lockDirectory', path, async () => {
        const lock = await files.lockDirectory(path);
        const release = user.hold(() => void lock.release());
        return { release: () => operate('unlock', path, async () => release()) };
      }),
  };
}

type Operate = <R>(
  operation: FileOperation,
  path: string,
  action: () => Promise<R>,
  partly?: (share: number) => Promise<unknown>,
) => Promise<R>;

function writable(file: WritableFile, operate: Operate): WritableFile {
  const { path } = file;
  let isBusy = false;
  const alone = async <R>(run: () => Promise<R>): Promise<R> => {
    assert(!isBusy, `two operations on ${path} at a time`);
    isBusy = true;
    try {
      return await run();
    } finally {
      isBusy = false;
    }
  };
  return {
    path,
    write: (bytes) =>
      alone(() =>
        operate(
          'write',
          path,
          () => file.write(bytes),
          (share) => file.write(bytes.subarray(0, Math.floor(bytes.length * share))),
        ),
      ),
    sync: () => alone(() => operate('sync', path, () => file.sync())),
    close: () => alone(() => operate('close', path, () => file.close())),
  };
}

function readable(path: string, file: ReadableFile, operate: Operate): ReadableFile {
  return {
    sizeBytes: file.sizeBytes,
    identity: file.identity,
    read: (position, lengthBytes) =>
      operate<Uint8Array>('read', path, () => file.read(position, lengthBytes)),
    close: () => operate('close', path, () => file.close()),
  };
}

function injected(operation: string, path: string, errno: string): MillraceError {
  const cause = Object.assign(new Error(`${errno} (a fault of the simulation)`), { code: errno });
  return fileSystemError(operation, path, cause);
}
