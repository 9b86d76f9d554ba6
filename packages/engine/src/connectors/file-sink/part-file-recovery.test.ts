import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { hasCode } from '../../base/index.ts';
import { createManualPlatform, type ManualPlatform } from '../../testing/manual-platform.ts';
import { SimulatedSinkHost } from '../../testing/simulated-sink-host.ts';
import { FileSink, type RowSinkOptions } from './file-sink.ts';
import { DefaultRollingPolicy } from './rolling-policy.ts';

/** Files go on over all checkpoints of these tests. */
const sink = (options: RowSinkOptions = {}): FileSink<number> =>
  FileSink.forJsonLines<number>('/out', options).withRollingPolicy(new DefaultRollingPolicy());

const input = [1, 2, 3, 4, 5, 6, 7, 8];

function start(platform: ManualPlatform, over: object = {}, options: RowSinkOptions = {}) {
  return SimulatedSinkHost.start<number>(sink(options), { platform, parallelism: 1, ...over });
}

type Decode = (bytes: Uint8Array) => Uint8Array;

function texts(platform: ManualPlatform, isHidden: boolean, decode: Decode = (bytes) => bytes): string[] {
  return platform.files
    .allFiles()
    .filter((path) => path.startsWith('/out/.') === isHidden)
    .map((path) =>
      Buffer.from(decode(platform.files.peek(path)!))
        .toString()
        .replaceAll('\n', ' '),
    )
    .sort();
}

const visible = (platform: ManualPlatform, decode?: Decode): string[] => texts(platform, false, decode);
const hidden = (platform: ManualPlatform): string[] => texts(platform, true);

/** Checkpoint 1 covers 1 and 2, checkpoint 2 also 3; 4 comes after; all in one file. */
async function killedLater(platform: ManualPlatform, options: RowSinkOptions = {}) {
  const host = await start(platform, {}, options);
  await host.write(input, 2);
  const first = await host.checkpoint(1);
  await host.write(input, 3);
  const second = await host.checkpoint(2);
  await host.write(input, 4);
  await host.checkpoint(3);
  await host.kill();
  return { first, second };
}

test('a file in progress is cut to what the checkpoint knows and ends with the next', async () => {
  const platform = createManualPlatform();
  const { second } = await killedLater(platform);
  assert.deepEqual(hidden(platform), ['1 2 3 4 ']);
  platform.files.crash();
  const host = await start(platform, { restored: second });
  assert.deepEqual(hidden(platform), ['1 2 3 ']);
  await host.write(input, 5);
  await host.checkpoint(3);
  assert.deepEqual(visible(platform), ['1 2 3 ']);
  await host.finish(4);
  assert.deepEqual(visible(platform), ['1 2 3 ', '4 5 ']);
  assert.deepEqual(hidden(platform), []);
});

for (const [compression, decode] of [
  ['gzip', gunzipSync],
  ['zstd', zstdDecompressSync],
] as const) {
  test(`a compressed file (${compression}) is cut between members: what is left is whole`, async () => {
    const platform = createManualPlatform();
    const { first } = await killedLater(platform, { compression });
    const host = await start(platform, { restored: first }, { compression });
    await host.write(input, 8);
    await host.checkpoint(2);
    await host.finish(3);
    assert.deepEqual(visible(platform, decode), ['1 2 ', '3 4 5 6 7 8 ']);
    for (const path of platform.files.allFiles())
      assert.match(path, compression === 'gzip' ? /\.jsonl\.gz$/ : /\.jsonl\.zst$/);
  });
}

test('the same checkpoint may be restored again and again, also after a later one was committed', async () => {
  const platform = createManualPlatform();
  const { first } = await killedLater(platform);
  for (const attempt of [1, 2]) {
    const host = await start(platform, { restored: first, attemptNumber: attempt });
    await host.write(input, 4);
    await host.prepare(2);
    await host.kill();
  }
  const host = await start(platform, { restored: first });
  await host.write(input, 3);
  await host.finish(2);
  assert.deepEqual(visible(platform), ['1 2 ', '3 ']);
  const again = await start(platform, { restored: first });
  await again.write(input, 4);
  await again.finish(2);
  assert.deepEqual(
    visible(platform),
    ['1 2 ', '3 ', '3 4 '],
    'what a later checkpoint covered is there twice',
  );
});

