import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { ThreadHandle } from '../index.ts';
import { createNodePlatform } from './index.ts';

const directory = mkdtempSync(join(tmpdir(), 'millrace-threads-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const platformUrl = new URL('./index.ts', import.meta.url).href;

/** A module whose code has `current`, the thread's context. */
function module(name: string, code: string): string {
  const path = join(directory, `${name}.mjs`);
  writeFileSync(
    path,
    `import { createNodePlatform } from ${JSON.stringify(platformUrl)};
     const { current, ...rest } = createNodePlatform().threads;
     ${code}`,
  );
  return pathToFileURL(path).href;
}

interface Run {
  readonly thread: ThreadHandle;
  readonly messages: unknown[];
  readonly exit: Promise<{ exitCode: number; error: unknown }>;
  readonly exits: () => number;
}

function start(url: string, data: unknown, limits?: { maxOldGenerationSizeMb: number }): Run {
  const messages: unknown[] = [];
  let exits = 0;
  let resolve!: (exit: { exitCode: number; error: unknown }) => void;
  const exit = new Promise<{ exitCode: number; error: unknown }>((done) => {
    resolve = done;
  });
  const thread = createNodePlatform({ resourceLimits: limits }).threads.start(url, 'test', data, {
    onMessage: (message) => {
      assert.equal(exits, 0, 'no message after the exit');
      messages.push(message);
    },
    onExit: (ended) => {
      exits++;
      resolve(ended);
    },
  });
  return { thread, messages, exit, exits: () => exits };
}

test('a thread gets its data, answers messages, and its last words arrive before its exit', async () => {
  const url = module(
    'echo',
    `current.onMessage((m) => {
       if (m !== 'end') return current.post({ data: current.data, m });
       for (let i = 0; i < 100; i++) current.post(i);
       process.exit(3);
     });`,
  );
  const run = start(url, { word: new Int32Array(new SharedArrayBuffer(4)) });
  run.thread.post('a');
  run.thread.post('end');
  assert.deepEqual(await run.exit, { exitCode: 3, error: undefined });
  assert.equal((run.messages[0] as { m: string }).m, 'a');
  assert.deepEqual(
    run.messages.slice(1),
    Array.from({ length: 100 }, (_, i) => i),
  );
  run.thread.post('to nobody');
  await run.thread.terminate();
  assert.equal(run.exits(), 1);
});

test('the error that a thread dies of is told once', async () => {
  const run = start(
    module('throws', `current.onMessage(() => { throw new TypeError('bad day'); });`),
    undefined,
  );
  run.thread.post('go');
  const { exitCode, error } = await run.exit;
  assert.equal(exitCode, 1);
  assert.equal((error as Error).message, 'bad day');
});

test('a thread that runs out of memory is told apart', async () => {
  const url = module('memory', `const all = []; for (;;) all.push(new Array(1000).fill({}));`);
  const { exitCode, error } = await start(url, undefined, { maxOldGenerationSizeMb: 20 }).exit;
  assert.equal(exitCode, 1);
  assert.equal((error as NodeJS.ErrnoException).code, 'ERR_WORKER_OUT_OF_MEMORY');
});

test('an endless loop is terminated', async () => {
  const run = start(module('loop', `current.post('on'); for (;;);`), undefined);
  while (run.messages.length === 0) await createNodePlatform().timers.yieldToEventLoop();
  await run.thread.terminate();
  assert.equal(typeof (await run.exit).exitCode, 'number');
});

test('a module that does not exist ends in an exit with an error, and so does a URL that is none', async () => {
  const missing = await start(pathToFileURL(join(directory, 'missing.mjs')).href, undefined).exit;
  assert.match(String((missing.error as Error).message), /missing\.mjs/);
  const wrong = await start('not a url', undefined).exit;
  assert.match(String((wrong.error as Error).message), /Invalid URL/);
});

test("the main thread is nobody's thread, and knows its entry module", () => {
  const { threads } = createNodePlatform();
  assert.equal(threads.current, undefined);
  assert.match(threads.entryModuleUrl ?? '', /^file:.*node-threads\.test\.ts$/);
});

test('a thread has the environment of the process, and nothing beside it', async () => {
  const url = module('environment', 'current.post({ ...process.env });');
  const { messages, exit } = start(url, undefined);
  await exit;
  assert.deepEqual(messages, [{ ...process.env }]);
});
