/**
 * A source whose subtasks each emit a sequence of records of their own, from the position in the snapshot on: what the sources
 * of the benchmarks have in common. What the records are, and when each is due, says the sequence.
 */
import type {
  EnumeratorContext,
  PollStatus,
  ReaderContext,
  Source,
  SourceOutput,
  SourceReader,
  SplitEnumerator,
  TypeInformation,
} from '@millrace/engine/connector';

/** The records of one subtask, numbered from 0. */
export interface Sequence<T> {
  /** Records in all. */
  readonly count: number;
  /** Records that may be out by now; absent: all. Asked before each batch. */
  due?(): number;
  /** Emits records `first` to `first + count - 1`. */
  emit(output: SourceOutput<T>, first: number, count: number): void;
}

export interface SequenceSplit {
  readonly splitId: string;
  readonly next: number;
}

/** Until the next look at what is due: the shortest that timers can do. */
const PAUSE_MS = 1;

export class SequenceSource<T> implements Source<T, SequenceSplit, number[]> {
  readonly boundedness = 'bounded';
  readonly outputType: TypeInformation<T>;
  private readonly sequenceOf: (context: ReaderContext) => Sequence<T>;

  constructor(type: TypeInformation<T>, sequenceOf: (context: ReaderContext) => Sequence<T>) {
    this.outputType = type;
    this.sequenceOf = sequenceOf;
  }

  createEnumerator(context: EnumeratorContext<SequenceSplit>): SplitEnumerator<number[]> {
    return enumerator(context, []);
  }

  restoreEnumerator(
    context: EnumeratorContext<SequenceSplit>,
    assigned: readonly number[],
  ): SplitEnumerator<number[]> {
    return enumerator(context, assigned);
  }

  createReader(context: ReaderContext): SourceReader<T, SequenceSplit> {
    return new SequenceReader(this.sequenceOf(context), context);
  }
}

/** `assigned`: subtasks that were given their split. */
function enumerator(
  context: EnumeratorContext<SequenceSplit>,
  assigned: readonly number[],
): SplitEnumerator<number[]> {
  const known = new Set(assigned);
  return {
    start() {},
    addReader(subtask) {
      if (!known.has(subtask)) {
        known.add(subtask);
        context.assignSplit({ splitId: String(subtask), next: 0 }, subtask);
      }
      context.signalNoMoreSplits(subtask);
    },
    handleSplitRequest() {},
    snapshotState: () => [...known],
    close() {},
  };
}

class SequenceReader<T> implements SourceReader<T, SequenceSplit> {
  private readonly sequence: Sequence<T>;
  private readonly context: ReaderContext;
  private splitId: string | undefined;
  private next = 0;
  private noMore = false;
  private isWaiting = false;

  constructor(sequence: Sequence<T>, context: ReaderContext) {
    this.sequence = sequence;
    this.context = context;
  }

  start(): void {}

  addSplits(splits: readonly SequenceSplit[]): void {
    for (const split of splits) {
      this.splitId = split.splitId;
      this.next = split.next;
    }
    this.context.wake();
  }

  noMoreSplits(): void {
    this.noMore = true;
    this.context.wake();
  }

  poll(output: SourceOutput<T>, maxRecords: number): PollStatus {
    if (this.splitId === undefined) return this.noMore ? 'end' : 'nothing';
    const { sequence } = this;
    const due = Math.min(sequence.count, sequence.due?.() ?? sequence.count);
    const count = Math.min(maxRecords, due - this.next);
    if (count > 0) {
      sequence.emit(output, this.next, count);
      this.next += count;
    }
    if (this.next >= sequence.count) return 'end';
    if (this.next < due) return 'more';
    this.wakeSoon();
    return 'nothing';
  }

  private wakeSoon(): void {
    if (this.isWaiting) return;
    this.isWaiting = true;
    this.context.platform.timers.after(PAUSE_MS, () => {
      this.isWaiting = false;
      this.context.wake();
    });
  }

  snapshotState(): SequenceSplit[] {
    return this.splitId === undefined ? [] : [{ splitId: this.splitId, next: this.next }];
  }

  close(): void {}
}
