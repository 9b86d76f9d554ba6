import { deepStrictEqual, ok, rejects, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode, type MillraceError } from '../../base/index.ts';
import { ListStateDescriptor, ValueStateDescriptor } from '../../state/index.ts';
import { type HarnessOptions, OperatorHarness } from '../../testing/operator-harness.ts';
import { runOperatorThroughAllModes } from '../../testing/operator-modes.ts';
import type { HarnessEvent } from '../../testing/recorded-output.ts';
import { Types } from '../../types/index.ts';
import { MapOperator } from '../map-operator.ts';
import { flatMapping, invoking, mapping } from './answering-function.ts';
import { type AsyncContext, type ResultFuture, RichAsyncFunction } from './async-function.ts';
import { AsyncWaitOperator, type AsyncWaitOptions } from './async-wait-operator.ts';
import { AsyncRetryStrategies, type AsyncRetryStrategy, RetryPredicates } from './retry-strategy.ts';

const HOUR_MS = 3_600_000;

type Given = ConstructorParameters<typeof AsyncWaitOperator<string, string>>[0];

function operatorOf(given: Given, options: Partial<AsyncWaitOptions<string, string>> = {}) {
  return new AsyncWaitOperator<string, string>(given, {
    what: 'mapAsync function',
    ordered: true,
    capacity: 100,
    timeoutMs: 0,
    retry: undefined,
    inputType: Types.STRING,
    ...options,
  });
}

/** Calls that the test answers. */
class Calls {
  readonly made: { readonly value: string; readonly context: AsyncContext }[] = [];
  private readonly open = new Map<string, PromiseWithResolvers<string>[]>();

  readonly fn = (value: string, context: AsyncContext): Promise<string> => {
    this.made.push({ value, context });
    const answer = Promise.withResolvers<string>();
    this.open.set(value, [...(this.open.get(value) ?? []), answer]);
    return answer.promise;
  };

  get values(): string[] {
    return this.made.map(({ value }) => value);
  }

  signal(value: string): AbortSignal {
    return this.made.findLast((call) => call.value === value)!.context.signal;
  }

  answer(...values: string[]): void {
    for (const value of values) this.take(value).resolve(value.toUpperCase());
  }

  refuse(value: string, error: unknown): void {
    this.take(value).reject(error);
  }

  private take(value: string): PromiseWithResolvers<string> {
    return this.open.get(value)!.shift()!;
  }
}

async function opened(
  calls: Calls,
  options: Partial<AsyncWaitOptions<string, string>> = {},
  harness: Partial<HarnessOptions> = {},
): Promise<OperatorHarness> {
  const create = () => operatorOf(mapping(calls.fn, undefined), options);
  return OperatorHarness.open({ create, name: 'lookup', inputTypes: [Types.STRING], ...harness });
}

function feed(harness: OperatorHarness, ...values: string[]): void {
  for (const value of values) harness.process(value);
}

/** Records by value, watermarks by number. */
function shortly(events: readonly HarnessEvent[]): unknown[] {
  return events.map((event) =>
    event.kind === 'record'
      ? event.value
      : event.kind === 'watermark'
        ? event.timestamp
        : event.kind === 'status' && (event.idle ? 'idle' : 'active'),
  );
}

const retryAll = (maxAttempts: number, backoffMs: number): AsyncRetryStrategy<string> =>
  new AsyncRetryStrategies.FixedDelayRetryStrategyBuilder<string>(maxAttempts, backoffMs)
    .ifException(RetryPredicates.HAS_EXCEPTION_PREDICATE)
    .build();

