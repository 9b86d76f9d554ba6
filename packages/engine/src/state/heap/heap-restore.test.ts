import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasCode, MillraceError } from '../../base/index.ts';
import { BackendWorkbench, useKey, writeSnapshot } from '../../testing/keyed-backend/backend-workbench.ts';
import { checkAll, fillAll, sampleStates } from '../../testing/keyed-backend/sample-states.ts';
import { openTextStates } from '../../testing/keyed-backend/ttl-states.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { Types } from '../../types/index.ts';
import type { KeyedStateBackend, KeyedStateToRestore } from '../backend.ts';
import { ValueStateDescriptor } from '../descriptors.ts';
import { createHeapKeyedStateBackend, type HeapTuning } from './heap-keyed-state-backend.ts';
import { STREAM_FOOTER_BYTES } from './heap-stream.ts';

const KEYS = 40;
const TTL = { ttl: 1000, cleanupIncrementally: { cleanupSize: 100 } };

const benchWith = (tuning: HeapTuning) =>
  new BackendWorkbench((options) => createHeapKeyedStateBackend({ ...options, tuning }));
const bench = benchWith({ pageBytes: 256, chunkBytes: 1024 });

async function sampleSnapshot(): Promise<KeyedStateToRestore> {
  const backend = await bench.create();
  fillAll([backend], KEYS);
  const timed = openTextStates(backend, TTL);
  for (let i = 0; i < KEYS * 2; i++) {
    useKey(backend, `k${i % KEYS}`);
    for (const state of timed.values()) state.write('t'.repeat((i * 37) % 300));
  }
  const text = backend.getValueState(new ValueStateDescriptor('text', Types.STRING));
  for (const key of ['k1', 'k2', 'k'.repeat(500)]) {
    useKey(backend, key);
    text.update(key.repeat(300));
  }
  return writeSnapshot(backend.snapshot());
}

function bytesOf({ handle }: KeyedStateToRestore): Uint8Array {
  assert.ok(handle.stream.kind === 'inline');
  return handle.stream.bytes.slice();
}

/** The same snapshot with other bytes. */
function withBytes({ handle }: KeyedStateToRestore, bytes: Uint8Array): KeyedStateToRestore {
  const read = (position: number, length: number) =>
    Promise.resolve(bytes.slice(position, position + length));
  return { handle, input: { lengthBytes: bytes.length, read } };
}

const isCorrupt = (error: unknown) => hasCode(error, 'SNAPSHOT_CORRUPT');

test('a stream that was cut anywhere is refused as corrupt', async () => {
  const saved = await sampleSnapshot();
  const bytes = bytesOf(saved);
  const lengths = [0, 1, 16, 55, 56, 100, bytes.length - 41, bytes.length - 40, bytes.length - 1];
  for (const length of lengths) {
    await assert.rejects(bench.create({ restore: [withBytes(saved, bytes.slice(0, length))] }), isCorrupt);
  }
  const longer = new Uint8Array(bytes.length + 8);
  longer.set(bytes);
  await assert.rejects(bench.create({ restore: [withBytes(saved, longer)] }), isCorrupt);
});

test('a stream whose reader returns less than was asked for is refused as corrupt', async () => {
  const saved = await sampleSnapshot();
  const bytes = bytesOf(saved);
  for (const last of [8, bytes.length / 2, bytes.length - 100, bytes.length - 1]) {
    const read = (position: number, length: number) =>
      Promise.resolve(bytes.slice(position, Math.min(position + length, last)));
    const input = { lengthBytes: bytes.length, read };
    await assert.rejects(bench.create({ restore: [{ handle: saved.handle, input }] }), isCorrupt);
  }
});

test('a stream of a newer version is refused by that name', async () => {
  const saved = await sampleSnapshot();
  const bytes = bytesOf(saved);
  bytes[8] = 3;
  await assert.rejects(
    bench.create({ restore: [withBytes(saved, bytes)] }),
    (error) => hasCode(error, 'SNAPSHOT_FORMAT_NEWER') && /version 3.*up to 2/s.test(String(error)),
  );
  bytes[8] = 0;
  await assert.rejects(bench.create({ restore: [withBytes(saved, bytes)] }), isCorrupt);
});

