/**
 * A platform that one process of a test sees: the process can be killed, at a chosen operation on a file for example, and
 * from then on nothing that it does has an effect and nothing that it waits for comes back. Other processes of the test go
 * on with the same inner platform.
 */
import type { FileSystem, Platform, ReadableFile, WritableFile } from '../platform/index.ts';

export interface DeathPlan {
  /** The `operation`-th operation on files, counted from 1. */
  readonly operation: number;
  /** Whether it takes effect. */
  readonly when: 'before' | 'after';
}

export interface MortalPlatform extends Platform {
  readonly isAlive: () => boolean;
  kill(): void;
  /** Operations on files so far, as `create /a/b`. */
  readonly operations: readonly string[];
}

/** `inner`, until the process is killed. */
export function mortalPlatform(inner: Platform, death?: DeathPlan): MortalPlatform {
  let alive = true;
  const operations: string[] = [];
  const whileAlive = async <R>(result: Promise<R>): Promise<R> => {
    const value = await result;
    return alive ? value : new Promise<R>(() => {});
  };
  const never = <R>(): Promise<R> => new Promise<R>(() => {});
  const act = async <R>(name: string, action: () => Promise<R>): Promise<R> => {
    if (!alive) return never();
    operations.push(name);
    const isLast = operations.length === death?.operation;
    if (isLast && death.when === 'before') alive = false;
    if (!alive) return never();
    try {
      return await whileAlive(action());
    } finally {
      if (isLast) alive = false;
      // biome-ignore lint/correctness/noUnsafeFinally: what a dead process did is never heard of
      if (!alive) return never();
    }
  };
  return {
    ...inner,
    isAlive: () => alive,
    kill: () => {
      alive = false;
    },
    operations,
    timers: {
      after: (delayMs, callback) => inner.timers.after(delayMs, () => alive && callback()),
      yieldToEventLoop: () => whileAlive(inner.timers.yieldToEventLoop()),
    },
    parking: {
      park: (...parameters) => whileAlive(inner.parking.park(...parameters)),
      unpark: (word, index) => inner.parking.unpark(word, index),
    },
    fileSystem(uri) {
      const { files, path } = inner.fileSystem(uri);
      return { files: guardFiles(files, act), path };
    },
  };
}

type Act = <R>(name: string, action: () => Promise<R>) => Promise<R>;

function guardFiles(files: FileSystem, act: Act): FileSystem {
  const guardWritable = (file: WritableFile): WritableFile => ({
    path: file.path,
    write: (bytes) => act(`write ${file.path}`, () => file.write(bytes)),
    sync: () => act(`sync ${file.path}`, () => file.sync()),
    close: () => act(`close ${file.path}`, () => file.close()),
  });
  const guardReadable = (path: string, file: ReadableFile): ReadableFile => ({
    sizeBytes: file.sizeBytes,
    read: (position, lengthBytes) => act(`read ${path}`, () => file.read(position, lengthBytes)),
    close: () => act(`close ${path}`, () => file.close()),
  });
  return {
    scheme: files.scheme,
    create: (path) => act(`create ${path}`, async () => guardWritable(await files.create(path))),
    open: (path) => act(`open ${path}`, async () => guardReadable(path, await files.open(path))),
    readAll: (path) => act(`read ${path}`, () => files.readAll(path)),
    list: (path) => act(`list ${path}`, () => files.list(path)),
    stat: (path) => act(`stat ${path}`, () => files.stat(path)),
    makeDirectory: (path) => act(`makeDirectory ${path}`, () => files.makeDirectory(path)),
    rename: (from, to) => act(`rename ${from}`, () => files.rename(from, to)),
    delete: (path) => act(`delete ${path}`, () => files.delete(path)),
    syncDirectory: (path) => act(`syncDirectory ${path}`, () => files.syncDirectory(path)),
    truncate: (path, sizeBytes) => act(`truncate ${path}`, () => files.truncate(path, sizeBytes)),
    lockDirectory: (path) => act(`lockDirectory ${path}`, () => files.lockDirectory(path)),
  };
}
