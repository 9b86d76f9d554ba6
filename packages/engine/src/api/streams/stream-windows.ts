/**
 * Windows of a stream, with keys or without: all that users say about them, but for the functions that see what is in a
 * window. Those are in windowed-stream.ts and all-windowed-stream.ts, whose classes extend the one of this file.
 */
import { type Duration, durationMs, MillraceError } from '../../base/index.ts';
import {
  type Aggregation,
  type ComparableField,
  CountEvictor,
  CountTrigger,
  type Evictor,
  type FunctionOrFactory,
  fieldAggregation,
  type GlobalWindow,
  type NumericField,
  OutputTag,
  PurgingTrigger,
  type Trigger,
  type Window,
  type WindowAssigner,
  type WindowContentsSpec,
  type WindowEvaluation,
  WindowOperator,
} from '../../operators/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import type { KeyedStream, SingleOutputStreamOperator } from './data-stream.ts';

/** What `aggregate` keeps and what it gives, described. */
export interface WindowTypes<Acc, R> {
  readonly accumulator?: TypeInformation<Acc>;
  readonly result?: TypeInformation<R>;
}

export abstract class StreamWindows<T, K, W extends Window> {
  /** Of the records; undefined: undescribed. */
  protected readonly type: TypeInformation<T> | undefined;
  readonly #stream: KeyedStream<T, K>;
  readonly #assigner: WindowAssigner<T, W>;
  readonly #isNonParallel: boolean;
  #trigger: Trigger<T, W> | undefined;
  #evictor: Evictor<T, W> | undefined;
  #allowedLatenessMs = 0;
  #lateTag: OutputTag<T> | undefined;

  protected constructor(stream: KeyedStream<T, K>, assigner: WindowAssigner<T, W>, isNonParallel: boolean) {
    this.type = stream.getType();
    this.#stream = stream;
    this.#assigner = assigner;
    this.#isNonParallel = isNonParallel;
  }

  /** When windows are evaluated, instead of the assigner's way. */
  trigger(trigger: Trigger<T, W>): this {
    this.#trigger = trigger;
    return this;
  }

  /**
   * Removes records before or after a window is evaluated. The window then keeps all its records, also where they are
   * reduced or aggregated: that is done each time it is evaluated.
   */
  evictor(evictor: Evictor<T, W>): this {
    this.#evictor = evictor;
    return this;
  }

  /** How long after its end a window still takes records (and is evaluated again). */
  allowedLateness(lateness: Duration): this {
    this.#allowedLatenessMs = durationMs(lateness, 'allowedLateness');
    return this;
  }

  /** Records that come too late go to this side output of the result; otherwise they are counted and dropped. */
  sideOutputLateData(tag: OutputTag<T>): this {
    if (!(tag instanceof OutputTag)) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        'sideOutputLateData: expected an OutputTag, such as new OutputTag("late")',
      );
    }
    this.#lateTag = tag;
    return this;
  }

  /**
   * For each window its first record with the sum of this field: the name of a number or bigint, nested as 'a.b', or a
   * position in a tuple. Throws INVALID_ARGUMENT if the records are described and have no such field.
   */
  sum(field: NumericField<T>): SingleOutputStreamOperator<T> {
    return this.#aggregateField('sum', field);
  }

  /** For each window its first record with the least value of this field. */
  min(field: ComparableField<T>): SingleOutputStreamOperator<T> {
    return this.#aggregateField('min', field);
  }

  /** For each window its first record with the greatest value of this field. */
  max(field: ComparableField<T>): SingleOutputStreamOperator<T> {
    return this.#aggregateField('max', field);
  }

  /** For each window the record with the least value of this field; the last of equals if not the `first`. */
  minBy(field: ComparableField<T>, first = true): SingleOutputStreamOperator<T> {
    return this.#aggregateField('minBy', field, first);
  }

  /** For each window the record with the greatest value of this field; the last of equals if not the `first`. */
  maxBy(field: ComparableField<T>, first = true): SingleOutputStreamOperator<T> {
    return this.#aggregateField('maxBy', field, first);
  }

  /** `type` is that of the results. */
  protected addOperator<Acc, V, R>(
    contents: WindowContentsSpec<T, Acc, V>,
    evaluation: WindowEvaluation<K, V, R, W> | undefined,
    type: TypeInformation<R> | undefined,
  ): SingleOutputStreamOperator<R> {
    const options = {
      assigner: this.#assigner,
      trigger: this.#trigger,
      evictor: this.#evictor,
      allowedLatenessMs: this.#allowedLatenessMs,
      lateTag: this.#lateTag,
      contents,
      evaluation,
    };
    const create = (): unknown => new WindowOperator<K, T, Acc, V, R, W>(options);
    const isNonParallel = this.#isNonParallel;
    return this.#stream.addKeyed({ kind: 'window', name: 'Window', create, type, isNonParallel });
  }

  #aggregateField(
    aggregation: Aggregation,
    field: string | number,
    first?: boolean,
  ): SingleOutputStreamOperator<T> {
    const { type } = this;
    const reducing = fieldAggregation<T>(aggregation, field, { type, first });
    return this.addOperator<unknown, T, T>({ kind: 'reduce', ...reducing, type }, undefined, type);
  }
}

/** What may follow the aggregate function: a window function, or types, or both. */
export function aggregateArguments<F extends object, Acc, R>(
  fnOrTypes: FunctionOrFactory<F> | WindowTypes<Acc, R> | undefined,
  typesAfterFn: WindowTypes<Acc, R> | undefined,
): { readonly fn: FunctionOrFactory<F> | undefined; readonly types: WindowTypes<Acc, R> | undefined } {
  const isFn = typeof fnOrTypes === 'function' || (fnOrTypes !== undefined && 'process' in fnOrTypes);
  return isFn
    ? { fn: fnOrTypes as FunctionOrFactory<F>, types: typesAfterFn }
    : { fn: undefined, types: fnOrTypes as WindowTypes<Acc, R> | undefined };
}

/** What count windows are made of. */
interface Configurable {
  trigger(trigger: Trigger<unknown, GlobalWindow>): unknown;
  evictor(evictor: Evictor<unknown, GlobalWindow>): unknown;
}

/** Makes count windows of global windows. `call` is such as `countWindow`. Throws INVALID_ARGUMENT. */
export function countWindows<S extends Configurable>(
  windows: S,
  call: string,
  size: number,
  slide: number | undefined,
): S {
  checkCount(call, 'size', size);
  if (slide === undefined) {
    windows.trigger(PurgingTrigger.of(CountTrigger.of(size)));
    return windows;
  }
  checkCount(call, 'slide', slide);
  windows.evictor(CountEvictor.of(size));
  windows.trigger(CountTrigger.of(slide));
  return windows;
}

function checkCount(call: string, what: string, count: number): void {
  if (Number.isSafeInteger(count) && count > 0) return;
  throw new MillraceError(
    'INVALID_ARGUMENT',
    `${call}: the ${what} must be a positive number of records, found ${String(count)}`,
  );
}
