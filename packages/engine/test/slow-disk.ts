/**
 * A disk that is slow as long as a test wants: operations on files wait until the test lets them go on, or fail.
 *
 *     const disk = slowDisk(platform, stateWrites());   // or deletes(/chk-1$/)
 *     …                                                 // disk.platform runs a job
 *     disk.held()                                       // paths that somebody waits for
 *     disk.release(path)                                // that one goes on; without a path: all, now and later
 */
import type { FileSystem, Platform, WritableFile } from '../src/platform/index.ts';

/** Whether an operation waits. `nth` counts the writes of one file from 0. */
export type Holds = (operation: 'write' | 'delete', path: string, nth: number) => boolean;

/** Writes of state to files of checkpoints, but for the first `free` of each file. Checkpoint 0 is let through. */
export function stateWrites(free = 0): Holds {
  return (operation, path, nth) => operation === 'write' && nth >= free && /chk-[1-9]\d*\/[^._]/.test(path);
}

/** Deletions of what has such a path. */
export function deletes(pattern: RegExp): Holds {
  return (operation, path) => operation === 'delete' && pattern.test(path);
}

export interface SlowDisk {
  readonly platform: Platform;
  /** Paths of the operations that wait, in the order in which they began. */
  held(): string[];
  /** What waits for the path goes on, or fails. Without a path: everything does, and nothing waits any more. */
  release(path?: string, error?: Error): void;
}

export function slowDisk(platform: Platform, holds: Holds): SlowDisk {
  const waiting = new Map<PromiseWithResolvers<void>, string>();
  let after: { readonly error: Error | undefined } | undefined;
  const pass = async (operation: 'write' | 'delete', path: string, nth: number): Promise<void> => {
    if (!holds(operation, path, nth)) return;
    if (after?.error !== undefined) throw after.error;
    if (after !== undefined) return;
    const turn = Promise.withResolvers<void>();
    waiting.set(turn, path);
    await turn.promise;
  };
  const slowFile = (file: WritableFile): WritableFile => {
    let writes = 0;
    return {
      path: file.path,
      async write(bytes) {
        await pass('write', file.path, writes++);
        return file.write(bytes);
      },
      sync: () => file.sync(),
      close: () => file.close(),
    };
  };
  const slowFiles = (files: FileSystem): FileSystem =>
    new Proxy(files, {
      get(target, name) {
        if (name === 'create') return async (path: string) => slowFile(await target.create(path));
        if (name === 'delete') {
          return async (path: string) => {
            await pass('delete', path, 0);
            return target.delete(path);
          };
        }
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  return {
    platform: {
      ...platform,
      fileSystem: (uri) => {
        const { files, path } = platform.fileSystem(uri);
        return { files: slowFiles(files), path };
      },
    },
    held: () => [...waiting.values()],
    release: (path, error) => {
      if (path === undefined) after = { error };
      for (const [turn, at] of [...waiting]) {
        if (path !== undefined && at !== path) continue;
        waiting.delete(turn);
        if (error === undefined) turn.resolve();
        else turn.reject(error);
      }
    },
  };
}
