/**
 * Looks at directories again and again, and hands out what is new as splits.
 *
 * Called by the host of the source. What a look means is decided by watched-files.ts; this file looks, plans and carries
 * out. Looks go on beside the calls of the host, so that a slow disk holds up no checkpoint.
 *
 * I1  What a look found becomes known in the synchronous turn in which its splits become pending: a snapshot holds both or
 *     neither, and the next look after a restore finds the rest again.
 * I2  A split leaves `pending` in the call that assigns it.
 * I3  Tailed files: all splits of a file go to one reader, in their order, so that its lines stay in theirs.
 */
import { hasCode, MillraceError } from '../../base/index.ts';
import type { TimerHandle } from '../../platform/index.ts';
import type { EnumeratorContext, SplitEnumerator } from '../../runtime/index.ts';
import { completeLinesEnd } from './complete-lines.ts';
import type { FileEnumeratorState, PlanSplits } from './file-enumerator.ts';
import { type ListingOptions, listFiles } from './file-listing.ts';
import { amountOf, cutRange, type FileSplit, type RangeCutRules } from './file-split.ts';
import {
  compareLooks,
  type FileChange,
  type Look,
  NO_FILES,
  remember,
  type WatchedFile,
  type WatchMemory,
  type WatchRules,
} from './watched-files.ts';

/** How the files of a format are tailed. */
export interface TailRules extends RangeCutRules {
  readonly lineBytesMax: number;
}

/** What is watched, and how. */
export interface Watch {
  readonly paths: readonly string[];
  readonly intervalMs: number;
  readonly listing: ListingOptions;
  readonly rules: WatchRules;
  readonly plan: PlanSplits;
  /** undefined: no file is tailed. */
  readonly tail: TailRules | undefined;
}

export class WatchingEnumerator implements SplitEnumerator<FileEnumeratorState> {
  readonly #context: EnumeratorContext<FileSplit>;
  readonly #watch: Watch;
  readonly #waiting = new Set<number>();
  #pending: FileSplit[];
  #memory: WatchMemory;
  #assigned: number;
  #looked: boolean;
  #timer: TimerHandle | undefined;
  #isUnreachable = false;
  #closed = false;

  /** Throws SOURCE_STATE_MISMATCH if `restored` is the state of a source that did not watch. */
  constructor(
    context: EnumeratorContext<FileSplit>,
    watch: Watch,
    restored: FileEnumeratorState | undefined,
  ) {
    this.#context = context;
    this.#watch = watch;
    this.#pending = [...(restored?.pending ?? [])];
    this.#memory = restored?.watched ?? NO_FILES;
    this.#assigned = restored?.assigned ?? 0;
    this.#looked = restored?.pending !== undefined;
    if (this.#looked && restored?.watched === undefined) throw neverWatched(context.sourceName);
  }

  async start(): Promise<void> {
    // What is there when the job begins is in its first checkpoint; a path where nothing is, is an error then.
    if (!this.#looked) await this.#look();
    if (!this.#closed) this.#lookAfter(this.#looked ? 0 : this.#watch.intervalMs);
    this.#looked = true;
  }

  addReader(): void {}

  handleSplitRequest(subtaskIndex: number): void {
    this.#waiting.add(subtaskIndex);
    this.#assign();
  }

  amountAssigned(): number {
    return this.#assigned;
  }

  snapshotState(): FileEnumeratorState {
    const times = this.#memory.files.map(({ modifiedMs }) => modifiedMs);
    return {
      pending: this.#looked ? [...this.#pending] : undefined,
      assigned: this.#assigned,
      newestModifiedMs: times.length === 0 ? undefined : times.reduce((a, b) => Math.max(a, b)),
      watched: this.#memory,
    };
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
  }

  #lookAfter(delayMs: number): void {
    this.#timer = this.#context.platform.timers.after(delayMs, () => void this.#lookAgain());
  }

  async #lookAgain(): Promise<void> {
    try {
      await this.#look();
      this.#reached(true);
    } catch (error) {
      this.#failed(error);
    }
    if (!this.#closed) this.#lookAfter(this.#watch.intervalMs);
  }

  /** A disk that does not answer for a while is waited for; nothing is forgotten meanwhile. */
  #failed(error: unknown): void {
    if (this.#closed) return;
    const isPassing = hasCode(error, 'FILE_SYSTEM_ERROR') || hasCode(error, 'SOURCE_FILE_MISSING');
    if (isPassing || hasCode(error, 'SOURCE_READ_FAILED')) this.#reached(false, error);
    else this.#context.fail(error);
  }

  #reached(isReached: boolean, error?: unknown): void {
    if (isReached !== this.#isUnreachable || this.#closed) return;
    this.#isUnreachable = !isReached;
    const { sourceName, logger } = this.#context;
    if (isReached) logger.log('info', `source "${sourceName}": its files can be listed again`);
    else
      logger.log('warn', `source "${sourceName}": cannot list its files, and tries again: ${String(error)}`);
  }

  async #compare(): Promise<Look> {
    const { platform, sourceName } = this.#context;
    const { paths, listing, rules } = this.#watch;
    const isKnown = (path: string): boolean => this.#isKnown(path);
    const files = await listFiles(platform, sourceName, paths, { ...listing, mayBeMissing: isKnown });
    return compareLooks(this.#memory, files, platform.clock.wallMs(), rules);
  }

  async #look(): Promise<void> {
    const { sourceName } = this.#context;
    let look = await this.#compare();
    // A listing takes a while: a log that is rotated meanwhile may be seen under its new name not yet, and another file under
    // its old one. What is really so, is so at a second look.
    if (look.changes.length > 0) look = await this.#compare();
    if (this.#closed) return;
    for (const change of look.changes) if (change.rule === 'refuse') throw refused(sourceName, change);
    const { splits, memory } = await this.#plan(look);
    if (this.#closed) return;
    for (const change of look.changes) this.#tell(change);
    // I1
    const replaced = new Set(look.changes.flatMap(({ rule, before }) => (rule === 'read' ? before.id : [])));
    this.#pending = [...this.#pending.filter(({ sequence }) => !replaced.has(sequence!)), ...splits];
    this.#memory = memory;
    this.#assign();
  }

  /** A path that was given and is that of a file may be gone: it was read. */
  #isKnown(path: string): boolean {
    const { files, vanished } = this.#memory;
    return files.some((file) => file.path === path) || vanished.some((file) => file.path === path);
  }

  /** The splits of what is to be read, in its order, and the memory that goes with them. */
  async #plan(look: Look): Promise<{ splits: FileSplit[]; memory: WatchMemory }> {
    const splits: FileSplit[] = [];
    const read: WatchedFile[] = [];
    for (const file of look.toRead) {
      const { tail, rules } = this.#watch;
      const isTailed = tail !== undefined && rules.isTailed(file.path);
      const planned = isTailed ? await this.#planTail(file, tail) : await this.#planWhole(file);
      read.push(planned.file);
      for (const split of planned.splits) {
        const place = { modifiedMs: file.modifiedMs, identity: file.identity, sequence: planned.file.id };
        // A file that was rewritten has the same ranges again, at another time.
        const splitId = `file-${planned.file.id}-${file.modifiedMs}-${split.splitId}`;
        const total = split.kind === 'bytes' ? { totalBytes: undefined } : { totalRows: undefined };
        splits.push({ ...split, ...place, ...total, splitId } as FileSplit);
      }
    }
    return { splits, memory: remember(look.memory, read) };
  }

  async #planWhole(file: WatchedFile): Promise<{ splits: FileSplit[]; file: WatchedFile }> {
    const exactSize = this.#watch.rules.onGrowth !== 'warn';
    const splits = await this.#watch.plan(this.#context, [file]);
    return {
      splits: splits.map((split) => ({ exactSize, ...split })),
      file: { ...file, position: file.sizeBytes },
    };
  }

