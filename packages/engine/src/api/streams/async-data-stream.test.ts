/** Asynchronous functions on streams: their types, what is refused, and small jobs in this thread. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode, TimeUnit } from '../../base/index.ts';
import {
  AsyncFunction,
  AsyncRetryStrategies,
  type Collector,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type OnTimerContext,
  type ResultFuture,
  RetryPredicates,
  RichAsyncFunction,
  retryStrategyOf,
} from '../../operators/index.ts';
import { Types } from '../../types/index.ts';
import { RestartStrategies } from '../restart-strategies.ts';
import { StreamExecutionEnvironment } from '../stream-execution-environment.ts';
import { AsyncDataStream } from './async-data-stream.ts';
import type { DataStream } from './data-stream.ts';

class Lookup extends RichAsyncFunction<string, number> {
  async asyncInvoke(word: string, resultFuture: ResultFuture<number>): Promise<void> {
    await undefined;
    resultFuture.complete([word.length]);
  }
  override timeout(_word: string, resultFuture: ResultFuture<number>): void {
    resultFuture.complete([0]);
  }
}

const retryStrategy = new AsyncRetryStrategies.FixedDelayRetryStrategyBuilder<number>(3, 100)
  .ifResult(RetryPredicates.EMPTY_RESULT_PREDICATE)
  .ifException(RetryPredicates.HAS_EXCEPTION_PREDICATE)
  .build();

const pairType = Types.ROW({ word: Types.STRING, length: Types.INT });

function environment(): StreamExecutionEnvironment {
  const env = StreamExecutionEnvironment.getExecutionEnvironment({ host: 'inline', parallelism: 1 });
  env.setRestartStrategy(RestartStrategies.noRestart());
  return env;
}

/** Never called: it is compiled. */
function compiled(words: DataStream<string>): void {
  const lengths: DataStream<number> = words.mapAsync(async (word) => word.length);
  const atOnce: DataStream<number> = words.mapAsync((word) => word.length);
  const either: DataStream<number> = words.mapAsync((word) =>
    word === '' ? 0 : Promise.resolve(word.length),
  );
  const letters: DataStream<string> = words.flatMapAsync(async (word) => [...word]);
  const generated: DataStream<string> = words.flatMapAsync(async function* (word) {
    for (const letter of word) yield letter;
  });
  const wider: DataStream<number | null> = words.mapAsync(async (word) => word.length, {
    type: Types.NULLABLE(Types.LONG),
    onTimeout: () => null,
    timeout: '5 s',
  });
  const found: DataStream<number> = AsyncDataStream.unorderedWait(
    words,
    new Lookup(),
    1000,
    TimeUnit.MILLISECONDS,
  );
  const each: DataStream<string> = AsyncDataStream.orderedWait(words, async (word) => [...word], '1 s', 5);
  const called: DataStream<number> = AsyncDataStream.orderedWait<string, number>(
    words,
    (word, future) => void future.complete([word.length]),
    0,
  );
  words.mapAsync(async (word, { signal, attempt }) =>
    fetch(word, { signal, headers: { attempt: `${attempt}` } }),
  );
  words.mapAsync(async (word) => word.length, { retry: retryStrategy });
  void [lengths, atOnce, either, letters, generated, wider, found, each, called];

  // @ts-expect-error the function wants numbers
  words.mapAsync(async (n: number) => n);
  // @ts-expect-error the type described is not that of the results
  words.mapAsync(async (word) => word.length, { type: Types.STRING });
  // @ts-expect-error the results lack a field of the type
  words.mapAsync(async (word) => ({ word }), { type: pairType });
  // @ts-expect-error the results lack a field of the type
  words.flatMapAsync(async (word) => [{ word }], { type: pairType });
  // @ts-expect-error the answer after a timeout is no result
  words.mapAsync(async (word) => word.length, { onTimeout: () => 'late' });
  // @ts-expect-error one result is no iterable
  words.flatMapAsync(async (word) => word.length);
  // @ts-expect-error no such option
  words.mapAsync(async (word) => word, { capactiy: 1 });
  // @ts-expect-error the strategy looks at numbers
  words.mapAsync(async (word) => word, { retry: retryStrategy });
  // @ts-expect-error the function wants words
  AsyncDataStream.orderedWait(lengths, new Lookup(), 1000);
  // @ts-expect-error a text has its unit in itself
  AsyncDataStream.orderedWait(words, new Lookup(), '1 s', TimeUnit.SECONDS);
  // @ts-expect-error no retry strategy
  AsyncDataStream.orderedWaitWithRetry(words, new Lookup(), 1000, TimeUnit.SECONDS);
  // @ts-expect-error a stream of numbers
  const wrong: DataStream<string> = AsyncDataStream.orderedWait(words, Lookup, 1000);
  void wrong;
}

