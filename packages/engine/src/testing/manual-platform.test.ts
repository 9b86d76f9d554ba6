import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualPlatform } from './manual-platform.ts';

async function write(
  platform: ReturnType<typeof createManualPlatform>,
  path: string,
  text: string,
  sync: boolean,
) {
  const file = await platform.files.create(path);
  await file.write(Buffer.from(text));
  if (sync) await file.sync();
  await file.close();
}

test('timers run in the order of their times, each at its time, and cancelled ones do not', () => {
  const { timers, clock, advance } = createManualPlatform();
  const ran: string[] = [];
  timers.after(20, () => ran.push(`b${clock.monotonicMs()}`));
  timers.after(10, () => {
    ran.push(`a${clock.monotonicMs()}`);
    timers.after(5, () => ran.push(`c${clock.monotonicMs()}`));
  });
  timers.after(15, () => ran.push('never')).cancel();
  advance(19);
  assert.deepEqual(ran, ['a10', 'c15']);
  advance(100);
  assert.deepEqual(ran, ['a10', 'c15', 'b20']);
  assert.equal(clock.monotonicMs(), 119);
});

test('the wall clock jumps without monotonic time noticing', () => {
  const platform = createManualPlatform({ wallMs: 1000 });
  platform.advance(5);
  platform.setWallMs(50);
  platform.advance(5);
  assert.equal(platform.clock.wallMs(), 55);
  assert.equal(platform.clock.monotonicMs(), 10);
});

test('the same seed gives the same numbers', () => {
  const [a, b, c] = [1, 1, 2].map((seed) => createManualPlatform({ seed }).random.hex(8));
  assert.equal(a, b);
  assert.notEqual(a, c);
});

test('parking wakes by time, by notification, and does not park if the word has changed', async () => {
  const { parking, advance } = createManualPlatform();
  const word = new Int32Array(2);
  await parking.park(word, 0, 1, 100);
  const byTime = parking.park(word, 0, 0, 100);
  advance(100);
  await byTime;
  const byCall = parking.park(word, 1, 0, Number.POSITIVE_INFINITY);
  parking.unpark(word, 1);
  await byCall;
});

test('at a crash unsynced content and unsynced names are lost, synced ones are not', async () => {
  const platform = createManualPlatform();
  const { files } = platform;
  await files.makeDirectory('/a');
  await write(platform, '/a/both', 'x', true);
  await files.syncDirectory('/a');
  await write(platform, '/a/no-name', 'x', true);
  await write(platform, '/a/renamed-from', 'x', true);
  await files.rename('/a/both', '/a/renamed-to');
  files.crash();
  assert.deepEqual(files.allFiles(), ['/a/both']);
  await write(platform, '/a/no-content', 'x', false);
  await files.syncDirectory('/a');
  files.crash();
  assert.equal(files.peek('/a/no-content')?.length, 0);
  await files.delete('/a/both');
  files.crash();
  assert.deepEqual(files.allFiles(), ['/a/both', '/a/no-content']);
});

test('a renamed file has one of its two names after a power failure, never none', async () => {
  for (let seed = 1; seed <= 30; seed++) {
    const { files } = createManualPlatform({ seed });
    await files.makeDirectory('/a');
    for (const name of ['old', 'replaced']) await (await files.create(`/a/${name}`)).close();
    await files.syncDirectory('/a');
    await files.rename('/a/old', '/a/new');
    const other = await files.create('/a/other');
    await other.sync();
    await files.rename('/a/other', '/a/replaced');
    files.crash({ keep: 'some' });
    const names = (await files.list('/a')).map(({ name }) => name);
    assert.equal(names.filter((name) => name === 'old' || name === 'new').length, 1, names.join(' '));
    assert.ok(names.includes('replaced'), names.join(' '));
  }
});

test('faults come at the operation they were asked for', async () => {
  const platform = createManualPlatform();
  const { files } = platform;
  await files.makeDirectory('/a');
  files.failAt(1, 'EACCES');
  await assert.rejects(files.create('/a/x'), /EACCES/);
  const file = await files.create('/a/x');
  files.tearAt(1, 2);
  await assert.rejects(file.write(Buffer.from('hello')));
  assert.equal(files.peek('/a/x')?.length, 2);
  files.limitBytes(3);
  await assert.rejects(file.write(Buffer.from('hello')), /ENOSPC/);
  files.clearFaults();
  files.crashAt(2);
  await file.write(Buffer.from('y'));
  await assert.rejects(file.sync(), /EIO/);
  await assert.rejects(files.list('/a'), /EIO/);
  files.crash();
  await assert.rejects(file.close(), /EBADF/);
  assert.deepEqual(await files.list('/a'), []);
});

test('a lock ends with its process', async () => {
  const { files } = createManualPlatform();
  await files.makeDirectory('/a');
  await files.lockDirectory('/a');
  await assert.rejects(files.lockDirectory('/a'), { code: 'CHECKPOINT_DIRECTORY_IN_USE' });
  files.killProcess();
  await files.lockDirectory('/a');
});

test('threads are refused', () => {
  const { threads } = createManualPlatform();
  assert.throws(() => threads.start('x', 'x', undefined, { onMessage() {}, onExit() {} }), {
    code: 'THREADS_UNSUPPORTED',
  });
});
