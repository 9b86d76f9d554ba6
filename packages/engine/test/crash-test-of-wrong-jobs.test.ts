/** Mistakes that people make: each is found by a crash test, and named. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AsyncDataStream,
  type Collector,
  type FunctionInitializationContext,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type ListState,
  ListStateDescriptor,
  type ProcessContext,
  ProcessFunction,
  type RuntimeContext,
  type Sink,
  type StreamExecutionEnvironment,
  Types,
  type ValueState,
  ValueStateDescriptor,
  WatermarkStrategy,
} from '@millrace/engine';
import { type CrashTestContext, type CrashTestOptions, crashTest } from '@millrace/engine/testing';

interface Order {
  readonly customer: string;
  readonly cents: number;
}

const orderType = Types.ROW({ customer: Types.STRING, cents: Types.LONG });
const orders: Order[] = Array.from({ length: 60 }, (_, n) => ({ customer: `c${n % 4}`, cents: n }));
const none = WatermarkStrategy.noWatermarks();

type Job = (env: StreamExecutionEnvironment, context: CrashTestContext) => void;

/** The message with which the crash test rejects. */
async function messageOf(job: Job, options: Partial<CrashTestOptions> = {}): Promise<string> {
  const error = await crashTest({ job, parallelism: [1, 2], seeds: 10, ...options }).then(
    () => undefined,
    (rejected: Error & { code?: string }) => rejected,
  );
  assert.equal(error?.code, 'CRASH_TEST_FAILED', error?.stack);
  return error.message;
}

function matchAll(message: string, ...patterns: readonly RegExp[]): void {
  for (const pattern of patterns) assert.match(message, pattern);
}

class TotalInField extends KeyedProcessFunction<string, Order, Order> {
  readonly #totals = new Map<string, number>();

  override processElement(order: Order, _context: KeyedProcessContext<string>, out: Collector<Order>): void {
    const cents = (this.#totals.get(order.customer) ?? 0) + order.cents;
    this.#totals.set(order.customer, cents);
    out.collect({ ...order, cents });
  }
}

class Total extends KeyedProcessFunction<string, Order, Order> {
  protected total!: ValueState<number>;

  override open(context: RuntimeContext): void {
    this.total = context.getState(new ValueStateDescriptor('total', Types.LONG));
  }

