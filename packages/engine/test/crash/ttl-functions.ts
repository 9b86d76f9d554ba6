/** The user function of the job with time-to-live. */
import {
  type Collector,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type ListState,
  ListStateDescriptor,
  type MapState,
  MapStateDescriptor,
  type ReducingState,
  ReducingStateDescriptor,
  type RuntimeContext,
  type StateTtlOptions,
  Types,
  type ValueState,
  ValueStateDescriptor,
} from '@millrace/engine';
import type { Order } from './orders.ts';

export interface Remembered {
  readonly order: number;
  readonly count: number;
  readonly sum: number;
  /** Orders remembered, oldest first. */
  readonly ids: readonly number[];
  readonly categories: readonly (readonly [string, number])[];
  /** The states say the same of how many orders there were. */
  readonly agree: boolean;
}

/** Counts, sums up and lists the orders of a customer in states of all kinds. */
export class RememberOrders extends KeyedProcessFunction<string, Order, Remembered> {
  private readonly ttl: StateTtlOptions;
  private count!: ValueState<number>;
  private sum!: ReducingState<number>;
  private ids!: ListState<number>;
  private categories!: MapState<string, number>;

  constructor(ttl: StateTtlOptions) {
    super();
    this.ttl = ttl;
  }

  override open(context: RuntimeContext): void {
    const { ttl } = this;
    const add = (a: number, b: number) => a + b;
    this.count = context.getState(new ValueStateDescriptor('count', Types.LONG).enableTimeToLive(ttl));
    this.sum = context.getReducingState(
      new ReducingStateDescriptor('sum', add, Types.LONG).enableTimeToLive(ttl),
    );
    this.ids = context.getListState(new ListStateDescriptor('ids', Types.LONG).enableTimeToLive(ttl));
    this.categories = context.getMapState(
      new MapStateDescriptor('categories', Types.STRING, Types.LONG).enableTimeToLive(ttl),
    );
  }

  override processElement(
    { id, amount, category }: Order,
    _context: KeyedProcessContext<string>,
    out: Collector<Remembered>,
  ): void {
    const count = (this.count.value() ?? 0) + 1;
    this.count.update(count);
    this.sum.add(amount);
    this.ids.add(id);
    this.categories.put(category, (this.categories.get(category) ?? 0) + 1);
    const ids = this.ids.get();
    const categories = [...this.categories.entries()].sort(([a], [b]) => (a < b ? -1 : 1));
    // Of count and sum the last write matters, and they are written together; an element lives from its own write on.
    const agree = ids.length >= 1 && ids.length <= count && this.sum.get() !== undefined && ids.at(-1) === id;
    out.collect({ order: id, count, sum: this.sum.get()!, ids, categories, agree });
  }
}
