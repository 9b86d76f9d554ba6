import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Platform } from '../../platform/index.ts';
import type { ProcessEnd } from './simulated-process.ts';
import { SimulatedWorld } from './simulated-world.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const sleep = (platform: Platform, ms: number): Promise<void> =>
  new Promise((resolve) => void platform.timers.after(ms, resolve));

/** Runs one program to its end. */
async function run(
  program: (platform: Platform) => Promise<unknown>,
  world = new SimulatedWorld({ seed: 1 }),
): Promise<{ readonly end: ProcessEnd | undefined; readonly world: SimulatedWorld }> {
  let end: ProcessEnd | undefined;
  world.startProcess(program, (how) => {
    end = how;
  });
  await world.run(() => end !== undefined);
  return { end, world };
}

async function writeFile(platform: Platform, path: string, text: string, synced: boolean): Promise<void> {
  const { files } = platform.fileSystem(path);
  const file = await files.create(path);
  await file.write(bytes(text));
  if (synced) {
    await file.sync();
    await files.syncDirectory('/');
  }
  await file.close();
}

describe('a simulated world', () => {
  it('does the same for the same seed, something else for another', async () => {
    const hash = async (seed: number): Promise<string> => {
      const { world } = await run(async (platform) => {
        await sleep(platform, 10);
        await writeFile(platform, `/${platform.random.hex(4)}`, 'a', true);
      }, new SimulatedWorld({ seed }));
      return world.traceHash;
    };
    assert.equal(await hash(7), await hash(7));
    assert.notEqual(await hash(7), await hash(8));
  });

  it('lets virtual time go by without real time', async () => {
    const began = process.hrtime.bigint();
    const { end, world } = await run(async (platform) => {
      const from = platform.clock.monotonicMs();
      await sleep(platform, 3_000_000);
      return platform.clock.monotonicMs() - from;
    });
    assert.ok(end?.type === 'exited' && (end.value as number) >= 3_000_000);
    assert.ok(world.nowMs >= 3_000_000);
    assert.ok(process.hrtime.bigint() - began < 2_000_000_000n);
  });

  it('says how a process ended: with a value, with an error, or stuck', async () => {
    assert.deepEqual((await run(async () => 5)).end, { type: 'exited', value: 5 });
    const failed = await run(() => Promise.reject(new Error('bad day')));
    assert.equal(failed.end?.type === 'failed' && (failed.end.error as Error).message, 'bad day');
    assert.equal((await run(() => new Promise(() => {}))).end?.type, 'stuck');
  });

  it('does not take a process for ended while a timer of it is set', async () => {
    let fired = false;
    const { end } = await run(async (platform) => {
      platform.timers.after(50, () => {
        fired = true;
      });
    });
    assert.deepEqual([end?.type, fired], ['exited', true]);
  });

  it('kills a process: nothing that it does has an effect any more, and its locks are free', async () => {
    const world = new SimulatedWorld({ seed: 3 });
    let steps = 0;
    let end: ProcessEnd | undefined;
    const victim = world.startProcess(
      async (platform) => {
        const { files } = platform.fileSystem('/');
        await files.makeDirectory('/d');
        await files.lockDirectory('/d');
        for (;;) {
          await sleep(platform, 1);
          steps++;
        }
      },
      (how) => {
        end = how;
      },
    );
    world.at(100, 'fault', 'kill', () => victim.kill());
    await world.run(() => end !== undefined);
    const before = steps;
    assert.ok(before > 10);
    assert.equal(end?.type, 'killed');
    const other = await run(async (platform) => {
      await platform.fileSystem('/').files.lockDirectory('/d');
    }, world);
    assert.deepEqual([other.end?.type, steps], ['exited', before]);
  });

  it('refuses a lock that another living process has', async () => {
    const world = new SimulatedWorld({ seed: 3 });
    world.files.put('/a', bytes(''));
    const program = async (platform: Platform): Promise<void> => {
      await platform.fileSystem('/').files.lockDirectory('/');
      await sleep(platform, 1000);
    };
    world.startProcess(program, () => {});
    const second = await run(async (platform) => {
      await sleep(platform, 500);
      await program(platform);
    }, world);
    assert.equal(
      second.end?.type === 'failed' && (second.end.error as { code?: string }).code,
      'CHECKPOINT_DIRECTORY_IN_USE',
    );
  });

  it('forgets what was not synced when the power fails, and kills everything', async () => {
    const world = new SimulatedWorld({ seed: 3 });
    let ended = 0;
    world.startProcess(
      async (platform) => {
        await writeFile(platform, '/kept', 'a', true);
        await writeFile(platform, '/lost', 'b', false);
        await sleep(platform, 10_000);
      },
      () => ended++,
    );
    world.at(1000, 'fault', 'power', () => world.failPower('synced'));
    await world.run(() => ended === 1);
    assert.deepEqual(world.files.allFiles(), ['/kept']);
  });

  it('carries out a file operation of a dying process or does not, by chance', async () => {
    const outcomes = new Set<number>();
    for (let seed = 0; seed < 20; seed++) {
      const world = new SimulatedWorld({ seed, speeds: { fileMs: 100, startMs: 0.1 } });
      let isOver = false;
      const victim = world.startProcess(
        (platform) => platform.fileSystem('/').files.create('/a'),
        () => {
          isOver = true;
        },
      );
      world.at(10, 'fault', 'kill', () => victim.kill());
      await world.run(() => isOver);
      outcomes.add(world.files.allFiles().length);
    }
    assert.deepEqual([...outcomes].sort(), [0, 1]);
  });

  it('lets an operation on a file fail before its effect, after it, or after a part of a write', async () => {
    for (const [fault, left] of [
      [{ type: 'error', errno: 'EIO' }, ''],
      [{ type: 'late-error', errno: 'EIO', share: 0.5 }, 'ab'],
    ] as const) {
      const world = new SimulatedWorld({ seed: 1 });
      world.interfereWithFile = (operation) => (operation === 'write' ? fault : undefined);
      const { end } = await run((platform) => writeFile(platform, '/a', 'abcd', true), world);
      assert.equal(end?.type, 'failed');
      assert.equal(new TextDecoder().decode(world.files.peek('/a')), left);
    }
  });

  it('lets the wall clock jump, and no other clock', async () => {
    const world = new SimulatedWorld({ seed: 1 });
    world.at(50, 'fault', 'jump', () => world.jumpWallClock(-3_600_000));
    const { end } = await run(async ({ clock, ...platform }) => {
      const [wall, monotonic] = [clock.wallMs(), clock.monotonicMs()];
      await new Promise<void>((resolve) => void platform.timers.after(100, resolve));
      return [clock.wallMs() - wall, clock.monotonicMs() - monotonic];
    }, world);
    const [wall, monotonic] = (end as { value: readonly [number, number] }).value;
    assert.ok(wall < -3_500_000 && monotonic > 100 && monotonic < 200);
  });

  it('notices a rejection that nobody handles', () => {
    // In a process of its own, for the test runner takes such rejections for its own.
    const program = `
      import { SimulatedWorld } from ${JSON.stringify(join(import.meta.dirname, 'simulated-world.ts'))};
      const world = new SimulatedWorld({ seed: 1 });
      let isOver = false;
      world.startProcess(async () => void Promise.reject(new Error('forgotten')), () => { isOver = true; });
      await world.run(() => isOver);
      console.log(world.unhandled.map((error) => error.message).join());`;
    const options = ['--conditions=millrace-source', '--input-type=module', '--eval', program];
    assert.equal(spawnSync(process.execPath, options, { encoding: 'utf8' }).stdout, 'forgotten\n');
  });
});

