/**
 * A bounded source of given partitions that a test lets run and stops at will: it emits what its gate allows and then
 * waits. For jobs in the thread of the test, which share the gate with it.
 *
 * Positions are indexes in the partitions. Each partition is a split; readers ask for them one after the other.
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

/** How many records of each partition may be emitted. */
export class Gate {
  #limit: number;
  readonly #readers = new Set<GatedReader<unknown>>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get limit(): number {
    return this.#limit;
  }

  open(limit = Number.POSITIVE_INFINITY): void {
    this.#limit = limit;
    for (const reader of this.#readers) reader.wake();
  }

  join(reader: GatedReader<unknown>): void {
    this.#readers.add(reader);
  }

  leave(reader: GatedReader<unknown>): void {
    this.#readers.delete(reader);
  }
}

export interface PartitionSplit extends SourceSplit {
  readonly partition: number;
  readonly position: number;
}

interface EnumeratorState {
  readonly pending: readonly PartitionSplit[];
}

export interface GatedSourceOptions<T> {
  readonly timestampOf?: (value: T) => number;
}

export class GatedSource<T> implements Source<T, PartitionSplit, EnumeratorState> {
  readonly boundedness = 'bounded';
  readonly gate: Gate;
  readonly #partitions: readonly (readonly T[])[];
  readonly #timestampOf: ((value: T) => number) | undefined;

  constructor(
    partitions: readonly (readonly T[])[],
    gate = new Gate(Number.POSITIVE_INFINITY),
    options: GatedSourceOptions<T> = {},
  ) {
    this.#partitions = partitions;
    this.gate = gate;
    this.#timestampOf = options.timestampOf;
  }

  createEnumerator(context: EnumeratorContext<PartitionSplit>): SplitEnumerator<EnumeratorState> {
    const pending = this.#partitions.map((_, partition) => ({
      splitId: `partition-${partition}`,
      partition,
      position: 0,
    }));
    return new PartitionEnumerator(context, pending);
  }

  restoreEnumerator(
    context: EnumeratorContext<PartitionSplit>,
    state: EnumeratorState,
  ): SplitEnumerator<EnumeratorState> {
    return new PartitionEnumerator(context, state.pending);
  }

  createReader(context: ReaderContext): SourceReader<T, PartitionSplit> {
    return new GatedReader(context, this.gate, this.#partitions, this.#timestampOf);
  }
}

class PartitionEnumerator implements SplitEnumerator<EnumeratorState> {
  readonly #context: EnumeratorContext<PartitionSplit>;
  readonly #pending: PartitionSplit[];

  constructor(context: EnumeratorContext<PartitionSplit>, pending: readonly PartitionSplit[]) {
    this.#context = context;
    this.#pending = [...pending];
  }

  start(): void {}

  addReader(): void {}

  handleSplitRequest(subtaskIndex: number): void {
    const split = this.#pending.shift();
    if (split === undefined) this.#context.signalNoMoreSplits(subtaskIndex);
    else this.#context.assignSplit(split, subtaskIndex);
  }

  snapshotState(): EnumeratorState {
    return { pending: [...this.#pending] };
  }

  close(): void {}
}

/** Reads the splits it has in turns, and asks for the next one when it has read them. */
class GatedReader<T> implements SourceReader<T, PartitionSplit> {
  readonly #context: ReaderContext;
  readonly #gate: Gate;
  readonly #partitions: readonly (readonly T[])[];
  readonly #timestampOf: ((value: T) => number) | undefined;
  readonly #splits: { readonly splitId: string; readonly partition: number; position: number }[] = [];
  #requested = false;
  #noMoreSplits = false;

  constructor(
    context: ReaderContext,
    gate: Gate,
    partitions: readonly (readonly T[])[],
    timestampOf: ((value: T) => number) | undefined,
  ) {
    this.#context = context;
    this.#gate = gate;
    this.#partitions = partitions;
    this.#timestampOf = timestampOf;
  }

  wake(): void {
    this.#context.wake();
  }

  start(): void {
    this.#gate.join(this as GatedReader<unknown>);
    this.#request();
  }

  addSplits(splits: readonly PartitionSplit[]): void {
    this.#requested = false;
    for (const split of splits) this.#splits.push({ ...split });
    this.#context.wake();
  }

  noMoreSplits(): void {
    this.#noMoreSplits = true;
    this.#context.wake();
  }

  poll(output: SourceOutput<T>): PollStatus {
    let emitted = false;
    let finished = true;
    for (const split of this.#splits) {
      const values = this.#partitions[split.partition]!;
      if (split.position < Math.min(values.length, this.#gate.limit)) {
        const value = values[split.position++]!;
        output.collect(value, this.#timestampOf?.(value));
        emitted = true;
      }
      finished &&= split.position >= values.length;
    }
    if (finished && this.#noMoreSplits) return 'end';
    if (finished && !this.#requested) this.#request();
    return emitted ? 'more' : 'nothing';
  }

  snapshotState(): PartitionSplit[] {
    return this.#splits.map((split) => ({ ...split }));
  }

  close(): void {
    this.#gate.leave(this as GatedReader<unknown>);
  }

  #request(): void {
    this.#requested = true;
    this.#context.requestSplit();
  }
}
