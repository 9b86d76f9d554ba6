/**
 * A bounded source of values that are part of the program: CollectionSource.
 *
 * Made by the API's fromCollection and fromElements, and by tests. The values live in the graph (every process that
 * loads the job's module has them); a position is an index. Records carry no timestamp unless `timestampOf` is given.
 *
 * Guarantee: exactly-once, if the program has the same values when it is restored (their number is checked).
 */
import { MillraceError } from '../../base/index.ts';
import { describe } from '../../operators/index.ts';
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

/** Options of CollectionSource. */
export interface CollectionSourceOptions<T> {
  readonly type?: TypeInformation<T>;
  readonly timestampOf?: TimestampOf<T>;
  /** `per-subtask` (default): an equal part for each reader. `one`: one reader reads all, in order. */
  readonly splits?: 'per-subtask' | 'one';
}

/**
 * A bounded source of values that are part of the program. Exactly-once, if the program has the same values when it
 * is restored.
 */
export class CollectionSource<T> implements Source<T, IndexRangeSplit, IndexRangeEnumeratorState> {
  readonly boundedness = 'bounded';
  readonly outputType: TypeInformation<T> | undefined;
  readonly #values: readonly T[];
  readonly #options: CollectionSourceOptions<T>;

  /** The values are copied into an array; they themselves must not be changed afterwards. Throws INVALID_ARGUMENT. */
  constructor(values: Iterable<T>, options: CollectionSourceOptions<T> = {}) {
    if (typeof (values as Partial<Iterable<T>> | undefined | null)?.[Symbol.iterator] !== 'function') {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `collection source: expected an array or another iterable, found ${describe(values)}. For async iterables ` +
          'there is fromAsyncIterable.',
      );
    }
    this.#values = [...values];
    this.#options = options;
    this.outputType = options.type;
  }

  /** A source of the elements of a collection. */
  static fromCollection<T>(
    values: Iterable<T>,
    options: CollectionSourceOptions<T> = {},
  ): CollectionSource<T> {
    return new CollectionSource(values, options);
  }

  /** A source of these elements. */
  static fromElements<T>(...values: readonly T[]): CollectionSource<T> {
    return new CollectionSource(values);
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

  createReader(context: ReaderContext): SourceReader<T, IndexRangeSplit> {
    const { timestampOf } = this.#options;
    return new IndexRangeReader(context, {
      emitRange: compileEmitRange<T>(
        'collection source',
        context.sourceName,
        'values[i]',
        { values: this.#values },
        timestampOf,
      ),
      count: this.#values.length,
      limiter: undefined,
    });
  }

  #identity(): string {
    return `collection of ${this.#values.length} elements`;
  }

  #cut(parallelism: number): RangeCut {
    const splits = this.#options.splits === 'one' ? 1 : parallelism;
    return { count: this.#values.length, splits, splitRecords: undefined };
  }
}