describe('simulated threads', () => {
  /** The main thread starts one that echoes; both are the same program. */
  const echo = async (platform: Platform): Promise<unknown> => {
    const { current } = platform.threads;
    if (current !== undefined) {
      current.onMessage((message) => current.post({ echo: message, data: current.data }));
      return new Promise(() => {});
    }
    const answers: unknown[] = [];
    return new Promise((resolve) => {
      const thread = platform.threads.start(
        'simulation:job',
        'echo',
        { n: 1 },
        {
          onMessage: (message) => {
            answers.push(message);
            if (answers.length === 3) void thread.terminate();
          },
          onExit: () => resolve(answers),
        },
      );
      for (const text of ['a', 'b', 'c']) thread.post(text);
    });
  };

  it('answer messages in their order, in a world where everything is delayed at random', async () => {
    for (let seed = 0; seed < 20; seed++) {
      const world = new SimulatedWorld({ seed, speeds: { messageMs: 10, startMs: 1 } });
      const { end } = await run(echo, world);
      assert.deepEqual(end, {
        type: 'exited',
        value: ['a', 'b', 'c'].map((text) => ({ echo: text, data: { n: 1 } })),
      });
    }
  });

  it('are sent messages in their order also where threads and processes stand still now and then', async () => {
    const count = 40;
    const program = async (platform: Platform): Promise<unknown> => {
      const { current } = platform.threads;
      if (current !== undefined) {
        current.onMessage((message) => current.post(message));
        return new Promise(() => {});
      }
      const heard: unknown[] = [];
      const { promise, resolve } = Promise.withResolvers<unknown>();
      const thread = platform.threads.start('simulation:job', 'echo', undefined, {
        onMessage: (message) => heard.push(message) === count && void thread.terminate(),
        onExit: () => resolve(heard),
      });
      for (let n = 0; n < count; n++) {
        thread.post(n);
        await sleep(platform, 1);
      }
      return promise;
    };
    for (let seed = 0; seed < 30; seed++) {
      const world = new SimulatedWorld({ seed, speeds: { messageMs: 4 } });
      let end: ProcessEnd | undefined;
      const process = world.startProcess(program, (how) => {
        end = how;
      });
      for (let atMs = 5; atMs < 100; atMs += 5) {
        world.at(atMs, 'fault', 'pause', () => {
          if (world.random.oneIn(4)) process.freeze(world.random.below(40));
          else process.threads[0]?.stall(world.nowMs + world.random.below(15));
        });
      }
      await world.run(() => end !== undefined);
      assert.deepEqual(
        end,
        { type: 'exited', value: Array.from({ length: count }, (_, n) => n) },
        `seed ${seed}`,
      );
    }
  });

  it('are gone without a word, but for what they had sent', async () => {
    const world = new SimulatedWorld({ seed: 1 });
    const program = async (platform: Platform): Promise<unknown> => {
      const { current } = platform.threads;
      if (current !== undefined) {
        current.post('last words');
        await sleep(platform, 1_000_000);
        return;
      }
      const heard: unknown[] = [];
      return new Promise((resolve) => {
        platform.threads.start('simulation:job', 'victim', undefined, {
          onMessage: (message) => heard.push(message),
          onExit: ({ exitCode }) => resolve([...heard, exitCode]),
        });
      });
    };
    let end: ProcessEnd | undefined;
    const process = world.startProcess(program, (how) => {
      end = how;
    });
    world.at(100, 'fault', 'loss', () => process.loseThread(process.threads[0]!, 7, undefined));
    await world.run(() => end !== undefined);
    assert.deepEqual(end, { type: 'exited', value: ['last words', 7] });
  });

  it('sleep on shared memory until they are rung, or their time is over', async () => {
    const { end } = await run(async (platform) => {
      const word = new Int32Array(new SharedArrayBuffer(4));
      const { clock, parking, timers } = platform;
      const from = clock.monotonicMs();
      await parking.park(word, 0, 1, 1000);
      const changed = clock.monotonicMs() - from;
      await parking.park(word, 0, 0, 100);
      const timedOut = clock.monotonicMs() - from;
      timers.after(50, () => parking.unpark(word, 0));
      await parking.park(word, 0, 0, 100_000);
      return [changed < 10, timedOut > 100, clock.monotonicMs() - from < 1000];
    });
    assert.deepEqual(end, { type: 'exited', value: [true, true, true] });
  });
});
