/**
 * Lists the files of a source once, cuts them into splits, and hands these out on request, in the order of their paths.
 *
 * Called by the host of the source. How files are cut is the business of the format (byte ranges or row groups).
 *
 * I1  Files are listed before the first checkpoint and never again: a restored enumerator has its splits in its state.
 * I2  A split leaves `pending` in the call that assigns it.
 */
import type { EnumeratorContext, SplitEnumerator } from '../../runtime/index.ts';
import { listFiles } from './file-listing.ts';
import type { FileSplit, ListedFile } from './file-split.ts';

/** What the enumerator saves. */
export interface FileEnumeratorState {
  /** Splits that no reader has, in order; undefined: the files were not listed yet. */
  readonly pending: readonly FileSplit[] | undefined;
}

/** Cuts listed files into splits. */
export type PlanSplits = (
  context: EnumeratorContext<FileSplit>,
  files: readonly ListedFile[],
) => FileSplit[] | Promise<FileSplit[]>;

export class FileEnumerator implements SplitEnumerator<FileEnumeratorState> {
  readonly #context: EnumeratorContext<FileSplit>;
  readonly #paths: readonly string[];
  readonly #plan: PlanSplits;
  #pending: FileSplit[] | undefined;

  constructor(
    context: EnumeratorContext<FileSplit>,
    paths: readonly string[],
    plan: PlanSplits,
    restored: FileEnumeratorState | undefined,
  ) {
    this.#context = context;
    this.#paths = paths;
    this.#plan = plan;
    this.#pending = restored?.pending === undefined ? undefined : [...restored.pending];
  }

  async start(): Promise<void> {
    if (this.#pending !== undefined) return;
    const { platform, sourceName, logger } = this.#context;
    const files = await listFiles(platform, sourceName, this.#paths);
    if (files.length === 0) logger.log('warn', `source "${sourceName}": no files`, { paths: this.#paths });
    this.#pending = await this.#plan(this.#context, files);
  }

  addReader(): void {}

  handleSplitRequest(subtaskIndex: number): void {
    const split = this.#pending?.shift();
    if (split === undefined) this.#context.signalNoMoreSplits(subtaskIndex);
    else this.#context.assignSplit(split, subtaskIndex);
  }

  snapshotState(): FileEnumeratorState {
    return { pending: this.#pending === undefined ? undefined : [...this.#pending] };
  }

  close(): void {}
}