describe('asynchronous functions on streams', () => {
  it('have the types of their results', () => {
    assert.equal(typeof compiled, 'function');
  });

  it('give their results in order, with no more calls at a time than the capacity', async () => {
    let open = 0;
    let most = 0;
    const results = await environment()
      .fromSequence(1, 3000)
      .mapAsync(
        async (n) => {
          most = Math.max(most, ++open);
          for (let i = 0; i < n % 5; i++) await undefined;
          open--;
          return n * 2;
        },
        { capacity: 7 },
      )
      .executeAndCollect();
    assert.deepEqual(
      results,
      Array.from({ length: 3000 }, (_, i) => (i + 1) * 2),
    );
    assert.ok(most > 1 && most <= 7, `${most} at a time`);
  });

  it('give all results as they come, after keyBy too, and one function after the other', async () => {
    const results = await environment()
      .fromSequence(1, 500)
      .keyBy((n) => n % 7)
      .mapAsync(async (n) => n + 1, { ordered: false, capacity: 3 })
      .flatMapAsync(async (n) => [n, -n], { ordered: false, capacity: 1 })
      .executeAndCollect();
    assert.equal(new Set(results).size, 1000);
    assert.equal(
      results.reduce((sum, n) => sum + n, 0),
      0,
    );
  });

  it('are called within their capacity when timers of their own task make the records, at the end of time too', async () => {
    class Late extends KeyedProcessFunction<number, number, number> {
      override processElement(n: number, context: KeyedProcessContext<number>): void {
        context.timerService().registerEventTimeTimer(n);
      }
      override onTimer(timestampMs: number, _context: OnTimerContext<number>, out: Collector<number>): void {
        out.collect(timestampMs);
      }
    }
    let open = 0;
    const results = await environment()
      .fromSequence(1, 3000)
      .keyBy((n) => n % 3)
      .process(Late)
      .mapAsync(
        async (n) => {
          assert.equal(++open, 1);
          await undefined;
          open--;
          return n;
        },
        { capacity: 1 },
      )
      .executeAndCollect();
    assert.deepEqual(
      results,
      Array.from({ length: 3000 }, (_, i) => i + 1),
    );
  });

  it('make the job fail with the operator, the reason and what to do', async () => {
    const failing = environment()
      .fromElements('a')
      .mapAsync(async () => {
        throw new RangeError('no');
      })
      .name('lookup')
      .executeAndCollect();
    await assert.rejects(
      failing,
      (error: Error) =>
        hasCode(error, 'USER_FUNCTION_FAILED') &&
        /mapAsync function of operator 'lookup' \(subtask 0\) threw RangeError: no/.test(error.message),
    );
    const hanging = environment()
      .fromElements('a')
      .mapAsync(() => new Promise<string>(() => {}), { timeout: 20 })
      .executeAndCollect();
    await assert.rejects(
      hanging,
      (error: Error) => hasCode(error, 'ASYNC_TIMEOUT') && /20 ms.*longer timeout/.test(error.message),
    );
  });

  it('abort their signals when the job fails elsewhere', async () => {
    const aborted = Promise.withResolvers<void>();
    const job = environment()
      .fromElements('slow', 'bad')
      .mapAsync(async (word, { signal }) => {
        if (word === 'bad') throw new Error('bad');
        signal.addEventListener('abort', () => aborted.resolve());
        await aborted.promise;
        return word;
      })
      .executeAndCollect();
    await assert.rejects(job, /bad/);
    await aborted.promise;
  });
});

