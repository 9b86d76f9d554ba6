/**
 * Sources of computed records: GeneratorSource, and DataGeneratorSource, which is the same with Flink's constructor. Record
 * i is what a function makes of i.
 *
 * Made by users. Bounded by `count` or endless; as fast as possible or at a limited rate.
 *
 * Guarantee: exactly-once, if the function gives the same record for the same index each time (no randomness, no clock,
 * no state of its own). A longer source may be restored from the position of a shorter one.
 */
import { MillraceError } from '../../base/index.ts';
import { assertSynchronous } from '../../operators/index.ts';
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
import { RateLimiterStrategy } from './rate-limiter.ts';

const SPLIT_RECORDS_MAX = 65_536;
const IDENTITY = 'generator';

/** Options of GeneratorSource. */
export interface GeneratorSourceOptions<T> {
  /** Records in all; undefined: endless. */
  readonly count?: number | undefined;
  /** Of all subtasks together; undefined: no limit. The same as `rateLimiter: RateLimiterStrategy.perSecond(…)`. */
  readonly recordsPerSecond?: number;
  /** Instead of `recordsPerSecond`. */
  readonly rateLimiter?: RateLimiterStrategy | undefined;
  readonly type?: TypeInformation<T> | undefined;
  readonly timestampOf?: TimestampOf<T>;
}

/**
 * Computed records: record i is what a function makes of i.
 *
 * Guarantee: exactly-once, if the function gives the same record for the same index each time.
 */
export class GeneratorSource<T> implements Source<T, IndexRangeSplit, IndexRangeEnumeratorState> {
  readonly boundedness: Boundedness;
  readonly outputType: TypeInformation<T> | undefined;
  readonly #generate: (index: number) => T;
  readonly #options: GeneratorSourceOptions<T>;
  readonly #rateLimiter: RateLimiterStrategy;

  /** `generate` must be a pure function of the index (0, 1, 2, …). Throws INVALID_ARGUMENT, PROMISE_NOT_EXPECTED. */
  constructor(generate: (index: number) => T, options: GeneratorSourceOptions<T> = {}) {
    assertSynchronous(generate, 'generator function');
    const { count, recordsPerSecond: rate } = options;
    if (count !== undefined && !(Number.isSafeInteger(count) && count >= 0)) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `generator source: count is ${count}, expected a whole number >= 0`,
      );
    }
    if (rate !== undefined && options.rateLimiter !== undefined) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        'generator source: recordsPerSecond and rateLimiter are both set; expected one of them',
      );
    }
    this.#rateLimiter =
      options.rateLimiter ??
      (rate === undefined ? RateLimiterStrategy.noOp() : RateLimiterStrategy.perSecond(rate));
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
    const { count, timestampOf } = this.#options;
    return new IndexRangeReader<T>(context, {
      emitRange: compileEmitRange<T>(
        'generator source',
        context.sourceName,
        'generate(i)',
        { generate: this.#generate },
        timestampOf,
      ),
      count,
      limiter: this.#rateLimiter.createRateLimiter(context.subtaskIndex, context.parallelism),
    });
  }

  /**
   * Short ranges keep the readers close together, so that event time made from the index advances evenly: one stretch of
   * a limited rate, and never more than an equal part of what there is.
   */
  #cut(parallelism: number): RangeCut {
    const { count = Number.POSITIVE_INFINITY } = this.#options;
    const { paceRecords = Number.POSITIVE_INFINITY } = this.#rateLimiter;
    const share = Math.ceil(Math.min(count, paceRecords) / parallelism);
    return {
      count: this.#options.count,
      splits: parallelism,
      splitRecords: Math.max(1, Math.min(SPLIT_RECORDS_MAX, share)),
    };
  }
}

/** Makes record `index` (0, 1, 2, …): a function, or an object with a method `map`, as Flink has it. */
export type GeneratorFunction<T> = ((index: number) => T) | { map(index: number): T };

/**
 * Flink's DataGeneratorSource: `new DataGeneratorSource(n => …, 1000, RateLimiterStrategy.perSecond(10), Types.STRING)`.
 * A `count` of Number.MAX_SAFE_INTEGER (Java's Long.MAX_VALUE) or more is endless. Exactly-once, as GeneratorSource.
 */
export class DataGeneratorSource<T> extends GeneratorSource<T> {
  /** Rate limit and type may be left out. Throws INVALID_ARGUMENT. */
  constructor(generator: GeneratorFunction<T>, count: number, type?: TypeInformation<T>);
  constructor(
    generator: GeneratorFunction<T>,
    count: number,
    rateLimiter: RateLimiterStrategy,
    type?: TypeInformation<T>,
  );
  constructor(
    generator: GeneratorFunction<T>,
    count: number,
    third?: RateLimiterStrategy | TypeInformation<T>,
    fourth?: TypeInformation<T>,
  ) {
    const isLimiter = typeof third === 'object' && third !== null && 'createRateLimiter' in third;
    super(functionOf(generator), {
      count: count >= Number.MAX_SAFE_INTEGER ? undefined : count,
      rateLimiter: isLimiter ? third : undefined,
      type: isLimiter ? fourth : third,
    });
  }
}

function functionOf<T>(generator: GeneratorFunction<T>): (index: number) => T {
  if (typeof generator === 'function') return generator;
  assertSynchronous((generator as Partial<typeof generator> | undefined)?.map, 'generator function');
  return (index) => generator.map(index);
}