describe('an asynchronous function', () => {
  for (const ordered of [true, false]) {
    const how = ordered ? 'in order' : 'as they come';
    it(`gives one result for each record, ${how}, with its timestamp, and watermarks in their places`, async () => {
      const fn = async (value: string): Promise<string> => `${await value}!`;
      const create = () => operatorOf(mapping(fn, undefined), { ordered });
      const events = await runOperatorThroughAllModes({ create }, [
        { value: 'a', timestampMs: 10 },
        { value: 'b' },
        { watermarkMs: 15 },
        { value: 'c', timestampMs: 20 },
      ]);
      deepStrictEqual(events.slice(0, 4), [
        { kind: 'record', value: 'a!', timestamp: 10 },
        { kind: 'record', value: 'b!', timestamp: undefined },
        { kind: 'watermark', timestamp: 15 },
        { kind: 'record', value: 'c!', timestamp: 20 },
      ]);
    });
  }

  it('gives the same when each record is in flight at a snapshot and called again', async () => {
    /** Answers for a record when the next one comes. */
    const create = () => {
      let before = Promise.withResolvers<void>();
      return operatorOf(
        mapping(async (value: string) => {
          before.resolve();
          before = Promise.withResolvers<void>();
          if (value !== 'last') await before.promise;
          return value;
        }, undefined),
      );
    };
    const steps = ['a', 'b', 'c', 'd', 'last'].map((value, at) => ({ value, timestampMs: at }));
    const events = await runOperatorThroughAllModes({ create, compare: 'records' }, steps);
    deepStrictEqual(shortly(events), ['a', 'b', 'c', 'd', 'last']);
  });

  it('gives any number of results, also those that are there at once', async () => {
    const create = () =>
      operatorOf(
        flatMapping(
          (value: string) => (value === 'now' ? ['n', 'o', 'w'] : Promise.resolve(new Set(value))),
          undefined,
        ),
      );
    const events = await runOperatorThroughAllModes({ create, compare: 'records' }, [
      { value: 'now' },
      { value: '' },
      { value: 'xy' },
    ]);
    deepStrictEqual(shortly(events), ['n', 'o', 'w', 'x', 'y']);
  });

  it('takes the results of an async generator together, and ends it when nobody waits any more', async () => {
    const life: string[] = [];
    const turn = Promise.withResolvers<void>();
    const generate = async function* (value: string): AsyncGenerator<string> {
      try {
        yield value;
        if (value === 'long') await turn.promise;
        yield `${value}!`;
        if (life.includes('failing')) throw new Error('no');
      } finally {
        life.push(`${value} ended`);
      }
    };
    const create = () =>
      operatorOf(
        flatMapping(generate, () => ['none']),
        { timeoutMs: 10 },
      );
    const harness = await OperatorHarness.open({ create });
    feed(harness, 'short', 'long');
    await harness.settle();
    deepStrictEqual([harness.values, life.splice(0)], [['short', 'short!'], ['short ended']]);
    harness.setProcessingTime(10);
    turn.resolve();
    await harness.settle();
    deepStrictEqual([harness.values.slice(2), life.splice(0)], [['none'], ['long ended']]);
    life.push('failing');
    feed(harness, 'bad');
    await rejects(harness.settle(), (error) => hasCode(error, 'USER_FUNCTION_FAILED'));
  });

  it('in order: holds results back until those before them are there', async () => {
    const calls = new Calls();
    const harness = await opened(calls);
    feed(harness, 'a', 'b', 'c');
    harness.watermark(5);
    calls.answer('c', 'b');
    await harness.settle();
    deepStrictEqual(harness.events, []);
    calls.answer('a');
    await harness.settle();
    deepStrictEqual(shortly(harness.events), ['A', 'B', 'C', 5]);
  });

  it('as they come: lets results overtake each other, but no watermark', async () => {
    const calls = new Calls();
    const harness = await opened(calls, { ordered: false });
    feed(harness, 'a', 'b');
    harness.watermark(5);
    feed(harness, 'c', 'd');
    harness.watermark(9);
    calls.answer('d', 'b');
    await harness.settle();
    deepStrictEqual(shortly(harness.events), ['B']);
    calls.answer('a');
    await harness.settle();
    deepStrictEqual(shortly(harness.events), ['B', 'A', 5, 'D']);
    calls.answer('c');
    await harness.settle();
    deepStrictEqual(shortly(harness.events), ['B', 'A', 5, 'D', 'C', 9]);
  });

  it('lets a change of status wait for the records before it, and joins what follows it without a record', async () => {
    const calls = new Calls();
    const harness = await opened(calls);
    feed(harness, 'a');
    harness.watermark(5);
    harness.watermarkStatus(true);
    deepStrictEqual(harness.events, []);
    harness.watermarkStatus(false);
    harness.watermark(7);
    calls.answer('a');
    await harness.settle();
    deepStrictEqual(shortly(harness.events), ['A', 'active', 7]);
    harness.watermarkStatus(true);
    deepStrictEqual(shortly(harness.events), ['A', 'active', 7, 'idle']);
  });

  it('calls no more records than its capacity, is busy meanwhile, and counts answers that wait for others', async () => {
    const calls = new Calls();
    const harness = await opened(calls, { capacity: 2 });
    feed(harness, 'a');
    strictEqual(harness.busy(), undefined);
    feed(harness, 'b', 'c', 'd');
    const busy = harness.busy();
    ok(busy !== undefined);
    let isFree = false;
    void busy.then(() => (isFree = true));
    deepStrictEqual(calls.values, ['a', 'b']);
    calls.answer('b');
    await harness.settle();
    deepStrictEqual(calls.values, ['a', 'b'], 'b holds its place until it is emitted');
    calls.answer('a');
    await harness.settle();
    deepStrictEqual(calls.values, ['a', 'b', 'c', 'd']);
    ok(!isFree && harness.busy() !== undefined);
    calls.answer('c');
    await harness.settle();
    await busy;
    strictEqual(harness.busy(), undefined);
    deepStrictEqual(harness.values, ['A', 'B', 'C']);
  });

  it('holds all that was not emitted in a snapshot, called or not, and begins again with it', async () => {
    const calls = new Calls();
    const harness = await opened(calls, { capacity: 2 });
    for (const [at, value] of ['a', 'b', 'c', 'd'].entries()) harness.process(value, at);
    calls.answer('a', 'b');
    await harness.settle();
    feed(harness, 'e');
    calls.answer('d');
    await harness.settle();
    const snapshot = await harness.snapshot();
    await harness.close();
    deepStrictEqual(harness.values, ['A', 'B']);
    const again = new Calls();
    const create = () => operatorOf(mapping(again.fn, undefined), { capacity: 2 });
    const restored = await OperatorHarness.open({ create, inputTypes: [Types.STRING] }, [snapshot]);
    ok(restored.busy() !== undefined, 'nothing comes before what was there');
    feed(restored, 'f');
    await restored.settle();
    deepStrictEqual(again.values, ['c', 'd']);
    again.answer('c', 'd');
    await restored.settle();
    again.answer('e', 'f');
    await restored.settle();
    deepStrictEqual(restored.records, [
      ['C', 2],
      ['D', 3],
      ['E', undefined],
      ['F', undefined],
    ]);
  });

  it('divides what was in flight among the subtasks when it is restored with more', async () => {
    const calls = new Calls();
    const harness = await opened(calls);
    feed(harness, 'a', 'b', 'c', 'd');
    const snapshot = await harness.snapshot();
    const found: unknown[] = [];
    for (const subtaskIndex of [0, 1]) {
      const create = () => operatorOf(mapping(async (value: string) => value, undefined));
      const restored = await OperatorHarness.open({ create, subtaskIndex, parallelism: 2 }, [snapshot]);
      await restored.finish();
      strictEqual(restored.values.length, 2);
      found.push(...restored.values);
    }
    deepStrictEqual(found.sort(), ['a', 'b', 'c', 'd']);
  });

  it('waits for all answers when the input ends', async () => {
    const calls = new Calls();
    const harness = await opened(calls, { capacity: 1 });
    feed(harness, 'a', 'b');
    let isFinished = false;
    const finished = harness.finish().then(() => (isFinished = true));
    calls.answer('a');
    await harness.settle();
    await harness.settle();
    ok(!isFinished && harness.busy() !== undefined);
    calls.answer('b');
    await finished;
    deepStrictEqual(shortly(harness.events), ['A', 'B', Number.MAX_SAFE_INTEGER]);
  });
});

