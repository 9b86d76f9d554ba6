import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { createManualPlatform, type ManualPlatform } from '../testing/manual-platform.ts';
import type { CheckpointLocation } from './checkpoint-storage.ts';
import type { ChecksumKind } from './file-checksum.ts';
import { openStateInput } from './snapshot-reader.ts';
import { createCheckpointStreams } from './state-stream.ts';

const MIB = 1024 * 1024;

async function bench(inlineThresholdBytes = 20, checksum: ChecksumKind = 'crc32') {
  const platform = createManualPlatform();
  await platform.files.makeDirectory('/cp/chk-1');
  const location: CheckpointLocation = {
    kind: 'directory',
    checkpointId: 1,
    directory: '/cp/chk-1',
    inlineThresholdBytes,
    checksum,
  };
  const streams = createCheckpointStreams(platform);
  return { platform, location, streams, create: () => streams.createStream(location, '0-1', 'count') };
}

function pattern(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (i * 7 + (i >> 8)) & 255);
}

async function readBack(
  platform: ManualPlatform,
  handle: Parameters<typeof openStateInput>[2],
): Promise<Uint8Array> {
  const input = openStateInput(platform, '/cp/chk-1', handle);
  return input.read(0, input.lengthBytes);
}

test('a small state stays inline and makes no file', async () => {
  const { platform, create } = await bench();
  const stream = create();
  stream.append(pattern(20));
  const finished = await stream.finish();
  assert.equal(finished.file, undefined);
  assert.deepEqual(finished.handleOf(5, 3), { kind: 'inline', bytes: pattern(20).slice(5, 8) });
  assert.deepEqual(platform.files.allFiles(), []);
});

test('a larger one becomes a file that survives a power failure, with length and checksum', async () => {
  const { platform, create } = await bench();
  const stream = create();
  const bytes = pattern(3 * MIB + 17);
  const copy = bytes.slice();
  for (let at = 0; at < bytes.length; at += 100_000) stream.append(bytes.subarray(at, at + 100_000));
  bytes.fill(0);
  const finished = await stream.finish();
  platform.files.crash();
  assert.equal(finished.lengthBytes, copy.length);
  assert.equal(finished.file?.sizeBytes, copy.length);
  assert.equal(Number.parseInt(finished.file?.crc32 ?? '', 16), crc32(copy));
  assert.equal(finished.file?.sha256, undefined);
  assert.match(finished.file?.path ?? '', /^0-1-[0-9a-f]{16}$/);
  assert.deepEqual(await readBack(platform, finished.handleOf(MIB - 5, 10)), copy.slice(MIB - 5, MIB + 5));
});

test('the location says which checksum', async () => {
  const { create } = await bench(0, 'sha256');
  const stream = create();
  for (let i = 0; i < 3; i++) stream.append(pattern(MIB));
  const { file } = await stream.finish();
  const hash = createHash('sha256');
  for (let i = 0; i < 3; i++) hash.update(pattern(MIB));
  assert.equal(file?.sha256, hash.digest('hex'));
  assert.equal(file?.crc32, undefined);
});

