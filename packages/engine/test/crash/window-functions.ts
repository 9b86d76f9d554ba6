/** The windows and window functions of the window job. What they emit is a function of the data alone. */
import {
  type Collector,
  EventTimeTrigger,
  OutputTag,
  type ProcessWindowContext,
  ProcessWindowFunction,
  type TimeWindow,
  type Trigger,
  Types,
  ValueStateDescriptor,
  Window,
  WindowAssigner,
} from '@millrace/engine';
import type { Order } from './orders.ts';

export interface SessionEnd {
  readonly customer: string;
  readonly from: number;
  readonly to: number;
  readonly firings: number;
  readonly count: number;
  readonly sum: number;
}

export const endedSessions = new OutputTag<SessionEnd>('ended-sessions');

const seenType = Types.ROW({
  customer: Types.STRING,
  firings: Types.LONG,
  count: Types.LONG,
  sum: Types.LONG,
});

/**
 * Counts early results of sessions, and tells of a session when it ends. What is in a session at an early result depends
 * on the watermarks; how many there are does not, nor does the last.
 */
export class SessionReport extends ProcessWindowFunction<Order, never, string, TimeWindow> {
  private readonly seen = new ValueStateDescriptor('seen', seenType);

  override process(
    customer: string,
    context: ProcessWindowContext<TimeWindow>,
    elements: Iterable<Order>,
  ): void {
    const seen = context.globalState().getState(this.seen);
    const amounts = [...elements].map((order) => order.amount);
    seen.update({
      customer,
      firings: (seen.value()?.firings ?? 0) + 1,
      count: amounts.length,
      sum: amounts.reduce((sum, amount) => sum + amount, 0),
    });
  }

  override clear(context: ProcessWindowContext<TimeWindow>): void {
    const seen = context.globalState().getState(this.seen);
    const { start, end } = context.window();
    context.output(endedSessions, { from: start, to: end, ...seen.value()! });
    seen.clear();
  }
}

/** All orders of a category in a second. */
export class CategorySecond extends Window {
  category = '';
  second = 0;

  override maxTimestamp(): number {
    return this.second * 1000 + 999;
  }
}

export class CategorySeconds extends WindowAssigner<Order, CategorySecond> {
  readonly windowType = Types.POJO(CategorySecond, { category: Types.STRING, second: Types.LONG });

  override assignWindows({ category }: Order, timestampMs: number): CategorySecond[] {
    return [Object.assign(new CategorySecond(), { category, second: Math.floor(timestampMs / 1000) })];
  }

  override getDefaultTrigger(): Trigger<unknown, Window> {
    return EventTimeTrigger.create();
  }

  override isEventTime(): boolean {
    return true;
  }
}

/** What a window holds, by number. */
export function listOrders(
  what: string,
): (customer: string, window: Window, orders: Iterable<Order>, out: Collector<object>) => void {
  return (customer, _window, orders, out) =>
    out.collect({ what, customer, orders: [...orders].map((order) => order.id) });
}
