/**
 * The contract of sources as tests: whatever is snapshotted and restored, whenever and at whatever parallelism, each
 * record comes exactly once, and none before the reader was started.
 *
 * Called by the tests of each bounded source, which say what it emits. A failure names the seed that repeats it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Platform } from '../platform/index.ts';
import type { Source } from '../runtime/index.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';
import { SimulatedSourceHost, type SourceCheckpoint } from './simulated-source-host.ts';

/** The source that is tested, and what it must give. */
export interface SourceContractOptions<T> {
  readonly name: string;
  /** A new source over the same data, each time. */
  create(): Source<T>;
  /** Files, time and randomness of the test. */
  platform(): Platform;
  /** All records; in order, if one reader must emit them in order. */
  readonly expected: readonly T[];
  /** True (default) if a single reader emits the records in the order of `expected`. */
  readonly ordered?: boolean;
  /** The most readers it can have; default: any number. */
  readonly parallelismMax?: number;
  /** Runs with random snapshots and restores; default 25. */
  readonly seeds?: number;
}

const STEPS_MAX = 1_000_000;

/** Registers the tests. */
export function sourceContract<T>(options: SourceContractOptions<T>): void {
  const { name, expected, ordered = true, seeds = 25, parallelismMax = 5 } = options;
  const widths = [1, 2, 5].filter((parallelism) => parallelism <= parallelismMax);
  const sorted = sortedKeys(expected);

  for (const parallelism of widths) {
    test(`${name}: ${parallelism} readers emit each record once`, async () => {
      const emitted = await runUndisturbed(options, parallelism);
      assert.deepEqual(sortedKeys(emitted), sorted);
      if (ordered && parallelism === 1) assert.deepEqual(emitted, expected);
    });
  }

  test(`${name}: a snapshot before the first record holds everything`, async () => {
    const host = await SimulatedSourceHost.start(
      options.create(),
      options.platform(),
      seededRandom(1),
      Math.min(2, parallelismMax),
    );
    host.triggerCheckpoint();
    while (host.completed === undefined) await host.step(1);
    const checkpoint = host.completed;
    await host.close();
    const emitted = await runUndisturbed(options, Math.min(3, parallelismMax), checkpoint);
    assert.deepEqual(sortedKeys(emitted), sorted);
  });

  test(`${name}: a snapshot after the last record holds nothing that is emitted again`, async () => {
    const width = Math.min(2, parallelismMax);
    const host = await SimulatedSourceHost.start(
      options.create(),
      options.platform(),
      seededRandom(2),
      width,
    );
    while (!host.ended) await host.step(100);
    host.triggerCheckpoint();
    while (host.completed === undefined) await host.step(100);
    await host.close();
    assert.deepEqual(host.completed.splits, []);
    assert.deepEqual(sortedKeys(await runUndisturbed(options, width, host.completed)), sorted);
  });

  test(`${name}: restored again and again at other parallelisms, each record comes once`, async () => {
    for (let seed = 1; seed <= seeds; seed++) {
      try {
        assert.deepEqual(sortedKeys(await runDisturbed(options, seededRandom(seed))), sorted);
      } catch (error) {
        throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
      }
    }
  });
}

async function runUndisturbed<T>(
  options: SourceContractOptions<T>,
  parallelism: number,
  restored?: SourceCheckpoint<T>,
): Promise<T[]> {
  const random = seededRandom(parallelism);
  const host = await SimulatedSourceHost.start(
    options.create(),
    options.platform(),
    random,
    parallelism,
    restored,
  );
  try {
    for (let step = 0; !host.ended; step++) {
      assert.ok(step < STEPS_MAX, 'the source does not come to an end');
      await host.step(1000);
    }
    return host.emitted;
  } finally {
    await host.close();
  }
}

/** Checkpoints and restores happen at random; after some restores it is left alone. */
async function runDisturbed<T>(options: SourceContractOptions<T>, random: SeededRandom): Promise<T[]> {
  const widest = Math.min(4, options.parallelismMax ?? 4);
  const start = (restored?: SourceCheckpoint<T>): Promise<SimulatedSourceHost<T>> =>
    SimulatedSourceHost.start(
      options.create(),
      options.platform(),
      random,
      1 + random.below(widest),
      restored,
    );
  const recordsMax = 1 + random.below(Math.max(1, Math.ceil(options.expected.length / 4)));
  let restoresLeft = 8;
  let host = await start();
  try {
    for (let step = 0; !host.ended; step++) {
      assert.ok(step < STEPS_MAX, 'the source does not come to an end');
      if (random.oneIn(5)) host.triggerCheckpoint();
      await host.step(1 + random.below(recordsMax));
      if (restoresLeft > 0 && random.oneIn(12)) {
        restoresLeft -= 1;
        const checkpoint = host.completed;
        await host.close();
        host = await start(checkpoint);
      }
    }
    return host.emitted;
  } finally {
    await host.close();
  }
}

function sortedKeys(values: readonly unknown[]): string[] {
  return values.map(keyOf).sort();
}

/** A text that differs for different records. */
function keyOf(value: unknown): string {
  return (
    JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? `${item}n` : item)) ??
    String(value)
  );
}
