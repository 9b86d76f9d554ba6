/**
 * What a look at watched directories means: which files are new, which have changed, which are gone. Pure.
 *
 * Called by the watching enumerator after each listing. The rules:
 *
 * - A path with the size and the modification time it had is the file that it was, whatever its identity: it may have been
 *   copied to another disk.
 * - A file that is known by its identity (platform FileStat) stays the same file under another name, and is not read again.
 * - A known path that holds another file, or one that got shorter, was replaced: `onReplacement` says what happens. If the
 *   known file is there under another name, it was renamed, and the file at its path is new.
 * - Otherwise a known file whose size or modification time is another has grown: `onGrowth` says what happens.
 * - A file that was not there at one look, and is another at a later one, is new.
 *
 * I1  Files that are there are remembered, and the last VANISHED_MAX that are not: one that comes back is not read again,
 *     as long as no more than that many vanish at once.
 * I2  Nothing is changed: the caller keeps the memory that results once what is to be read is planned.
 */
import type { ListedFile } from './file-split.ts';

/** A file that the source has taken up. */
export interface WatchedFile extends ListedFile {
  /** Counts the files that were taken up. */
  readonly id: number;
  /** Everything before it was given to readers. */
  readonly position: number;
}

/** What is remembered from look to look; part of checkpoints. */
export interface WatchMemory {
  readonly nextId: number;
  readonly files: readonly WatchedFile[];
  /** Oldest first. */
  readonly vanished: readonly WatchedFile[];
}

/** In which order files are read that are found by the same look. */
export type FileOrder = 'modification-time' | 'path';
/** What happens when a file that was taken up grows, or gets another modification time. */
export type OnGrowth = 'refuse' | 'warn' | 'tail';
/** What happens when a file that was taken up gets shorter, or another file takes its place. */
export type OnReplacement = 'refuse' | 'warn' | 'read';

export interface WatchRules {
  readonly order: FileOrder;
  readonly onGrowth: OnGrowth;
  readonly onReplacement: OnReplacement;
  readonly minAgeMs: number;
  /** False: the file is read as a whole, or not again. */
  isTailed(path: string): boolean;
}

/** A change that has a rule. */
export interface FileChange {
  readonly before: WatchedFile;
  readonly now: ListedFile;
  readonly option: 'onGrowth' | 'onReplacement';
  readonly rule: OnGrowth | OnReplacement;
}

export interface Look {
  readonly memory: WatchMemory;
  /** To be read from their position on, in this order. */
  readonly toRead: readonly WatchedFile[];
  /** What is to be refused, or told. */
  readonly changes: readonly FileChange[];
}

const VANISHED_MAX = 10_000;

export const NO_FILES: WatchMemory = { nextId: 0, files: [], vanished: [] };

/** `listing`: all files that are there now. */
export function compareLooks(
  memory: WatchMemory,
  listing: readonly ListedFile[],
  nowMs: number,
  rules: WatchRules,
): Look {
  const known = new KnownFiles(memory, listing);
  const kept: WatchedFile[] = [];
  const grown: WatchedFile[] = [];
  const fresh: ListedFile[] = [];
  const changes: FileChange[] = [];
  const found = new Set<number>();
  for (const now of listing) {
    const before = known.find(now);
    if (before === undefined) {
      if (nowMs - now.modifiedMs >= rules.minAgeMs) fresh.push(now);
      continue;
    }
    if (before === 'linked' || found.has(before.id)) continue;
    found.add(before.id);
    if (isUnchanged(before, now)) {
      kept.push({ ...before, ...now });
      continue;
    }
    const change = changeOf(before, now, rules);
    if (change.rule === 'read') fresh.push(now);
    else kept.push({ ...before, ...now, position: positionAfter(change) });
    if (change.rule !== 'tail') changes.push(change);
    else if (now.sizeBytes > before.position) grown.push({ ...before, ...now });
  }
  const taken = takenUp(fresh, memory.nextId, rules);
  return {
    memory: {
      nextId: memory.nextId + taken.length,
      files: [...kept, ...taken],
      vanished: known.missing(kept).slice(-VANISHED_MAX),
    },
    toRead: [...grown, ...taken],
    changes,
  };
}

