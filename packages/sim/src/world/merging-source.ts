/**
 * The source of workloads with event time: given partitions, each a split of its own. A reader has all its partitions from
 * the beginning and emits their records in the order of time, so that the watermark of its subtask says nothing wrong
 * whatever other partitions it was given after a restore. May be kept from its end for as long as the workload wants: then
 * it is an endless source whose records are over.
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
} from '@millrace/engine/connector';

export interface Timed {
  readonly time: number;
}

export interface PositionSplit extends SourceSplit {
  readonly partition: number;
  /** Index of the next record. */
  readonly position: number;
}

export interface MergingSourceOptions {
  readonly recordsPerPoll: number;
  /** Between two polls that emit something. */
  readonly pauseMs: number;
  /** Asked when all is read; false: not yet. Default: it may. */
  readonly mayEnd?: () => boolean;
}

/** While it may not end it looks so often. */
const END_POLL_MS = 20;

export class MergingSource<T extends Timed> implements Source<T, PositionSplit, PositionSplit[]> {
  readonly boundedness: 'bounded' | 'unbounded';
  private readonly partitions: readonly (readonly T[])[];
  private readonly options: MergingSourceOptions;

  constructor(partitions: readonly (readonly T[])[], options: MergingSourceOptions) {
    this.boundedness = options.mayEnd === undefined ? 'bounded' : 'unbounded';
    this.partitions = partitions;
    this.options = options;
  }

  createEnumerator(context: EnumeratorContext<PositionSplit>): SplitEnumerator<PositionSplit[]> {
    const all = this.partitions.map((_, partition) => ({ splitId: `p${partition}`, partition, position: 0 }));
    return this.restoreEnumerator(context, all);
  }

  restoreEnumerator(
    context: EnumeratorContext<PositionSplit>,
    unassigned: PositionSplit[],
  ): SplitEnumerator<PositionSplit[]> {
    let left = unassigned;
    return {
      start() {},
      addReader(subtask) {
        const isMine = ({ partition }: PositionSplit): boolean => partition % context.parallelism === subtask;
        for (const split of left) if (isMine(split)) context.assignSplit(split, subtask);
        left = left.filter((split) => !isMine(split));
        context.signalNoMoreSplits(subtask);
      },
      handleSplitRequest() {},
      snapshotState: () => left,
      close() {},
    };
  }

  createReader(context: ReaderContext): SourceReader<T, PositionSplit> {
    return new MergingReader(context, this.partitions, this.options);
  }
}

class MergingReader<T extends Timed> implements SourceReader<T, PositionSplit> {
  private readonly context: ReaderContext;
  private readonly partitions: readonly (readonly T[])[];
  private readonly options: MergingSourceOptions;
  /** By partition: index of the next record. */
  private readonly positions = new Map<number, number>();
  private isComplete = false;
  private pausedUntilMs = 0;

  constructor(context: ReaderContext, partitions: readonly (readonly T[])[], options: MergingSourceOptions) {
    this.context = context;
    this.partitions = partitions;
    this.options = options;
  }

  start(): void {}

  addSplits(splits: readonly PositionSplit[]): void {
    for (const { partition, position } of splits) {
      if (this.positions.has(partition)) throw new Error(`split ${partition} was given twice`);
      this.positions.set(partition, position);
    }
  }

  noMoreSplits(): void {
    this.isComplete = true;
  }

  poll(output: SourceOutput<T>, maxRecords: number): PollStatus {
    if (!this.isComplete) return 'nothing';
    const { recordsPerPoll, pauseMs, mayEnd } = this.options;
    const now = this.context.platform.clock.monotonicMs();
    if (now < this.pausedUntilMs) return 'nothing';
    for (let i = Math.min(recordsPerPoll, maxRecords); i > 0; i--) {
      const partition = this.oldest();
      if (partition === undefined) return this.atEnd(now, mayEnd);
      const position = this.positions.get(partition)!;
      this.positions.set(partition, position + 1);
      const record = this.partitions[partition]![position]!;
      output.collect(record, record.time);
    }
    if (pauseMs === 0) return 'more';
    return this.pause(now, pauseMs);
  }

  snapshotState(): PositionSplit[] {
    return [...this.positions].map(([partition, position]) => ({
      splitId: `p${partition}`,
      partition,
      position,
    }));
  }

  close(): void {}

  /** The partition whose next record is the oldest. */
  private oldest(): number | undefined {
    let oldest: number | undefined;
    let oldestTime = Number.POSITIVE_INFINITY;
    for (const [partition, position] of this.positions) {
      const time = this.partitions[partition]![position]?.time ?? Number.POSITIVE_INFINITY;
      if (time >= oldestTime) continue;
      oldest = partition;
      oldestTime = time;
    }
    return oldest;
  }

  /** A reader without partitions would hold back the watermark for nothing. */
  private atEnd(now: number, mayEnd: (() => boolean) | undefined): PollStatus {
    const ends = mayEnd === undefined || this.positions.size === 0 || mayEnd();
    return ends ? 'end' : this.pause(now, END_POLL_MS);
  }

  private pause(now: number, pauseMs: number): PollStatus {
    this.pausedUntilMs = now + pauseMs;
    this.context.platform.timers.after(pauseMs, () => this.context.wake());
    return 'nothing';
  }
}
