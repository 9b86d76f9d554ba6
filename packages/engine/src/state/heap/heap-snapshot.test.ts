/** What a snapshot costs while it is written, counted in pages and bytes. That it is exact is for the contract suite. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemorySink, useKey } from '../../testing/keyed-backend/backend-workbench.ts';
import { Types } from '../../types/index.ts';
import type { KeyedStateBackend } from '../backend.ts';
import { MapStateDescriptor, ValueStateDescriptor } from '../descriptors.ts';
import type { KeyedStateSnapshot } from '../snapshot.ts';
import { createHeapKeyedStateBackend } from './heap-keyed-state-backend.ts';

const PAGE_BYTES = 1024;
/** A page with the head of its record. */
const RECORD_BYTES_MAX = PAGE_BYTES + 64;
const KEYS = 20_000;

const VALUE = new ValueStateDescriptor('value', Types.LONG);

/** A backend of one key group, so that rows of neighbouring keys are in neighbouring places. */
async function filled(): Promise<KeyedStateBackend<number>> {
  const backend = await createHeapKeyedStateBackend<number>({
    keyType: Types.INT,
    keyGroups: { first: 0, last: 0 },
    maxParallelism: 1,
    operatorName: 'totals',
    processingTimeMs: () => 0,
    restore: undefined,
    tuning: { pageBytes: PAGE_BYTES, chunkBytes: 64 * 1024 },
  });
  const value = backend.getValueState(VALUE);
  for (let key = 0; key < KEYS; key++) {
    useKey(backend, key);
    value.update(key);
  }
  return backend;
}

/** A snapshot that was begun and is paused after about a tenth. */
function paused(backend: KeyedStateBackend<number>): { snapshot: KeyedStateSnapshot; sink: MemorySink } {
  const snapshot = backend.snapshot();
  const sink = new MemorySink();
  const total = snapshot.remainingBytes;
  assert.ok(total > 100 * PAGE_BYTES, `${total} bytes`);
  snapshot.start(sink);
  while (snapshot.remainingBytes > total * 0.9) assert.equal(snapshot.advance(4 * PAGE_BYTES), false);
  return { snapshot, sink };
}

describe('a snapshot of the heap backend', () => {
  it('hands on a page once, however often it is changed while the writer is paused', async () => {
    const backend = await filled();
    const value = backend.getValueState(VALUE);
    const { snapshot, sink } = paused(backend);
    const before = sink.position;
    for (let round = 0; round < 1000; round++) {
      useKey(backend, KEYS - 1);
      value.update(round);
    }
    assert.ok(sink.position - before <= RECORD_BYTES_MAX, `${sink.position - before} bytes for one key`);
    const remaining = snapshot.remainingBytes;
    for (let round = 0; round < 1000; round++) {
      useKey(backend, KEYS - 1);
      value.update(round);
    }
    assert.equal(snapshot.remainingBytes, remaining, 'and nothing more');
  });

  it('costs in proportion to the pages that change, not to the state', async () => {
    const costs: number[] = [];
    for (const changes of [0, 10, 100]) {
      const backend = await filled();
      const value = backend.getValueState(VALUE);
      const { sink } = paused(backend);
      const before = sink.position;
      // From the end, where nothing was written yet, and each in a page of its own.
      for (let i = 0; i < changes; i++) {
        useKey(backend, KEYS - 1 - i * 64);
        value.update(-1);
      }
      costs.push(sink.position - before);
    }
    assert.equal(costs[0], 0);
    assert.ok(costs[1]! > 0 && costs[1]! <= 10 * RECORD_BYTES_MAX, `${costs}`);
    assert.ok(costs[2]! > costs[1]! && costs[2]! <= 100 * RECORD_BYTES_MAX, `${costs}`);
  });

  it('keeps nothing of what was written already, nor of what came after the barrier', async () => {
    const backend = await filled();
    const value = backend.getValueState(VALUE);
    const { snapshot, sink } = paused(backend);
    const before = sink.position;
    const remaining = snapshot.remainingBytes;
    // The first pages are written: changing them is free. New states and their pages are none of its business.
    for (let key = 0; key < 500; key++) {
      useKey(backend, key);
      value.update(-1);
    }
    const later = backend.getMapState(new MapStateDescriptor('later', Types.INT, Types.LONG));
    for (let key = 0; key < 500; key++) {
      useKey(backend, key);
      for (let i = 0; i < 20; i++) later.put(i, key);
    }
    assert.equal(sink.position, before);
    assert.equal(snapshot.remainingBytes, remaining);
  });

  it('that is not started keeps changed pages itself, each once, and gives them all to the sink', async () => {
    const backend = await filled();
    const value = backend.getValueState(VALUE);
    const snapshot = backend.snapshot();
    const total = snapshot.remainingBytes;
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 50; i++) {
        useKey(backend, KEYS - 1 - i * 64);
        value.update(round);
      }
    }
    const heads = snapshot.remainingBytes - total;
    assert.ok(heads > 0 && heads <= 50 * 64, `${heads} bytes are more than the heads of 50 records`);
    const sink = new MemorySink();
    snapshot.start(sink);
    while (!snapshot.advance(1 << 20));
    assert.equal(snapshot.remainingBytes, 0);
    assert.ok(Math.abs(sink.position - total) < total * 0.1, `${sink.position} of ${total} bytes`);
  });

  it('of which there are several keeps a page for each that needs it, and for no other', async () => {
    const backend = await filled();
    const value = backend.getValueState(VALUE);
    const first = paused(backend);
    const second = paused(backend);
    const positions = (): number[] => [first, second].map(({ sink }) => sink.position);
    const begin = positions();
    useKey(backend, KEYS - 1);
    value.update(-1);
    const both = positions();
    assert.ok(both.every((position, i) => position > begin[i]! && position - begin[i]! <= RECORD_BYTES_MAX));
    first.snapshot.release();
    useKey(backend, KEYS - 1 - 64 * 20);
    value.update(-1);
    const after = positions();
    assert.equal(after[0], both[0], 'a released one takes nothing more');
    assert.ok(after[1]! > both[1]!);
  });
});
