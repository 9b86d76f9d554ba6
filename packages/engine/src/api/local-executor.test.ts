/**
 * The executor with worker threads that are simulated: a thread loads "the module" by calling the same function again, with
 * an executor of its own, in this thread; messages are copied and arrive later.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MillraceError } from '../base/index.ts';
import { KeyedProcessFunction } from '../operators/index.ts';
import type { Platform, ThreadContext } from '../platform/index.ts';
import { planJob, runUntil } from '../testing/manual-job.ts';
import { createManualPlatform, type ManualPlatform } from '../testing/manual-platform.ts';
import { mortalPlatform } from '../testing/mortal-platform.ts';
import { PacedSource } from '../testing/paced-source.ts';
import { TransactionLog } from '../testing/transaction-log-sink.ts';
import { Types } from '../types/index.ts';
import type { JobExecutor } from './job-executor.ts';
import { LocalExecutor } from './local-executor.ts';
import { StreamExecutionEnvironment } from './stream-execution-environment.ts';
import { WatermarkStrategy } from './watermark-strategy.ts';

type Module = (executor: JobExecutor) => Promise<void>;

/** Loads the module as `node job.ts` does. Resolves when it has ended in the main thread. */
function load(manual: ManualPlatform, module: Module): Promise<void> {
  const platform: Platform = {
    ...manual,
    threads: {
      current: undefined,
      entryModuleUrl: 'file:///job.ts',
      start(_, __, data, events) {
        let isGone = false;
        const early: unknown[] = [];
        let handler = (message: unknown): void => void early.push(message);
        const current: ThreadContext = {
          data,
          post: (message) => {
            const copy = structuredClone(message);
            queueMicrotask(() => isGone || events.onMessage(copy));
          },
          onMessage: (given) => {
            handler = given;
            for (const message of early) given(message);
          },
        };
        const threads = { current, entryModuleUrl: 'file:///job.ts', start: () => assert.fail() };
        module(new LocalExecutor({ ...manual, threads })).catch((error: unknown) => {
          isGone = true;
          events.onExit({ exitCode: 1, error });
        });
        return {
          post: (message) => {
            const copy = structuredClone(message);
            queueMicrotask(() => isGone || handler(copy));
          },
          terminate: async () => {
            isGone = true;
          },
        };
      },
    },
  };
  return module(new LocalExecutor(platform));
}

async function runModule(module: Module, manual = createManualPlatform()): Promise<void> {
  let end: { error?: unknown } | undefined;
  load(manual, module).then(
    () => (end = {}),
    (error: unknown) => (end = { error }),
  );
  await runUntil(manual, () => end !== undefined);
  if (end!.error !== undefined) throw end!.error;
}

/** A job over `values` in two workers; what its sink gets is doubled. */
function define(
  env: StreamExecutionEnvironment,
  values: readonly number[],
  log: TransactionLog<number>,
): void {
  env.configure({ parallelism: 2 });
  env
    .fromSource(new PacedSource([values]), WatermarkStrategy.noWatermarks(), 'numbers', Types.INT)
    .rebalance()
    .map((value) => value * 2)
    .returns(Types.INT)
    .sinkTo(log.sink());
}

const sorted = (log: TransactionLog<number>): number[] => log.committed().sort((a, b) => a - b);

describe('a module with several jobs, in worker threads', () => {
  it('runs them one after the other, each thread the one it was started for', async () => {
    const logs = [new TransactionLog<number>(), new TransactionLog<number>()];
    await runModule(async (executor) => {
      for (const [index, log] of logs.entries()) {
        const env = new StreamExecutionEnvironment(executor);
        define(env, index === 0 ? [1, 2, 3] : [10, 20], log);
        await env.execute(`job ${index}`);
      }
    });
    assert.deepEqual(logs.map(sorted), [
      [2, 4, 6],
      [20, 40],
    ]);
  });

  it('runs them at the same time', async () => {
    const logs = [new TransactionLog<number>(), new TransactionLog<number>()];
    await runModule(async (executor) => {
      const clients = [];
      for (const [index, log] of logs.entries()) {
        const env = new StreamExecutionEnvironment(executor);
        define(env, index === 0 ? [1, 2, 3] : [10, 20], log);
        clients.push(await env.executeAsync(`job ${index}`));
      }
      await Promise.all(clients.map((client) => client.getJobExecutionResult()));
    });
    assert.deepEqual(logs.map(sorted), [
      [2, 4, 6],
      [20, 40],
    ]);
  });

  it('runs them at the same time also when nobody waits for the first to be accepted', async () => {
    const logs = [new TransactionLog<number>(), new TransactionLog<number>()];
    await runModule(async (executor) => {
      await Promise.all(
        logs.map(async (log, index) => {
          const env = new StreamExecutionEnvironment(executor);
          define(env, index === 0 ? [1, 2, 3] : [10, 20], log);
          await env.execute(`job ${index}`);
        }),
      );
    });
    assert.deepEqual(logs.map(sorted), [
      [2, 4, 6],
      [20, 40],
    ]);
  });

  it('refuses a job that is another one each time it is built', async () => {
    let builds = 0;
    const module: Module = async (executor) => {
      const env = new StreamExecutionEnvironment(executor).configure({ parallelism: 2 });
      env
        .fromElements(1, 2)
        .map((value) => value)
        .name(`map ${builds++}`)
        .rebalance()
        .print();
      await env.execute('unstable');
    };
    await assert.rejects(runModule(module), (error: MillraceError) => {
      assert.equal(error.code, 'PLAN_NOT_STABLE');
      assert.match(error.message, /map 0/);
      return true;
    });
  });
});