describe('an asynchronous function that fails', () => {
  it('fails the task, with the operator named and the cause kept', async () => {
    const cause = new Error('no');
    const calls = new Calls();
    const harness = await opened(calls);
    feed(harness, 'a');
    calls.refuse('a', cause);
    await rejects(
      harness.settle(),
      (error: Error) =>
        hasCode(error, 'USER_FUNCTION_FAILED') &&
        /mapAsync function of operator 'lookup'/.test(error.message) &&
        error.cause === cause,
    );
  });

  it('does so too when it throws at once, and when it answers with what is no iterable', async () => {
    const throwing = mapping<string, string>(() => {
      throw new Error('at once');
    }, undefined);
    const single = flatMapping<string, string>(async () => 'text' as never, undefined);
    const nothing = invoking<string, string>(async () => undefined);
    for (const [given, code] of [
      [throwing, 'USER_FUNCTION_FAILED'],
      [single, 'RESULT_NOT_ALLOWED'],
      [nothing, 'RESULT_NOT_ALLOWED'],
    ] as const) {
      const harness = await OperatorHarness.open({ create: () => operatorOf(given), name: 'lookup' });
      feed(harness, 'a');
      await rejects(
        harness.settle(),
        (error: Error) => hasCode(error, code) && /'lookup'/.test(error.message),
      );
    }
  });

  it('fails after its timeout, counted from the call, and has its signal aborted', async () => {
    const calls = new Calls();
    const harness = await opened(calls, { timeoutMs: 1000, capacity: 1 }, { processingTimeMs: 5000 });
    feed(harness, 'a', 'b');
    harness.setProcessingTime(5999);
    calls.answer('a');
    await harness.settle();
    const signal = calls.signal('b');
    harness.setProcessingTime(6998);
    strictEqual(signal.aborted, false);
    throws(
      () => harness.setProcessingTime(6999),
      (error: Error) =>
        hasCode(error, 'ASYNC_TIMEOUT') &&
        /'lookup'.* 1 s, in 1 call, for the string "b"/.test(error.message),
    );
    strictEqual(signal.aborted, true);
    strictEqual((signal.reason as MillraceError).code, 'ASYNC_TIMEOUT');
    strictEqual(calls.signal('a').aborted, false, 'who has answered is not disturbed');
  });

  it('has its whole timeout, and no more, when the wall clock is set meanwhile', async () => {
    for (const jumpMs of [-HOUR_MS, HOUR_MS]) {
      const calls = new Calls();
      const create = () =>
        operatorOf(
          mapping(calls.fn, () => 'none'),
          { timeoutMs: 1000 },
        );
      const harness = await OperatorHarness.open({ create, processingTimeMs: 2 * HOUR_MS });
      feed(harness, 'a');
      harness.setWallClock(harness.processingTimeMs + jumpMs);
      feed(harness, 'b');
      harness.setProcessingTime(harness.processingTimeMs + 999);
      await harness.settle();
      deepStrictEqual(harness.values, [], `set by ${jumpMs} ms`);
      harness.setProcessingTime(harness.processingTimeMs + 1);
      await harness.settle();
      deepStrictEqual(harness.values, ['none', 'none'], `set by ${jumpMs} ms`);
    }
  });

  it('lets a handler answer after the timeout, later too; the answer of the call itself is ignored then', async () => {
    const calls = new Calls();
    const late = Promise.withResolvers<string>();
    const signals: AbortSignal[] = [];
    const create = () =>
      operatorOf(
        mapping(calls.fn, (value, { signal }) => {
          signals.push(signal);
          return value === 'a' ? 'none' : late.promise;
        }),
        { timeoutMs: 10 },
      );
    const harness = await OperatorHarness.open({ create });
    feed(harness, 'a', 'b');
    harness.setProcessingTime(10);
    calls.answer('a', 'b');
    await harness.settle();
    deepStrictEqual(harness.values, ['none']);
    harness.setProcessingTime(100);
    late.resolve('late');
    await harness.settle();
    deepStrictEqual(harness.values, ['none', 'late']);
    deepStrictEqual(
      signals.map((signal) => signal.aborted),
      [false, false],
    );
  });

  it('fails with what the handler throws', async () => {
    const calls = new Calls();
    const create = () =>
      operatorOf(
        mapping(calls.fn, () => {
          throw new Error('no answer');
        }),
        { timeoutMs: 10 },
      );
    const harness = await OperatorHarness.open({ create });
    feed(harness, 'a');
    harness.setProcessingTime(10);
    await rejects(
      harness.settle(),
      (error: Error) => hasCode(error, 'USER_FUNCTION_FAILED') && /timeout function/.test(error.message),
    );
  });

  it('has the signals of what is in flight aborted when it is closed, and is not heard any more', async () => {
    const calls = new Calls();
    const harness = await opened(calls);
    feed(harness, 'a', 'b');
    const before = calls.signal('a');
    await harness.close();
    strictEqual(before.aborted, true);
    strictEqual(calls.signal('b').aborted, true, 'also one that is asked for only now');
    calls.answer('a');
    calls.refuse('b', new Error('late'));
    await harness.settle();
    deepStrictEqual([harness.events, harness.failures], [[], []]);
  });
});

