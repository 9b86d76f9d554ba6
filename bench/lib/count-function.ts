/** What the benchmarks do with their records: count them by key, in keyed state. */
import {
  type Collector,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type RuntimeContext,
  Types,
  type ValueState,
  ValueStateDescriptor,
} from '@millrace/engine';
import type { CountRecord } from './count-records.ts';

export type Key = string | number;

export interface KeyCount {
  readonly key: Key;
  readonly count: number;
}

/** Emits each key with 1, 2, 3, … */
export class Count extends KeyedProcessFunction<Key, CountRecord, KeyCount> {
  private count!: ValueState<number>;
  override open(context: RuntimeContext): void {
    this.count = context.getState(new ValueStateDescriptor('count', Types.LONG));
  }
  override processElement(
    record: CountRecord,
    _context: KeyedProcessContext<Key>,
    out: Collector<KeyCount>,
  ): void {
    const count = (this.count.value() ?? 0) + 1;
    this.count.update(count);
    out.collect({ key: record.key, count });
  }
}
