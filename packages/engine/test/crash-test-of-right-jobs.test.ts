/** Right jobs of every kind of operator survive a crash test, and a crash test does what it says. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AsyncDataStream,
  type BroadcastContext,
  BroadcastProcessFunction,
  CheckpointingMode,
  type Collector,
  type DataStream,
  EventTimeSessionWindows,
  type FunctionInitializationContext,
  type ListState,
  ListStateDescriptor,
  MapStateDescriptor,
  type ProcessContext,
  ProcessFunction,
  type ReadOnlyBroadcastContext,
  type StreamExecutionEnvironment,
  TumblingEventTimeWindows,
  Types,
  WatermarkStrategy,
} from '@millrace/engine';
import { type CrashTestContext, type CrashTestOptions, crashTest } from '@millrace/engine/testing';
import {
  addUp,
  amountsType,
  CustomerTotals,
  finalTotals,
  JoinPayments,
  largeOrders,
  NameWindow,
} from './crash/functions.ts';
import { type Order, orderType, type Payment, paymentType } from './crash/orders.ts';

const customers = ['Ada', 'Grace', 'Edsger', 'Barbara'];
const orders: Order[] = Array.from({ length: 48 }, (_, id) => ({
  id,
  customer: customers[id % 4]!,
  amount: (id * 37) % 100,
  category: (['book', 'game', 'tool'] as const)[id % 3]!,
  at: 1000 + id * 50,
}));
const payments: Payment[] = orders
  .filter(({ id }) => id % 5 !== 0)
  .map(({ id, customer, amount, at }) => ({ order: id, customer, amount, at: at + (id % 4) * 30 }));

type Job = (env: StreamExecutionEnvironment, context: CrashTestContext) => void;

function ordersOf(env: StreamExecutionEnvironment, { source }: CrashTestContext): DataStream<Order> {
  const strategy = WatermarkStrategy.forBoundedOutOfOrderness<Order>('1 s').withTimestampAssigner(
    ({ at }) => at,
  );
  const options = { type: orderType, partitions: 2, partitionBy: ({ customer }: Order) => customer };
  return env.fromSource(source(orders, options), strategy, 'orders').uid('orders');
}

function paymentsOf(env: StreamExecutionEnvironment, { source }: CrashTestContext): DataStream<Payment> {
  const strategy = WatermarkStrategy.forBoundedOutOfOrderness<Payment>('1 s');
  const options = { type: paymentType, partitions: 3, timestampOf: ({ at }: Payment) => at };
  return env.fromSource(source(payments, options), strategy, 'payments').uid('payments');
}

/** A part of all orders. */
const BATCH = 8;

/** Hands batches on; what is there of the next one is operator state. */
class Batches extends ProcessFunction<Order, number> {
  #batch: number[] = [];
  #state!: ListState<number>;