describe('retries of an asynchronous function', () => {
  const failing = new Error('try again');

  it('come after the pause, with the attempts counted, and end with the first good answer', async () => {
    const calls = new Calls();
    const harness = await opened(calls, { retry: retryAll(2, 50) });
    feed(harness, 'a', 'b');
    calls.answer('b');
    calls.refuse('a', failing);
    harness.setProcessingTime(100);
    await harness.settle();
    harness.setProcessingTime(149);
    strictEqual(calls.made.length, 2);
    harness.setProcessingTime(150);
    strictEqual(calls.made.length, 3);
    calls.answer('a');
    await harness.settle();
    deepStrictEqual(harness.values, ['A', 'B']);
    deepStrictEqual(
      calls.made.map(({ context }) => context.attempt),
      [1, 1, 2],
    );
  });

  it('come after the pause when the wall clock is set meanwhile', async () => {
    for (const jumpMs of [-HOUR_MS, HOUR_MS]) {
      const calls = new Calls();
      const harness = await opened(calls, { retry: retryAll(1, 50) }, { processingTimeMs: 2 * HOUR_MS });
      feed(harness, 'a');
      calls.refuse('a', failing);
      await harness.settle();
      harness.setWallClock(harness.processingTimeMs + jumpMs);
      harness.setProcessingTime(harness.processingTimeMs + 49);
      strictEqual(calls.made.length, 1, `set by ${jumpMs} ms`);
      harness.setProcessingTime(harness.processingTimeMs + 1);
      strictEqual(calls.made.length, 2, `set by ${jumpMs} ms`);
    }
  });

  it('are given up after as many as the strategy allows', async () => {
    const calls = new Calls();
    const harness = await opened(calls, { retry: retryAll(2, 50) });
    feed(harness, 'a');
    for (const nowMs of [50, 100]) {
      calls.refuse('a', failing);
      await harness.settle();
      harness.setProcessingTime(nowMs);
    }
    strictEqual(calls.made.length, 3);
    calls.refuse('a', failing);
    await rejects(harness.settle(), (error) => hasCode(error, 'USER_FUNCTION_FAILED'));
  });

  it('are made for results and errors as the strategy says', async () => {
    const retry = new AsyncRetryStrategies.FixedDelayRetryStrategyBuilder<string>(1, 10)
      .ifResult(RetryPredicates.EMPTY_RESULT_PREDICATE)
      .ifException(RetryPredicates.createExceptionTypePredicate(RangeError))
      .build();
    const create = () =>
      operatorOf(
        flatMapping(async (value: string, { attempt }) => {
          if (value === 'range' && attempt === 1) throw new RangeError();
          if (value === 'other') throw new TypeError();
          return value === 'empty' && attempt === 1 ? [] : [`${value} ${attempt}`];
        }, undefined),
        { retry },
      );
    const harness = await OperatorHarness.open({ create });
    feed(harness, 'full', 'empty', 'range');
    await harness.settle();
    harness.setProcessingTime(10);
    await harness.settle();
    deepStrictEqual(harness.values, ['full 1', 'empty 2', 'range 2']);
    feed(harness, 'other');
    await rejects(harness.settle(), (error) => hasCode(error, 'USER_FUNCTION_FAILED'));
  });

  it('must fit into the timeout, which ends the pause before one too', async () => {
    const calls = new Calls();
    const create = () =>
      operatorOf(
        mapping(calls.fn, () => 'none'),
        { retry: retryAll(9, 50), timeoutMs: 30 },
      );
    const harness = await OperatorHarness.open({ create });
    feed(harness, 'a');
    calls.refuse('a', failing);
    await harness.settle();
    harness.setProcessingTime(30);
    await harness.settle();
    harness.setProcessingTime(1000);
    deepStrictEqual([harness.values, calls.made.length], [['none'], 1]);
  });

  it('begin again with the first after a restore', async () => {
    const calls = new Calls();
    const options = { retry: retryAll(1, 50) };
    const harness = await opened(calls, options);
    feed(harness, 'a');
    calls.refuse('a', failing);
    await harness.settle();
    const snapshot = await harness.snapshot();
    const again = new Calls();
    const create = () => operatorOf(mapping(again.fn, undefined), options);
    const restored = await OperatorHarness.open({ create }, [snapshot]);
    await restored.settle();
    strictEqual(again.made[0]!.context.attempt, 1);
    again.refuse('a', failing);
    await restored.settle();
    restored.setProcessingTime(50);
    again.answer('a');
    await restored.settle();
    deepStrictEqual(restored.values, ['A']);
  });

  it('go on after the end of the input, each at its time', async () => {
    const calls = new Calls();
    const harness = await opened(calls, { retry: retryAll(9, 1000) });
    feed(harness, 'a');
    calls.refuse('a', failing);
    await harness.settle();
    const finished = harness.finish();
    for (const nowMs of [1000, 2000]) {
      harness.setProcessingTime(nowMs);
      calls.refuse('a', failing);
      await harness.settle();
    }
    harness.setProcessingTime(3000);
    calls.answer('a');
    await harness.settle();
    await finished;
    deepStrictEqual(harness.values, ['A']);
  });

  it('name a strategy that fails, or that answers with no time', async () => {
    for (const [getBackoffTimeMillis, code] of [
      [() => Number.NaN, 'RESULT_NOT_ALLOWED'],
      [
        () => {
          throw new Error('no');
        },
        'USER_FUNCTION_FAILED',
      ],
    ] as const) {
      const calls = new Calls();
      const harness = await opened(calls, { retry: { ...retryAll(1, 1), getBackoffTimeMillis } });
      feed(harness, 'a');
      calls.refuse('a', failing);
      await rejects(
        harness.settle(),
        (error: Error) => hasCode(error, code) && /retry strategy/.test(error.message),
      );
    }
  });
});

