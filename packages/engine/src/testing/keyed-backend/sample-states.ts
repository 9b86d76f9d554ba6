/**
 * One state of each kind, filled from a number per key, and read back: what the cases of snapshots and restores compare.
 */
import assert from 'node:assert/strict';
import {
  AggregatingStateDescriptor,
  type KeyedStateBackend,
  ListStateDescriptor,
  MapStateDescriptor,
  ReducingStateDescriptor,
  ValueStateDescriptor,
} from '../../state/index.ts';
import { Types } from '../../types/index.ts';
import { hasKey, useKey } from './backend-workbench.ts';

const Item = Types.POJO('Item', { n: Types.LONG, text: Types.STRING });

const counting = {
  createAccumulator: () => ({ n: 0, text: '' }),
  add: (value: number, { n }: { n: number; text: string }) => ({
    n: n + value,
    text: '.'.repeat(value % 50),
  }),
  getResult: ({ n, text }: { n: number; text: string }) => `${n}${text}`,
  merge: (a: { n: number; text: string }, b: { n: number; text: string }) => ({ n: a.n + b.n, text: a.text }),
};

/** The states of a backend. */
export function sampleStates(backend: KeyedStateBackend<string>) {
  return {
    count: backend.getValueState(new ValueStateDescriptor('count', Types.LONG)),
    item: backend.getValueState(new ValueStateDescriptor('item', Item)),
    list: backend.getListState(new ListStateDescriptor('list', Item)),
    map: backend.getMapState(new MapStateDescriptor('map', Types.LONG, Types.STRING)),
    sum: backend.getReducingState(new ReducingStateDescriptor('sum', (a, b) => a + b, Types.LONG)),
    mean: backend.getAggregatingState(
      new AggregatingStateDescriptor(
        'aggregate',
        counting,
        Types.POJO('Acc', { n: Types.LONG, text: Types.STRING }),
      ),
    ),
    window: backend.getNamespacedListState(new ListStateDescriptor('window', Types.LONG), Types.LONG),
    timers: backend.getTimerQueue('timers', Types.LONG),
    empty: backend.getMapState(new MapStateDescriptor('empty', Types.STRING, Types.STRING)),
  };
}

export type SampleStates = ReturnType<typeof sampleStates>;

/** Gives the current key the contents that belong to `n`, whatever it had before. */
export function fill(states: SampleStates, n: number): void {
  clear(states);
  const item = { n, text: 'x'.repeat((n * 7) % 90) };
  states.count.update(n);
  states.item.update(item);
  for (let i = 0; i < n % 6; i++) {
    states.list.add({ n: i, text: `${n}` });
    states.map.put(i, `${n}/${'y'.repeat((n + i) % 40)}`);
    states.window.setNamespace(i);
    states.window.addAll([n, i]);
    states.timers.register(n * 10 + i, i);
  }
  states.sum.add(n);
  states.sum.add(1);
  states.mean.add(n);
}

/** Removes everything the current key has. */
export function clear(states: SampleStates): void {
  const n = states.count.value();
  if (n !== undefined) {
    for (let i = 0; i < n % 6; i++) {
      states.window.setNamespace(i);
      states.window.clear();
      states.timers.delete(n * 10 + i, i);
    }
  }
  for (const state of [states.count, states.item, states.list, states.map, states.sum, states.mean])
    state.clear();
}

/** Asserts that the current key has what `fill` gave it for `n`, or nothing. */
export function check(states: SampleStates, n: number | undefined): void {
  assert.equal(states.count.value(), n);
  const size = n === undefined ? 0 : n % 6;
  const range = Array.from({ length: size }, (_, i) => i);
  assert.deepEqual(states.item.value(), n === undefined ? undefined : { n, text: 'x'.repeat((n * 7) % 90) });
  assert.deepEqual(
    states.list.get(),
    range.map((i) => ({ n: i, text: `${n}` })),
  );
  assert.deepEqual(
    new Map(states.map.entries()),
    new Map(range.map((i) => [i, `${n}/${'y'.repeat((n! + i) % 40)}`])),
  );
  assert.equal(states.sum.get(), n === undefined ? undefined : n + 1);
  assert.equal(states.mean.get(), n === undefined ? undefined : `${n}${'.'.repeat(n % 50)}`);
  for (let i = 0; i < 6; i++) {
    states.window.setNamespace(i);
    assert.deepEqual(states.window.get(), i < size ? [n, i] : []);
  }
  assert.equal(states.empty.isEmpty(), true);
}

/** The contents of all keys, by what `fill` was called with. */
export type SampleModel = ReadonlyMap<string, number>;

/** Asserts that the backends together have exactly the model: each key in one backend, and all timers. */
export function checkAll(backends: readonly KeyedStateBackend<string>[], model: SampleModel): void {
  const timers = new Set<string>();
  let entries = 0;
  for (const backend of backends) {
    const states = sampleStates(backend);
    entries += backend.statistics().entries;
    const own = new Map([...model].filter(([key]) => hasKey(backend, key)));
    for (const [key, n] of own) {
      useKey(backend, key);
      check(states, n);
    }
    assert.deepEqual([...backend.keys('count')].sort(), [...own.keys()].sort());
    let last = Number.NEGATIVE_INFINITY;
    while (states.timers.poll(Number.MAX_SAFE_INTEGER)) {
      assert.ok(states.timers.polledTimestamp >= last);
      last = states.timers.polledTimestamp;
      timers.add(`${backend.currentKey} ${last} ${states.timers.polledNamespace}`);
    }
  }
  const expected = new Set<string>();
  let expectedEntries = 0;
  for (const [key, n] of model) {
    for (let i = 0; i < n % 6; i++) expected.add(`${key} ${n * 10 + i} ${i}`);
    // count, item, sum, mean; the list unless empty; map, window and timer per element.
    expectedEntries += 4 + (n % 6 > 0 ? 1 : 0) + 3 * (n % 6);
  }
  assert.deepEqual(timers, expected);
  assert.equal(entries, expectedEntries);
}

/** Fills keys k0, k1, ... of the backends that have them; key i gets `n(i)`. */
export function fillAll(
  backends: readonly KeyedStateBackend<string>[],
  keys: number,
  n: (i: number) => number = (i) => i,
): Map<string, number> {
  const model = new Map<string, number>();
  const all = backends.map((backend) => ({ backend, states: sampleStates(backend) }));
  for (let i = 0; i < keys; i++) {
    const key = `k${i}`;
    const { backend, states } = all.find((each) => hasKey(each.backend, key))!;
    useKey(backend, key);
    fill(states, n(i));
    model.set(key, n(i));
  }
  return model;
}
