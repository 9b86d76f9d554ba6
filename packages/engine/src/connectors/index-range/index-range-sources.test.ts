import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasCode, silentLogger } from '../../base/index.ts';
import type { Platform } from '../../platform/index.ts';
import { createNodePlatform } from '../../platform/node/index.ts';
import type { ReaderContext, SourceReader } from '../../runtime/index.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { SimulatedSourceHost } from '../../testing/simulated-source-host.ts';
import { sourceContract } from '../../testing/source-contract.ts';
import { Types } from '../../types/index.ts';
import { CollectionSource } from './collection-source.ts';
import { DataGeneratorSource, GeneratorSource } from './generator-source.ts';
import type { IndexRangeEnumeratorState, IndexRangeSplit } from './index-range-split.ts';
import { RateLimiterStrategy } from './rate-limiter.ts';
import { SequenceSource } from './sequence-source.ts';

const platform = createNodePlatform({ logger: silentLogger });
const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

const words = ['to', 'be', 'or', 'not', 'to', 'be', '', 'that', 'is'];
const contracts = [
  { name: 'a collection', create: () => CollectionSource.fromCollection(words), expected: words },
  {
    name: 'a collection in one split',
    create: () => new CollectionSource(words, { splits: 'one' as const }),
    expected: words,
  },
  { name: 'an empty collection', create: () => CollectionSource.fromElements<string>(), expected: [] },
];
for (const contract of contracts) sourceContract({ ...contract, platform: () => platform });
sourceContract({
  name: 'a sequence',
  create: () => new SequenceSource(-7, 60),
  platform: () => platform,
  expected: numbers(-7, 60),
});
sourceContract({
  name: 'a long sequence',
  create: () => new SequenceSource(1, 200_000),
  platform: () => platform,
  expected: numbers(1, 200_000),
  seeds: 2,
});
sourceContract({
  name: 'a generator with a count',
  create: () => new GeneratorSource((i) => ({ id: i, square: i * i }), { count: 150 }),
  platform: () => platform,
  expected: numbers(0, 149).map((i) => ({ id: i, square: i * i })),
});

function context(over: Partial<ReaderContext> = {}): ReaderContext {
  return {
    platform,
    logger: silentLogger,
    sourceName: 'numbers',
    subtaskIndex: 0,
    parallelism: 1,
    attemptNumber: 0,
    requestSplit() {},
    sendSourceEventToCoordinator() {},
    wake() {},
    fail(error) {
      throw error;
    },
    ...over,
  };
}

function enumeratorContext(parallelism: number, assigned: [number, IndexRangeSplit][] = []) {
  return {
    platform,
    logger: silentLogger,
    sourceName: 'numbers',
    parallelism,
    assignSplit: (split: IndexRangeSplit, subtask: number) => void assigned.push([subtask, split]),
    signalNoMoreSplits() {},
    sendEventToSourceReader() {},
    setIsProcessingBacklog() {},
    fail() {},
  };
}

test('a sequence is split evenly', () => {
  const assigned: [number, IndexRangeSplit][] = [];
  const enumerator = new SequenceSource(1, 10).createEnumerator(enumeratorContext(3, assigned));
  for (let i = 0; i < 4; i++) void enumerator.handleSplitRequest(i);
  assert.deepEqual(
    assigned.map(([, { start, end }]) => end - start),
    [4, 3, 3],
  );
});

test('ranges that are restored together are read in their order, whatever subtasks they come from', () => {
  const reader = new SequenceSource(0, 99).createReader(context());
  void reader.start();
  reader.addSplits([
    { splitId: 'range-50', start: 55, end: 58 },
    { splitId: 'range-0', start: 3, end: 6 },
  ]);
  const emitted: number[] = [];
  const output = { collect: (value: number) => emitted.push(value) };
  while (reader.poll(output, 100) === 'more');
  assert.deepEqual(emitted, [3, 4, 5, 55, 56, 57]);
});

test('records carry the timestamp that timestampOf gives, or none', () => {
  const seen: [number, number | undefined][] = [];
  const output = { collect: (value: number, timestampMs?: number) => void seen.push([value, timestampMs]) };
  const split = { splitId: 'index-0', start: 0, end: 2 };
  for (const options of [{}, { timestampOf: (n: number) => n * 1000 }]) {
    const reader = new SequenceSource(5, 6, options).createReader(context());
    reader.addSplits([split]);
    void reader.start();
    reader.poll(output, 10);
  }
  assert.deepEqual(seen, [
    [5, undefined],
    [6, undefined],
    [5, 5000],
    [6, 6000],
  ]);
});

