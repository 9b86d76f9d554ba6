/**
 * Lists the files of a source once, cuts them into splits, and hands these out on request, in the order of their paths.
 *
 * Called by the host of the source. How files are cut is the business of the format (byte ranges or row groups).
 *
 * I1  Files are listed before the first checkpoint and never again: a restored enumerator has its splits in its state.
 * I2  A split leaves `pending` in the call that assigns it.
 * I3  A restored enumerator is one of the same paths: by I1 those that the program has added would never be read, and those
 *     that it has taken out would be read on.
 */
import { MillraceError } from '../../base/index.ts';
import type { EnumeratorContext, SplitEnumerator } from '../../runtime/index.ts';
import { type ListingOptions, listFiles, shownPath } from './file-listing.ts';
import { amountOf, type FileSplit, type ListedFile } from './file-split.ts';
import type { WatchMemory } from './watched-files.ts';

/** What the enumerator saves. */
export interface FileEnumeratorState {
  /** Splits that no reader has, in order; undefined: the files were not listed yet. */
  readonly pending: readonly FileSplit[] | undefined;
  /** Bytes, or rows, that readers were given. */
  readonly assigned?: number | undefined;
  /** What was given to the source, sorted; absent in the state of a source that watches. */
  readonly paths?: readonly string[] | undefined;
  /** Modification time of the newest file that was listed; undefined: there was none. */
  readonly newestModifiedMs?: number | undefined;
  /** The files known so far; only of watched directories. */
  readonly watched?: WatchMemory | undefined;
}

/** Cuts listed files into splits. */
export type PlanSplits = (
  context: EnumeratorContext<FileSplit>,
  files: readonly ListedFile[],
) => FileSplit[] | Promise<FileSplit[]>;

export class FileEnumerator implements SplitEnumerator<FileEnumeratorState> {
  readonly #context: EnumeratorContext<FileSplit>;
  readonly #paths: readonly string[];
  readonly #listing: ListingOptions;
  readonly #plan: PlanSplits;
  #pending: FileSplit[] | undefined;
  #assigned: number;
  #newestModifiedMs: number | undefined;

  /** Throws SOURCE_STATE_MISMATCH if `restored` is the state of a source of other paths. */
  constructor(
    context: EnumeratorContext<FileSplit>,
    paths: readonly string[],
    listing: ListingOptions,
    plan: PlanSplits,
    restored: FileEnumeratorState | undefined,
  ) {
    this.#context = context;
    this.#paths = paths;
    this.#listing = listing;
    this.#plan = plan;
    this.#pending = restored?.pending === undefined ? undefined : [...restored.pending];
    this.#assigned = restored?.assigned ?? 0;
    this.#newestModifiedMs = restored?.newestModifiedMs;
    if (restored?.pending !== undefined && restored.paths !== undefined) this.#checkPaths(restored.paths);
  }

  async start(): Promise<void> {
    if (this.#pending !== undefined) return;
    const { platform, sourceName, logger } = this.#context;
    const files = await listFiles(platform, sourceName, this.#paths, this.#listing);
    if (files.length === 0) logger.log('warn', `source "${sourceName}": no files`, { paths: this.#paths });
    this.#pending = await this.#plan(this.#context, files);
    for (const { modifiedMs } of files)
      this.#newestModifiedMs = Math.max(this.#newestModifiedMs ?? modifiedMs, modifiedMs);
  }

  addReader(): void {}

  handleSplitRequest(subtaskIndex: number): void {
    const split = this.#pending?.shift();
    if (split === undefined) {
      this.#context.signalNoMoreSplits(subtaskIndex);
      return;
    }
    this.#assigned += amountOf(split);
    this.#context.assignSplit(split, subtaskIndex);
  }

  amountAssigned(): number {
    return this.#assigned;
  }

  snapshotState(): FileEnumeratorState {
    return {
      pending: this.#pending === undefined ? undefined : [...this.#pending],
      assigned: this.#assigned,
      paths: this.#shownPaths(),
      newestModifiedMs: this.#newestModifiedMs,
    };
  }

  close(): void {}

  #shownPaths(): string[] {
    return this.#paths.map((path) => shownPath(this.#context.platform, path)).sort();
  }

  /** I3 */
  #checkPaths(saved: readonly string[]): void {
    const now = this.#shownPaths();
    const gone = saved.find((path) => !now.includes(path));
    const added = now.find((path) => !saved.includes(path));
    if (gone === undefined && added === undefined) return;
    const { sourceName } = this.#context;
    const changes = [
      ...(gone === undefined ? [] : [`${gone} has saved positions and is no longer read by the program`]),
      ...(added === undefined ? [] : [`${added} has none and is now read by it`]),
    ];
    throw new MillraceError(
      'SOURCE_STATE_MISMATCH',
      `source "${sourceName}": ${changes.join('; ')}. Files are listed once, when the source starts without a snapshot. ` +
        'Restore with the paths it was saved with, or give the changed source a new uid, with which it reads all of its ' +
        'files, and let the restore drop the state of the old one.',
      { details: { source: sourceName, saved, now } },
    );
  }
}
