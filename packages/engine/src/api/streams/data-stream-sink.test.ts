import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { Configuration, hasCode } from '../../base/index.ts';
import { DateTimeBucketAssigner, DefaultRollingPolicy, FileSink } from '../../connectors/index.ts';
import { RichSinkFunction } from '../../operators/index.ts';
import { createManualPlatform } from '../../testing/manual-platform.ts';
import { Types } from '../../types/index.ts';
import { LocalExecutor } from '../local-executor.ts';
import { RestartStrategies } from '../restart-strategies.ts';
import { StreamExecutionEnvironment } from '../stream-execution-environment.ts';
import type { DataStream } from './data-stream.ts';

const environment = (): StreamExecutionEnvironment =>
  StreamExecutionEnvironment.getExecutionEnvironment({
    host: 'inline',
    restartStrategy: RestartStrategies.noRestart(),
  });

describe('the end of a stream', () => {
  it('may be a function, sync or async, which has done everything when the job has ended', async () => {
    const env = environment();
    const numbers = env.fromSequence(1, 500);
    const seen: number[] = [];
    const later: number[] = [];
    numbers.addSink((value) => seen.push(value)).uid('sync');
    numbers.addSink(
      async (value) => {
        await Promise.resolve();
        later.push(value);
      },
      { maxInFlightRequests: 8 },
    );
    await env.execute();
    const expected = Array.from({ length: 500 }, (_, i) => i + 1);
    assert.deepEqual(seen, expected);
    assert.deepEqual(later, expected);
  });

  it('may be a sink function with a life: an object, or its class', async () => {
    const log: string[] = [];
    class Sum extends RichSinkFunction<number> {
      private sum = 0;
      invoke(value: number): void {
        this.sum += value;
      }
      override close(): void {
        log.push(`sum ${this.sum}`);
      }
    }
    for (const given of [Sum, new Sum(), { sum: 0, invoke: (value: number) => void log.push(`${value}`) }]) {
      const env = environment();
      env.fromCollection([1, 2, 3]).addSink(given);
      await env.execute();
    }
    assert.deepEqual(log, ['sum 6', 'sum 6', '1', '2', '3']);
  });

  it('that fails fails the job with its name and what was thrown', async () => {
    for (const fn of [
      (value: number): void => {
        if (value === 2) throw new Error('refused');
      },
      async (value: number): Promise<void> => {
        if (value === 2) throw new Error('refused');
      },
    ]) {
      const env = environment();
      env.fromSequence(1, 3).addSink(fn).name('to database');
      await assert.rejects(env.execute(), (error: Error) => {
        assert.ok(hasCode(error, 'USER_FUNCTION_FAILED'));
        return /to database/.test(error.message) && /refused/.test(error.message);
      });
    }
  });

  it('may be a Writable: lines of strings, or what an encoder makes', async () => {
    const written: string[] = [];
    const open = () =>
      new Writable({
        write: (chunk, _encoding, done) => {
          written.push(String(chunk));
          done();
        },
      });
    const env = environment();
    env.fromElements('a', 'b').writeTo(open);
    env.fromSequence(1, 2).writeTo(open, { encode: (value) => `${value},` });
    await env.execute();
    assert.deepEqual(written.sort(), ['1,', '2,', 'a\n', 'b\n']);
  });

  it('may be the standard output or the standard error', async () => {
    const platform = createManualPlatform({
      yieldToEventLoop: () => new Promise((resolve) => setImmediate(resolve)),
    });
    const env = new StreamExecutionEnvironment(
      new LocalExecutor(platform),
      Configuration.from({ 'millrace.host': 'inline' }),
    );
    const numbers = env.fromSequence(1, 2);
    numbers.print('out');
    numbers.printToErr();
    numbers.printToErr('err');
    const plan = env.getExecutionPlan();
    assert.match(plan, /"out"/);
    assert.match(plan, /Print to Std\. Err/);
    await env.execute();
    assert.deepEqual([...platform.printed].sort(), [
      'out> 1',
      'out> 2',
      'stderr: 1',
      'stderr: 2',
      'stderr: err> 1',
      'stderr: err> 2',
    ]);
  });

  it('must take the records of the stream', () => {
    const env = environment();
    const orders: DataStream<{ id: number; at: number }> = env.fromCollection([{ id: 1, at: 0 }]);
    const type = Types.ROW({ id: Types.LONG, at: Types.LONG });
    orders.sinkTo(FileSink.forParquet('x', type));
    orders.sinkTo(FileSink.forJsonLines<{ id: number }>('x').withBucketAssigner((order) => `${order.id}`));
    orders.sinkTo(
      FileSink.forCsv<{ id: number; at: number }>('x', ['id', 'at'], { compression: 'gzip' })
        .withBucketAssigner(new DateTimeBucketAssigner<{ at: number }>('yyyy', 'UTC', (order) => order.at))
        .withRollingPolicy(DefaultRollingPolicy.builder().withMaxPartSize('1 mb').build()),
    );
    const wrong = (): void => {
      // @ts-expect-error: the sink wants a field that the records do not have
      orders.sinkTo(FileSink.forParquet('x', Types.ROW({ name: Types.STRING })));
      // @ts-expect-error: no such column
      orders.sinkTo(FileSink.forCsv<{ id: number }>('x', ['name']));
      // @ts-expect-error: a bucket id is a string
      FileSink.forJsonLines<{ id: number }>('x').withBucketAssigner((order) => order.id);
      // @ts-expect-error: Parquet files end with each checkpoint
      FileSink.forParquet('x', type).withRollingPolicy(new DefaultRollingPolicy());
      // @ts-expect-error: the function takes another type
      orders.addSink((name: string) => void name);
      // @ts-expect-error: objects need an encoder
      orders.writeTo(() => process.stdout);
    };
    assert.equal(typeof wrong, 'function');
    assert.throws(() => orders.sinkTo((() => {}) as never), /functions go to addSink/);
  });
});
