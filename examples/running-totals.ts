/**
 * The running total of each customer, exact even if the process is killed.
 *
 *     node examples/running-totals.ts [ORDERS_PER_SECOND]
 *
 * Give it 10 orders a second, kill it with `kill -9` in the middle and start it again: it goes on from its last checkpoint.
 * Lines printed since then are printed again, but in the files of out/running-totals/totals each is there once. When it has
 * come to its end there is nothing left to do: remove out/running-totals to begin anew.
 */
import {
  type Collector,
  FileSink,
  FsStateBackend,
  GeneratorSource,
  type Infer,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type RuntimeContext,
  StreamExecutionEnvironment,
  Types,
  type ValueState,
  ValueStateDescriptor,
  WatermarkStrategy,
} from 'millrace';

const ORDERS = 100;
const ordersPerSecond = Number(process.argv[2] ?? 200);

const orderType = Types.ROW({ id: Types.LONG, customer: Types.STRING, cents: Types.LONG });
type Order = Infer<typeof orderType>;

interface Total {
  readonly order: number;
  readonly customer: string;
  readonly orders: number;
  readonly cents: number;
}

class RunningTotal extends KeyedProcessFunction<string, Order, Total> {
  private total!: ValueState<{ orders: number; cents: number }>;

  override open(context: RuntimeContext): void {
    const type = Types.ROW({ orders: Types.LONG, cents: Types.LONG });
    this.total = context.getState(new ValueStateDescriptor('total', type));
  }

  /** The state is that of the order's customer: there is one value for each key. */
  override processElement(order: Order, _context: KeyedProcessContext<string>, out: Collector<Total>): void {
    const { orders, cents } = this.total.value() ?? { orders: 0, cents: 0 };
    const total = { orders: orders + 1, cents: cents + order.cents };
    this.total.update(total);
    out.collect({ order: order.id, customer: order.customer, ...total });
  }
}

const env = StreamExecutionEnvironment.getExecutionEnvironment({ restore: { path: 'latest' } });
env.enableCheckpointing(200);
env.setStateBackend(new FsStateBackend(`file://${process.cwd()}/out/running-totals/checkpoints`));

// Stands for a source of your own. The same order for the same number each time: that is what makes it replayable.
const orders = new GeneratorSource<Order>(
  (n) => ({ id: n, customer: ['Ada', 'Grace', 'Edsger'][n % 3]!, cents: 100 + ((n * 37) % 900) }),
  { count: ORDERS, recordsPerSecond: ordersPerSecond, type: orderType },
);

const totals = env
  .fromSource(orders, WatermarkStrategy.noWatermarks(), 'orders')
  .uid('orders')
  .keyBy('customer')
  .process(RunningTotal)
  .uid('running-total');

totals.sinkTo(FileSink.forJsonLines('out/running-totals/totals')).uid('files');
totals
  .map(({ customer, orders, cents }) => `${customer}: ${orders} orders, ${(cents / 100).toFixed(2)} €`)
  .print();

await env.execute('running totals');
