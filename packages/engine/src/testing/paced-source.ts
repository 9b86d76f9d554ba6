/**
 * A source of given partitions that emits a few records and then pauses, by the platform's time, so that checkpoints fall
 * between records; each partition is a split. For jobs on the manual platform. A pace of 0 records emits nothing until
 * `release`.
 */
import type {
  EnumeratorContext,
  PollStatus,
  ReaderContext,
  Source,
  SourceOutput,
  SourceReader,
  SourceSplit,
  SplitEnumerator,
} from '../runtime/index.ts';

export interface PartitionSplit extends SourceSplit {
  readonly partition: number;
  /** Index of the next record. */
  position: number;
}

export interface PacedSourceOptions<T> {
  /** Records in one poll; default 3. */
  readonly recordsPerPoll?: number;
  /** Pause after each poll; default 1. */
  readonly pauseMs?: number;
  readonly timestampOf?: (value: T) => number;
  /** False: the source goes on for ever when its records are read. Default true. */
  readonly ends?: boolean;
  /** Called by the enumerator in each of its calls; may throw or return a promise. */
  readonly interfere?: (call: 'start' | 'addReader' | 'request' | 'snapshot') => void | Promise<void>;
}

export class PacedSource<T> implements Source<T, PartitionSplit, PartitionSplit[]> {
  readonly boundedness = 'bounded';
  readonly partitions: readonly (readonly T[])[];
  readonly options: PacedSourceOptions<T>;

  constructor(partitions: readonly (readonly T[])[], options: PacedSourceOptions<T> = {}) {
    this.partitions = partitions;
    this.options = options;
  }

  createEnumerator(context: EnumeratorContext<PartitionSplit>): SplitEnumerator<PartitionSplit[]> {
    const all = this.partitions.map((_, partition) => ({ splitId: `p${partition}`, partition, position: 0 }));
    return this.restoreEnumerator(context, all);
  }

  restoreEnumerator(
    context: EnumeratorContext<PartitionSplit>,
    pending: PartitionSplit[],
  ): SplitEnumerator<PartitionSplit[]> {
    const interfere = this.options.interfere ?? (() => {});
    return {
      start: () => interfere('start'),
      addReader: () => interfere('addReader'),
      async handleSplitRequest(subtask) {
        await interfere('request');
        const split = pending.shift();
        if (split === undefined) context.signalNoMoreSplits(subtask);
        else context.assignSplit(split, subtask);
      },
      // The live list: what is given out must not change with it.
      snapshotState() {
        void interfere('snapshot');
        return pending;
      },
      close() {},
    };
  }

  createReader(context: ReaderContext): SourceReader<T, PartitionSplit> {
    return new PacedReader(context, this.partitions, this.options);
  }
}

class PacedReader<T> implements SourceReader<T, PartitionSplit> {
  private readonly context: ReaderContext;
  private readonly partitions: readonly (readonly T[])[];
  private readonly options: PacedSourceOptions<T>;
  private splits: PartitionSplit[] = [];
  private requested = false;
  private noMore = false;
  private pausedUntilMs = 0;

  constructor(context: ReaderContext, partitions: readonly (readonly T[])[], options: PacedSourceOptions<T>) {
    this.context = context;
    this.partitions = partitions;
    this.options = options;
  }

  start(): void {}

  addSplits(splits: readonly PartitionSplit[]): void {
    this.requested = false;
    this.splits.push(...splits.map((split) => ({ ...split })));
  }

  noMoreSplits(): void {
    this.noMore = true;
  }

  poll(output: SourceOutput<T>): PollStatus {
    const { recordsPerPoll = 3, pauseMs = 1, timestampOf, ends = true } = this.options;
    const split = this.splits[0];
    if (split === undefined) {
      if (this.noMore) return ends ? 'end' : 'nothing';
      if (!this.requested) this.context.requestSplit();
      this.requested = true;
      return 'nothing';
    }
    const now = this.context.platform.clock.monotonicMs();
    if (now < this.pausedUntilMs) return 'nothing';
    const records = this.partitions[split.partition]!;
    for (let i = 0; i < recordsPerPoll && split.position < records.length; i++) {
      const record = records[split.position++]!;
      output.collect(record, timestampOf?.(record));
    }
    if (split.position === records.length) this.splits.shift();
    this.pausedUntilMs = now + pauseMs;
    this.context.platform.timers.after(pauseMs, () => this.context.wake());
    return 'nothing';
  }

  snapshotState(): PartitionSplit[] {
    return this.splits;
  }

  close(): void {}
}
