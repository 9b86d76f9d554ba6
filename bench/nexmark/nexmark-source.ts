/**
 * The events of the generator as a source: subtask i of P emits the numbers i, i + P, i + 2 P, ... so that event time goes on
 * at the same pace in all of them.
 */
import type {
  EnumeratorContext,
  PollStatus,
  ReaderContext,
  Source,
  SourceOutput,
  SourceReader,
  SplitEnumerator,
} from '@millrace/engine/connector';
import { EVENT_TYPE } from './event-types.ts';
import { type Auction, type Bid, eventOf, type NexmarkEvent, type Person } from './generator.ts';

export interface NexmarkSplit {
  readonly splitId: string;
  /** The number of the next event. */
  readonly next: number;
  readonly step: number;
}

export class NexmarkSource implements Source<NexmarkEvent, NexmarkSplit, number[]> {
  readonly boundedness = 'bounded';
  readonly outputType = EVENT_TYPE;
  private readonly events: number;

  /** Of events 0 to `events - 1`. */
  constructor(events: number) {
    this.events = events;
  }

  createEnumerator(context: EnumeratorContext<NexmarkSplit>): SplitEnumerator<number[]> {
    return enumerator(context, []);
  }

  restoreEnumerator(
    context: EnumeratorContext<NexmarkSplit>,
    assigned: readonly number[],
  ): SplitEnumerator<number[]> {
    return enumerator(context, assigned);
  }

  createReader(context: ReaderContext): SourceReader<NexmarkEvent, NexmarkSplit> {
    return new NexmarkReader(this.events, context);
  }
}

/** `assigned`: subtasks that were given their split. */
function enumerator(
  context: EnumeratorContext<NexmarkSplit>,
  assigned: readonly number[],
): SplitEnumerator<number[]> {
  const known = new Set(assigned);
  return {
    start() {},
    addReader(subtask) {
      if (!known.has(subtask)) {
        known.add(subtask);
        context.assignSplit({ splitId: String(subtask), next: subtask, step: context.parallelism }, subtask);
      }
      context.signalNoMoreSplits(subtask);
    },
    handleSplitRequest() {},
    snapshotState: () => [...known],
    close() {},
  };
}

type Emit = (output: SourceOutput<NexmarkEvent>, from: number, to: number, step: number) => void;

let made = 0;

class NexmarkReader implements SourceReader<NexmarkEvent, NexmarkSplit> {
  private readonly events: number;
  private readonly context: ReaderContext;
  private readonly emit: Emit;
  private split: NexmarkSplit | undefined;
  private next = 0;
  private noMore = false;

  constructor(events: number, context: ReaderContext) {
    this.events = events;
    this.context = context;
    // A loop of its own for each reader, so that its call sites are not shared between jobs.
    this.emit = new Function(
      'eventOf',
      'timeOf',
      `/* nexmark source ${++made} */
      return function emitEvents(output, from, to, step) {
        for (let number = from; number < to; number += step) {
          const event = eventOf(number);
          output.collect(event, timeOf(event));
        }
      };`,
    )(eventOf, timeOf);
  }

  start(): void {}

  addSplits(splits: readonly NexmarkSplit[]): void {
    for (const split of splits) {
      this.split = split;
      this.next = split.next;
    }
    this.context.wake();
  }

  noMoreSplits(): void {
    this.noMore = true;
    this.context.wake();
  }

  poll(output: SourceOutput<NexmarkEvent>, maxRecords: number): PollStatus {
    if (this.split === undefined) return this.noMore ? 'end' : 'nothing';
    const { step } = this.split;
    const to = Math.min(this.events, this.next + maxRecords * step);
    if (this.next < to) {
      this.emit(output, this.next, to, step);
      this.next += Math.ceil((to - this.next) / step) * step;
    }
    return this.next < this.events ? 'more' : 'end';
  }

  snapshotState(): NexmarkSplit[] {
    return this.split === undefined ? [] : [{ ...this.split, next: this.next }];
  }

  close(): void {}
}

function timeOf({ bid, auction, person }: NexmarkEvent): number {
  return ((bid ?? auction ?? person) as Bid | Auction | Person).dateTime;
}
