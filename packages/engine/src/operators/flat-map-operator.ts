/** Any number of results for each record: collected by the function, or returned as an iterable. */
import { NO_TIMESTAMP } from '../base/index.ts';
import type { OneInputOperator, Output } from '../runtime/index.ts';
import type { Collector, FlatMapFunction } from './functions.ts';
import { AbstractStreamOperator } from './operator-defaults.ts';
import { specialise } from './specialise.ts';
import { assertSynchronous, resultNotAllowed } from './user-result.ts';

const WHAT = 'flatMap function';
const EXPECTED = 'nothing or an iterable (an array, a generator)';

interface FlatMapEnv<In, Out> {
  readonly fn: FlatMapFunction<In, Out>;
  readonly output: Output<Out>;
  readonly noTimestamp: number;
  readonly wrap: (error: unknown) => Error;
  readonly emitReturned: (result: unknown, timestampMs: number) => void;
}

const makeFlatMap = <In, Out>({ fn, output, noTimestamp, wrap, emitReturned }: FlatMapEnv<In, Out>) => {
  const scope = { timestampMs: noTimestamp };
  const out: Collector<Out> = { collect: (value) => output.collect(value, scope.timestampMs) };
  return (value: In, timestampMs: number): void => {
    scope.timestampMs = timestampMs;
    try {
      const result: unknown = fn(value, out);
      if (result !== undefined) emitReturned(result, timestampMs);
    } catch (error) {
      throw wrap(error);
    }
  };
};

export class FlatMapOperator<In, Out>
  extends AbstractStreamOperator<Out>
  implements OneInputOperator<In, Out>
{
  private readonly fn: FlatMapFunction<In, Out>;
  private process!: (value: In, timestampMs: number) => void;

  /** Throws PROMISE_NOT_EXPECTED for an async function or an async generator. */
  constructor(fn: FlatMapFunction<In, Out>) {
    super();
    assertSynchronous(fn, WHAT);
    this.fn = fn;
  }

  override open(): void {
    this.compile('flatMap');
  }

  processElement(value: In, timestampMs: number): void {
    this.process(value, timestampMs);
  }

  compile(unique: string): (value: In, timestampMs: number) => void {
    this.process = specialise(
      makeFlatMap<In, Out>,
      unique,
    )({
      fn: this.fn,
      output: this.context.output,
      noTimestamp: NO_TIMESTAMP,
      wrap: this.wrapper(WHAT),
      emitReturned: (result, timestampMs) => this.emitReturned(result, timestampMs),
    });
    return this.process;
  }

  private emitReturned(result: unknown, timestampMs: number): void {
    const { output, operatorName } = this.context;
    if (typeof result !== 'object' || result === null || !(Symbol.iterator in result)) {
      throw resultNotAllowed(result, WHAT, operatorName, EXPECTED);
    }
    for (const value of result as Iterable<Out>) {
      // `words.map((word) => out.collect(word))` returns undefined for each: it collected already.
      if (value === undefined) {
        throw resultNotAllowed(
          value,
          WHAT,
          operatorName,
          'an iterable without undefined; either collect or return, not both',
        );
      }
      output.collect(value, timestampMs);
    }
  }
}
