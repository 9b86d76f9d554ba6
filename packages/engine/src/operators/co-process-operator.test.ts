import { deepStrictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../base/index.ts';
import {
  type ListState,
  ListStateDescriptor,
  type ValueState,
  ValueStateDescriptor,
} from '../state/index.ts';
import { OperatorHarness } from '../testing/operator-harness.ts';
import { runOperatorThroughAllModes } from '../testing/operator-modes.ts';
import { Types } from '../types/index.ts';
import { CoProcessOperator, KeyedCoProcessOperator } from './co-process-operator.ts';
import {
  type Collector,
  KeyedCoProcessFunction,
  type KeyedProcessContext,
  type OnTimerContext,
  type ProcessContext,
  type RuntimeContext,
} from './functions.ts';

interface Order {
  id: string;
  total: number;
}

/** Joins orders with payments of the same id; what is not paid 10 ms later is told of. */
class Join extends KeyedCoProcessFunction<string, Order, string, string> {
  private order!: ValueState<Order>;
  private early!: ListState<string>;

  override open(context: RuntimeContext): void {
    this.order = context.getState(new ValueStateDescriptor<Order>('order'));
    this.early = context.getListState(new ListStateDescriptor('early', Types.STRING));
  }

  override processElement1(order: Order, context: KeyedProcessContext<string>, out: Collector<string>): void {
    this.order.update(order);
    for (const payment of this.early.get()) out.collect(`${payment} pays ${order.total}`);
    context.timerService().registerEventTimeTimer(context.timestamp()! + 10);
  }

  override processElement2(
    payment: string,
    context: KeyedProcessContext<string>,
    out: Collector<string>,
  ): void {
    const order = this.order.value();
    if (order === undefined) this.early.add(payment);
    else out.collect(`${context.getCurrentKey()} pays ${order.total}`);
    this.order.clear();
  }

  override onTimer(_at: number, context: OnTimerContext<string>, out: Collector<string>): void {
    if (this.order.value() !== undefined) out.collect(`${context.getCurrentKey()} has not paid`);
    this.order.clear();
  }
}

describe('a process function with two inputs', () => {
  it('shares state and timers of a key between its inputs, and its watermark is the lower one', async () => {
    const key = { selectors: [(order: Order) => order.id, (payment: string) => payment], type: Types.STRING };
    const given = new Join();
    const events = await runOperatorThroughAllModes(
      { create: () => new KeyedCoProcessOperator(given), key },
      [
        { value: { id: 'a', total: 3 }, timestampMs: 1 },
        { value: 'a', timestampMs: 2, input: 1 },
        { value: 'b', timestampMs: 3, input: 1 },
        { value: { id: 'b', total: 4 }, timestampMs: 4 },
        { value: { id: 'c', total: 5 }, timestampMs: 5 },
        { watermarkMs: 50, input: 0 },
        { watermarkMs: 14, input: 1 },
        { watermarkMs: 15, input: 1 },
      ],
    );
    const shown = events.map((event) =>
      'value' in event ? event.value : `${event.kind} ${'timestamp' in event ? event.timestamp : ''}`,
    );
    deepStrictEqual(shown.slice(0, 6), [
      'a pays 3',
      'b pays 4',
      'b has not paid',
      'watermark 14',
      'c has not paid',
      'watermark 15',
    ]);
  });

  it('without keys: both inputs reach the one function, timers are refused', async () => {
    const create = () =>
      new CoProcessOperator({
        processElement1: (value: number, context: ProcessContext, out: Collector<string>) =>
          out.collect(`1: ${value} ${context.timestamp()}`),
        processElement2: (value: string, _context: ProcessContext, out: Collector<string>) =>
          out.collect(`2: ${value}`),
      });
    const events = await runOperatorThroughAllModes({ create }, [
      { value: 5, timestampMs: 7, input: 0 },
      { value: 'x', input: 1 },
    ]);
    deepStrictEqual(events.slice(0, 2), [
      { kind: 'record', value: '1: 5 7', timestamp: 7 },
      { kind: 'record', value: '2: x', timestamp: undefined },
    ]);
    const timers = () =>
      new CoProcessOperator({
        processElement1(_value: unknown, context: ProcessContext) {
          context.timerService().registerProcessingTimeTimer(1);
        },
        processElement2() {},
      });
    const harness = await OperatorHarness.open({ create: timers });
    throws(
      () => harness.process(1),
      (error) => hasCode(error, 'INVALID_ARGUMENT'),
    );
  });

  it('names the method that failed', async () => {
    const create = () =>
      new CoProcessOperator({
        processElement1() {},
        processElement2() {
          throw new Error('no');
        },
      });
    const harness = await OperatorHarness.open({ create, name: 'both' });
    harness.process(1);
    throws(
      () => harness.process(1, 0, 1),
      (error: Error) => /processElement2 function.*'both'/.test(error.message),
    );
  });
});
