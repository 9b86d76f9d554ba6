/** Keeps the records for which the function answers true. The runtime puts it into the loop of its caller (`inline`). */
import type { InlineForm, OneInputOperator } from '../runtime/index.ts';
import type { FilterFunction } from './functions.ts';
import { AbstractStreamOperator } from './operator-defaults.ts';
import { assertSynchronous, resultNotAllowed } from './user-result.ts';

export class FilterOperator<T> extends AbstractStreamOperator<T> implements OneInputOperator<T, T> {
  readonly inline: InlineForm;
  private readonly fn: FilterFunction<T>;

  /** Throws PROMISE_NOT_EXPECTED for an async function. */
  constructor(fn: FilterFunction<T>) {
    super();
    assertSynchronous(fn, 'filter function');
    this.fn = fn;
    this.inline = { kind: 'filter', fn, refuse: (result) => this.refuse(result) };
  }

  processElement(value: T, timestampMs: number): void {
    const fn = this.fn;
    let result: unknown;
    try {
      result = fn(value);
    } catch (error) {
      throw this.context.wrapUserError(error, 'filter function');
    }
    if (result === true) this.context.output.collect(value, timestampMs);
    else if (result !== false) throw this.refuse(result);
  }

  private refuse(result: unknown): Error {
    return resultNotAllowed(result, 'filter function', this.context.operatorName, 'true or false');
  }
}
