/** One result for each record. The runtime puts the function into the loop of its caller (`inline`). */
import type { InlineForm, OneInputOperator } from '../runtime/index.ts';
import type { MapFunction } from './functions.ts';
import { AbstractStreamOperator } from './operator-defaults.ts';
import { assertSynchronous, promiseNotExpected } from './user-result.ts';

export class MapOperator<In, Out> extends AbstractStreamOperator<Out> implements OneInputOperator<In, Out> {
  readonly inline: InlineForm;
  private readonly fn: MapFunction<In, Out>;

  /** Throws PROMISE_NOT_EXPECTED for an async function. */
  constructor(fn: MapFunction<In, Out>) {
    super();
    assertSynchronous(fn, 'map function');
    this.fn = fn;
    this.inline = { kind: 'map', fn, refuse: (result) => this.refuse(result) };
  }

  processElement(value: In, timestampMs: number): void {
    const fn = this.fn;
    let result: Out;
    try {
      result = fn(value);
    } catch (error) {
      throw this.context.wrapUserError(error, 'map function');
    }
    if (result instanceof Promise) throw this.refuse(result);
    this.context.output.collect(result, timestampMs);
  }

  private refuse(result: unknown): Error {
    return promiseNotExpected(result, 'map function', this.context.operatorName);
  }
}