describe('worker threads', () => {
  it('are loading while the snapshot is looked for, and end if the job cannot begin', async () => {
    const manual = createManualPlatform();
    const lookedFor: number[] = [];
    let running = 0;
    const platform: Platform = {
      ...manual,
      fileSystem(uri) {
        lookedFor.push(running);
        return manual.fileSystem(uri);
      },
      threads: {
        ...{ current: undefined, entryModuleUrl: 'file:///job.ts' },
        start() {
          running++;
          return { post() {}, terminate: async () => void running-- };
        },
      },
    };
    const { graph, settings } = planJob((env) => {
      env.configure({ parallelism: 2, host: 'workers' });
      env.fromElements(1, 2).rebalance().print();
    });
    const from = { ...settings, restore: { ...settings.restore, path: '/savepoints/none' } };
    await assert.rejects(new LocalExecutor(platform).execute(graph, from), { code: 'SNAPSHOT_NOT_FOUND' });
    assert.deepEqual([new Set(lookedFor), running], [new Set([2]), 0]);
  });
});

describe('a job in the thread of its module', () => {
  it('starts again in place, with function objects as the user made them', async () => {
    const manual = createManualPlatform();
    const counts: number[] = [];
    let failures = 0;
    class Numbered extends KeyedProcessFunction<number, number, number> {
      seen = 0;
      processElement(value: number): void {
        counts.push(++this.seen);
        if (value === 3 && failures++ === 0) throw new Error('once');
      }
    }
    const { graph, settings } = planJob((env) => {
      env.configure({ checkpointing: { interval: 1000 } });
      env
        .fromSource(new PacedSource([[1, 2, 3, 4]]), WatermarkStrategy.noWatermarks(), 'numbers', Types.INT)
        .keyBy(() => 0)
        .process(new Numbered())
        .print();
    });
    const client = await new LocalExecutor(manual).execute(graph, settings);
    let isOver = false;
    const result = client.getJobExecutionResult().finally(() => (isOver = true));
    await runUntil(manual, () => isOver);
    assert.equal((await result).restarts, 1);
    assert.deepEqual(counts, [1, 2, 3, 1, 2, 3, 4]);
  });

  it('does not start again from a checkpoint of its own that was damaged meanwhile', async () => {
    const manual = createManualPlatform();
    const { graph, settings } = planJob((env) => {
      env.configure({ checkpointing: { interval: 10, dir: '/checkpoints' } });
      env
        .fromSource(
          new PacedSource([Array.from({ length: 60 }, (_, i) => i)], { pauseMs: 4 }),
          WatermarkStrategy.noWatermarks(),
          'numbers',
        )
        .map((value) => {
          const written = manual.files.allFiles().find((path) => /chk-[1-9]\d*\/_metadata$/.test(path));
          if (written === undefined) return value;
          manual.files.damage(written, (bytes) => bytes.fill(0x20, 100, 120));
          throw new Error('now');
        })
        .print();
    });
    const client = await new LocalExecutor(manual).execute(graph, settings);
    let failure: MillraceError | undefined;
    client.getJobExecutionResult().then(
      () => assert.fail(),
      (error: MillraceError) => (failure = error),
    );
    await runUntil(manual, () => failure !== undefined);
    assert.equal(failure?.code, 'SNAPSHOT_CORRUPT');
    assert.match(failure.message, /_metadata/);
  });

  it('goes on from a checkpoint that the execution before completed until it gave the directory free', async () => {
    const manual = createManualPlatform();
    const log = new TransactionLog<number>();
    const values = Array.from({ length: 60 }, (_, i) => i);
    const start = async (platform: Platform & { isAlive?: () => boolean }): Promise<() => boolean> => {
      const { graph, settings } = planJob((env) => {
        env.configure({ checkpointing: { interval: 10, dir: '/checkpoints' }, restore: { path: 'latest' } });
        env
          .fromSource(
            new PacedSource([values], { pauseMs: 4 }),
            WatermarkStrategy.noWatermarks(),
            'numbers',
            Types.INT,
          )
          .sinkTo(log.sink(platform.isAlive));
      });
      let isOver = false;
      const client = await new LocalExecutor(platform).execute(graph, settings);
      client.getJobExecutionResult().then(() => (isOver = true), assert.fail);
      return () => isOver;
    };
    const first = mortalPlatform(manual);
    await start(first);
    await runUntil(manual, () => log.committed().length > 0);
    const second: Platform = {
      ...manual,
      fileSystem(uri) {
        const { files, path } = manual.fileSystem(uri);
        const lockDirectory = async (directory: string) => {
          if (first.isAlive()) {
            const before = log.committed().length;
            await runUntil(manual, () => log.committed().length > before);
            first.kill();
            manual.files.killProcess();
          }
          return manual.files.lockDirectory(directory);
        };
        return { files: Object.assign(Object.create(files) as typeof files, { lockDirectory }), path };
      },
    };
    const isOver = await start(second);
    await runUntil(manual, isOver);
    assert.deepEqual(sorted(log), values);
  });
});
