import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { hasCode, silentLogger } from '../../base/index.ts';
import { createNodePlatform } from '../../platform/node/index.ts';
import type { ReaderContext } from '../../runtime/index.ts';
import { createManualPlatform, type ManualPlatform } from '../../testing/manual-platform.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { SimulatedSourceHost } from '../../testing/simulated-source-host.ts';
import { sourceContract } from '../../testing/source-contract.ts';
import { AsyncIterableSource } from './async-iterable-source.ts';
import type { IterableContext } from './iterable-factory.ts';

const numbers = Array.from({ length: 60 }, (_, i) => i);

/** Numbers from a position on: an iterable that knows how to begin where a checkpoint was. */
async function* countFrom({ position }: IterableContext): AsyncGenerator<number> {
  yield* numbers.slice(position);
}

sourceContract({
  name: 'an iterable whose factory begins at the position it is told',
  create: () => new AsyncIterableSource(countFrom, { maxBuffered: 7 }),
  platform: () => createNodePlatform({ logger: silentLogger }),
  expected: numbers,
  parallelismMax: 1,
});

interface Rig<T> {
  readonly platform: ManualPlatform;
  readonly reader: ReturnType<AsyncIterableSource<T>['createReader']>;
  readonly emitted: T[];
  readonly failures: unknown[];
  /** Lets the iterable go on, then polls once. */
  poll(maxRecords?: number): Promise<string>;
}

/** A reader that was given its split; `position`: of a restored one. */
function rig<T>(source: AsyncIterableSource<T>, attemptNumber = 0, position?: number): Rig<T> {
  const platform = createManualPlatform();
  const failures: unknown[] = [];
  const emitted: T[] = [];
  const context: ReaderContext = {
    platform,
    logger: platform.logger,
    sourceName: 'events',
    subtaskIndex: 0,
    parallelism: 1,
    attemptNumber,
    requestSplit() {},
    sendSourceEventToCoordinator() {},
    wake() {},
    fail: (error) => void failures.push(error),
  };
  const reader = source.createReader(context);
  void reader.start();
  reader.addSplits([{ splitId: 'iterable', position }]);
  return {
    platform,
    reader,
    emitted,
    failures,
    poll: async (maxRecords = 1000) => {
      await platform.settle();
      return reader.poll({ collect: (value) => void emitted.push(value) }, maxRecords);
    },
  };
}

describe('an iterable', () => {
  test('is not asked for more while so many of its records wait', async () => {
    let asked = 0;
    async function* endless(): AsyncGenerator<number> {
      for (;;) yield asked++;
    }
    const { poll, platform, reader } = rig(new AsyncIterableSource(endless, { maxBuffered: 10 }));
    await platform.settle();
    assert.equal(asked, 10);
    await poll(4);
    await platform.settle();
    assert.equal(asked, 14);
    await reader.close();
    await platform.settle();
    assert.equal(asked, 14);
  });

  test('that throws fails the task with the source, the record and the cause', async () => {
    async function* broken(): AsyncGenerator<number> {
      yield 1;
      throw new Error('the line is dead');
    }
    const { poll, failures } = rig(new AsyncIterableSource(broken));
    await poll();
    const [error] = failures as [Error];
    assert.ok(hasCode(error, 'SOURCE_READ_FAILED'));
    assert.match(error.message, /source "events": the iterable failed after record 1: the line is dead/);
  });

  test('given as it is, is not read a second time in the same process', async () => {
    const source = new AsyncIterableSource(countFrom({ position: 0 } as IterableContext));
    const first = rig(source);
    await first.poll(5);
    await first.reader.close();
    const second = rig(source, 1, 5);
    await second.poll();
    assert.deepEqual(second.emitted, []);
    assert.ok(hasCode(second.failures[0], 'SOURCE_NOT_REPLAYABLE'));
    assert.match(String(second.failures[0]), /source "events": the iterable was used up/);
  });

  test('is opened with a word on what may be lost, and a louder one when it is opened again', async () => {
    const said = async (attempt: number, position?: number): Promise<string[]> => {
      const { platform } = rig(new AsyncIterableSource(countFrom), attempt, position);
      return platform.logged.map(({ level, message }) => `${level} ${message}`);
    };
    assert.match((await said(0))[0]!, /^info source "events": .*cannot be read again.*at-most-once/);
    for (const again of [await said(1), await said(0, 0)])
      assert.match(again[0]!, /^warn source "events": opens its iterable again, after record 0/);
    assert.match((await said(1, 42))[0]!, /^warn .* after record 42\. .* is lost/);
  });

  test('is left when the job ends: the signal is aborted, a generator runs its finally, a Readable is destroyed', async () => {
    let isFinal = false;
    let signal: AbortSignal | undefined;
    async function* guarded(context: IterableContext): AsyncGenerator<number> {
      signal = context.signal;
      try {
        for (;;) yield 1;
      } finally {
        isFinal = true;
      }
    }
    const generator = rig(new AsyncIterableSource(guarded));
    await generator.poll();
    await generator.reader.close();
    await generator.platform.settle();
    assert.deepEqual([isFinal, signal?.aborted], [true, true]);

    const readable = new Readable({ read() {} });
    const reading = rig(new AsyncIterableSource<unknown>(readable));
    await reading.poll();
    await reading.reader.close();
    assert.ok(readable.destroyed);
    await reading.platform.settle();
    assert.deepEqual(reading.failures, []);
  });

  test('that is made by a promise after the job ended is left at once', async () => {
    let isLeft = false;
    const late = Promise.withResolvers<AsyncIterable<number>>();
    const { reader, platform } = rig(new AsyncIterableSource(() => late.promise));
    await platform.settle();
    await reader.close();
    late.resolve({
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false, value: 1 }),
        return: async () => {
          isLeft = true;
          return { done: true, value: undefined };
        },
      }),
    });
    await platform.settle();
    assert.ok(isLeft);
  });

  test('may be a Readable in object mode, or a ReadableStream', async () => {
    for (const source of [
      new AsyncIterableSource<unknown>(Readable.from(['a', 'b'])),
      new AsyncIterableSource<unknown>(() => ReadableStream.from(['a', 'b'])),
    ]) {
      const platform = createNodePlatform({ logger: silentLogger });
      const host = await SimulatedSourceHost.start(source, platform, seededRandom(1), 1);
      while (!host.ended) await host.step(10);
      assert.deepEqual(host.emitted, ['a', 'b']);
      await host.close();
    }
  });
});

test('a source of an iterable says that it is at-most-once, and runs in one subtask only', async () => {
  const source = new AsyncIterableSource(countFrom);
  const guarantee: 'at-most-once' = source.guarantee;
  assert.equal(guarantee, 'at-most-once');
  await assert.rejects(
    SimulatedSourceHost.start(source, createManualPlatform(), seededRandom(1), 2),
    (error: Error) => hasCode(error, 'INVALID_ARGUMENT') && /setParallelism\(1\)/.test(error.message),
  );
});

test('what is no iterable is refused where it is given, or where it is made', async () => {
  const invalid = (error: unknown): boolean => hasCode(error, 'INVALID_ARGUMENT');
  assert.throws(() => new AsyncIterableSource([1, 2] as never), invalid);
  assert.throws(() => new AsyncIterableSource(undefined as never), invalid);
  assert.throws(() => new AsyncIterableSource(countFrom, { maxBuffered: 0 }), invalid);
  const { poll, failures } = rig(new AsyncIterableSource((() => [1, 2]) as never));
  await poll();
  assert.ok(invalid(failures[0]));
  assert.match(String(failures[0]), /source "events": the function did not return an async iterable/);
});
