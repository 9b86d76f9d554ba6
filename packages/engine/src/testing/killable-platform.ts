/**
 * A platform whose files can be taken away from under the code that uses them, as when its process is killed: after
 * `kill`, no operation begins any more and none that was under way comes back.
 *
 * Used by the contract of sinks for the crash points of two-phase commit.
 */
import type { FileSystem, Platform, WritableFile } from '../platform/index.ts';

export interface KillablePlatform {
  readonly platform: Platform;
  /** Resolves when what was being done to files has ended; its results are lost. */
  kill(): Promise<void>;
}

/** `inner`, until it is killed. */
export function killablePlatform(inner: Platform): KillablePlatform {
  let dead = false;
  const running = new Set<Promise<unknown>>();
  const open = new Set<WritableFile>();
  const never = <R>(): Promise<R> => new Promise(() => {});
  const guarded = async <R>(action: () => Promise<R>): Promise<R> => {
    if (dead) return never();
    const operation = action();
    running.add(operation);
    try {
      return await operation;
    } finally {
      running.delete(operation);
      // biome-ignore lint/correctness/noUnsafeFinally: what a dead process did is never heard of
      if (dead) return never();
    }
  };
  const guardFile = (file: WritableFile): WritableFile => ({
    path: file.path,
    write: (bytes) => guarded(() => file.write(bytes)),
    sync: () => guarded(() => file.sync()),
    close: () => {
      open.delete(file);
      return guarded(() => file.close());
    },
  });
  const guardFiles = (files: FileSystem): FileSystem => ({
    scheme: files.scheme,
    create: (path) =>
      guarded(async () => {
        const file = await files.create(path);
        open.add(file);
        return guardFile(file);
      }),
    open: (path) => guarded(() => files.open(path)),
    readAll: (path) => guarded(() => files.readAll(path)),
    list: (path) => guarded(() => files.list(path)),
    stat: (path) => guarded(() => files.stat(path)),
    makeDirectory: (path) => guarded(() => files.makeDirectory(path)),
    rename: (from, to) => guarded(() => files.rename(from, to)),
    delete: (path) => guarded(() => files.delete(path)),
    syncDirectory: (path) => guarded(() => files.syncDirectory(path)),
    truncate: (path, sizeBytes) => guarded(() => files.truncate(path, sizeBytes)),
    lockDirectory: (path) => guarded(() => files.lockDirectory(path)),
  });
  return {
    platform: {
      ...inner,
      fileSystem(uri) {
        const { files, path } = inner.fileSystem(uri);
        return { files: guardFiles(files), path };
      },
    },
    async kill() {
      dead = true;
      await Promise.allSettled([...running]);
      for (const file of open) await file.close();
    },
  };
}
