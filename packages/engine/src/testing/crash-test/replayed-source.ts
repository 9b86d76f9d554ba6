/**
 * The source of a crash test: a topic that has all its records before the job starts, and is read a little at a time, so that
 * checkpoints fall between records. Each partition is a split. It fails when the test says so.
 */
import { MillraceError } from '../../base/index.ts';
import type {
  EnumeratorContext,
  ReaderContext,
  Source,
  SourceOutput,
  SourceReader,
  SourceSplit,
  SplitEnumerator,
} from '../../runtime/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import { deepFreeze } from '../frozen-reads.ts';
import { textOf } from './result-text.ts';

/** Options of a source of a crash test. */
export interface CrashTestSourceOptions<T> {
  /** Of the records; undefined: undescribed. */
  readonly type?: TypeInformation<T>;
  /** How many there are; they are spread over the subtasks of the source. Default 1: the records come in their order. */
  readonly partitions?: number;
  /**
   * Records for which it gives the same come in their order, in the same partition. Default: the partitions take turns. A
   * partition of a topic has all records of a key in the same way.
   */
  readonly partitionBy?: (record: T) => unknown;
  /** Event time of a record, milliseconds; default: that of the watermark strategy. */
  readonly timestampOf?: (record: T) => number;
}

/** About how long the source is read, in virtual time, and in how many turns at most. */
const READING_MS = 160;
const TURNS_MAX = 16;
const PARTITIONS_MAX = 128;

interface PartitionSplit extends SourceSplit {
  readonly partition: number;
  /** Index of the next record. */
  readonly position: number;
}

export class ReplayedSource<T> implements Source<T, PartitionSplit, readonly PartitionSplit[]> {
  readonly boundedness = 'bounded';
  readonly outputType: TypeInformation<T> | undefined;
  private readonly partitions: readonly (readonly T[])[];
  private readonly timestampOf: ((record: T) => number) | undefined;
  private readonly failIfAsked: () => void;

  /** @param failIfAsked called whenever it is read; may throw */
  constructor(records: readonly T[], options: CrashTestSourceOptions<T>, failIfAsked: () => void) {
    this.partitions = partitioned(records, options);
    this.outputType = options.type;
    this.timestampOf = options.timestampOf;
    this.failIfAsked = failIfAsked;
  }

  createEnumerator(context: EnumeratorContext<PartitionSplit>): SplitEnumerator<readonly PartitionSplit[]> {
    const all = this.partitions.map((_, partition) => ({ splitId: `${partition}`, partition, position: 0 }));
    return this.restoreEnumerator(context, all);
  }

  restoreEnumerator(
    context: EnumeratorContext<PartitionSplit>,
    pending: readonly PartitionSplit[],
  ): SplitEnumerator<readonly PartitionSplit[]> {
    let left = pending;
    return {
      start() {},
      addReader(subtask) {
        const isOfReader = ({ partition }: PartitionSplit): boolean =>
          partition % context.parallelism === subtask;
        for (const split of left.filter(isOfReader)) context.assignSplit(split, subtask);
        left = left.filter((split) => !isOfReader(split));
        context.signalNoMoreSplits(subtask);
      },
      handleSplitRequest() {},
      snapshotState: () => left,
      close() {},
    };
  }

  createReader(context: ReaderContext): SourceReader<T, PartitionSplit> {
    const { partitions, timestampOf, failIfAsked } = this;
    const { clock, timers } = context.platform;
    const longest = Math.max(1, ...partitions.map(({ length }) => length));
    const recordsPerTurn = Math.ceil(longest / TURNS_MAX);
    const pauseMs = READING_MS / Math.ceil(longest / recordsPerTurn);
    const places: { partition: number; position: number }[] = [];
    let isComplete = false;
    let pausedUntilMs = 0;
    /** One record of each partition, so that they keep in step. */
    const readOne = (output: SourceOutput<T>): void => {
      for (const place of places) {
        const records = partitions[place.partition]!;
        if (place.position === records.length) continue;
        const record = records[place.position++]!;
        output.collect(record, timestampOf?.(record));
      }
    };
    const isRead = (): boolean =>
      places.every(({ partition, position }) => position === partitions[partition]!.length);
    return {
      start() {},
      addSplits: (splits) => void places.push(...splits.map((split) => ({ ...split }))),
      noMoreSplits() {
        isComplete = true;
      },
      poll(output) {
        failIfAsked();
        if (isRead()) return isComplete ? 'end' : 'nothing';
        const nowMs = clock.monotonicMs();
        if (nowMs < pausedUntilMs) return 'nothing';
        for (let turn = 0; turn < recordsPerTurn; turn++) readOne(output);
        pausedUntilMs = nowMs + pauseMs;
        timers.after(pauseMs, () => context.wake());
        return 'nothing';
      },
      snapshotState: () => places.map((place) => ({ splitId: `${place.partition}`, ...place })),
      close() {},
    };
  }
}

/** Frozen: all runs read the same objects. */
function partitioned<T>(
  records: readonly T[],
  { partitions = 1, partitionBy }: CrashTestSourceOptions<T>,
): T[][] {
  if (!Number.isInteger(partitions) || partitions < 1 || partitions > PARTITIONS_MAX)
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `crashTest: the number of partitions of a source is a whole number from 1 to ${PARTITIONS_MAX}, not ${partitions}`,
    );
  if (!Array.isArray(records))
    throw new MillraceError(
      'INVALID_ARGUMENT',
      'crashTest: the records of a source are an array: they are read again in each run',
    );
  const parts = Array.from({ length: partitions }, (): T[] => []);
  const known = new Map<string, number>();
  for (const [index, record] of records.entries()) {
    let partition = index % partitions;
    if (partitionBy !== undefined) {
      const key = textOf(partitionBy(record));
      partition = known.get(key) ?? known.size % partitions;
      known.set(key, partition);
    }
    parts[partition]!.push(deepFreeze(record));
  }
  return parts;
}
