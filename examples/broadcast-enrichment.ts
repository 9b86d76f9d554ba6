/**
 * Orders with the names of their products, from a table that every subtask has whole: broadcast state. New products may
 * come at any time. An order whose product is not known yet waits for it.
 *
 *     node examples/broadcast-enrichment.ts
 */
import {
  type Collector,
  type Infer,
  type KeyedBroadcastContext,
  KeyedBroadcastProcessFunction,
  type KeyedReadOnlyBroadcastContext,
  type ListState,
  ListStateDescriptor,
  MapStateDescriptor,
  type RuntimeContext,
  StreamExecutionEnvironment,
  Types,
} from 'millrace';

const orderType = Types.ROW({ id: Types.LONG, product: Types.STRING, count: Types.INT });
const productType = Types.ROW({ id: Types.STRING, name: Types.STRING, cents: Types.LONG });
type Order = Infer<typeof orderType>;
type Product = Infer<typeof productType>;

/** The table: the same in all subtasks. */
const products = new MapStateDescriptor('products', Types.STRING, productType);
/** Orders that wait, by product. */
const waitingOrders = new ListStateDescriptor('waiting', orderType);

class AddProduct extends KeyedBroadcastProcessFunction<string, Order, Product, string> {
  private waiting!: ListState<Order>;

  override open(context: RuntimeContext): void {
    this.waiting = context.getListState(waitingOrders);
  }

  /** Called for an order, in the one subtask of its key. The table can only be read here. */
  override processElement(
    order: Order,
    context: KeyedReadOnlyBroadcastContext<string>,
    out: Collector<string>,
  ): void {
    const product = context.getBroadcastState(products).get(order.product);
    // The two streams come in no particular order.
    if (product === undefined) this.waiting.add(order);
    else out.collect(describe(order, product));
  }

  /** Called for a product, in every subtask. There is no current key here: all keys that have such a state are visited. */
  override processBroadcastElement(
    product: Product,
    context: KeyedBroadcastContext<string>,
    out: Collector<string>,
  ): void {
    context.getBroadcastState(products).put(product.id, product);
    context.applyToKeyedState(waitingOrders, (key, orders) => {
      if (key !== product.id) return;
      for (const order of orders.get()) out.collect(describe(order, product));
      orders.clear();
    });
  }
}

function describe({ id, count }: Order, { name, cents }: Product): string {
  return `order ${id}: ${count} × ${name}, ${((count * cents) / 100).toFixed(2)} €`;
}

const env = StreamExecutionEnvironment.getExecutionEnvironment();
env.enableCheckpointing(1000);

const orders = env
  .fromCollection(
    [
      { id: 1, product: 'p1', count: 2 },
      { id: 2, product: 'p3', count: 1 },
      { id: 3, product: 'p2', count: 5 },
    ],
    orderType,
  )
  .uid('orders');
const table = env
  .fromCollection(
    [
      { id: 'p1', name: 'teapot', cents: 2450 },
      { id: 'p2', name: 'cup', cents: 795 },
      { id: 'p3', name: 'kettle', cents: 3900 },
    ],
    productType,
  )
  .uid('products');

orders.keyBy('product').connect(table.broadcast(products)).process(AddProduct).uid('add-product').print();

await env.execute('broadcast enrichment');
