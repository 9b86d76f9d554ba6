import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { createNodePlatform } from './index.ts';

const { clock, timers, random, parking, hasher, decompress, cpuMicros, compress, isStandardStream } =
  createNodePlatform();

test('parking ends at once if the word has changed, by a notification, or by time', async () => {
  const word = new Int32Array(new SharedArrayBuffer(4));
  word[0] = 1;
  await parking.park(word, 0, 0, 60_000);
  const parked = parking.park(word, 0, 1, 60_000);
  parking.unpark(word, 0);
  await parked;
  const startMs = clock.monotonicMs();
  await parking.park(word, 0, 1, 20);
  assert.ok(clock.monotonicMs() - startMs >= 19);
});

test('many parkings leave nothing behind', async () => {
  const word = new Int32Array(new SharedArrayBuffer(4));
  for (let i = 0; i < 20_000; i++) {
    const parked = parking.park(word, 0, 0, 100_000);
    parking.unpark(word, 0);
    await parked;
  }
  const left = process.getActiveResourcesInfo().filter((name) => name === 'Timeout');
  assert.ok(left.length < 5, `${left.length} timers are left`);
});

test('a parked thread keeps the process alive until it wakes', () => {
  const module = new URL('./index.ts', import.meta.url).href;
  const code = `
    const { createNodePlatform } = await import(${JSON.stringify(module)});
    const word = new Int32Array(new SharedArrayBuffer(4));
    await createNodePlatform().parking.park(word, 0, 0, 50);
    console.log('woke');`;
  const run = spawnSync(process.execPath, [
    '--input-type=module',
    '--conditions=millrace-source',
    '-e',
    code,
  ]);
  assert.equal(String(run.stdout).trim(), 'woke', String(run.stderr));
});

test('a timer fires after its delay, a cancelled one does not, and a very long one does not fire at once', async () => {
  const fired: string[] = [];
  const startMs = clock.monotonicMs();
  const long = timers.after(2 ** 33, () => fired.push('long'));
  const cancelled = timers.after(1, () => fired.push('cancelled'));
  cancelled.cancel();
  await new Promise<void>((resolve) => timers.after(15, resolve));
  long.cancel();
  assert.ok(clock.monotonicMs() - startMs >= 15);
  assert.deepEqual(fired, []);
});

test('random numbers are within [0, 1) and identifiers differ', () => {
  for (let i = 0; i < 1000; i++) {
    const number = random.next();
    assert.ok(number >= 0 && number < 1);
  }
  assert.match(random.hex(16), /^[0-9a-f]{32}$/);
  assert.notEqual(random.hex(16), random.hex(16));
});

test('the hash is SHA-256, in pieces', () => {
  const hash = hasher();
  hash.update(Buffer.from('a'));
  hash.update(Buffer.from('bc'));
  assert.equal(hash.digestHex(), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

test('decompression is bounded, and damage has a code', async () => {
  const { brotliCompressSync, gzipSync, zstdCompressSync } = await import('node:zlib');
  const bytes = Buffer.alloc(10_000, 'x');
  for (const [format, compress] of [
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
    ['brotli', brotliCompressSync],
  ] as const) {
    const packed = compress(bytes);
    assert.deepEqual(Buffer.from(decompress(format, packed, 10_000)), bytes);
    assert.throws(() => decompress(format, packed, 9_999), { code: 'DECOMPRESSION_FAILED' });
    assert.throws(() => decompress(format, packed.subarray(4), 10_000), { code: 'DECOMPRESSION_FAILED' });
  }
});

test('pieces that were compressed one by one are, one after the other, a whole', () => {
  const pieces = ['first ', 'second ', ''].map((text) => Buffer.from(text.repeat(1000)));
  for (const format of ['gzip', 'zstd'] as const) {
    const packed = Buffer.concat(pieces.map((piece) => compress(format, piece)));
    assert.deepEqual(Buffer.from(decompress(format, packed, 100_000)), Buffer.concat(pieces));
  }
});

test('the standard streams of this thread are known', () => {
  assert.ok(isStandardStream(process.stdout) && isStandardStream(process.stderr));
  assert.equal(isStandardStream(process.stdin), false);
});

test('CPU time only grows', () => {
  const before = cpuMicros();
  assert.ok(before > 0 && cpuMicros() >= before);
});
