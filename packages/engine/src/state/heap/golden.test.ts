/**
 * Snapshots that were written by the version that introduced their format. They are never rewritten: when a test here
 * fails, saved state of users can no longer be read.
 *
 * `fillGolden` and `fillTtlGolden` are how their contents were made; a change of the format gets files of its own.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BackendWorkbench, useKey } from '../../testing/keyed-backend/backend-workbench.ts';
import { openTextStates } from '../../testing/keyed-backend/ttl-states.ts';
import { type TypeInformation, Types } from '../../types/index.ts';
import type { KeyedStateBackend, KeyedStateToRestore } from '../backend.ts';
import {
  AggregatingStateDescriptor,
  ListStateDescriptor,
  MapStateDescriptor,
  ReducingStateDescriptor,
  ValueStateDescriptor,
} from '../descriptors.ts';
import { createHeapKeyedStateBackend } from './heap-keyed-state-backend.ts';

const MAX_PARALLELISM = 8;
const KEYS = 24;
const Item = Types.POJO('Item', { id: Types.LONG, name: Types.STRING, tags: Types.LIST(Types.STRING) });
const Kind = Types.ENUM('Kind', ['NEW', 'PAID', 'SENT'] as const) as TypeInformation<string>;

const joined = {
  createAccumulator: (): string[] => [],
  add: (value: string, accumulator: string[]) => [...accumulator, value],
  getResult: (accumulator: string[]) => accumulator.join('+'),
  merge: (a: string[], b: string[]) => [...a, ...b],
};

const item = (i: number) => ({ id: i, name: 'é'.repeat(i), tags: ['a', 'b'.repeat(i * 20)] });

function statesOf(backend: KeyedStateBackend<string>) {
  return {
    count: backend.getValueState(new ValueStateDescriptor('count', Types.LONG)),
    item: backend.getValueState(new ValueStateDescriptor('item', Item)),
    kind: backend.getValueState(new ValueStateDescriptor('kind', Kind)),
    any: backend.getValueState(new ValueStateDescriptor<unknown>('any')),
    list: backend.getListState(new ListStateDescriptor('list', Types.STRING)),
    map: backend.getMapState(new MapStateDescriptor('map', Types.STRING, Types.BYTES)),
    sum: backend.getNamespacedReducingState(
      new ReducingStateDescriptor('sum', (a, b) => a + b, Types.DOUBLE),
      Types.LONG,
    ),
    joined: backend.getAggregatingState(
      new AggregatingStateDescriptor('joined', joined, Types.LIST(Types.STRING)),
    ),
    empty: backend.getListState(new ListStateDescriptor('empty', Types.LONG)),
    timers: backend.getTimerQueue('timers', Types.STRING),
  };
}

/** Keys short and long, of one byte a character and of more. */
const keyOf = (i: number) => ['key', 'schlüssel', '鍵', 'k'.repeat(120)][i % 4] + String(i);

/** Made the golden files; also deletes, so that there are free rows and dead timers. */
function fillGolden(backend: KeyedStateBackend<string>): void {
  const states = statesOf(backend);
  for (let i = 0; i < KEYS * 2; i++) {
    useKey(backend, keyOf(i));
    states.count.update(i);
    states.item.update(item(i));
    states.kind.update(['NEW', 'PAID', 'SENT'][i % 3]);
    states.any.update({ i, list: [i, `${i}`, null], big: BigInt(i) });
    for (let j = 0; j < i; j++) states.list.add(`${i}/${'z'.repeat(j)}`);
    for (let j = 0; j < i % 5; j++) states.map.put(`u${'v'.repeat(j * 30)}`, new Uint8Array(j * 100).fill(i));
    for (const window of [0, 10]) {
      states.sum.setNamespace(window);
      states.sum.add(i + 0.5);
      states.sum.add(window);
    }
    states.joined.add('x');
    states.joined.add(String(i));
    states.timers.register(1000 - i, 'one');
    states.timers.register(1000, 'w'.repeat(i));
    states.timers.register(5000 + i, 'gone');
    states.timers.delete(5000 + i, 'gone');
  }
  for (let i = KEYS; i < KEYS * 2; i++) {
    useKey(backend, keyOf(i));
    for (const state of [states.count, states.item, states.kind, states.any, states.list, states.map])
      state.clear();
    for (const window of [0, 10]) {
      states.sum.setNamespace(window);
      states.sum.clear();
    }
    states.joined.clear();
    states.timers.delete(1000 - i, 'one');
    states.timers.delete(1000, 'w'.repeat(i));
  }
}

