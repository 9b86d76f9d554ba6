/**
 * A source that a test feeds by hand. It lies outside the job, like a topic of a broker: what was emitted stays and is read
 * again after a restart, from the positions of the snapshot.
 *
 * One split a partition. Readers look at the partitions of this object directly: it works in the thread of the test only.
 */
import { MIN_WATERMARK, MillraceError } from '../../base/index.ts';
import type {
  EnumeratorContext,
  PollStatus,
  ReaderContext,
  Source,
  SourceOutput,
  SourceReader,
  SourceSplit,
  SplitEnumerator,
} from '../../runtime/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import { deepFreeze } from '../frozen-reads.ts';

interface PartitionSplit extends SourceSplit {
  readonly partition: number;
  /** Index of the next record. */
  readonly position: number;
}

interface Entry<T> {
  readonly value: T;
  readonly timestampMs: number | undefined;
}

/** Options of TestSource. */
export interface TestSourceOptions<T> {
  /** Of the records; undefined: undescribed. */
  readonly type?: TypeInformation<T>;
  /** How many there are; they are spread over the subtasks of the source. Default 1. */
  readonly partitions?: number;
}

/** The partitions that are known, and those of them that are not assigned. */
interface Assignment {
  readonly partitionCount: number;
  readonly pending: readonly PartitionSplit[];
}

/** A source whose records a test emits. The same object may feed one job after the other, as a topic does. */
export class TestSource<T> implements Source<T, PartitionSplit, Assignment> {
  readonly boundedness = 'unbounded';
  readonly outputType: TypeInformation<T> | undefined;
  readonly #partitions: readonly Entry<T>[][];
  /** Where the readers of the job that runs now are. */
  readonly #read = new Map<number, number>();
  readonly #wakes = new Set<() => void>();
  #hasEnded = false;
  #watermarkMs = MIN_WATERMARK;

  /** Without records; `emit` adds them. */
  constructor(options: TestSourceOptions<T> = {}) {
    this.outputType = options.type;
    this.#partitions = Array.from({ length: options.partitions ?? 1 }, () => []);
  }

  /**
   * Adds a record, with a timestamp or without; it is frozen, since it is read again after a restart. The job reads it when
   * the harness goes on (`process`).
   */
  emit(value: T, timestampMs?: number, partition = 0): this {
    const entries = this.#partitions[partition];
    if (entries === undefined || this.#hasEnded) {
      const why = entries === undefined ? `it has ${this.#partitions.length} partitions` : 'it has ended';
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `cannot emit to partition ${partition} of a TestSource: ${why}`,
      );
    }
    entries.push({ value: deepFreeze(value), timestampMs });
    this.wake();
    return this;
  }

  /** Adds records without timestamps. */
  emitAll(values: Iterable<T>, partition = 0): this {
    for (const value of values) this.emit(value, undefined, partition);
    return this;
  }

  /** No records come any more: the job ends when it has read what there is. */
  end(): this {
    this.#hasEnded = true;
    this.wake();
    return this;
  }

  /** For the harness: the watermark that the test has set. @internal */
  get watermarkMs(): number {
    return this.#watermarkMs;
  }

  /** For the harness: true if every record was handed to the job. False while nobody reads. @internal */
  get isRead(): boolean {
    return this.#partitions.every((entries, partition) => (this.#read.get(partition) ?? 0) >= entries.length);
  }

  /** For the harness. @internal */
  advanceWatermark(watermarkMs: number): void {
    this.#watermarkMs = Math.max(this.#watermarkMs, watermarkMs);
    this.wake();
  }

  createEnumerator(context: EnumeratorContext<PartitionSplit>): SplitEnumerator<Assignment> {
    return this.restoreEnumerator(context, { partitionCount: 0, pending: [] });
  }

  restoreEnumerator(
    context: EnumeratorContext<PartitionSplit>,
    { partitionCount, pending }: Assignment,
  ): SplitEnumerator<Assignment> {
    const all = this.#partitions.map((_, partition) => ({ splitId: `${partition}`, partition, position: 0 }));
    let left = [...pending, ...all.slice(partitionCount)];
    return {
      start() {},
      addReader(subtask) {
        for (const split of left)
          if (split.partition % context.parallelism === subtask) context.assignSplit(split, subtask);
        left = left.filter((split) => split.partition % context.parallelism !== subtask);
        context.signalNoMoreSplits(subtask);
      },
      handleSplitRequest() {},
      snapshotState: () => ({ partitionCount: Math.max(partitionCount, all.length), pending: left }),
      close() {},
    };
  }

  createReader(context: ReaderContext): SourceReader<T, PartitionSplit> {
    const wake = (): void => context.wake();
    this.#wakes.add(wake);
    let positions: { readonly partition: number; position: number }[] = [];
    let isComplete = false;
    return {
      start() {},
      addSplits: (splits) => {
        for (const { partition, position } of splits) {
          this.#requireRead(partition, position);
          positions.push({ partition, position });
          this.#read.set(partition, position);
        }
      },
      noMoreSplits() {
        isComplete = true;
      },
      poll: (output, maxRecords) => this.#poll(positions, isComplete, output, maxRecords),
      snapshotState: () => positions.map((each) => ({ splitId: `${each.partition}`, ...each })),
      close: () => {
        this.#wakes.delete(wake);
        positions = [];
      },
    };
  }

  private wake(): void {
    for (const wake of this.#wakes) wake();
  }

  /** A snapshot goes on in the middle of a partition: where that has fewer records, some would be skipped in silence. */
  #requireRead(partition: number, position: number): void {
    const count = this.#partitions[partition]?.length ?? 0;
    if (position <= count) return;
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `the snapshot was taken after ${position} records of partition ${partition}, but this TestSource has ${count} there. ` +
        'Give the job the same TestSource object again, or emit those records to the new one first.',
    );
  }

  #poll(
    positions: readonly { readonly partition: number; position: number }[],
    isComplete: boolean,
    output: SourceOutput<T>,
    maxRecords: number,
  ): PollStatus {
    let left = maxRecords;
    for (const place of positions) {
      const entries = this.#partitions[place.partition] ?? [];
      for (; left > 0 && place.position < entries.length; left--) {
        const { value, timestampMs } = entries[place.position++]!;
        output.collect(value, timestampMs);
      }
      this.#read.set(place.partition, place.position);
    }
    if (left === 0) return 'more';
    return this.#hasEnded && isComplete ? 'end' : 'nothing';
  }
}
