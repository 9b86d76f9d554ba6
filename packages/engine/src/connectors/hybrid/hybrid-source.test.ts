import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasCode, silentLogger } from '../../base/index.ts';
import { createNodePlatform } from '../../platform/node/index.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { SimulatedSourceHost } from '../../testing/simulated-source-host.ts';
import { sourceContract } from '../../testing/source-contract.ts';
import { FileSource } from '../file/file-source.ts';
import { GeneratorSource } from '../index-range/generator-source.ts';
import { SequenceSource } from '../index-range/sequence-source.ts';
import { AsyncIterableSource } from '../iterable/async-iterable-source.ts';
import { HybridSource } from './hybrid-source.ts';

const platform = createNodePlatform({ logger: silentLogger });
const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** 0 to 59, 100 to 119, and then on from where the second ended. */
function threePhases(): HybridSource<number, 'bounded'> {
  return HybridSource.builder(new SequenceSource(0, 59))
    .addSource(new SequenceSource(100, 119))
    .addSource(({ previousState }) => new SequenceSource(200 + previousState.nextIndex, 260), 'bounded')
    .build();
}
const EXPECTED = [...numbers(0, 59), ...numbers(100, 119), ...numbers(220, 260)];

sourceContract({
  name: 'three sources in a row, the last made of the end of the one before',
  create: threePhases,
  platform: () => platform,
  expected: EXPECTED,
});

sourceContract({
  name: 'a hybrid source within a hybrid source',
  create: () => HybridSource.builder(threePhases()).addSource(new SequenceSource(500, 510)).build(),
  platform: () => platform,
  expected: [...EXPECTED, ...numbers(500, 510)],
  seeds: 10,
});

sourceContract({
  name: 'a hybrid source with an empty one in the middle',
  create: () =>
    HybridSource.builder(new SequenceSource(0, 5))
      .addSource(new GeneratorSource<number>(() => -1, { count: 0 }))
      .addSource(new SequenceSource(6, 9))
      .build(),
  platform: () => platform,
  expected: numbers(0, 9),
  seeds: 10,
});

test('no record of a source comes before the last one of the source before, whatever the subtasks do', async () => {
  const before = (limit: number): number => EXPECTED.filter((n) => n < limit).length;
  for (let seed = 1; seed <= 30; seed++) {
    const random = seededRandom(seed);
    const host = await SimulatedSourceHost.start(threePhases(), platform, random, 1 + random.below(4));
    while (!host.ended) {
      await host.step(1 + random.below(7));
      const { emitted } = host;
      for (const limit of [100, 200]) {
        const isBehind = emitted.filter((n) => n < limit).length === before(limit);
        assert.ok(isBehind || emitted.every((n) => n < limit), `seed ${seed}`);
      }
    }
    await host.close();
  }
});

test('all sources but the last are a backlog, also after a restore; the last one says for itself', async () => {
  const random = seededRandom(7);
  const source = HybridSource.builder(new SequenceSource(0, 9))
    .addSource(HybridSource.builder(new SequenceSource(10, 19)).addSource(new SequenceSource(20, 29)).build())
    .build();
  const host = await SimulatedSourceHost.start(source, platform, random, 2);
  const atFirstOfPart = new Map<number, boolean>();
  while (!host.ended) {
    const part = Math.floor(Math.max(...host.emitted, 0) / 10);
    if (!atFirstOfPart.has(part)) atFirstOfPart.set(part, host.isProcessingBacklog);
    await host.step(1);
  }
  assert.deepEqual([...atFirstOfPart.values()], [true, true, false]);
  assert.equal(host.isProcessingBacklog, false);
  await host.close();

  const again = await SimulatedSourceHost.start(source, platform, random, 2);
  again.triggerCheckpoint();
  while (again.completed === undefined) await again.step(1);
  await again.close();
  const restored = await SimulatedSourceHost.start(source, platform, random, 2, again.completed);
  assert.equal(restored.isProcessingBacklog, true);
  await restored.close();
});

test('a source made by a factory must be what it was said to be', async () => {
  const invalid = (error: unknown): boolean => hasCode(error, 'INVALID_ARGUMENT');
  const run = async (next: () => SequenceSource): Promise<void> => {
    const source = HybridSource.builder(new SequenceSource(0, 1)).addSource(next, 'bounded').build();
    const host = await SimulatedSourceHost.start(source, platform, seededRandom(1), 1);
    while (!host.ended) await host.step(10);
  };
  await assert.rejects(
    run(() => undefined as never),
    invalid,
  );
  await assert.rejects(
    run(() => new GeneratorSource((n) => n) as never),
    invalid,
  );
  await assert.rejects(
    run(() => {
      throw new Error('no such topic');
    }),
    (error: Error) =>
      hasCode(error, 'USER_FUNCTION_FAILED') &&
      /the factory of source 2 threw: no such topic/.test(error.message),
  );
});

test('the guarantee and the boundedness of a hybrid source are those of its parts', () => {
  const first = new SequenceSource(0, 9);
  const bounded: 'bounded' = HybridSource.builder(first).addSource(first).build().boundedness;
  const endless: 'unbounded' = HybridSource.builder(first)
    .addSource(() => new AsyncIterableSource<number>(() => [].values() as never), 'unbounded')
    .build().boundedness;
  assert.deepEqual([bounded, endless], ['bounded', 'unbounded']);
  assert.equal(HybridSource.builder(first).build().guarantee, 'exactly-once');
  const once = new AsyncIterableSource<number>(() => [].values() as never);
  assert.equal(HybridSource.builder(first).addSource(once).build().guarantee, 'at-most-once');
});

test('what cannot follow, or is no source, is refused', () => {
  const invalid = (error: unknown): boolean => hasCode(error, 'INVALID_ARGUMENT');
  const first = new SequenceSource(0, 9);
  const endless = new GeneratorSource((n) => n);
  assert.throws(() => HybridSource.builder(endless).addSource(first), invalid);
  const watching = FileSource.forTextLines('/in').monitorContinuously(1000);
  // @ts-expect-error nothing can follow a source that is unbounded by its type
  assert.throws(() => HybridSource.builder(watching).addSource(FileSource.forTextLines('/x')), invalid);
  // @ts-expect-error the records of all sources are of one type
  HybridSource.builder(first).addSource(FileSource.forTextLines('/x'));
  const wrong = HybridSource.builder(first);
  // @ts-expect-error the factory reads a state that the source before does not have
  wrong.addSource(({ previousState }) => new SequenceSource(0, previousState.offset), 'bounded');
  // @ts-expect-error a source that a factory makes must be said to be bounded or unbounded
  assert.throws(() => HybridSource.builder(first).addSource(() => first), invalid);
  assert.throws(() => HybridSource.builder({} as never), invalid);
});

test('a position in a source that is no longer there is refused', async () => {
  const context = { platform, logger: silentLogger, sourceName: 'numbers', parallelism: 1 } as never;
  const state = { sourceIndex: 2, previousState: undefined, current: undefined };
  const shorter = HybridSource.builder(new SequenceSource(0, 1)).addSource(new SequenceSource(2, 3)).build();
  assert.throws(
    () => shorter.restoreEnumerator(context, state),
    (error: Error) =>
      hasCode(error, 'SOURCE_STATE_MISMATCH') &&
      /is in source 3 of a hybrid source, which now has 2/.test(error.message),
  );
});
