/**
 * A bounded source of the whole numbers from one to another, both inclusive: SequenceSource (Flink's
 * NumberSequenceSource).
 *
 * Made by the API's fromSequence. Guarantee: exactly-once. A longer sequence may be restored from the position of a
 * shorter one with the same first number.
 */
import { MillraceError } from '../../base/index.ts';
import type {
  EnumeratorContext,
  ReaderContext,
  Source,
  SourceReader,
  SplitEnumerator,
} from '../../runtime/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import { compileEmitRange, type TimestampOf } from '../generated-loop.ts';
import { IndexRangeEnumerator } from './index-range-enumerator.ts';
import { IndexRangeReader } from './index-range-reader.ts';
import type { IndexRangeEnumeratorState, IndexRangeSplit, RangeCut } from './index-range-split.ts';

/** From that many records for each reader on, the range is cut finer, so that it can be spread when it is rescaled. */
const FINE_CUT_RECORDS = 65_536;
const FINE_CUT_SPLITS = 4;

const LONG: TypeInformation<number> = { description: { kind: 'long' } };

/** Options of SequenceSource. */
export interface SequenceSourceOptions {
  readonly timestampOf?: TimestampOf<number>;
}

/** A bounded source of whole numbers, one after the other. Exactly-once. */
export class SequenceSource implements Source<number, IndexRangeSplit, IndexRangeEnumeratorState> {
  readonly boundedness = 'bounded';
  readonly outputType = LONG;
  readonly #from: number;
  readonly #count: number;
  readonly #timestampOf: TimestampOf<number> | undefined;

  /** `from` <= `to`, safe integers. Throws INVALID_ARGUMENT. */
  constructor(from: number, to: number, options: SequenceSourceOptions = {}) {
    if (
      !Number.isSafeInteger(from) ||
      !Number.isSafeInteger(to) ||
      to < from ||
      !Number.isSafeInteger(to - from + 1)
    ) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `a sequence from ${from} to ${to}: expected two whole numbers, the first not above the second`,
        { details: { from, to } },
      );
    }
    this.#from = from;
    this.#count = to - from + 1;
    this.#timestampOf = options.timestampOf;
  }

  createEnumerator(context: EnumeratorContext<IndexRangeSplit>): SplitEnumerator<IndexRangeEnumeratorState> {
    return new IndexRangeEnumerator(context, this.#identity(), this.#cut(context.parallelism));
  }

  restoreEnumerator(
    context: EnumeratorContext<IndexRangeSplit>,
    state: IndexRangeEnumeratorState,
  ): SplitEnumerator<IndexRangeEnumeratorState> {
    return new IndexRangeEnumerator(context, this.#identity(), this.#cut(context.parallelism), state);
  }

  createReader(context: ReaderContext): SourceReader<number, IndexRangeSplit> {
    return new IndexRangeReader(context, {
      emitRange: compileEmitRange<number>(
        'sequence source',
        context.sourceName,
        'first + i',
        { first: this.#from },
        this.#timestampOf,
      ),
      count: this.#count,
      limiter: undefined,
    });
  }

  #identity(): string {
    return `sequence from ${this.#from}`;
  }

  #cut(parallelism: number): RangeCut {
    const fine = this.#count >= FINE_CUT_RECORDS * parallelism;
    const splits = fine ? FINE_CUT_SPLITS * parallelism : parallelism;
    return { count: this.#count, splits, splitRecords: undefined };
  }
}