describe('an AsyncFunction', () => {
  it('is opened, completes through its future, answers timeouts, and is closed', async () => {
    const life: string[] = [];
    class Lookup extends RichAsyncFunction<string, string> {
      private prefix = '';
      override open(): void {
        this.prefix = 'found ';
        life.push('open');
      }
      asyncInvoke(value: string, future: ResultFuture<string>): void {
        if (value === 'never') return;
        void Promise.resolve().then(() => {
          future.complete([`${this.prefix}${value}`]);
          future.complete(['twice']);
          future.completeExceptionally(new Error('too late'));
        });
      }
      override async timeout(value: string): Promise<string[]> {
        return [`no ${value}`];
      }
      override close(): void {
        life.push('close');
      }
    }
    for (const given of [Lookup, new Lookup()]) {
      const harness = await OperatorHarness.open({ create: () => operatorOf(given, { timeoutMs: 10 }) });
      feed(harness, 'a', 'never');
      await harness.settle();
      harness.setProcessingTime(10);
      await harness.settle();
      deepStrictEqual(harness.values, ['found a', 'no never']);
      await harness.close();
    }
    deepStrictEqual(life, ['open', 'close', 'open', 'close']);
  });

  it('may be a function of value and future alone, whatever that returns', async () => {
    const given = invoking<string, string>((value, future) => {
      queueMicrotask(() => future.complete([value]));
      return 7 as never;
    });
    const harness = await OperatorHarness.open({ create: () => operatorOf(given) });
    feed(harness, 'a');
    await harness.settle();
    deepStrictEqual(harness.values, ['a']);
  });

  it('has no keyed state, and is told what to do instead; operator state it has', async () => {
    class Keyed extends RichAsyncFunction<string, string> {
      override open(context: Parameters<NonNullable<RichAsyncFunction<string, string>['open']>>[0]): void {
        context.getOperatorListState(new ListStateDescriptor<string>('list'));
        context.getState(new ValueStateDescriptor<string>('value'));
      }
      asyncInvoke(): void {}
    }
    await rejects(
      OperatorHarness.open({ create: () => operatorOf(Keyed), name: 'lookup' }),
      (error: Error) =>
        hasCode(error, 'INVALID_ARGUMENT') &&
        /'lookup'.*asynchronous functions have none/.test(error.message),
    );
  });

  it('is refused if it is none', () => {
    for (const given of [{}, { asyncInvoke: 1 }, 'no']) {
      throws(
        () => operatorOf(given as never),
        (error) => hasCode(error, 'INVALID_ARGUMENT'),
      );
    }
    throws(
      () => mapping('no' as never, undefined),
      (error) => hasCode(error, 'INVALID_ARGUMENT'),
    );
  });

  it('is what the error for an async map function names', () => {
    throws(
      () => new MapOperator(async (n: number) => n),
      (error: Error) => hasCode(error, 'PROMISE_NOT_EXPECTED') && /mapAsync/.test(error.message),
    );
  });
});