function checkGolden(backend: KeyedStateBackend<string>): void {
  const states = statesOf(backend);
  const timers = new Set<string>();
  for (let i = 0; i < KEYS; i++) {
    useKey(backend, keyOf(i));
    assert.equal(states.count.value(), i);
    assert.deepEqual(states.item.value(), item(i));
    assert.equal(states.kind.value(), ['NEW', 'PAID', 'SENT'][i % 3]);
    assert.deepEqual(states.any.value(), { i, list: [i, `${i}`, null], big: BigInt(i) });
    assert.deepEqual(
      states.list.get(),
      Array.from({ length: i }, (_, j) => `${i}/${'z'.repeat(j)}`),
    );
    assert.deepEqual(
      [...states.map.entries()],
      Array.from({ length: i % 5 }, (_, j) => [`u${'v'.repeat(j * 30)}`, new Uint8Array(j * 100).fill(i)]),
    );
    for (const window of [0, 10]) {
      states.sum.setNamespace(window);
      assert.equal(states.sum.get(), i + 0.5 + window);
    }
    assert.equal(states.joined.get(), `x+${i}`);
    timers.add(`${1000 - i} ${keyOf(i)} one`).add(`1000 ${keyOf(i)} ${'w'.repeat(i)}`);
  }
  assert.deepEqual(
    [...backend.keys('count')].sort(),
    Array.from({ length: KEYS }, (_, i) => keyOf(i)).sort(),
  );
  assert.equal(states.timers.size, timers.size);
  while (states.timers.poll(10_000)) {
    const { polledTimestamp, polledNamespace } = states.timers;
    assert.ok(timers.delete(`${polledTimestamp} ${backend.currentKey} ${polledNamespace}`));
  }
  assert.equal(timers.size, 0);
}

function bytesOf(name: string): Uint8Array {
  return new Uint8Array(readFileSync(join(import.meta.dirname, '../golden', name)));
}

function golden(name: string): KeyedStateToRestore {
  const bytes = bytesOf(name);
  return {
    handle: {
      format: 'heap-1',
      keyGroups: { first: 0, last: MAX_PARALLELISM - 1 },
      maxParallelism: MAX_PARALLELISM,
      states: [],
      stream: { kind: 'inline', bytes },
    },
    input: {
      lengthBytes: bytes.length,
      read: (position, lengthBytes) => Promise.resolve(bytes.slice(position, position + lengthBytes)),
    },
  };
}

const benchWith = (pageBytes: number) =>
  new BackendWorkbench((options) =>
    createHeapKeyedStateBackend({ ...options, tuning: { pageBytes, chunkBytes: 2 ** 21 } }),
  );

for (const [name, pageBytes] of [
  ['heap-1-pages-16384.bin', 16384],
  ['heap-1-pages-256.bin', 256],
] as const) {
  const bench = benchWith(pageBytes);

  test(`${name} is restored as it is`, async () => {
    checkGolden(await bench.create({ maxParallelism: MAX_PARALLELISM, restore: [golden(name)] }));
  });

  test(`${name} is restored with another max parallelism`, async () => {
    checkGolden(await bench.create({ maxParallelism: 12, restore: [golden(name)] }));
  });

  test(`${name} is carried through another snapshot`, async () => {
    const carrier = await bench.create({ maxParallelism: MAX_PARALLELISM, restore: [golden(name)] });
    checkGolden(await bench.restoreOf(carrier, { maxParallelism: MAX_PARALLELISM }));
  });

  test(`what made ${name} still makes the same contents`, async () => {
    const backend = await bench.create({ maxParallelism: MAX_PARALLELISM });
    fillGolden(backend);
    checkGolden(await bench.restoreOf(backend, { maxParallelism: MAX_PARALLELISM }));
  });
}

const TTL = 1000;
const WRITTEN_MS = 1_700_000_000_000;

/** States with time-to-live; `i` of the key says when they were written. */
function fillTtlGolden(bench: BackendWorkbench, backend: KeyedStateBackend<string>): void {
  const states = openTextStates(backend, { ttl: TTL });
  const plain = backend.getValueState(new ValueStateDescriptor('plain', Types.LONG));
  for (let i = 0; i < KEYS; i++) {
    bench.nowMs = WRITTEN_MS + i;
    useKey(backend, keyOf(i));
    for (const state of states.values()) state.write('t'.repeat((i * i) % 500));
    plain.update(i);
  }
}

/** Asserts that the states of the keys from `first` on are there and no others. */
function checkTtlGolden(backend: KeyedStateBackend<string>, first: number): void {
  const states = openTextStates(backend, { ttl: TTL });
  const plain = backend.getValueState(new ValueStateDescriptor('plain', Types.LONG));
  for (let i = 0; i < KEYS; i++) {
    useKey(backend, keyOf(i));
    const text = i < first ? undefined : 't'.repeat((i * i) % 500);
    // A list of texts does not tell an empty text from none.
    for (const [kind, state] of states) assert.equal(state.read() ?? '', text ?? '', `${kind} of ${i}`);
    assert.equal(plain.value(), i);
  }
}

for (const [name, pageBytes] of [
  ['heap-2-ttl-pages-16384.bin', 16384],
  ['heap-2-ttl-pages-256.bin', 256],
] as const) {
  test(`${name} is restored, with the last access of each value`, async () => {
    for (const maxParallelism of [MAX_PARALLELISM, 12]) {
      for (const first of [0, 1, 13, KEYS]) {
        const bench = benchWith(pageBytes);
        bench.nowMs = WRITTEN_MS + TTL + first - 1;
        const backend = await bench.create({ maxParallelism, restore: [golden(name)] });
        checkTtlGolden(await bench.restoreOf(backend, { maxParallelism }), first);
        checkTtlGolden(backend, first);
      }
    }
  });

  test(`what made ${name} still makes the same contents`, async () => {
    const bench = benchWith(pageBytes);
    const backend = await bench.create({ maxParallelism: MAX_PARALLELISM });
    fillTtlGolden(bench, backend);
    bench.nowMs = WRITTEN_MS + TTL + 12;
    checkTtlGolden(await bench.restoreOf(backend, { maxParallelism: MAX_PARALLELISM }), 13);
  });
}
