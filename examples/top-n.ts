/**
 * The three products that sold best in each hour: first the sales of each product and hour are counted, in parallel; then the
 * counts of an hour, of which there are few, meet in one place.
 *
 *     node examples/top-n.ts
 */
import {
  type AggregateFunction,
  type Collector,
  GeneratorSource,
  type Infer,
  type ProcessWindowContext,
  ProcessWindowFunction,
  StreamExecutionEnvironment,
  type TimeWindow,
  TumblingEventTimeWindows,
  Types,
  WatermarkStrategy,
} from 'millrace';

const N = 3;
const PRODUCTS = ['tea', 'coffee', 'cocoa', 'milk', 'juice', 'water'];

const saleType = Types.ROW({ product: Types.STRING, at: Types.LONG });
type Sale = Infer<typeof saleType>;

/** Stands for a source of your own: a sale each second, from ten o'clock on. */
function sale(n: number): Sale {
  const index = ((n * n) % 97) % PRODUCTS.length;
  return { product: PRODUCTS[index]!, at: Date.UTC(2026, 2, 1, 10) + n * 1000 };
}

/** Keeps a number for each product and hour, not the sales. */
const count: AggregateFunction<Sale, number, number> = {
  createAccumulator: () => 0,
  add: (_sale, sales) => sales + 1,
  getResult: (sales) => sales,
  merge: (a, b) => a + b,
};

interface Sold {
  readonly product: string;
  readonly sales: number;
}

/** Is called with the one result of `count` when the hour is over, and adds what that does not know: the product. */
class WithProduct extends ProcessWindowFunction<number, Sold, string, TimeWindow> {
  override process(
    product: string,
    _context: ProcessWindowContext<TimeWindow>,
    [sales]: Iterable<number>,
    out: Collector<Sold>,
  ): void {
    out.collect({ product, sales: sales! });
  }
}

const env = StreamExecutionEnvironment.getExecutionEnvironment();
env.enableCheckpointing(1000);

env
  .fromSource(
    new GeneratorSource(sale, { count: 3 * 3600, type: saleType }),
    WatermarkStrategy.forMonotonousTimestamps<Sale>().withTimestampAssigner((each) => each.at),
    'sales',
  )
  .uid('sales')
  .keyBy('product')
  .window(TumblingEventTimeWindows.of('1 h'))
  .aggregate(count, WithProduct, { accumulator: Types.LONG })
  .uid('sales-of-product')
  // The results of a window have its last millisecond as timestamp: they fall into the same hour here.
  .windowAll(TumblingEventTimeWindows.of('1 h'))
  .apply((window, sold, out: Collector<string>) => {
    const best = [...sold]
      .sort((a, b) => b.sales - a.sales || a.product.localeCompare(b.product))
      .slice(0, N);
    const hour = new Date(window.start).toISOString().slice(0, 16);
    out.collect(`${hour} ${best.map(({ product, sales }, i) => `${i + 1}. ${product} ${sales}`).join(', ')}`);
  })
  .uid('top')
  .print();

await env.execute('top n');
