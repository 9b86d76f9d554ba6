/**
 * The contract of sinks as tests: a process killed at each point of two-phase commit, at other parallelisms afterwards,
 * leaves each record visible once; with a sink that promises no more, at least once.
 *
 * Called by the tests of each sink, which say how what is visible can be read. The oracle: the visible records are those
 * of the input, as a multiset.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Platform } from '../platform/index.ts';
import type { Sink } from '../runtime/index.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';
import { SimulatedSinkHost, type SimulatedSinkSettings, type SinkCheckpoint } from './simulated-sink-host.ts';

/** One fresh target of a sink, such as an empty directory. */
export interface SinkTarget<In> {
  /** A new sink to the target, each time. */
  createSink(): Sink<In>;
  /** The records that readers of the target see, in any order. */
  readVisible(): Promise<readonly unknown[]>;
  /** How many transactions are neither committed nor aborted. */
  openTransactions?(): Promise<number>;
  /** Where the sink hands results to the client of the job. */
  readonly deliver?: SimulatedSinkSettings['deliver'];
}

/** The sink that is tested, and how its results are read. */
export interface SinkContractOptions<In> {
  readonly name: string;
  /** Files, time and randomness of the test. */
  platform(): Platform;
  /** An empty place that sinks write to. */
  createTarget(): SinkTarget<In>;
  /** About 100 records. */
  readonly input: readonly In[];
  /** The record as readVisible gives it; default: itself. */
  visible?(record: In): unknown;
  /** True: records may become visible with a later checkpoint than the one that covers them. */
  readonly holdsBack?: boolean;
  /** Random runs; default 25. */
  readonly seeds?: number;
}

/** Registers the tests. */
export function sinkContract<In>(options: SinkContractOptions<In>): void {
  const runs = scripts<In>();
  for (const [what, script] of Object.entries(runs)) {
    test(`${options.name}: ${what}`, async () => {
      const stage = new Stage(options);
      await script(stage);
      await stage.check();
    });
  }
  test(`${options.name}: killed again and again at other parallelisms, no record is missing or too often there`, async () => {
    for (let seed = 1; seed <= (options.seeds ?? 25); seed++) {
      try {
        const stage = new Stage(options);
        await randomRun(stage, seededRandom(seed));
        await stage.check();
      } catch (error) {
        throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
      }
    }
  });
}

/** A target, its input, and the executions of one test. */
class Stage<In> {
  readonly #options: SinkContractOptions<In>;
  readonly target: SinkTarget<In>;
  readonly input: readonly In[];
  #attempts = 0;

  constructor(options: SinkContractOptions<In>) {
    this.#options = options;
    this.target = options.createTarget();
    this.input = options.input;
  }

  /** An execution; each has its number, as after restarts within a process. */
  start(
    parallelism: number,
    restored?: SinkCheckpoint,
    over: Partial<SimulatedSinkSettings> = {},
  ): Promise<SimulatedSinkHost<In>> {
    const settings = {
      platform: this.#options.platform(),
      parallelism,
      restored,
      attemptNumber: this.#attempts++,
    };
    const { deliver } = this.target;
    return SimulatedSinkHost.start(this.target.createSink(), { ...settings, deliver, ...over });
  }

  /** Goes on from `restored` to the end of the input. */
  async finish(parallelism: number, restored: SinkCheckpoint | undefined): Promise<void> {
    const host = await this.start(parallelism, restored);
    await this.end(host, (restored?.id ?? 0) + 1);
  }

  /** Writes the rest, takes the final checkpoint, closes. */
  async end(host: SimulatedSinkHost<In>, checkpointId: number): Promise<void> {
    await host.write(this.input, this.input.length);
    await host.finish(checkpointId);
    await host.close();
  }