  async #planTail(file: WatchedFile, tail: TailRules): Promise<{ splits: FileSplit[]; file: WatchedFile }> {
    const end = await completeLinesEnd(this.#context.platform, file, tail.lineBytesMax);
    if (end !== 'rewritten')
      return {
        splits: cutRange(file, file.position, end, undefined, tail),
        file: { ...file, position: end },
      };
    const { rules } = this.#watch;
    const change: FileChange = {
      before: file,
      now: file,
      option: 'onReplacement',
      rule: rules.onReplacement,
    };
    if (change.rule === 'refuse') throw refused(this.#context.sourceName, change);
    this.#tell(change);
    if (change.rule === 'read') return this.#planTail({ ...file, position: 0 }, tail);
    return { splits: [], file: { ...file, position: Number.MAX_SAFE_INTEGER } };
  }

  /** I2, I3. */
  #assign(): void {
    const { tail } = this.#watch;
    const { parallelism } = this.#context;
    for (const subtask of this.#waiting) {
      const at =
        tail === undefined
          ? 0
          : this.#pending.findIndex(({ sequence }) => sequence! % parallelism === subtask);
      const [split] = at < 0 ? [] : this.#pending.splice(at, 1);
      if (split === undefined) continue;
      this.#waiting.delete(subtask);
      this.#assigned += amountOf(split);
      this.#context.assignSplit(split, subtask);
    }
  }

  #tell({ before, now, option, rule }: FileChange): void {
    const { sourceName, logger } = this.#context;
    const what = describe(before, now, option);
    const then = rule === 'read' ? 'it is read as a new one' : 'what came since is not read';
    logger.log(rule === 'read' ? 'info' : 'warn', `source "${sourceName}": ${what}: ${then}`, {
      file: now.path,
    });
  }
}

function describe(
  before: WatchedFile,
  now: WatchedFile | FileChange['now'],
  option: FileChange['option'],
): string {
  const name = before.path === now.path ? now.path : `${now.path} (before: ${before.path})`;
  if (option === 'onReplacement') return `${name} was replaced by another file, or rewritten`;
  if (now.sizeBytes === before.sizeBytes) return `${name} was changed, though its size is the same`;
  return `${name} grew from ${before.sizeBytes} to ${now.sizeBytes} bytes`;
}

function refused(sourceName: string, { before, now, option }: FileChange): MillraceError {
  const advice =
    option === 'onGrowth'
      ? 'Write files under a name that begins with "." or has an ignored suffix and rename them when they are complete; or ' +
        "set minAge; or set onGrowth to 'tail' (read what comes) or 'warn' (leave it out)."
      : "Give each file a name of its own; or set onReplacement to 'read' (read it as a new file) or 'warn' (leave it out).";
  return new MillraceError(
    'SOURCE_FILE_CHANGED',
    `source "${sourceName}": ${describe(before, now, option)}, after the source had taken it up. ${advice}`,
    {
      details: {
        source: sourceName,
        path: now.path,
        listedBytes: before.sizeBytes,
        sizeBytes: now.sizeBytes,
      },
    },
  );
}

function neverWatched(sourceName: string): MillraceError {
  return new MillraceError(
    'SOURCE_STATE_MISMATCH',
    `source "${sourceName}": the saved position is of a source that read its files once and did not remember them; one that ` +
      'watches would read them again. Restore without monitorContinuously, or give the changed source a new uid.',
    { details: { source: sourceName } },
  );
}
