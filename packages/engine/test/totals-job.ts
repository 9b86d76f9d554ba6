/**
 * A small job with keyed state whose records a test lets through at will, and what must come of it: the tests of
 * snapshots take checkpoints of it, and change it in one thing.
 */
import {
  type Collector,
  type DataStream,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type RuntimeContext,
  type SingleOutputStreamOperator,
  type StreamExecutionEnvironment,
  Types,
  type ValueState,
  ValueStateDescriptor,
  WatermarkStrategy,
} from '@millrace/engine';
import { Gate, GatedSource } from './gated-source.ts';

export interface Counted {
  readonly key: string;
  readonly count: number;
}

/** Counts the records of each key. */
export class Count extends KeyedProcessFunction<string, string, Counted> {
  private count!: ValueState<number>;

  override open(context: RuntimeContext): void {
    this.count = context.getState(new ValueStateDescriptor('count', Types.LONG, 0));
  }

  override processElement(key: string, _context: KeyedProcessContext<string>, out: Collector<Counted>): void {
    const count = this.count.value()! + 1;
    this.count.update(count);
    out.collect({ key, count });
  }
}

/** Letters, of `keys` different ones. */
export function letters(count: number, keys = 10): string[] {
  return Array.from({ length: count }, (_, i) => String.fromCharCode(97 + ((i * 7) % keys)));
}

/** What counting gives: each letter with 1, 2, 3, … */
export function countsOf(values: readonly string[]): Counted[] {
  const counts = new Map<string, number>();
  return values.map((key) => {
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return { key, count };
  });
}

/** By key, then by count. */
export function sorted(results: readonly Counted[]): Counted[] {
  return [...results].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.count - b.count));
}

/** `values` from a source that stops after `limit` of them until the gate is opened. */
export function gatedLetters(
  env: StreamExecutionEnvironment,
  values: readonly string[],
  gate: Gate,
): DataStream<string> {
  return env
    .fromSource(new GatedSource([values], gate), WatermarkStrategy.noWatermarks(), 'letters', Types.STRING)
    .uid('letters')
    .setParallelism(1);
}

/** The whole job up to its counts. */
export function countLetters(
  env: StreamExecutionEnvironment,
  values: readonly string[],
  gate = new Gate(Number.POSITIVE_INFINITY),
): SingleOutputStreamOperator<Counted> {
  return gatedLetters(env, values, gate)
    .keyBy((letter) => letter, Types.STRING)
    .process(Count)
    .uid('count')
    .name('count');
}