  override processElement(order: Order, _context: KeyedProcessContext<string>, out: Collector<Order>): void {
    const cents = (this.total.value() ?? 0) + order.cents;
    this.total.update(cents);
    out.collect({ ...order, cents });
  }
}

describe('a crash test of a wrong job', () => {
  const wrongTotals: Job = (env, { source, sink }) => {
    env
      .fromSource(source(orders, { type: orderType }), none, 'orders')
      .uid('orders')
      .keyBy('customer')
      .process(TotalInField)
      .uid('totals')
      .sinkTo(sink({ name: 'totals' }));
  };

  it('finds state in a field, says where the job was killed, and repeats that run alone', async () => {
    const message = await messageOf(wrongTotals);
    matchAll(
      message,
      /^The job does not survive a crash: its results are not those of the undisturbed run\.\n {2}killed before the /,
      /\n {2}at parallelism 1, restored at [12]\n {2}sink 'totals':\n {4}missing: \{ cents: \d+, customer: 'c\d' \}\n/,
      /\n {4}not expected: \{/,
      /Typical causes:\n {2}- state that is kept in a field of the function/,
      /\nThis run again: crashTest\(\{ …, only: \{ parallelism: 1, step: \d+ \} \}\)$/,
    );
    const step = Number(/step: (\d+)/.exec(message)?.[1]);
    const lines: string[] = [];
    const log = (line: string): void => void lines.push(line);
    assert.equal(await messageOf(wrongTotals, { only: { parallelism: 1, step }, log }), message);
    assert.ok(lines.some((line) => line.includes('_metadata')));
  });

  it('finds it at random moments too, and names the seed', async () => {
    const found: number[] = [];
    for (let seed = 1; seed <= 10; seed++) {
      const only = { parallelism: 2, seed };
      const error = await crashTest({ job: wrongTotals, parallelism: [1, 2], only }).catch(
        (thrown: Error) => thrown,
      );
      if (!(error instanceof Error)) continue;
      found.push(seed);
      assert.ok(error.message.includes(`, seed ${seed}\n`));
      assert.ok(error.message.endsWith(`only: { parallelism: 2, seed: ${seed} } })`));
    }
    assert.ok(found.length > 3, `found by ${found.length} of 10 seeds`);
  });

  it('finds a sink that is not transactional', async () => {
    const message = await messageOf((env, { source, effect }) => {
      const insert = effect<Order>({ name: 'table' });
      const sink: Sink<Order, never, never> = {
        guarantee: 'at-least-once',
        createWriter: () => ({ write: (order) => insert(order), prepareCommit: () => [], close() {} }),
      };
      env.fromSource(source(orders, { type: orderType }), none, 'orders').sinkTo(sink);
    });
    matchAll(
      message,
      /effect 'table':\n {4}too often: \{ cents: \d+, customer: 'c\d' \} \(2 times instead of 1\)/,
      /Typical causes:\n {2}- records are processed again after a crash, so an effect outside of a transactional sink/,
    );
  });

  it('finds a side effect beside a right sink', async () => {
    const message = await messageOf((env, { source, sink, effect }) => {
      const sendMail = effect<string>({ name: 'mails' });
      env
        .fromSource(source(orders, { type: orderType }), none, 'orders')
        .keyBy('customer')
        .process(Total)
        .map((order) => {
          if (order.cents > 100) sendMail(`${order.customer} has ${order.cents}`);
          return order;
        })
        .sinkTo(sink());
    });
    matchAll(
      message,
      /effect 'mails':\n {4}too often: "c\d has \d+" \(2 times/,
      /an effect outside of a transactional sink/,
    );
  });

  it('finds operator state that is written and not read again', async () => {
    class Batches extends ProcessFunction<Order, number> {
      #batch: number[] = [];
      #state!: ListState<number>;

      override processElement(order: Order, _context: ProcessContext, out: Collector<number>): void {
        this.#batch.push(order.cents);
        if (this.#batch.length < 15) return;
        for (const cents of this.#batch) out.collect(cents);
        this.#batch = [];
      }

      override snapshotState(): void {
        this.#state.update(this.#batch);
      }

      override initializeState(context: FunctionInitializationContext): void {
        this.#state = context
          .getOperatorStateStore()
          .getListState(new ListStateDescriptor('batch', Types.LONG));
      }
    }
    const message = await messageOf(
      (env, { source, sink }) => {
        env
          .fromSource(source(orders, { type: orderType }), none, 'orders')
          .process(Batches)
          .sinkTo(sink());
      },
      { parallelism: [1] },
    );
    matchAll(
      message,
      /sink 'sink 1':\n {4}missing: \d+/,
      /snapshotState writes operator state that initializeState does not/,
    );
  });

  it('finds a uid that is another one each time, before anything else', async () => {
    const message = await messageOf((env, { source, sink }) => {
      env
        .fromSource(source(orders, { type: orderType }), none, 'orders')
        .keyBy('customer')
        .process(Total)
        .uid(`total-${Math.random()}`)
        .sinkTo(sink());
    });
    matchAll(
      message,
      /^The job could not be restored: it is not the same each time it is built\./,
      /the uid of .*total-0\.\d+/,
    );
  });

  it('finds that results depend on the order of asynchronous answers', async () => {
    const message = await messageOf((env, { source, sink, delay }) => {
      const stream = env.fromSource(source(orders, { type: orderType }), none, 'orders');
      AsyncDataStream.unorderedWait(
        stream,
        async (order) => {
          await delay(order.cents % 3 === 0 ? 20 : 1);
          return [order];
        },
        '10 s',
        10,
      )
        .returns(orderType)
        .keyBy('customer')
        .process(Total)
        .sinkTo(sink());
    });
    matchAll(
      message,
      /^The job is not deterministic: two undisturbed runs/,
      /the order in which they come \(unorderedWait\)/,
    );
  });

  it('finds randomness and the clock, and says where they are asked', async () => {
    const message = await messageOf((env, { source, sink }) => {
      env
        .fromSource(source(orders, { type: orderType }), none, 'orders')
        .map(({ cents }) => `${cents} ${Math.random()} ${new Date().toISOString()} ${Date.now()}`)
        .sinkTo(sink());
    });
    matchAll(
      message,
      /^The job is not deterministic/,
      /Math\.random at .*crash-test-of-wrong-jobs\.test\.ts:\d+/,
      /new Date at .*crash-test-of-wrong/,
      /Date\.now at .*crash-test-of-wrong/,
    );
  });

  it('finds results that depend on the parallelism', async () => {
    const message = await messageOf((env, { source, sink }) => {
      class NumberOfSubtask extends ProcessFunction<Order, string> {
        override processElement({ cents }: Order, _context: ProcessContext, out: Collector<string>): void {
          out.collect(`${cents} ${this.getRuntimeContext().getNumberOfParallelSubtasks()}`);
        }
      }
      env
        .fromSource(source(orders, { type: orderType }), none, 'orders')
        .process(NumberOfSubtask)
        .sinkTo(sink());
    });
    assert.match(
      message,
      /^The results depend on the parallelism, without any crash\.\n {2}undisturbed, at parallelism 2/,
    );
  });

  it('refuses timers and network of the real world, and says where they are used', async () => {
    const message = await messageOf((env, { source, sink }) => {
      AsyncDataStream.orderedWait(
        env.fromSource(source(orders, { type: orderType }), none, 'orders'),
        async (order) => {
          await new Promise((resolve) => setTimeout(resolve, 1));
          return [order];
        },
        '10 s',
        10,
      ).sinkTo(sink());
    });
    matchAll(
      message,
      /^The job uses timers or network of the real world/,
      /setTimeout at .*crash-test-of-wrong-jobs\.test\.ts:\d+/,
    );
  });

  it('says of what a job fails by itself', async () => {
    const message = await messageOf((env, { source, sink }) => {
      env
        .fromSource(source(orders, { type: orderType }), none, 'orders')
        .map(({ cents }) => {
          if (cents === 30) throw new Error('30 is too much');
          return cents;
        })
        .name('limit')
        .sinkTo(sink());
    });
    matchAll(
      message,
      /^The job does not run, without any crash: it fails\./,
      /USER_FUNCTION_FAILED: .*limit/,
      /Error: 30 is too much/,
    );
  });

  it('says that a job waits for what never comes', async () => {
    const message = await messageOf((env, { source, sink }) => {
      AsyncDataStream.orderedWait(
        env.fromSource(source(orders, { type: orderType }), none, 'orders'),
        () => new Promise<number[]>(() => {}),
        '100 days',
        10,
      ).sinkTo(sink());
    });
    matchAll(message, /^The job does not run, without any crash: it (waits|does not come)/, /real world/);
  });

  it('says that nothing can be compared, or that no checkpoint completes', async () => {
    const nothing = await messageOf((env, { source }) => {
      env
        .fromSource(source(orders, { type: orderType }), none, 'orders')
        .map(String)
        .print();
    });
    assert.match(nothing, /^The job leaves no results to compare/);
    const short = await messageOf((env, { sink }) => {
      env.fromCollection(orders, orderType).sinkTo(sink());
    });
    assert.match(short, /^Hardly any checkpoint completes/);
  });

  it('says that results of a key come in another order', async () => {
    const message = await messageOf((env, { source, sink }) => {
      env
        .fromSource(source(orders, { type: orderType, partitions: 2 }), none, 'orders')
        .sinkTo(sink({ orderedBy: ({ cents }) => (cents < 20 ? 'cheap' : 'dear') }));
    });
    matchAll(message, /result \d+ of "(cheap|dear)" is \{ cents: \d+, customer: 'c\d' \} instead of/);
  });
});

describe('options of a crash test', () => {
  it('are checked', async () => {
    const job: Job = () => {};
    for (const [wrong, pattern] of [
      [{ job, parallelism: [] }, /parallelism is a list/],
      [{ job, parallelism: [0] }, /parallelism is a list/],
      [{ job, seeds: -1 }, /seeds is a whole number/],
      [{ job, budgetMs: Number.NaN }, /budgetMs/],
      [{ job, only: { parallelism: 1, step: 0.5 } }, /only names/],
      [{ job: (async () => {}) as unknown as Job }, /job returned a promise/],
    ] as const)
      await assert.rejects(async () => crashTest(wrong), pattern);
  });
});
