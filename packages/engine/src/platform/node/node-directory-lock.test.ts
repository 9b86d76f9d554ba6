import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { hasCode } from '../../base/index.ts';
import { lockDirectory } from './node-directory-lock.ts';

const root = mkdtempSync(join(tmpdir(), 'millrace-lock-'));
after(() => rmSync(root, { recursive: true, force: true }));

function fresh(name: string): string {
  mkdirSync(join(root, name));
  return join(root, name);
}

/** A process that takes the lock, says what came of it, and lives on. */
function starter(directory: string): ChildProcess {
  const module = new URL('./node-directory-lock.ts', import.meta.url).href;
  const code = `
    const { lockDirectory } = await import(${JSON.stringify(module)});
    try { await lockDirectory(${JSON.stringify(directory)}); console.log('locked'); }
    catch (error) { console.log(error.code); }
    setInterval(() => {}, 1000);`;
  return spawn(process.execPath, ['--input-type=module', '--conditions=millrace-source', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function firstLine(child: ChildProcess): Promise<string> {
  const [chunk] = await once(child.stdout!, 'data');
  return String(chunk).trim();
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

test('a directory is locked once, and again after the release', async () => {
  const directory = fresh('twice');
  const lock = await lockDirectory(directory);
  await assert.rejects(lockDirectory(directory), (error: Error) => {
    assert.ok(hasCode(error, 'CHECKPOINT_DIRECTORY_IN_USE'));
    assert.match(error.message, new RegExp(`used by process ${process.pid} on `));
    return true;
  });
  await lock.release();
  const again = await lockDirectory(directory);
  await again.release();
  assert.equal(readdirSync(directory).length, 1);
});

test('the lock of a process that was killed is taken over, that of a living one is not', async () => {
  const directory = fresh('killed');
  const child = starter(directory);
  assert.equal(await firstLine(child), 'locked');
  await assert.rejects(lockDirectory(directory), new RegExp(`process ${child.pid}`));
  await kill(child);
  await (await lockDirectory(directory)).release();
});

test('of several starters after a kill exactly one gets the directory', async () => {
  const directory = fresh('race');
  const first = starter(directory);
  await firstLine(first);
  await kill(first);
  const children = Array.from({ length: 5 }, () => starter(directory));
  const answers = await Promise.all(children.map(firstLine));
  assert.deepEqual(answers.filter((answer) => answer === 'locked').length, 1);
  assert.deepEqual(answers.filter((answer) => answer === 'CHECKPOINT_DIRECTORY_IN_USE').length, 4);
  await Promise.all(children.map(kill));
});

test('of many takers in one process exactly one gets the directory', async () => {
  const directory = fresh('many');
  for (let round = 0; round < 5; round++) {
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => lockDirectory(directory)));
    const locks = results.filter((result) => result.status === 'fulfilled');
    assert.equal(locks.length, 1);
    await locks[0]!.value.release();
  }
});

test('a pid that was given to another process is no holder, and a torn lock file is nobody', async () => {
  const directory = fresh('stale');
  const lock = await lockDirectory(directory);
  await lock.release();
  const holder = {
    pid: process.pid,
    startTime: '1',
    host: (await import('node:os')).hostname(),
    boot: 'x',
    released: false,
  };
  writeFileSync(join(directory, '_lock.7'), JSON.stringify(holder));
  await (await lockDirectory(directory)).release();
  writeFileSync(join(directory, '_lock.9'), '{"pid": 1');
  await (await lockDirectory(directory)).release();
});

test('the lock of another machine stays, and the message says how to take it by hand', async () => {
  const directory = fresh('elsewhere');
  const holder = { pid: 1, startTime: '1', host: 'other-machine', boot: 'x', released: false };
  writeFileSync(join(directory, '_lock.1'), JSON.stringify(holder));
  await assert.rejects(lockDirectory(directory), /process 1 on other-machine.*delete .*_lock\.1/);
});

test('a process that is dead and was not taken note of by its parent holds nothing', {
  skip: process.platform === 'linux' ? false : 'needs /proc',
}, async () => {
  const directory = fresh('zombie');
  const module = new URL('./node-directory-lock.ts', import.meta.url).href;
  const code = `
      const { lockDirectory } = await import(${JSON.stringify(module)});
      await lockDirectory(${JSON.stringify(directory)});
      console.log(process.pid);
      process.kill(process.pid, 'SIGKILL');`;
  // The shell becomes a program that never asks after its children.
  const command = '"$@" & exec sleep 60';
  const node = [process.execPath, '--input-type=module', '--conditions=millrace-source', '-e', code];
  const parent = spawn('sh', ['-c', command, 'sh', ...node], { stdio: ['ignore', 'pipe', 'inherit'] });
  const pid = await firstLine(parent);
  while (!/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))) await new Promise(setImmediate);
  await (await lockDirectory(directory)).release();
  await kill(parent);
});