test('an endless generator goes on for ever, in short ranges', () => {
  const assigned: [number, IndexRangeSplit][] = [];
  const source = new GeneratorSource((i) => i);
  assert.equal(source.boundedness, 'unbounded');
  const enumerator = source.createEnumerator(enumeratorContext(2, assigned));
  for (let i = 0; i < 3; i++) void enumerator.handleSplitRequest(0);
  assert.deepEqual(
    assigned.map(([, { start }]) => start),
    [0, 65_536, 131_072],
  );
});

/** A platform whose time stands still until it is moved. */
function manualPlatform(): { platform: Platform; move(ms: number): void } {
  let nowMs = 0;
  let timers: { atMs: number; callback: () => void }[] = [];
  return {
    platform: {
      ...platform,
      clock: { monotonicMs: () => nowMs, wallMs: () => nowMs },
      timers: {
        ...platform.timers,
        after: (delayMs, callback) => {
          const timer = { atMs: nowMs + delayMs, callback };
          timers.push(timer);
          return { cancel: () => void (timers = timers.filter((other) => other !== timer)) };
        },
      },
    },
    move(ms) {
      nowMs += ms;
      const due = timers.filter(({ atMs }) => atMs <= nowMs);
      timers = timers.filter(({ atMs }) => atMs > nowMs);
      for (const { callback } of due) callback();
    },
  };
}

test('a generator at a limited rate emits as many records as time has passed, and wakes when the next is due', () => {
  const time = manualPlatform();
  let awake = 0;
  let emitted = 0;
  const source = new GeneratorSource((i) => i, { recordsPerSecond: 200 });
  const reader: SourceReader<number, IndexRangeSplit> = source.createReader(
    context({ platform: time.platform, parallelism: 2, wake: () => awake++ }),
  );
  const output = { collect: () => void emitted++ };
  void reader.start();
  reader.addSplits([{ splitId: 'index-0', start: 0, end: 1_000_000 }]);
  for (let ms = 0; ms <= 10_000; ms += 5) {
    while (reader.poll(output, 1000) === 'more') {}
    awake = 0;
    time.move(5);
  }
  assert.ok(Math.abs(emitted - 1000) <= 2, `${emitted} records in 10 seconds at half of 200 a second`);
  while (reader.poll(output, 1000) === 'more') {}
  time.move(10);
  assert.ok(awake > 0);
  const before = emitted;
  time.move(60_000);
  while (reader.poll(output, 1000) === 'more') {}
  assert.ok(emitted - before <= 11, `${emitted - before} at once after a minute of silence`);
  void reader.close();
});

test('a generator limited by checkpoints emits its share, and the next when a checkpoint has completed', () => {
  const source = new DataGeneratorSource((n) => n, 1000, RateLimiterStrategy.perCheckpoint(7));
  for (const [subtaskIndex, share] of [4, 3].entries()) {
    let awake = 0;
    const reader = source.createReader(context({ subtaskIndex, parallelism: 2, wake: () => awake++ }));
    let emitted = 0;
    const pollAll = (): number => {
      const before = emitted;
      while (reader.poll({ collect: () => void emitted++ }, 2) === 'more') {}
      return emitted - before;
    };
    void reader.start();
    reader.addSplits([{ splitId: 'index-0', start: 0, end: 500 }]);
    assert.equal(pollAll(), share);
    assert.equal(pollAll(), 0);
    awake = 0;
    void reader.notifyCheckpointComplete?.(1);
    assert.ok(awake > 0);
    assert.equal(pollAll(), share);
  }
  const wide = new DataGeneratorSource((n) => n, 9, RateLimiterStrategy.perCheckpoint(2));
  assert.throws(
    () => wide.createReader(context({ parallelism: 3 })),
    (error: Error) =>
      hasCode(error, 'INVALID_ARGUMENT') && /2 records are too few for 3 subtasks/.test(error.message),
  );
});

test("Flink's constructor of a generator takes a function or an object, a limit or none, a type or none", () => {
  const noOp = RateLimiterStrategy.noOp();
  const name = { map: (n: number) => `n${n}` };
  for (const source of [
    new DataGeneratorSource(name, 3, noOp, Types.STRING),
    new DataGeneratorSource((n) => `n${n}`, 3, Types.STRING),
  ]) {
    const reader = source.createReader(context());
    const emitted: string[] = [];
    void reader.start();
    reader.addSplits([{ splitId: 'index-0', start: 0, end: 3 }]);
    reader.poll({ collect: (value) => void emitted.push(value) }, 10);
    assert.deepEqual(emitted, ['n0', 'n1', 'n2']);
    assert.deepEqual([source.boundedness, source.outputType], ['bounded', Types.STRING]);
  }
  const endless = new DataGeneratorSource(
    (n) => n,
    Number.MAX_SAFE_INTEGER,
    RateLimiterStrategy.perSecond(5),
  );
  assert.equal(endless.boundedness, 'unbounded');
});