test('another branch copies the beginning and leaves the file to the branch that writes it', async () => {
  const platform = createManualPlatform();
  const host = await start(platform);
  await host.write(input, 2);
  const first = await host.checkpoint(1);
  const fork = await start(platform, { restored: first, lineageId: 'fork' });
  await host.write(input, 4);
  await fork.write(input, 3);
  await fork.finish(2);
  assert.deepEqual(visible(platform), ['1 2 ', '3 ']);
  await host.finish(2);
  assert.deepEqual(visible(platform), ['1 2 ', '1 2 3 4 ', '3 ']);
});

test('a copy that no checkpoint knows goes when the branch begins again', async () => {
  const platform = createManualPlatform();
  const { first } = await killedLater(platform);
  const fork = await start(platform, { restored: first, lineageId: 'fork' });
  assert.deepEqual(hidden(platform), ['1 2 ', '1 2 3 4 ']);
  await fork.kill();
  const again = await start(platform, { restored: first, lineageId: 'fork' });
  await again.finish(2);
  assert.deepEqual(visible(platform), ['1 2 ']);
  assert.deepEqual(hidden(platform), ['1 2 3 4 ']);
});

test('a file that is gone or too short is an error that names it', async () => {
  for (const [damage, found] of [
    ['gone', /neither the pending nor the finished file is there/],
    ['short', /the file has 3 bytes/],
  ] as const) {
    const platform = createManualPlatform();
    const { second } = await killedLater(platform);
    const [path] = platform.files.allFiles();
    if (damage === 'gone') platform.files.lose(path!);
    else platform.files.damage(path!, (bytes) => bytes.slice(0, 3));
    await assert.rejects(start(platform, { restored: second }), (error: Error) => {
      assert.ok(hasCode(error, 'SINK_COMMIT_LOST'));
      assert.match(error.message, found);
      return error.message.includes('/out/part-');
    });
  }
});

test('a writer that is closed keeps the files that a checkpoint knows, and no others', async () => {
  const platform = createManualPlatform();
  const host = await SimulatedSinkHost.start<number>(
    sink().withBucketAssigner((n) => (n < 3 ? 'known' : 'new')),
    {
      platform,
      parallelism: 1,
    },
  );
  await host.write(input, 2);
  const first = await host.checkpoint(1);
  await host.write(input, 8);
  await platform.settle();
  await host.close();
  assert.deepEqual(hidden(platform), ['1 2 ']);
  const again = await start(platform, { restored: first });
  await again.finish(2);
  assert.deepEqual(visible(platform), ['1 2 ']);
});

test('a file of many checkpoints loses nothing in a power failure at any operation', async () => {
  for (let at = 1; ; at++) {
    const platform = createManualPlatform();
    const host = await start(platform);
    await host.write(input, 2);
    const first = await host.checkpoint(1);
    platform.files.crashAt(at);
    let last = first;
    try {
      for (const id of [2, 3]) {
        await host.write(input, id + 1);
        const prepared = await host.prepare(id);
        last = prepared;
        await host.commitAll(id);
      }
      await host.finish(4);
      assert.ok(at > 10, `${at} operations`);
      return;
    } catch {
      platform.files.crash({ keep: at % 2 === 0 ? 'synced' : 'some' });
    }
    const again = await start(platform, { restored: last });
    await again.write(input, 8);
    await again.finish(last.id + 1);
    const records = visible(platform).flatMap((text) => text.trim().split(' ').map(Number));
    assert.deepEqual(records.sort(), input, `failure at operation ${at}`);
  }
});
