/** Rolling reduce of a keyed stream: each record is merged into the value of its key, and the new value goes out. */
import type { OneInputOperator, Output } from '../runtime/index.ts';
import { type ReduceFunction, type ValueState, ValueStateDescriptor } from '../state/index.ts';
import type { TypeInformation } from '../types/index.ts';
import { AbstractStreamOperator } from './operator-defaults.ts';
import { specialise } from './specialise.ts';
import { assertSynchronous, resultNotAllowed } from './user-result.ts';

const WHAT = 'reduce function';

/** Flink's name for the state of StreamGroupedReduceOperator. */
const STATE_NAME = '_op_state';

interface ReduceEnv<T> {
  readonly fn: ReduceFunction<T>;
  readonly state: ValueState<T>;
  readonly output: Output<T>;
  readonly wrap: (error: unknown) => Error;
  readonly noValue: (result: unknown) => Error;
  readonly check: (value: T) => void;
}

const makeReduce = <T>({ fn, state, output, wrap, noValue, check }: ReduceEnv<T>) => {
  return (value: T, timestampMs: number): void => {
    const current = state.value();
    let next = value;
    try {
      if (current === undefined) check(value);
      else {
        next = fn(current, value);
        if (next === undefined || next instanceof Promise) throw noValue(next);
      }
    } catch (error) {
      throw wrap(error);
    }
    state.update(next);
    output.collect(next, timestampMs);
  };
};

export class ReduceOperator<T> extends AbstractStreamOperator<T> implements OneInputOperator<T, T> {
  private readonly fn: ReduceFunction<T>;
  private readonly type: TypeInformation<T> | undefined;
  private readonly check: (value: T) => void;
  private process!: (value: T, timestampMs: number) => void;

  /**
   * `type` is that of the records; `check` refuses the first record of a key by throwing. Throws PROMISE_NOT_EXPECTED for
   * an async function.
   */
  constructor(fn: ReduceFunction<T>, type?: TypeInformation<T>, check: (value: T) => void = () => {}) {
    super();
    assertSynchronous(fn, WHAT);
    this.fn = fn;
    this.type = type;
    this.check = check;
  }

  override open(): void {
    this.compile('reduce');
  }

  processElement(value: T, timestampMs: number): void {
    this.process(value, timestampMs);
  }

  compile(unique: string): (value: T, timestampMs: number) => void {
    const { keyedState, output, operatorName } = this.context;
    this.process = specialise(
      makeReduce<T>,
      unique,
    )({
      fn: this.fn,
      state: keyedState.getValueState(new ValueStateDescriptor<T>(STATE_NAME, this.type)),
      output,
      wrap: this.wrapper(WHAT),
      noValue: (result) => resultNotAllowed(result, WHAT, operatorName, 'the merged value'),
      check: this.check,
    });
    return this.process;
  }
}