  override processElement({ id }: Order, _context: ProcessContext, out: Collector<number>): void {
    this.#batch.push(id);
    if (this.#batch.length < BATCH) return;
    for (const each of this.#batch.splice(0)) out.collect(each);
  }

  override snapshotState(): void {
    this.#state.update(this.#batch);
  }

  override initializeState(context: FunctionInitializationContext): void {
    this.#state = context.getOperatorStateStore().getListState(new ListStateDescriptor('batch', Types.LONG));
    this.#batch = [...this.#state.get()];
  }
}

const counts = new MapStateDescriptor('counts', Types.STRING, Types.LONG);

class CountBroadcast extends BroadcastProcessFunction<Order, Payment, string> {
  override processElement({ id }: Order, _context: ReadOnlyBroadcastContext, out: Collector<string>): void {
    out.collect(`order ${id}`);
  }

  override processBroadcastElement({ customer }: Payment, context: BroadcastContext): void {
    const state = context.getBroadcastState(counts);
    state.put(customer, (state.get(customer) ?? 0) + 1);
  }
}

const JOBS: Readonly<Record<string, Job>> = {
  'value, map and list state, timers, side outputs': (env, context) => {
    const totals = ordersOf(env, context)
      .keyBy((order) => order.customer, Types.STRING)
      .process(CustomerTotals)
      .uid('totals');
    totals.sinkTo(context.sink({ name: 'totals', orderedBy: ({ customer }) => customer })).uid('sink');
    totals
      .getSideOutput(largeOrders)
      .sinkTo(context.sink({ name: 'large' }))
      .uid('large-sink');
    totals
      .getSideOutput(finalTotals)
      .sinkTo(context.sink({ name: 'final' }))
      .uid('final-sink');
  },
  'windows and sessions': (env, context) => {
    const byCustomer = ordersOf(env, context).keyBy((order) => order.customer, Types.STRING);
    byCustomer
      .window(TumblingEventTimeWindows.of('500 ms'))
      .aggregate(addUp, NameWindow, { accumulator: amountsType })
      .uid('tumbling')
      .sinkTo(context.sink())
      .uid('tumbling-sink');
    byCustomer
      .window(EventTimeSessionWindows.withGap(150))
      .aggregate(addUp, NameWindow, { accumulator: amountsType })
      .uid('sessions')
      .sinkTo(context.sink())
      .uid('sessions-sink');
    byCustomer.countWindow(3).sum('amount').uid('counted').sinkTo(context.sink()).uid('counted-sink');
  },
  'joins and two inputs': (env, context) => {
    const left = ordersOf(env, context).keyBy((order) => order.customer, Types.STRING);
    const right = paymentsOf(env, context).keyBy((payment) => payment.customer, Types.STRING);
    left
      .intervalJoin(right)
      .between('-100 ms', '300 ms')
      .process((order, payment) => ({ order: order.id, for: payment.order }))
      .uid('interval')
      .sinkTo(context.sink())
      .uid('interval-sink');
    left.connect(right).process(JoinPayments).uid('paid').sinkTo(context.sink()).uid('paid-sink');
  },
  'broadcast state': (env, context) => {
    ordersOf(env, context)
      .connect(paymentsOf(env, context).broadcast(counts))
      .process(CountBroadcast)
      .uid('broadcast')
      .sinkTo(context.sink())
      .uid('sink');
  },
  'asynchronous functions, in order and as they come': (env, context) => {
    const stream = ordersOf(env, context);
    const look = async (order: Order): Promise<Order[]> => {
      await context.delay(1 + (order.id % 5) * 4);
      return [order];
    };
    AsyncDataStream.orderedWait(stream, look, '10 s', 5)
      .uid('in-order')
      .sinkTo(context.sink())
      .uid('in-order-sink');
    AsyncDataStream.unorderedWait(stream, look, '10 s', 5)
      .uid('as-they-come')
      .sinkTo(context.sink())
      .uid('as-they-come-sink');
  },
  'operator state, rebalance, reduce, union': (env, context) => {
    const stream = ordersOf(env, context).rebalance();
    stream.process(Batches).uid('batches').setParallelism(1).sinkTo(context.sink()).uid('batches-sink');
    const cheap = stream.filter(({ amount }) => amount < 50);
    const dear = stream.filter(({ amount }) => amount >= 50);
    cheap
      .union(dear)
      .map(({ customer, amount }) => ({ customer, amount }))
      .sinkTo(context.sink())
      .uid('union-sink');
  },
};

describe('a crash test of a right job', () => {
  for (const [what, job] of Object.entries(JOBS)) {
    it(`finds nothing: ${what}`, async () => {
      const report = await crashTest({ job, parallelism: [1, 3], seeds: 4 });
      assert.ok(report.kills >= report.runs * 0.9, `${report.kills} kills in ${report.runs} runs`);
      assert.equal(report.leftOut, 0);
    });
  }

  it('finds nothing with unaligned checkpoints either', async () => {
    const job = JOBS['joins and two inputs']!;
    await crashTest({
      job,
      parallelism: [2, 3],
      seeds: 6,
      configuration: { checkpointing: { unaligned: true } },
    });
  });

  it('runs what the job sets itself, but for where and how often checkpoints are taken', async () => {
    await crashTest({
      job: (env, context) => {
        env.enableCheckpointing('1 min', CheckpointingMode.EXACTLY_ONCE);
        env.getCheckpointConfig().setMinPauseBetweenCheckpoints(30_000);
        env.setMaxParallelism(7);
        JOBS['windows and sessions']!(env, context);
      },
      parallelism: [1],
      seeds: 2,
    });
  });
});

describe('a crash test', () => {
  const passOn: Job = (env, { source, sink }) => {
    env
      .fromSource(source(orders, { type: orderType }), WatermarkStrategy.noWatermarks(), 'orders')
      .sinkTo(sink());
  };
  const options: CrashTestOptions = { job: passOn, parallelism: [2], seeds: 5 };

  it('says how much it did, and stops when its time is over', async () => {
    const report = await crashTest(options);
    assert.ok(report.runs > 40);
    assert.deepEqual(await crashTest({ ...options, budgetMs: 0 }), {
      runs: 0,
      kills: 0,
      leftOut: report.runs,
    });
  });

  it('accepts with at-least-once what comes again, but nothing that is missing', async () => {
    const job = (loses: boolean): Job => {
      return (env, { source, effect }) => {
        const insert = effect<number>({ guarantee: 'at-least-once' });
        env
          .fromSource(source(orders, { type: orderType }), WatermarkStrategy.noWatermarks(), 'orders')
          .sinkTo({
            guarantee: 'at-least-once',
            createWriter: () => {
              const buffer: number[] = [];
              const flush = (): never[] => {
                for (const id of buffer.splice(0)) insert(id);
                return [];
              };
              return {
                write: ({ id }) => void (buffer.push(id) === 12 && flush()),
                prepareCommit: (_id, endOfInput) => (loses && !endOfInput ? [] : flush()),
                close() {},
              };
            },
          });
      };
    };
    await crashTest({ ...options, job: job(false) });
    await assert.rejects(crashTest({ ...options, job: job(true) }), /effect 'effect 1':\n {4}missing: \d+/);
  });

  it('lets the user compare', async () => {
    const compared: number[] = [];
    await crashTest({
      ...options,
      job: (env, { source, sink }) => {
        const compare = (results: readonly Order[], expected: readonly Order[]): string | undefined => {
          compared.push(results.length);
          return results.length >= expected.length ? undefined : 'fewer';
        };
        env
          .fromSource(source(orders, { type: orderType }), WatermarkStrategy.noWatermarks(), 'orders')
          .sinkTo(sink({ compare }));
      },
    });
    assert.ok(compared.length > 40 && compared.every((count) => count === orders.length));
  });

  it('leaves the globals of the process as they were', async () => {
    const before = [setTimeout, Date, Date.now, Math.random, performance.now];
    await crashTest({ ...options, seeds: 0 });
    assert.deepEqual([setTimeout, Date, Date.now, Math.random, performance.now], before);
    assert.equal(Object.hasOwn(performance, 'now'), false);
  });

  it('waits for one that is under way', async () => {
    const reports = await Promise.all([crashTest(options), crashTest(options)]);
    assert.deepEqual(reports[0], reports[1]);
  });
});