describe('AsyncDataStream', () => {
  it('takes code from Java, and its class or its function alone', async () => {
    for (const apply of [
      (words: DataStream<string>) =>
        AsyncDataStream.unorderedWait(words, new Lookup(), 1000, TimeUnit.MILLISECONDS, 100),
      (words: DataStream<string>) => AsyncDataStream.orderedWait(words, Lookup, 1, TimeUnit.SECONDS),
      (words: DataStream<string>) => AsyncDataStream.orderedWait(words, new Lookup(), 1000),
      (words: DataStream<string>) => AsyncDataStream.unorderedWait(words, new Lookup(), '1 s', 10),
      (words: DataStream<string>) => AsyncDataStream.orderedWait(words, async (word) => [word.length], 0),
      (words: DataStream<string>) =>
        AsyncDataStream.unorderedWaitWithRetry(
          words,
          new Lookup(),
          1000,
          TimeUnit.MILLISECONDS,
          100,
          retryStrategy,
        ),
      (words: DataStream<string>) =>
        AsyncDataStream.orderedWaitWithRetry(words, new Lookup(), 1000, TimeUnit.MILLISECONDS, retryStrategy),
      (words: DataStream<string>) =>
        AsyncDataStream.orderedWaitWithRetry(words, Lookup, '1 s', 10, retryStrategy),
      (words: DataStream<string>) =>
        AsyncDataStream.unorderedWaitWithRetry(words, Lookup, '1 s', retryStrategy),
    ]) {
      const results = await apply(environment().fromElements('one', 'three')).executeAndCollect();
      assert.deepEqual([...results].sort(), [3, 5], String(apply));
    }
  });

  it('refuses what cannot be, naming the method and what was expected', () => {
    const words = environment().fromElements('a');
    const fn = new Lookup();
    const builder = new AsyncRetryStrategies.FixedDelayRetryStrategyBuilder<number>(1, 1);
    for (const [refused, pattern] of [
      [
        () => words.mapAsync(async (word) => word, { capacity: 0 }),
        /mapAsync: capacity.*at least 1, found 0/,
      ],
      [() => words.mapAsync(async (word) => word, { timeout: 'soon' }), /mapAsync: timeout: .*"soon"/],
      [() => words.mapAsync('no' as never), /function of mapAsync must be a function, found the string/],
      [
        () => words.mapAsync(async (word) => word, { onTimeout: 1 as never }),
        /onTimeout of mapAsync must be a function/,
      ],
      [
        () => words.mapAsync(async (word) => word, { ordered: 'no' as never }),
        /ordered must be true or false/,
      ],
      [() => words.mapAsync(async (word) => word, { retry: builder as never }), /did you forget build/],
      [() => AsyncDataStream.orderedWait(words, fn, -1), /AsyncDataStream\.orderedWait\(timeout\)/],
      [
        () => AsyncDataStream.orderedWait(words, fn, '1 s' as never, TimeUnit.SECONDS),
        /has its unit in itself/,
      ],
      [
        () => AsyncDataStream.orderedWait(words, fn, 1, ...([2, 3] as unknown as [number])),
        /1 parameters too many/,
      ],
      [() => AsyncDataStream.orderedWait(words, {} as never, 1), /asyncInvoke/],
      [() => AsyncDataStream.orderedWaitWithRetry(words, fn, 0, retryStrategy), /timeout that is not 0/],
      [() => AsyncDataStream.orderedWaitWithRetry(words, fn, 1, ...([] as never)), /last parameter/],
      [() => AsyncDataStream.orderedWaitWithRetry(words, fn, 1, {} as never), /AsyncRetryStrategy/],
      [() => builder.build(), /neither ifResult nor ifException/],
      [() => new AsyncRetryStrategies.FixedDelayRetryStrategyBuilder(0, 1), /maxAttempts/],
      [() => new AsyncRetryStrategies.FixedDelayRetryStrategyBuilder(1, -1), /backoffTimeMillis/],
      [() => new AsyncRetryStrategies.ExponentialBackoffDelayRetryStrategyBuilder(1, 1, 1, 0), /multiplier/],
    ] as const) {
      assert.throws(
        () => refused(),
        (error: Error) => hasCode(error, 'INVALID_ARGUMENT') && pattern.test(error.message),
        String(pattern),
      );
    }
    assert.ok(fn instanceof AsyncFunction);
  });

  it('retries by plain options, all errors unless they say which', async () => {
    const attempts: number[] = [];
    const answers = await environment()
      .fromElements('a', 'b')
      .mapAsync(
        async (word, { attempt }) => {
          attempts.push(attempt);
          if (word === 'b' && attempt < 4) throw new Error('not yet');
          return word.toUpperCase();
        },
        { retry: { attempts: 3, delay: '1 ms', multiplier: 2, maxDelay: 3 } },
      )
      .executeAndCollect();
    assert.deepEqual(answers, ['A', 'B']);
    assert.deepEqual(attempts.toSorted(), [1, 1, 2, 3, 4]);
    const strategy = retryStrategyOf({
      attempts: 2,
      delay: 10,
      multiplier: 3,
      maxDelay: 20,
      ifException: () => false,
    });
    assert.deepEqual(
      [1, 2, 3].map((n) => [strategy.canRetry(n), strategy.getBackoffTimeMillis(n)]),
      [
        [true, 10],
        [true, 20],
        [false, 20],
      ],
    );
    assert.equal(strategy.getRetryPredicate().exceptionPredicate?.(new Error()), false);
    assert.throws(() => retryStrategyOf({ attempts: 0, delay: 1 }), /at least 1/);
  });

  it('waits longer before each retry with an exponential backoff, up to the greatest delay', () => {
    const strategy = new AsyncRetryStrategies.ExponentialBackoffDelayRetryStrategyBuilder(4, 100, 500, 2)
      .ifException(RetryPredicates.HAS_EXCEPTION_PREDICATE)
      .build();
    const delays = [1, 2, 3, 4].map((attempts) => strategy.getBackoffTimeMillis(attempts));
    assert.deepEqual(delays, [100, 200, 400, 500]);
    assert.deepEqual(
      [4, 5].map((attempts) => strategy.canRetry(attempts)),
      [true, false],
    );
  });
});