/** The memory with `file` in it as it is now. */
export function remember(memory: WatchMemory, changed: readonly WatchedFile[]): WatchMemory {
  const byId = new Map(changed.map((file) => [file.id, file]));
  return { ...memory, files: memory.files.map((file) => byId.get(file.id) ?? file) };
}

function takenUp(fresh: ListedFile[], nextId: number, { order }: WatchRules): WatchedFile[] {
  const byPath = (a: ListedFile, b: ListedFile): number => (a.path < b.path ? -1 : 1);
  const inOrder = fresh.sort(
    order === 'path' ? byPath : (a, b) => a.modifiedMs - b.modifiedMs || byPath(a, b),
  );
  return inOrder.map((file, i) => ({ ...file, id: nextId + i, position: 0 }));
}

/** What is in the place of a file that was read is not read from the middle on. */
function positionAfter({ before, option }: FileChange): number {
  return option === 'onReplacement' ? Number.MAX_SAFE_INTEGER : before.position;
}

function isUnchanged(before: WatchedFile, now: ListedFile): boolean {
  return before.sizeBytes === now.sizeBytes && before.modifiedMs === now.modifiedMs;
}

function changeOf(before: WatchedFile, now: ListedFile, rules: WatchRules): FileChange {
  const isTailed = rules.onGrowth === 'tail' && rules.isTailed(now.path);
  const lengthRead = isTailed ? before.position : before.sizeBytes;
  if (isOther(before, now) || now.sizeBytes < lengthRead)
    return { before, now, option: 'onReplacement', rule: rules.onReplacement };
  const rule = rules.onGrowth === 'tail' && !isTailed ? 'refuse' : rules.onGrowth;
  return { before, now, option: 'onGrowth', rule };
}

function isOther(before: ListedFile, now: ListedFile): boolean {
  return before.identity !== undefined && now.identity !== undefined && before.identity !== now.identity;
}

/** Finds known files by path and by identity. */
class KnownFiles {
  readonly #memory: WatchMemory;
  readonly #there = new Map<string, WatchedFile>();
  readonly #gone = new Map<string, WatchedFile>();
  readonly #byIdentity = new Map<string, WatchedFile>();
  readonly #listedPaths = new Map<string, ListedFile>();
  readonly #listedIdentities = new Set<string>();

  constructor(memory: WatchMemory, listing: readonly ListedFile[]) {
    this.#memory = memory;
    for (const file of [...memory.vanished, ...memory.files])
      if (file.identity !== undefined) this.#byIdentity.set(file.identity, file);
    for (const file of memory.vanished) this.#gone.set(file.path, file);
    for (const file of memory.files) this.#there.set(file.path, file);
    for (const file of listing) {
      this.#listedPaths.set(file.path, file);
      if (file.identity !== undefined) this.#listedIdentities.add(file.identity);
    }
  }

  /** The known file that `now` is or replaces; `linked`: it is there under its own name, too. */
  find(now: ListedFile): WatchedFile | undefined | 'linked' {
    const there = this.#there.get(now.path);
    if (there !== undefined) {
      if (isUnchanged(there, now) || !isOther(there, now)) return there;
      return this.#byName(now) ?? (this.#listedIdentities.has(there.identity!) ? undefined : there);
    }
    const renamed = this.#byName(now);
    if (renamed !== undefined) return renamed;
    const gone = this.#gone.get(now.path);
    return gone !== undefined && isUnchanged(gone, now) ? gone : undefined;
  }

  /** The file that had another name. */
  #byName(now: ListedFile): WatchedFile | undefined | 'linked' {
    const same = now.identity === undefined ? undefined : this.#byIdentity.get(now.identity);
    if (same === undefined || same.path === now.path) return same;
    return this.#listedPaths.get(same.path)?.identity === now.identity ? 'linked' : same;
  }

  /** Those that were known and are not in `kept`; what vanished before first. */
  missing(kept: readonly WatchedFile[]): WatchedFile[] {
    const ids = new Set(kept.map(({ id }) => id));
    const { vanished, files } = this.#memory;
    return [...vanished, ...files].filter(({ id, path }) => !ids.has(id) && !this.#listedPaths.has(path));
  }
}