test('a manifest that says other key groups than the stream is refused', async () => {
  const saved = await sampleSnapshot();
  const handle = { ...saved.handle, keyGroups: { first: 0, last: 63 } };
  await assert.rejects(bench.create({ restore: [{ ...saved, handle }] }), isCorrupt);
});

test('the same key groups in two streams are refused', async () => {
  const saved = await sampleSnapshot();
  await assert.rejects(bench.create({ restore: [saved, saved] }), isCorrupt);
});

test('whatever byte is wrong, a restore ends, with the state or with an error of ours', async () => {
  const saved = await sampleSnapshot();
  const clean = bytesOf(saved);
  const random = seededRandom(7);
  let refused = 0;
  for (let run = 0; run < 250; run++) {
    const bytes = clean.slice();
    const place =
      run % 3 === 0
        ? clean.length - 1 - random.below(STREAM_FOOTER_BYTES + 2000)
        : random.below(clean.length);
    bytes[place] = bytes[place]! ^ (1 << random.below(8));
    if (run % 5 === 0) bytes[random.below(clean.length)] = random.below(256);
    try {
      const backend = await bench.create({ restore: [withBytes(saved, bytes)] });
      readEverything(backend);
    } catch (error) {
      assert.ok(
        error instanceof MillraceError || error instanceof RangeError,
        String((error as Error).stack),
      );
      assert.ok(
        !hasCode(error, 'ASSERTION_FAILED'),
        `byte ${place} of run ${run}: ${(error as Error).stack}`,
      );
      if (isCorrupt(error)) refused++;
    }
  }
  assert.ok(refused > 50, `${refused} were refused`);
});

/** Touches all state; wrong contents are possible and not looked at. */
function readEverything(backend: KeyedStateBackend<string>): void {
  const states = sampleStates(backend);
  for (let i = 0; i < KEYS; i++) {
    useKey(backend, `k${i}`);
    for (const state of [states.item, states.count]) state.value();
    states.list.get();
    for (const _ of states.map.entries());
    states.map.clear();
    states.list.clear();
  }
  bench.nowMs += TTL.ttl;
  const timed = openTextStates(backend, TTL);
  for (let i = 0; i < KEYS / 2; i++) {
    useKey(backend, `k${i}`);
    for (const state of timed.values()) state.read();
    backend.cleanUpExpired();
  }
  bench.nowMs -= TTL.ttl;
}

test('pages of another size are copied entry by entry', async () => {
  const backend = await bench.create();
  const model = fillAll([backend], 200);
  const saved = writeSnapshot(backend.snapshot());
  for (const pageBytes of [512, 4096, 32768]) {
    const other = await benchWith({ pageBytes, chunkBytes: 65536 }).create({ restore: [saved] });
    const back = await bench.create({ restore: [writeSnapshot(other.snapshot())] });
    checkAll([other], model);
    checkAll([back], model);
  }
});

test('a subtask reads the pages of its key groups, not the whole stream', async () => {
  const backend = await benchWith({}).create();
  const text = backend.getValueState(new ValueStateDescriptor('text', Types.STRING));
  for (let i = 0; i < 20_000; i++) {
    useKey(backend, `k${i}`);
    text.update('x'.repeat(100));
  }
  const saved = writeSnapshot(backend.snapshot());
  let readBytes = 0;
  const input = {
    lengthBytes: saved.input.lengthBytes,
    read: (position: number, length: number) => {
      readBytes += length;
      return saved.input.read(position, length);
    },
  };
  await benchWith({}).create({
    keyGroups: { first: 3, last: 3 },
    restore: [{ handle: saved.handle, input }],
  });
  assert.ok(
    readBytes < saved.input.lengthBytes / 8,
    `${readBytes} of ${saved.input.lengthBytes} bytes were read`,
  );
});
