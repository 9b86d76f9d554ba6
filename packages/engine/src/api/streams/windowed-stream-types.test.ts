/** The types of windows: what fits together, and the lines that must not compile. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  type Collector,
  ContinuousEventTimeTrigger,
  CountEvictor,
  CountTrigger,
  DeltaEvictor,
  DeltaTrigger,
  EventTimeSessionWindows,
  EventTimeTrigger,
  Evictor,
  type GlobalWindow,
  GlobalWindows,
  ProcessAllWindowFunction,
  ProcessingTimeoutTrigger,
  type ProcessWindowContext,
  ProcessWindowFunction,
  PurgingTrigger,
  type TimestampedValue,
  type TimeWindow,
  Trigger,
  type TriggerContext,
  TriggerResult,
  TumblingEventTimeWindows,
  Window,
  WindowAssigner,
} from '../../operators/index.ts';
import { ListStateDescriptor, ReducingStateDescriptor, ValueStateDescriptor } from '../../state/index.ts';
import { Types } from '../../types/index.ts';
import type { AllWindowedStream } from './all-windowed-stream.ts';
import type { DataStream, KeyedStream } from './data-stream.ts';
import type { WindowedStream } from './windowed-stream.ts';

interface Order {
  customer: string;
  amount: number;
}

class Day extends Window {
  day = 0;
  override maxTimestamp(): number {
    return this.day;
  }
}

class Days extends WindowAssigner<Order, Day> {
  readonly windowType = Types.POJO(Day, { day: Types.LONG });
  override assignWindows(order: Order): Day[] {
    return [Object.assign(new Day(), { day: order.amount })];
  }
  override getDefaultTrigger(): Trigger<Order, Day> {
    return new DayTrigger();
  }
  override isEventTime(): boolean {
    return true;
  }
}

class DayTrigger extends Trigger<Order, Day> {
  override onElement(order: Order, _timestampMs: number, day: Day, context: TriggerContext): TriggerResult {
    const count: number | undefined = context
      .getPartitionedState(new ReducingStateDescriptor<number>('n', Math.max))
      .get();
    const last: Order | undefined = context.getPartitionedState(new ValueStateDescriptor<Order>('l')).value();
    const all: Order[] = context.getPartitionedState(new ListStateDescriptor<Order>('a')).get();
    void [count, last, all];
    return order.amount > day.day ? TriggerResult.FIRE : 'CONTINUE';
  }
  override onEventTime(): TriggerResult {
    return 'FIRE';
  }
  override onProcessingTime(): TriggerResult {
    return 'FIRE_AND_PURGE';
  }
  override clear(): void {}
}

class OrderEvictor extends Evictor<Order, TimeWindow> {
  override evictBefore(elements: TimestampedValue<Order>[], size: number, window: TimeWindow): void {
    if (size > window.start) elements.splice(0, elements[0]!.getValue().amount);
  }
  override evictAfter(): void {}
}

class OfDay extends ProcessWindowFunction<Order, string, string, Day> {
  override process(
    key: string,
    context: ProcessWindowContext<Day>,
    orders: Iterable<Order>,
    out: Collector<string>,
  ): void {
    for (const order of orders) out.collect(`${key} ${context.window().day} ${order.amount}`);
  }
}

class OfTime extends ProcessWindowFunction<Order, string, string, TimeWindow> {
  override process(
    key: string,
    context: ProcessWindowContext<TimeWindow>,
    _orders: unknown,
    out: Collector<string>,
  ): void {
    out.collect(`${key} ${context.window().start}`);
  }
}

class OfStream extends ProcessAllWindowFunction<Order, number, TimeWindow> {
  override process(
    context: ProcessWindowContext<TimeWindow>,
    _orders: unknown,
    out: Collector<number>,
  ): void {
    out.collect(context.window().start);
  }
}

/** Never called: it is compiled. */
function compiled(orders: DataStream<Order>, byCustomer: KeyedStream<Order, string>): void {
  const tumbling: WindowedStream<Order, string, TimeWindow> = byCustomer.window(
    TumblingEventTimeWindows.of(5),
  );
  const days: WindowedStream<Order, string, Day> = byCustomer.window(new Days());
  const counted: WindowedStream<Order, string, GlobalWindow> = byCustomer.countWindow(5);
  const all: AllWindowedStream<Order, TimeWindow> = orders.windowAll(TumblingEventTimeWindows.of(5));
  const summed: DataStream<Order> = days.sum('amount');
  const named: DataStream<string> = days.process(OfDay);
  const starts: DataStream<number> = all.process(OfStream);
  const applied: DataStream<string> = days.apply((key, window, items, out: Collector<string>) =>
    out.collect(`${key.length} ${window.day} ${[...items].map((order) => order.amount)}`),
  );
  tumbling.trigger(EventTimeTrigger.create()).evictor(new OrderEvictor());
  tumbling.trigger(PurgingTrigger.of(ProcessingTimeoutTrigger.of(CountTrigger.of(5), '5 s')));
  tumbling.trigger(DeltaTrigger.of<Order>(5, (a, b) => b.amount - a.amount));
  tumbling.evictor(DeltaEvictor.of<Order>(5, (a, b) => b.amount - a.amount));
  days.trigger(new DayTrigger()).trigger(ContinuousEventTimeTrigger.of('1 min')).evictor(CountEvictor.of(3));
  byCustomer.window(EventTimeSessionWindows.withDynamicGap((order: Order) => order.amount));
  void [counted, summed, named, starts, applied];

  // @ts-expect-error the trigger is for days
  tumbling.trigger(new DayTrigger());
  // @ts-expect-error the trigger is for days
  byCustomer.window(GlobalWindows.create()).trigger(new DayTrigger());
  // @ts-expect-error the evictor is for windows of time
  days.evictor(new OrderEvictor());
  // @ts-expect-error the function is for windows of time
  days.process(OfTime);
  // @ts-expect-error the function is for windows of time
  counted.process(OfTime);
  // @ts-expect-error the function is for days
  tumbling.process(OfDay);
  // @ts-expect-error the assigner is for orders
  byCustomer.map((order) => order.customer).windowAll(new Days());
  const numbers = orders.map(() => 5);
  const gapOfOrder = EventTimeSessionWindows.withDynamicGap((order: Order) => order.amount);
  // @ts-expect-error the gap is that of an order
  numbers.windowAll(gapOfOrder);
  const byAmount = DeltaTrigger.of<Order>(5, (a, b) => b.amount - a.amount);
  // @ts-expect-error the trigger is for orders
  numbers.countWindowAll(5).trigger(byAmount);
  // @ts-expect-error a function of keys is none of the whole stream
  all.process(OfTime);
  // @ts-expect-error names cannot be added up
  tumbling.sum('customer');
  // @ts-expect-error there is no such result
  const result: TriggerResult = 'FIRED';
  void result;
}

it('the types of windows flow from the assigner to the function', () => {
  assert.equal(typeof compiled, 'function');
});
