/**
 * Orders and their payments, joined: a payment belongs to the order with its number that is at most 15 minutes older. What
 * arrives when the others of its time are long gone goes to an output of its own.
 *
 *     node examples/order-payments.ts [EVENTS_PER_SECOND]
 *
 * Give it 10 events a second, kill it with `kill -9` and start it again: each payment is once in the files below
 * out/order-payments. Remove out/order-payments to begin anew.
 */
import {
  FileSink,
  FsStateBackend,
  GeneratorSource,
  type Infer,
  OutputTag,
  StreamExecutionEnvironment,
  Types,
  WatermarkStrategy,
} from 'millrace';

const eventsPerSecond = Number(process.argv[2] ?? 200);

const orderType = Types.ROW({ kind: Types.LITERAL('order'), id: Types.LONG, at: Types.LONG });
const paymentType = Types.ROW({
  kind: Types.LITERAL('payment'),
  id: Types.LONG,
  at: Types.LONG,
  cents: Types.LONG,
});
const eventType = Types.UNION('kind', orderType, paymentType);
type ShopEvent = Infer<typeof eventType>;

const MINUTE_MS = 60_000;
const MAX_DELAY_MS = 5 * MINUTE_MS;

/** Stands for a source of your own: the events of an hour as they arrived. Two payments were long on their way. */
function eventLog(): readonly ShopEvent[] {
  const arrivals: { readonly arrived: number; readonly event: ShopEvent }[] = [];
  for (let id = 1; id <= 60; id++) {
    const at = Date.UTC(2026, 2, 1, 10) + id * MINUTE_MS;
    arrivals.push({ arrived: at, event: { kind: 'order', id, at } });
    const paidAt = at + (1 + (id % 4)) * MINUTE_MS;
    const arrived = paidAt + (id === 5 || id === 8 ? 10 : 1) * MINUTE_MS;
    arrivals.push({ arrived, event: { kind: 'payment', id, at: paidAt, cents: 500 + id * 10 } });
  }
  return arrivals.sort((a, b) => a.arrived - b.arrived).map(({ event }) => event);
}

/** A watermark after each event, not every 200 ms as usual: then this short log always gives the same result. */
const watermarks = WatermarkStrategy.forGenerator<ShopEvent>(() => ({
  onEvent: (_event, timestampMs, output) => output.emitWatermark(timestampMs - MAX_DELAY_MS),
  onPeriodicEmit: () => {},
})).withTimestampAssigner((event) => event.at);

const env = StreamExecutionEnvironment.getExecutionEnvironment({ restore: { path: 'latest' } });
env.enableCheckpointing(200);
env.setStateBackend(new FsStateBackend(`file://${process.cwd()}/out/order-payments/checkpoints`));

const log = eventLog();
const source = new GeneratorSource((n) => log[n]!, {
  count: log.length,
  recordsPerSecond: eventsPerSecond,
  type: eventType,
});
const events = env
  .fromSource(source, WatermarkStrategy.noWatermarks(), 'events')
  .uid('events')
  .assignTimestampsAndWatermarks(watermarks);
// The compiler knows what is in each of the two streams.
const orders = events.filter((event) => event.kind === 'order');
const payments = events.filter((event) => event.kind === 'payment');

const latePayments = new OutputTag('late payments', paymentType);

const paid = orders
  .keyBy('id')
  .intervalJoin(payments.keyBy('id'))
  .between(0, '15 min')
  .sideOutputRightLateData(latePayments)
  // Called for each pair.
  .process((order, { at, cents }) => ({ order: order.id, cents, minutes: (at - order.at) / MINUTE_MS }))
  .uid('paid');
const late = paid.getSideOutput(latePayments);

paid.sinkTo(FileSink.forJsonLines('out/order-payments/paid')).uid('paid-files');
late.sinkTo(FileSink.forJsonLines('out/order-payments/late')).uid('late-files');
paid.map(({ order, minutes }) => `order ${order}: paid after ${minutes} min`).print();
late.print('late');

await env.execute('order payments');
