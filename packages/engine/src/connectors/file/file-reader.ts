/**
 * The reader of file sources: reads its splits one after the other, and lets the next one read ahead while the current
 * one is emitted.
 *
 * Called by the task that runs the source. What a split is and how it is read is the business of its SplitReading.
 *
 * I1  Each split that this reader was given and has not finished is in exactly one of `#readings` and `#queue`.
 * I2  At most two splits are open: the one being emitted, and the next once nothing of the first is left to load.
 */
import type {
  PollStatus,
  ReaderContext,
  ReaderProgress,
  SourceOutput,
  SourceReader,
} from '../../runtime/index.ts';
import type { FileSplit } from './file-split.ts';
import type { SplitReading } from './split-reading.ts';

export type OpenReading<T> = (context: ReaderContext, split: FileSplit) => SplitReading<T>;

export class FileReader<T> implements SourceReader<T, FileSplit> {
  readonly #context: ReaderContext;
  readonly #open: OpenReading<T>;
  readonly #readings: SplitReading<T>[] = [];
  readonly #queue: FileSplit[] = [];
  #started = false;
  #requested = false;
  #noMoreSplits = false;
  #done = 0;
  #total: number | undefined;
  #unit: 'bytes' | 'records' = 'bytes';

  constructor(context: ReaderContext, open: OpenReading<T>) {
    this.#context = context;
    this.#open = open;
  }

  start(): void {
    this.#started = true;
    this.#readAhead();
  }

  /** Splits are read in the order of files and positions, also those that were restored together. */
  addSplits(splits: readonly FileSplit[]): void {
    this.#requested = false;
    this.#queue.push(...[...splits].sort(inFileOrder));
    for (const split of splits) {
      this.#total = split.kind === 'bytes' ? split.totalBytes : split.totalRows;
      this.#unit = split.kind === 'bytes' ? 'bytes' : 'records';
    }
    if (this.#started) this.#readAhead();
    this.#context.wake();
  }

  noMoreSplits(): void {
    this.#noMoreSplits = true;
    this.#context.wake();
  }

  poll(output: SourceOutput<T>, maxRecords: number): PollStatus {
    if (!this.#started) return 'nothing';
    let left = maxRecords;
    for (let reading = this.#readings[0]; reading !== undefined; reading = this.#readings[0]) {
      const passed = reading.poll(output, left);
      left -= passed;
      if (reading.finished) {
        this.#done += reading.done;
        reading.close();
        this.#readings.shift();
      }
      this.#readAhead();
      this.#requestIfNeeded();
      if (left <= 0) return 'more';
      if (passed === 0 && !reading.finished) return 'nothing';
    }
    this.#requestIfNeeded();
    return this.#noMoreSplits && this.#queue.length === 0 ? 'end' : 'nothing';
  }

  snapshotState(): FileSplit[] {
    return [
      ...this.#readings.filter((reading) => !reading.finished).map((reading) => reading.snapshot()),
      ...this.#queue,
    ];
  }

  progress(): ReaderProgress {
    const done = this.#readings.reduce((sum, reading) => sum + reading.done, this.#done);
    const queued = this.#queue.reduce((sum, split) => sum + amountLeft(split), 0);
    const left = this.#readings.reduce((sum, reading) => sum + reading.left, queued);
    return { done, left, total: this.#total, unit: this.#unit };
  }

  close(): void {
    for (const reading of this.#readings) reading.close();
  }

  /** I2. */
  #readAhead(): void {
    if (!this.#mayOpen()) return;
    const split = this.#queue.shift();
    if (split === undefined) return;
    const reading = this.#open(this.#context, split);
    this.#readings.push(reading);
    reading.start();
  }

  /** Only in `poll`: before the first one, restored splits may still come. */
  #requestIfNeeded(): void {
    if (this.#requested || this.#noMoreSplits || this.#queue.length > 0 || !this.#mayOpen()) return;
    this.#requested = true;
    this.#context.requestSplit();
  }

  #mayOpen(): boolean {
    const [current, next] = this.#readings;
    return current === undefined || (next === undefined && current.loaded);
  }
}

function amountLeft(split: FileSplit): number {
  if (split.kind === 'bytes' && split.compression !== undefined) return split.fileSizeBytes;
  return split.kind === 'bytes' ? split.end - (split.position ?? split.start) : split.rows - split.position;
}

function inFileOrder(a: FileSplit, b: FileSplit): number {
  if (a.sequence !== b.sequence) return (a.sequence ?? 0) - (b.sequence ?? 0);
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return orderInFile(a) - orderInFile(b);
}

function orderInFile(split: FileSplit): number {
  return split.kind === 'bytes' ? split.start : split.rowGroup;
}
