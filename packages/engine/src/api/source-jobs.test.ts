import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { hasCode, silentLogger } from '../base/index.ts';
import {
  DataGeneratorSource,
  HybridSource,
  PrintSink,
  RateLimiterStrategy,
  SequenceSource,
} from '../connectors/index.ts';
import { createNodePlatform } from '../platform/node/index.ts';
import { Types } from '../types/index.ts';
import { LocalExecutor } from './local-executor.ts';
import { RestartStrategies } from './restart-strategies.ts';
import { StreamExecutionEnvironment } from './stream-execution-environment.ts';
import type { DataStream } from './streams/data-stream.ts';
import { WatermarkStrategy } from './watermark-strategy.ts';

const TIME_LIMIT = { timeout: 30_000 };

function environment(restarts = 0): StreamExecutionEnvironment {
  const executor = new LocalExecutor(createNodePlatform({ logger: silentLogger }));
  const env = new StreamExecutionEnvironment(executor).configure({ host: 'inline' });
  env.setRestartStrategy(
    restarts === 0 ? RestartStrategies.noRestart() : RestartStrategies.fixedDelayRestart(restarts, 1),
  );
  return env;
}

async function* count(to: number): AsyncGenerator<number> {
  for (let n = 0; n < to; n++) yield n;
}

describe('fromAsyncIterable', () => {
  it('gives what an async generator gives, in order, with its type', TIME_LIMIT, async () => {
    const stream: DataStream<number> = environment().fromAsyncIterable(() => count(2000), Types.LONG);
    // @ts-expect-error the records are numbers
    const wrong: DataStream<string> = stream;
    assert.equal(wrong, stream);
    const results = await stream.map((n) => n * 2).executeAndCollect();
    assert.deepEqual(
      results,
      Array.from({ length: 2000 }, (_, n) => n * 2),
    );
  });

  it(
    'calls the function again after a failure, and tells it how far the checkpoint was',
    TIME_LIMIT,
    async () => {
      const positions: number[] = [];
      let failed = false;
      const results = await environment(3)
        .enableCheckpointing(10)
        .fromAsyncIterable(async function* ({ position }) {
          positions.push(position);
          for (let n = position; n < 300; n++) {
            yield n;
            if (n % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
          }
        }, Types.LONG)
        .map((n) => {
          if (n === 200 && !failed) {
            failed = true;
            throw new Error('on purpose');
          }
          return n;
        })
        .executeAndCollect();
      assert.equal(positions.length, 2);
      assert.ok(positions[0] === 0 && positions[1]! > 0 && positions[1]! <= 200, String(positions));
      assert.deepEqual([...new Set(results)].length, 300);
    },
  );

  it('fails the job for good when an iterable that is used up is wanted again', TIME_LIMIT, async () => {
    const env = environment(5);
    const job = env
      .fromAsyncIterable(count(10))
      .map((n) => {
        if (n === 5) throw new Error('on purpose');
        return n;
      })
      .executeAndCollect();
    await assert.rejects(job, (error) => hasCode(error, 'SOURCE_NOT_REPLAYABLE'));
  });

  it('runs in one subtask, and refuses more', TIME_LIMIT, async () => {
    const env = environment();
    env.setParallelism(3);
    const ok = env.fromAsyncIterable(() => count(5));
    assert.deepEqual((await ok.executeAndCollect()).sort(), [0, 1, 2, 3, 4]);
    const wide = env.fromAsyncIterable(() => count(5)).setParallelism(2);
    await assert.rejects(wide.executeAndCollect(), (error: Error) => {
      return hasCode(error, 'INVALID_ARGUMENT') && /Iterable Source.*setParallelism\(1\)/.test(error.message);
    });
  });
});

describe('fromReadable', () => {
  it('gives the chunks of a Readable', TIME_LIMIT, async () => {
    const env = environment();
    const objects = await env
      .fromReadable<{ n: number }>(Readable.from([{ n: 1 }, { n: 2 }]))
      .executeAndCollect();
    assert.deepEqual(objects, [{ n: 1 }, { n: 2 }]);
    const bytes = await env
      .fromReadable<Uint8Array>(() =>
        Readable.from([Buffer.from('ab'), Buffer.from('c')], { objectMode: false }),
      )
      .map((chunk) => Buffer.from(chunk).toString(), Types.STRING)
      .executeAndCollect();
    assert.equal(bytes.join(''), 'abc');
  });

  it('fails the job with the error of the Readable', TIME_LIMIT, async () => {
    const broken = new Readable({
      read() {
        this.destroy(new Error('connection reset'));
      },
    });
    await assert.rejects(
      environment().fromReadable(broken).executeAndCollect(),
      (error: Error) =>
        hasCode(error, 'SOURCE_NOT_REPLAYABLE') &&
        /failed after record 0: connection reset\. It cannot be read again/.test(error.message),
    );
  });
});

it(
  'the progress of a source that was restarted goes on where it was, and ends at the total',
  TIME_LIMIT,
  async () => {
    let failed = false;
    const env = environment(1);
    env.enableCheckpointing(10);
    const word = new Int32Array(new SharedArrayBuffer(4));
    env
      .fromSource(new SequenceSource(1, 3000), WatermarkStrategy.noWatermarks(), 'numbers')
      .map((n) => {
        if (n % 10 === 0) Atomics.wait(word, 0, 0, 1);
        if (n === 2000 && !failed) {
          failed = true;
          throw new Error('on purpose');
        }
        return n;
      })
      .sinkTo(new PrintSink());
    const client = await env.executeAsync();
    const { restarts, recordsRead } = await client.getJobExecutionResult();
    assert.equal(restarts, 1);
    assert.ok(recordsRead >= 1000 && recordsRead <= 3000, `${recordsRead} since the restart`);
    assert.deepEqual(client.progress(), [{ source: 'numbers', done: 3000, total: 3000, unit: 'records' }]);
  },
);

it(
  'a hybrid source goes on from where its first part ended, through a failure, at parallelism 3',
  TIME_LIMIT,
  async () => {
    let failed = false;
    const env = environment(1);
    env.setParallelism(3);
    env.enableCheckpointing(10);
    const source = HybridSource.builder(new SequenceSource(0, 199))
      .addSource(
        ({ previousState }) =>
          new DataGeneratorSource(
            (n) => previousState.nextIndex + n,
            300,
            RateLimiterStrategy.perSecond(1500),
            Types.LONG,
          ),
        'bounded',
      )
      .build();
    const sums = await env
      .fromSource(source, WatermarkStrategy.noWatermarks(), 'numbers')
      .map((n) => {
        if (n === 350 && !failed) {
          failed = true;
          throw new Error('on purpose');
        }
        return { key: n % 10, sum: n };
      })
      .keyBy(({ key }) => key)
      .reduce((a, b) => ({ key: a.key, sum: a.sum + b.sum }))
      .executeAndCollect();
    assert.ok(failed);
    for (let key = 0; key < 10; key++) {
      const expected = Array.from({ length: 50 }, (_, i) => key + 10 * i).reduce((a, b) => a + b);
      // Of the sums of a key the last is the greatest, and counts each number once.
      assert.equal(Math.max(...sums.flatMap((each) => (each.key === key ? each.sum : []))), expected);
    }
  },
);