  async check(): Promise<void> {
    const { visible = (record: In): unknown => record } = this.#options;
    const found = sortedKeys(await this.target.readVisible());
    const expected = sortedKeys(this.input.map((record) => visible(record)));
    if (this.target.createSink().guarantee === 'exactly-once') assert.deepEqual(found, expected);
    else assert.deepEqual(new Set(found), new Set(expected));
    assert.equal((await this.target.openTransactions?.()) ?? 0, 0, 'transactions are open after the end');
  }

  /** `covered`: the records that completed checkpoints cover. */
  async checkVisible(covered: number): Promise<void> {
    const found = (await this.target.readVisible()).length;
    const isExact = this.target.createSink().guarantee === 'exactly-once';
    if (!isExact) assert.ok(found >= covered, `${found} of ${covered} records are visible`);
    else if (this.#options.holdsBack)
      assert.ok(found <= covered, `${found} instead of ${covered} records are visible`);
    else assert.equal(found, covered);
  }
}

type Script<In> = (stage: Stage<In>) => Promise<void>;

/** The crash points, by what they state. */
function scripts<In>(): Record<string, Script<In>> {
  return { ...undisturbed<In>(), ...crashPoints<In>(), ...restarts<In>() };
}

function undisturbed<In>(): Record<string, Script<In>> {
  return {
    'a run without failures': (stage) => stage.finish(2, undefined),

    'nothing is visible before its checkpoint completed': async (stage) => {
      const host = await stage.start(2);
      await host.write(stage.input, 20);
      await host.prepare(1);
      await stage.checkVisible(0);
      await host.commitAll(1);
      await stage.checkVisible(20);
      await stage.end(host, 2);
    },

    'checkpoints without records': async (stage) => {
      const host = await stage.start(2);
      for (const id of [0, 1, 2]) assert.deepEqual((await host.checkpoint(id)).committables, []);
      await stage.end(host, 3);
    },

    'a checkpoint that failed is committed with the next': async (stage) => {
      const host = await stage.start(2);
      await host.write(stage.input, 20);
      await host.prepare(1);
      await host.write(stage.input, 40);
      await host.checkpoint(2);
      await stage.checkVisible(40);
      await stage.end(host, 3);
    },

    'commit twice': async (stage) => {
      const host = await stage.start(2);
      await host.write(stage.input, 20);
      await host.prepare(1);
      await host.commit(0, 1, 2);
      await host.commit(1, 1, 3);
      await stage.end(host, 2);
    },

    'a job without checkpoints commits at its end': async (stage) => {
      const host = await stage.start(2, undefined, { checkpointingEnabled: false });
      await stage.end(host, 1);
    },

    'a job without checkpoints that was killed begins again': async (stage) => {
      const host = await stage.start(3, undefined, { checkpointingEnabled: false });
      await host.write(stage.input, 50);
      await host.kill();
      await stage.end(await stage.start(2, undefined, { checkpointingEnabled: false }), 1);
    },
  };
}

/** Writes and completes checkpoint 1, writes on and prepares checkpoint 2. */
async function untilSecondPrepared<In>(stage: Stage<In>, parallelism: number) {
  const host = await stage.start(parallelism);
  await host.write(stage.input, 20);
  const first = await host.checkpoint(1);
  await host.write(stage.input, 40);
  const second = await host.prepare(2);
  return { host, first, second };
}

function crashPoints<In>(): Record<string, Script<In>> {
  return {
    'killed before the first checkpoint': async (stage) => {
      const host = await stage.start(2);
      await host.write(stage.input, 30);
      await host.kill();
      await stage.finish(2, undefined);
    },

    'killed after prepareCommit, before the checkpoint was acknowledged': async (stage) => {
      const { host, first } = await untilSecondPrepared(stage, 2);
      await host.kill();
      await stage.finish(2, first);
    },

    'killed when one subtask had prepared and the other had not': async (stage) => {
      const host = await stage.start(2);
      await host.write(stage.input, 20);
      const first = await host.checkpoint(1);
      await host.write(stage.input, 40);
      await host.prepare(2, [0]);
      await host.kill();
      await stage.finish(2, first);
    },

    'killed after the checkpoint completed, before anybody was told': async (stage) => {
      const { host, second } = await untilSecondPrepared(stage, 2);
      await host.kill();
      await stage.finish(2, second);
    },

    'killed after one subtask committed, before the other': async (stage) => {
      const { host, second } = await untilSecondPrepared(stage, 2);
      await host.commit(0, 2);
      await host.kill();
      await stage.finish(2, second);
    },

    'killed after all subtasks committed': async (stage) => {
      const { host, second } = await untilSecondPrepared(stage, 2);
      await host.commitAll(2);
      await host.kill();
      await stage.finish(2, second);
    },

    'killed while writing after a checkpoint': async (stage) => {
      const { host, second } = await untilSecondPrepared(stage, 2);
      await host.commitAll(2);
      await host.write(stage.input, 70);
      await host.kill();
      await stage.finish(2, second);
    },
  };
}

function restarts<In>(): Record<string, Script<In>> {
  return {
    'the same checkpoint restored twice': async (stage) => {
      const { host, second } = await untilSecondPrepared(stage, 2);
      await host.kill();
      const again = await stage.start(2, second);
      await again.write(stage.input, 60);
      await again.prepare(3);
      await again.kill();
      await stage.finish(2, second);
    },

    'what subtasks wrote that no longer exist is aborted': async (stage) => {
      const { host, second } = await untilSecondPrepared(stage, 5);
      await host.write(stage.input, 70);
      await host.kill();
      await stage.finish(1, second);
    },

    'restored at a higher parallelism': async (stage) => {
      const { host, second } = await untilSecondPrepared(stage, 1);
      await host.write(stage.input, 70);
      await host.kill();
      await stage.finish(4, second);
    },

    'restored after a process restart that counts attempts from 0 again': async (stage) => {
      const { host, second } = await untilSecondPrepared(stage, 2);
      await host.write(stage.input, 60);
      await host.kill();
      const again = await stage.start(2, second, { attemptNumber: 0 });
      await again.write(stage.input, 60);
      await again.kill();
      await stage.end(await stage.start(2, second, { attemptNumber: 0 }), 3);
    },

    'one writer ends early, and its last batch is committed by the restart': async (stage) => {
      const host = await stage.start(2);
      await host.write(stage.input, 30);
      host.end(0);
      const last = await host.prepare(1);
      await host.write(stage.input, 60);
      await host.kill();
      const again = await stage.start(2, last);
      again.end(0);
      await stage.end(again, 2);
    },
  };
}

/** Checkpoints, commits and kills happen at random. */
async function randomRun<In>(stage: Stage<In>, random: SeededRandom): Promise<void> {
  let completed: SinkCheckpoint | undefined;
  let killsLeft = 6;
  let parallelism = 1 + random.below(4);
  let host = await stage.start(parallelism);
  let id = 0;
  while (host.position < stage.input.length) {
    await host.write(stage.input, Math.min(stage.input.length, host.position + random.below(12)));
    if (random.oneIn(2)) {
      id += 1;
      const prepared = await host.prepare(id);
      if (random.oneIn(2)) {
        completed = prepared;
        for (let i = 0; i < parallelism; i++)
          if (!random.oneIn(3)) await host.commit(i, id, 1 + random.below(2));
      }
    }
    if (killsLeft > 0 && random.oneIn(4)) {
      killsLeft -= 1;
      await host.kill();
      parallelism = 1 + random.below(4);
      id = completed?.id ?? 0;
      host = await stage.start(parallelism, completed);
    }
  }
  await host.finish(id + 1);
  await host.close();
}

function sortedKeys(values: readonly unknown[]): string[] {
  return values
    .map((value) =>
      JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? `${item}n` : item)),
    )
    .sort();
}