test('any sequence of appends gives the bytes in order (property)', async () => {
  const sizes = fc.array(fc.oneof(fc.nat(50), fc.constantFrom(MIB, MIB - 1, MIB + 1, 300_000)), {
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(sizes, fc.nat(100), async (lengths, threshold) => {
      const { platform, create } = await bench(threshold);
      const stream = create();
      const all: Uint8Array[] = [];
      for (const [index, length] of lengths.entries()) {
        const piece = pattern(length).map((byte) => byte ^ index);
        assert.equal(
          stream.position,
          all.reduce((sum, each) => sum + each.length, 0),
        );
        all.push(piece);
        stream.append(piece);
        if (index % 3 === 0) await stream.ready();
      }
      const whole = Buffer.concat(all);
      const finished = await stream.finish();
      assert.equal(finished.file === undefined, whole.length <= threshold);
      const got = Buffer.from(await readBack(platform, finished.handleOf(0, whole.length)));
      assert.ok(got.equals(whole));
    }),
    { numRuns: 30 },
  );
});

test('lent bytes come in their place and are given back once, when they were written or never will be', async () => {
  const { platform, create } = await bench();
  const lengths = [100, MIB, 50, 300_000, MIB, 7];
  const pieces = lengths.map((length, index) => pattern(length).map((byte) => byte ^ index));
  const whole = Buffer.concat(pieces);
  const given = lengths.map(() => 0);
  const lend = (stream: ReturnType<typeof create>): void => {
    for (const [index, piece] of pieces.entries()) {
      // What is given back is used for something else at once.
      const lent = piece.slice();
      stream.appendLent(lent, () => {
        given[index]!++;
        lent.fill(255);
      });
    }
  };
  const stream = create();
  stream.append(pattern(10));
  lend(stream);
  assert.deepEqual(given, [1, 0, 1, 0, 0, 1], 'a write of its own costs more than copying a little');
  assert.equal(stream.backlogBytes, 10 + whole.length);
  const finished = await stream.finish();
  assert.deepEqual(given, [1, 1, 1, 1, 1, 1]);
  const got = Buffer.from(await readBack(platform, finished.handleOf(10, whole.length)));
  assert.ok(got.equals(whole));

  const aborted = create();
  lend(aborted);
  await aborted.abort();
  assert.deepEqual(given, [2, 2, 2, 2, 2, 2]);
  lend(aborted);
  assert.deepEqual(given, [3, 3, 3, 3, 3, 3]);

  platform.files.limitBytes(platform.files.allFiles().length + whole.length + 500_000);
  const failing = create();
  lend(failing);
  await assert.rejects(failing.finish(), /ENOSPC/);
  assert.deepEqual(given, [4, 4, 4, 4, 4, 4]);
});

test('the backlog is known, congests at a bound, and ready waits for it', async () => {
  const { create } = await bench();
  const stream = create();
  assert.equal(stream.isCongested(), false);
  for (let i = 0; i < 6; i++) stream.append(pattern(MIB));
  assert.ok(stream.backlogBytes > 4 * MIB && stream.isCongested());
  await stream.ready();
  assert.equal(stream.isCongested(), false);
  await stream.finish();
});

test('a full disk fails the stream, wakes who waits, and leaves no file', async () => {
  const { platform, create } = await bench();
  platform.files.limitBytes(2 * MIB);
  const stream = create();
  for (let i = 0; i < 8; i++) stream.append(pattern(MIB));
  await stream.ready();
  await assert.rejects(stream.finish(), /ENOSPC\. The disk is full/);
  assert.deepEqual(platform.files.allFiles(), []);
});

test('a failing sync fails the stream: its handles are never given out', async () => {
  for (const n of [3, 4, 5]) {
    const { platform, create } = await bench();
    const stream = create();
    stream.append(pattern(1000));
    platform.files.failAt(n);
    await assert.rejects(stream.finish(), /EIO/, `operation ${n}`);
    assert.deepEqual(platform.files.allFiles(), []);
  }
});

test('an aborted stream leaves no file, before, during and after finish', async () => {
  const { platform, create } = await bench();
  const early = create();
  for (let i = 0; i < 3; i++) early.append(pattern(MIB));
  await early.abort();
  early.append(pattern(MIB));
  assert.deepEqual(platform.files.allFiles(), []);
  const late = create();
  late.append(pattern(1000));
  const finishing = late.finish();
  await late.abort();
  await assert.rejects(finishing, /aborted/);
  assert.deepEqual(platform.files.allFiles(), []);
  const done = create();
  done.append(pattern(1000));
  await done.finish();
  await done.abort();
  assert.equal(platform.files.allFiles().length, 1);
});

test('state in memory that is too large names the operator and both sizes', async () => {
  const location: CheckpointLocation = { kind: 'memory', checkpointId: 1, maxStateSizeBytes: 5 * MIB };
  const streams = createCheckpointStreams(createManualPlatform());
  const fits = streams.createStream(location, 'x', 'count');
  fits.append(pattern(5 * MIB));
  assert.equal((await fits.finish()).lengthBytes, 5 * MIB);
  const large = streams.createStream(location, 'x', 'count');
  for (let i = 0; i < 6; i++) large.append(pattern(MIB));
  await assert.rejects(large.finish(), (error: Error & { code?: string }) => {
    assert.equal(error.code, 'STATE_TOO_LARGE');
    assert.match(
      error.message,
      /Size=6291456, maxSize=5242880\. The state of "count" has 6291456 bytes; .*hold 5 mb a state/,
    );
    return true;
  });
});
