/**
 * Asynchronous functions under crashes: calls that take some time, and some of which are made again, in front of what would
 * show a record that is lost, or twice, or behind its watermark.
 *
 *     orders ─┬─► look up, in order ─────────────────► looked-up/
 *             └─ by customer ─► look up, as they come ─► windows ─► windows/
 */
import {
  AsyncRetryStrategies,
  FileSink,
  RetryPredicates,
  TumblingEventTimeWindows,
  Types,
} from '@millrace/engine';
import { orders, runToEnd, settings } from './crash-job-frame.ts';
import { addUp, amountsType, NameWindow } from './functions.ts';
import { type Order, orderType } from './orders.ts';

const CAPACITY = 20;
const SLOWEST_MS = 6;

const sinkTo = (folder: string) => FileSink.forJsonLines(`${settings.directory}/out/${folder}`);

async function answerOf(order: Order): Promise<Order> {
  const delayMs = order.id % SLOWEST_MS;
  if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
  return { ...order, amount: order.amount + 1 };
}

const retry = new AsyncRetryStrategies.FixedDelayRetryStrategyBuilder(2, 1)
  .ifException(RetryPredicates.HAS_EXCEPTION_PREDICATE)
  .build();

orders
  .mapAsync(
    async (order, { attempt }) => {
      // Not the last ones: nothing is retried any more when the input has ended.
      if (attempt === 1 && order.id % 10 === 0 && order.id < settings.orderCount / 2) throw new Error('busy');
      return answerOf(order);
    },
    { capacity: CAPACITY, retry, timeout: '30 s', type: orderType },
  )
  .uid('in-order')
  .sinkTo(sinkTo('looked-up'))
  .uid('looked-up');

orders
  .keyBy((order) => order.customer, Types.STRING)
  .flatMapAsync(async (order) => [await answerOf(order), order], {
    capacity: CAPACITY,
    ordered: false,
    type: orderType,
  })
  .uid('as-they-come')
  .keyBy((order) => order.customer, Types.STRING)
  .window(TumblingEventTimeWindows.of('1 s'))
  .aggregate(addUp, NameWindow, { accumulator: amountsType })
  .uid('windows')
  .sinkTo(sinkTo('windows'))
  .uid('windows-sink');

await runToEnd('asynchronous functions');