test('a restored source goes on counting its progress where it was', async () => {
  const source = new SequenceSource(0, 99);
  const host = await SimulatedSourceHost.start(source, platform, seededRandom(5), 2);
  while (host.emitted.length < 30) await host.step(3);
  host.triggerCheckpoint();
  while (host.completed === undefined) await host.step(3);
  const { enumerator, splits, emitted } = host.completed;
  await host.close();
  const restored = source.restoreEnumerator(enumeratorContext(1), enumerator as IndexRangeEnumeratorState);
  const reader = source.createReader(context());
  reader.addSplits(splits as IndexRangeSplit[]);
  const { done, left = 0, total } = reader.progress!();
  assert.deepEqual([done, total], [0, 100]);
  assert.equal(restored.amountAssigned!() - left, emitted.length);
});

test('a generator function that is async, or returns a promise once, is refused', () => {
  const unexpected = (error: unknown): boolean => hasCode(error, 'PROMISE_NOT_EXPECTED');
  assert.throws(() => new GeneratorSource(async (i) => i), unexpected);
  assert.throws(() => new DataGeneratorSource({ map: async (i) => i }, 5), unexpected);
  const reader = new GeneratorSource<unknown>((i) => (i === 1 ? Promise.resolve(i) : i)).createReader(
    context(),
  );
  reader.addSplits([{ splitId: 'index-0', start: 0, end: 5 }]);
  void reader.start();
  const emitted: unknown[] = [];
  assert.throws(
    () => reader.poll({ collect: (value) => void emitted.push(value) }, 10),
    (error: Error) => unexpected(error) && /source "numbers": record 1 is a promise/.test(error.message),
  );
  assert.deepEqual(emitted, [0]);
});

test('the position of another source, or of a longer one, is refused', () => {
  const restore = (source: SequenceSource | CollectionSource<number>, state: IndexRangeEnumeratorState) =>
    source.restoreEnumerator(enumeratorContext(1), state);
  const mismatch = (error: unknown): boolean => hasCode(error, 'SOURCE_STATE_MISMATCH');
  assert.throws(
    () => restore(new SequenceSource(1, 9), { identity: 'sequence from 0', nextIndex: 3 }),
    mismatch,
  );
  assert.throws(
    () => restore(new SequenceSource(1, 9), { identity: 'sequence from 1', nextIndex: 10 }),
    mismatch,
  );
  assert.throws(
    () => restore(new CollectionSource([1, 2]), { identity: 'collection of 3 elements', nextIndex: 2 }),
    mismatch,
  );
  const reader = new SequenceSource(1, 3).createReader(context());
  assert.throws(() => reader.addSplits([{ splitId: 'index-0', start: 1, end: 9 }]), mismatch);
});

test('bounds that are no whole numbers are refused', () => {
  const invalid = (error: unknown): boolean => hasCode(error, 'INVALID_ARGUMENT');
  assert.throws(() => new SequenceSource(3, 2), invalid);
  assert.throws(() => new SequenceSource(0.5, 2), invalid);
  assert.throws(() => new SequenceSource(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER), invalid);
  assert.throws(() => new GeneratorSource((i) => i, { count: -1 }), invalid);
  assert.throws(() => new GeneratorSource((i) => i, { recordsPerSecond: 0 }), invalid);
  const rateLimiter = RateLimiterStrategy.noOp();
  assert.throws(() => new GeneratorSource((i) => i, { recordsPerSecond: 1, rateLimiter }), invalid);
  assert.throws(() => RateLimiterStrategy.perCheckpoint(0.5), invalid);
  assert.throws(() => new DataGeneratorSource((i) => i, -1), invalid);
});

test('what is no function, and what is no iterable, is refused where it is given', () => {
  const invalid = (error: unknown): boolean => hasCode(error, 'INVALID_ARGUMENT');
  for (const wrong of [undefined, null, 5, {}] as never[]) {
    assert.throws(() => new GeneratorSource(wrong), invalid);
    assert.throws(() => new DataGeneratorSource(wrong, 5), invalid);
    assert.throws(() => new CollectionSource(wrong), invalid);
  }
  assert.throws(() => new CollectionSource((async function* () {})() as never), /there is fromAsyncIterable/);
});
