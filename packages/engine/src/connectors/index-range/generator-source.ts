/**
 * A source of computed records: GeneratorSource (Flink's DataGeneratorSource). Record i is what a function makes of i.
 *
 * Made by users and by the API. Bounded by `count` or endless; as fast as possible or at a limited rate.
 *
 * Guarantee: exactly-once, if the function gives the same record for the same index each time (no randomness, no clock,
 * no state of its own). A longer source may be restored from the position of a shorter one.
 */
import { MillraceError } from '../../base/index.ts';
import type {
  Boundedness,
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

const SPLIT_RECORDS_MAX = 65_536;
const IDENTITY = 'generator';

export interface GeneratorSourceOptions<T> {
  /** Records in all; undefined: endless. */
  readonly count?: number;
  /** Of all readers together; undefined: no limit. */
  readonly recordsPerSecond?: number;
  readonly type?: TypeInformation<T>;
  readonly timestampOf?: TimestampOf<T>;
}

export class GeneratorSource<T> implements Source<T, IndexRangeSplit, IndexRangeEnumeratorState> {
  readonly boundedness: Boundedness;
  readonly outputType: TypeInformation<T> | undefined;
  readonly #generate: (index: number) => T;
  readonly #options: GeneratorSourceOptions<T>;

  /** `generate` must be a pure function of the index (0, 1, 2, …). Throws INVALID_ARGUMENT. */
  constructor(generate: (index: number) => T, options: GeneratorSourceOptions<T> = {}) {
    const { count, recordsPerSecond: rate } = options;
    if (count !== undefined && !(Number.isSafeInteger(count) && count >= 0)) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `generator source: count is ${count}, expected a whole number >= 0`,
      );
    }
    if (rate !== undefined && !(Number.isFinite(rate) && rate > 0)) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `generator source: recordsPerSecond is ${rate}, expected more than 0`,
      );
    }
    this.#generate = generate;
    this.#options = options;
    this.boundedness = count === undefined ? 'unbounded' : 'bounded';
    this.outputType = options.type;
  }

  createEnumerator(context: EnumeratorContext<IndexRangeSplit>): SplitEnumerator<IndexRangeEnumeratorState> {
    return new IndexRangeEnumerator(context, IDENTITY, this.#cut(context.parallelism));
  }

  restoreEnumerator(
    context: EnumeratorContext<IndexRangeSplit>,
    state: IndexRangeEnumeratorState,
  ): SplitEnumerator<IndexRangeEnumeratorState> {
    return new IndexRangeEnumerator(context, IDENTITY, this.#cut(context.parallelism), state);
  }

  createReader(context: ReaderContext): SourceReader<T, IndexRangeSplit> {
    const { count, recordsPerSecond, timestampOf } = this.#options;
    return new IndexRangeReader<T>(context, {
      emitRange: compileEmitRange<T>(
        'generator source',
        'generate(i)',
        { generate: this.#generate },
        timestampOf,
      ),
      count,
      recordsPerSecond: recordsPerSecond === undefined ? undefined : recordsPerSecond / context.parallelism,
    });
  }

  /**
   * Short ranges keep the readers close together, so that event time made from the index advances evenly: about a second
   * of a limited rate, and never more than an equal part of what there is.
   */
  #cut(parallelism: number): RangeCut {
    const { count = Number.POSITIVE_INFINITY, recordsPerSecond = Number.POSITIVE_INFINITY } = this.#options;
    const share = Math.ceil(Math.min(count, recordsPerSecond) / parallelism);
    return {
      count: this.#options.count,
      splits: parallelism,
      splitRecords: Math.max(1, Math.min(SPLIT_RECORDS_MAX, share)),
    };
  }
}
