import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { hasCode, silentLogger } from '../../base/index.ts';
import { createNodePlatform } from '../../platform/node/index.ts';
import type { Source } from '../../runtime/index.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { SimulatedSourceHost } from '../../testing/simulated-source-host.ts';
import { sourceContract } from '../../testing/source-contract.ts';
import { Types } from '../../types/index.ts';
import { FileSource } from './file-source.ts';

const platform = createNodePlatform({ logger: silentLogger });
const root = mkdtempSync(join(tmpdir(), 'compressed-files-'));
after(() => rmSync(root, { recursive: true }));

let directories = 0;

function directoryOf(files: Readonly<Record<string, Uint8Array>>): string {
  const directory = join(root, String(directories++));
  mkdirSync(directory);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
  return directory;
}

async function readAll<T>(source: Source<T>): Promise<T[]> {
  const host = await SimulatedSourceHost.start(source, platform, seededRandom(1), 1);
  try {
    while (!host.ended) await host.step(100);
    return host.emitted;
  } finally {
    await host.close();
  }
}

const lines = Array.from({ length: 90 }, (_, i) => `line ${i} ${'é€😀'.repeat(i % 7)}`);
const part = (from: number, to: number): Buffer => Buffer.from(`${lines.slice(from, to).join('\n')}\n`);
const mixed = directoryOf({
  '1.txt.gz': Buffer.concat([gzipSync(part(0, 10)), gzipSync(part(10, 20)), gzipSync(part(20, 30))]),
  '2.txt': part(30, 60),
  '3.txt.zst': Buffer.concat([zstdCompressSync(part(60, 75)), zstdCompressSync(part(75, 90))]),
  '4.txt.gz': new Uint8Array(),
});

sourceContract({
  name: 'lines of plain and compressed files, of several members and frames',
  create: () => FileSource.forTextLines(mixed, { splitSizeBytes: 100 }),
  platform: () => platform,
  expected: lines,
  seeds: 10,
});

const orders = Array.from({ length: 40 }, (_, id) => ({ id, note: `note ${id}` }));
const csv = gzipSync(`id,note\n${orders.map(({ id, note }) => `${id},${note}`).join('\n')}`);
const csvDirectory = directoryOf({ 'o.csv.gz': csv });
sourceContract({
  name: 'compressed CSV with a header',
  create: () => FileSource.forCsv(csvDirectory, { type: Types.ROW({ id: Types.INT, note: Types.STRING }) }),
  platform: () => platform,
  expected: orders,
  seeds: 5,
});

test('files of any name are decompressed, or none is, if the user says so', async () => {
  const gzip = directoryOf({ a: gzipSync('one\n') });
  assert.deepEqual(await readAll(FileSource.forTextLines(gzip, { compression: 'gzip' })), ['one']);
  const zstd = directoryOf({ a: zstdCompressSync('two\n') });
  assert.deepEqual(await readAll(FileSource.forTextLines(zstd, { compression: 'zstd' })), ['two']);
  const misnamed = directoryOf({ 'a.gz': Buffer.from('three\n') });
  assert.deepEqual(await readAll(FileSource.forTextLines(misnamed, { compression: 'none' })), ['three']);
  assert.throws(
    () => FileSource.forTextLines(gzip, { compression: 'zip' as never }),
    (error) => hasCode(error, 'INVALID_ARGUMENT'),
  );
});

test('a file that is cut off, or is not what its name says, is an error that names it', async () => {
  const whole = gzipSync(part(0, 90));
  for (const content of [whole.subarray(0, whole.length - 12), Buffer.from('plain text\n')]) {
    const directory = directoryOf({ 'a.gz': content });
    await assert.rejects(readAll(FileSource.forTextLines(directory)), (error: Error) => {
      return hasCode(error, 'DECOMPRESSION_FAILED') && /source under test": .*a\.gz: /.test(error.message);
    });
  }
});

test('a megabyte that stands for a gigabyte is read in pieces', async () => {
  const line = `${'x'.repeat(1023)}\n`;
  const member = gzipSync(line.repeat(65_536));
  const directory = directoryOf({ 'bomb.gz': Buffer.concat(Array.from({ length: 4 }, () => member)) });
  const before = process.memoryUsage().arrayBuffers;
  const host = await SimulatedSourceHost.start(
    FileSource.forTextLines(directory),
    platform,
    seededRandom(1),
    1,
  );
  while (host.emitted.length === 0) await host.step(1);
  for (let i = 0; i < 50; i++) await platform.timers.yieldToEventLoop();
  assert.ok(process.memoryUsage().arrayBuffers - before < 30e6);
  await host.close();
});

test('progress counts compressed bytes, and ends at their number', async () => {
  const content = gzipSync(part(0, 90));
  const source = FileSource.forTextLines(directoryOf({ 'a.gz': content }));
  const enumeratorEnd = Promise.withResolvers<void>();
  const reader = source.createReader({
    platform,
    logger: silentLogger,
    sourceName: 's',
    subtaskIndex: 0,
    parallelism: 1,
    attemptNumber: 0,
    requestSplit: () => enumeratorEnd.resolve(),
    sendSourceEventToCoordinator() {},
    wake() {},
    fail: (error) => enumeratorEnd.reject(error),
  });
  await reader.start();
  const split = { kind: 'bytes' as const, splitId: 'x', path: join(root, String(directories - 1), 'a.gz') };
  const range = { start: 0, end: Number.MAX_SAFE_INTEGER, position: 500, linesBefore: 3 };
  const size = { fileSizeBytes: content.length, totalBytes: content.length };
  reader.addSplits([{ ...split, ...range, ...size, compression: 'gzip' }]);
  assert.equal(reader.progress?.().left, content.length);
  const polling = setInterval(() => reader.poll({ collect() {} }, 10), 1);
  await enumeratorEnd.promise.finally(() => clearInterval(polling));
  const { done, left, total } = reader.progress!();
  assert.deepEqual([done, left, total], [content.length, 0, content.length]);
  await reader.close();
});
