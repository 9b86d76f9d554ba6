/** ProcessFunction: records of a stream without keys, with side outputs and timestamps. */

import { MIN_WATERMARK } from '../base/index.ts';
import type { OneInputOperator } from '../runtime/index.ts';
import type { FunctionOrFactory, ProcessFunction } from './functions.ts';
import { FunctionOperator } from './operator-defaults.ts';
import { makeProcessElement, PROCESS_WHAT } from './process-call.ts';
import { createRecordScope, timeWithoutTimers } from './record-scope.ts';
import { specialise } from './specialise.ts';

export class ProcessOperator<In, Out>
  extends FunctionOperator<ProcessFunction<In, Out>, Out>
  implements OneInputOperator<In, Out>
{
  private watermarkMs = MIN_WATERMARK;
  private process!: (value: In, timestampMs: number) => void;

  /** Throws INVALID_ARGUMENT, or PROMISE_NOT_EXPECTED for an async processElement. */
  constructor(given: FunctionOrFactory<ProcessFunction<In, Out>>) {
    super(given, ['processElement', 'snapshotState'], false);
  }

  processElement(value: In, timestampMs: number): void {
    this.process(value, timestampMs);
  }

  override processWatermark(watermarkMs: number): void {
    this.watermarkMs = watermarkMs;
    super.processWatermark(watermarkMs);
  }

  compile(unique: string): (value: In, timestampMs: number) => void {
    const timers = timeWithoutTimers(this.context, () => this.watermarkMs);
    const keys = { currentKey: undefined };
    const scope = createRecordScope<undefined, Out>(this.context.output, timers, keys, unique);
    this.process = specialise(
      makeProcessElement<undefined, In, Out>,
      unique,
    )({
      ...scope,
      fn: this.fn,
      wrap: this.wrapper(PROCESS_WHAT),
      refuse: this.promiseRefuser(PROCESS_WHAT),
    });
    return this.process;
  }

  protected override prepare(): void {
    this.compile('process');
  }
}
