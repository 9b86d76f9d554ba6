/** The keyed backend contract: what each kind of state does for its user. */
import assert from 'node:assert/strict';
import { hasCode } from '../../base/index.ts';
import {
  AggregatingStateDescriptor,
  ListStateDescriptor,
  MapStateDescriptor,
  ReducingStateDescriptor,
  ValueStateDescriptor,
} from '../../state/index.ts';
import { Types } from '../../types/index.ts';
import { type BackendCases, hasKey, useKey } from './backend-workbench.ts';

const Order = Types.POJO('Order', { id: Types.STRING, items: Types.LIST(Types.LONG) });

/** Mean: an aggregate whose accumulator and result differ from its input. */
const mean = {
  createAccumulator: () => ({ sum: 0, count: 0 }),
  add: (value: number, accumulator: { sum: number; count: number }) => ({
    sum: accumulator.sum + value,
    count: accumulator.count + 1,
  }),
  getResult: ({ sum, count }: { sum: number; count: number }) => sum / count,
  merge: (a: { sum: number; count: number }, b: { sum: number; count: number }) => ({
    sum: a.sum + b.sum,
    count: a.count + b.count,
  }),
};

export const stateCases: BackendCases = {
  'a value is per key, has a default, and is gone when it was cleared or set to undefined': async (bench) => {
    const backend = await bench.create();
    const state = backend.getValueState(new ValueStateDescriptor('n', Types.LONG, 7));
    useKey(backend, 'a');
    assert.equal(state.value(), 7);
    state.update(1);
    useKey(backend, 'b');
    assert.equal(state.value(), 7);
    state.update(2);
    useKey(backend, 'a');
    assert.equal(state.value(), 1);
    state.update(undefined);
    assert.equal(state.value(), 7);
    useKey(backend, 'b');
    assert.equal(state.value(), 2);
    state.clear();
    state.clear();
    assert.equal(state.value(), 7);
    assert.equal(backend.statistics().entries, 0);
    const bare = backend.getValueState(new ValueStateDescriptor('bare', Types.STRING));
    assert.equal(bare.value(), undefined);
  },

  'changing an object that was written, read or given as default changes no state': async (bench) => {
    const backend = await bench.create();
    const start = { id: 'none', items: [1] };
    const state = backend.getValueState(new ValueStateDescriptor('order', Order, start));
    useKey(backend, 'a');
    state.value()!.items.push(9);
    start.items.push(8);
    assert.deepEqual(state.value(), { id: 'none', items: [1] });
    const written = { id: 'x', items: [1, 2] };
    state.update(written);
    written.items.push(3);
    state.value()!.items.push(4);
    assert.deepEqual(state.value(), { id: 'x', items: [1, 2] });
  },

  'values that grow and shrink keep their neighbours whole': async (bench) => {
    const backend = await bench.create();
    const state = backend.getValueState(new ValueStateDescriptor('text', Types.STRING));
    const model = new Map<string, string>();
    for (let round = 0; round < 12; round++) {
      for (let k = 0; k < 50; k++) {
        const text = String(round).repeat((k * 7 + round * 131) % 400);
        useKey(backend, `k${k}`);
        state.update(text);
        model.set(`k${k}`, text);
      }
      for (const [key, text] of model) {
        useKey(backend, key);
        assert.equal(state.value(), text);
      }
    }
  },

  'a value of the wrong type is refused and the old one stays': async (bench) => {
    const backend = await bench.create();
    const state = backend.getValueState(new ValueStateDescriptor('order', Order));
    const list = backend.getListState(new ListStateDescriptor('orders', Order));
    const map = backend.getMapState(new MapStateDescriptor('map', Types.STRING, Order));
    const good = { id: 'x', items: [1, 2] };
    const bad = { id: 'y', items: [3, 'four'] } as unknown as typeof good;
    const isMismatch = (error: unknown) => hasCode(error, 'TYPE_MISMATCH') && /totals/.test(String(error));
    useKey(backend, 'a');
    for (let round = 0; round < 2; round++) {
      assert.throws(() => state.update(bad), isMismatch);
      assert.throws(() => list.add(bad), isMismatch);
      assert.throws(() => list.addAll([good, bad]), isMismatch);
      assert.throws(() => list.update([good, bad]), isMismatch);
      assert.throws(() => map.put('m', bad), isMismatch);
      assert.deepEqual(state.value(), round === 0 ? undefined : good);
      assert.deepEqual(list.get(), round === 0 ? [] : [good]);
      assert.deepEqual([...map.entries()], round === 0 ? [] : [['m', good]]);
      state.update(good);
      list.update([good]);
      map.put('m', good);
    }
  },

  'a list keeps its order through add, addAll, update and clear': async (bench) => {
    const backend = await bench.create();
    const state = backend.getListState(new ListStateDescriptor('list', Types.STRING));
    useKey(backend, 'a');
    assert.deepEqual(state.get(), []);
    state.add('1');
    state.addAll(['2', '3']);
    state.addAll([]);
    state.add('4');
    assert.deepEqual(state.get(), ['1', '2', '3', '4']);
    state.get().push('5');
    assert.deepEqual(state.get(), ['1', '2', '3', '4']);
    state.update(state.get().reverse());
    assert.deepEqual(state.get(), ['4', '3', '2', '1']);
    useKey(backend, 'b');
    assert.deepEqual(state.get(), []);
    state.addAll(new Set(['x', 'y']));
    useKey(backend, 'a');
    state.update([]);
    assert.deepEqual(state.get(), []);
    assert.equal(backend.statistics().entries, 1);
    state.add('again');
    assert.deepEqual(state.get(), ['again']);
    state.clear();
    useKey(backend, 'b');
    assert.deepEqual(state.get(), ['x', 'y']);
  },

  'a map has entries per key and forgets them one by one or all at once': async (bench) => {
    const backend = await bench.create();
    const state = backend.getMapState(new MapStateDescriptor('map', Types.STRING, Types.LONG));
    useKey(backend, 'a');
    assert.equal(state.isEmpty(), true);
    assert.equal(state.get('x'), undefined);
    state.put('x', 1);
    state.putAll([
      ['y', 2],
      ['z', 3],
    ]);
    state.put('x', 10);
    assert.equal(state.get('x'), 10);
    assert.equal(state.contains('y'), true);
    assert.deepEqual(new Map(state.entries()), new Map(Object.entries({ x: 10, y: 2, z: 3 })));
    useKey(backend, 'b');
    assert.equal(state.contains('y'), false);
    state.put('y', 5);
    useKey(backend, 'a');
    state.remove('y');
    state.remove('y');
    assert.deepEqual([...state.keys()].sort(), ['x', 'z']);
    assert.deepEqual([...state.values()].sort(), [10, 3]);
    assert.equal(backend.statistics().entries, 3);
    state.clear();
    assert.equal(state.isEmpty(), true);
    assert.deepEqual([...state.entries()], []);
    useKey(backend, 'b');
    assert.deepEqual([...state.entries()], [['y', 5]]);
    state.remove('y');
    assert.equal(state.isEmpty(), true);
    assert.equal(backend.statistics().entries, 0);
  },

  'a map may be changed while it is iterated': async (bench) => {
    const backend = await bench.create();
    const state = backend.getMapState(new MapStateDescriptor('map', Types.STRING, Types.STRING));
    useKey(backend, 'a');
    for (let i = 0; i < 20; i++) state.put(`k${i}`, 'v');
    const seen: string[] = [];
    for (const [key] of state.entries()) {
      seen.push(key);
      const i = Number(key.slice(1));
      state.put(key, 'longer '.repeat(i));
      state.put(`new${i}`, 'x');
      state.remove(`k${(i + 1) % 20}`);
      if (i % 3 === 0) state.remove(key);
    }
    const old = seen.filter((key) => key.startsWith('k'));
    assert.equal(new Set(old).size, old.length);
    assert.ok(old.length >= 10);
    for (const key of state.keys()) state.remove(key);
    assert.equal(state.isEmpty(), true);
    for (let i = 0; i < 5; i++) state.put(`k${i}`, 'v');
    let count = 0;
    for (const _ of state.values()) {
      count++;
      state.clear();
    }
    assert.equal(count, 1);
  },

  'entries that get another value while their map is iterated are still seen once': async (bench) => {
    const backend = await bench.create();
    const state = backend.getMapState(new MapStateDescriptor('map', Types.STRING, Types.STRING));
    const names = Array.from({ length: 12 }, (_, i) => `k${i}`);
    useKey(backend, 'a');
    for (const name of names) state.put(name, '');
    const seen: string[] = [];
    for (const name of state.keys()) {
      seen.push(name);
      for (const other of names) if (state.contains(other)) state.put(other, 'x'.repeat(seen.length * 40));
      state.put(`new${seen.length}`, '');
      // The last one that is left goes, so that the end moves.
      if (seen.length === 3) state.remove('k11');
      if (seen.length === 5) state.remove('k10');
      if (seen.length === 7) state.remove('k8');
    }
    assert.deepEqual([...seen].sort(), names.filter((name) => !['k8', 'k10', 'k11'].includes(name)).sort());
  },

  'an iterator over a map must not outlive its key': async (bench) => {
    const backend = await bench.create();
    const state = backend.getMapState(new MapStateDescriptor('map', Types.STRING, Types.LONG));
    useKey(backend, 'a');
    state.putAll([
      ['x', 1],
      ['y', 2],
    ]);
    const iterator = state.keys()[Symbol.iterator]();
    iterator.next();
    useKey(backend, 'b');
    assert.throws(
      () => iterator.next(),
      (error) => hasCode(error, 'STATE_WITHOUT_KEY'),
    );
  },

  'reducing and aggregating states merge what is added': async (bench) => {
    const backend = await bench.create();
    const sum = backend.getReducingState(new ReducingStateDescriptor('sum', (a, b) => a + b, Types.LONG));
    const joined = backend.getReducingState(
      new ReducingStateDescriptor('joined', (a, b) => a + b, Types.STRING),
    );
    const average = backend.getAggregatingState(new AggregatingStateDescriptor('mean', mean));
    for (const [key, values] of [
      ['a', [1, 2, 3]],
      ['b', [10]],
    ] as const) {
      useKey(backend, key);
      assert.equal(sum.get(), undefined);
      assert.equal(average.get(), undefined);
      for (const value of values) {
        sum.add(value);
        joined.add(`${value};`);
        average.add(value);
      }
    }
    useKey(backend, 'a');
    assert.deepEqual([sum.get(), joined.get(), average.get()], [6, '1;2;3;', 2]);
    sum.clear();
    average.clear();
    assert.deepEqual([sum.get(), average.get()], [undefined, undefined]);
    useKey(backend, 'b');
    assert.deepEqual([sum.get(), joined.get(), average.get()], [10, '10;', 10]);
  },

  'state without declared types takes any data': async (bench) => {
    const backend = await bench.create<unknown>({ keyType: undefined });
    const value = backend.getValueState(new ValueStateDescriptor<unknown>('value'));
    const map = backend.getMapState(new MapStateDescriptor<unknown, unknown>('map'));
    const keys: unknown[] = [
      '1',
      1,
      1n,
      1.5,
      true,
      { a: 1, b: ['x'] },
      [1, 2],
      Number.NaN,
      'ÿ',
      'Ā',
      '\ud800',
    ];
    keys.forEach((key, i) => {
      useKey(backend, key);
      assert.equal(value.value(), undefined);
      value.update({ i, nested: [{ key: 'x' }, null] });
      keys.forEach((userKey, j) => map.put(userKey, j));
    });
    useKey(backend, { b: ['x'], a: 1 });
    assert.deepEqual(value.value(), { i: 5, nested: [{ key: 'x' }, null] });
    keys.forEach((key, i) => {
      useKey(backend, structuredClone(key));
      assert.deepEqual(value.value(), { i, nested: [{ key: 'x' }, null] });
      keys.forEach((userKey, j) => assert.equal(map.get(userKey), j));
      assert.equal([...map.keys()].length, keys.length);
    });
    useKey(backend, 0);
    value.update('zero');
    useKey(backend, -0);
    assert.equal(value.value(), 'zero');
  },

  'a name stands for one state of one kind and type': async (bench) => {
    const backend = await bench.create();
    const state = backend.getValueState(new ValueStateDescriptor('x', Types.LONG));
    assert.equal(backend.getValueState(new ValueStateDescriptor('x', Types.LONG)), state);
    const conflicts = (ask: () => unknown, words: RegExp) =>
      assert.throws(ask, (error) => hasCode(error, 'STATE_DESCRIPTOR_CONFLICT') && words.test(String(error)));
    conflicts(() => backend.getListState(new ListStateDescriptor('x', Types.LONG)), /'x'.*value.*list/s);
    conflicts(() => backend.getValueState(new ValueStateDescriptor('x', Types.STRING)), /LONG.*STRING/s);
    conflicts(() => backend.getValueState(new ValueStateDescriptor('x')), /'totals'/);
    backend.getMapState(new MapStateDescriptor('m', Types.STRING, Types.LONG));
    conflicts(
      () => backend.getMapState(new MapStateDescriptor('m', Types.LONG, Types.LONG)),
      /STRING.*LONG/s,
    );
    conflicts(
      () => backend.getNamespacedValueState(new ValueStateDescriptor('x', Types.LONG), Types.LONG),
      /'x'/,
    );
    backend.getTimerQueue('x', Types.VOID);
  },

  'keyed state without a current key is refused with the reason': async (bench) => {
    const backend = await bench.create();
    const value = backend.getValueState(new ValueStateDescriptor('v', Types.LONG));
    const list = backend.getListState(new ListStateDescriptor('l', Types.LONG));
    const map = backend.getMapState(new MapStateDescriptor('m', Types.LONG, Types.LONG));
    const timers = backend.getTimerQueue('t', Types.VOID);
    const uses = [
      () => value.value(),
      () => value.update(1),
      () => list.add(1),
      () => map.put(1, 1),
      () => [...map.keys()],
      () => timers.register(1, undefined),
      () => backend.currentKey,
    ];
    const assertRefused = (): void => {
      for (const use of uses)
        assert.throws(use, (error) => hasCode(error, 'STATE_WITHOUT_KEY') && /totals/.test(String(error)));
    };
    assertRefused();
    useKey(backend, 'a');
    value.update(1);
    list.add(2);
    map.put(3, 4);
    backend.clearCurrentKey();
    assertRefused();
    useKey(backend, 'a');
    assert.deepEqual([value.value(), list.get(), map.get(3)], [1, [2], 4]);
  },

  'keys() lists the keys of one state, and statistics() count entries': async (bench) => {
    const backend = await bench.create();
    const value = backend.getValueState(new ValueStateDescriptor('v', Types.LONG));
    const map = backend.getMapState(new MapStateDescriptor('m', Types.LONG, Types.LONG));
    const names = Array.from({ length: 300 }, (_, i) => `key-${i}`);
    for (const name of names) {
      useKey(backend, name);
      value.update(1);
      if (name.endsWith('0')) for (let i = 0; i < 3; i++) map.put(i, i);
    }
    assert.deepEqual([...backend.keys('v')].sort(), [...names].sort());
    assert.equal([...backend.keys('m')].length, 30);
    assert.deepEqual([...backend.keys('none')], []);
    assert.equal(backend.statistics().entries, 300 + 90);
    assert.ok(backend.statistics().sizeBytes > 300 * 16);
    for (const key of backend.keys('v')) {
      useKey(backend, key);
      value.clear();
      map.clear();
    }
    assert.deepEqual(backend.statistics(), { entries: 0, sizeBytes: 0 });
  },

  'keys() gives each key once, though the states of those it gave are changed meanwhile': async (bench) => {
    const backend = await bench.create();
    const value = backend.getValueState(new ValueStateDescriptor('v', Types.STRING));
    const map = backend.getMapState(new MapStateDescriptor('m', Types.LONG, Types.LONG));
    const names = Array.from({ length: 500 }, (_, i) => `key-${i}`);
    for (const name of names) {
      useKey(backend, name);
      value.update(name);
      map.put(0, 0);
    }
    const seen: string[] = [];
    for (const key of backend.keys('v')) {
      useKey(backend, key);
      seen.push(value.value()!);
      value.update(`${key} ${'x'.repeat(seen.length)}`);
      for (let i = 1; i < 4; i++) map.put(i, i);
    }
    assert.deepEqual(seen.sort(), names.toSorted());
    const inMap = [...backend.keys('m')];
    assert.deepEqual(inMap.sort(), names.toSorted());
  },

  'a key of a key group that is not the backend’s is an assertion': async (bench) => {
    const backend = await bench.create({ keyGroups: { first: 0, last: 3 } });
    const foreign = Array.from({ length: 50 }, (_, i) => `k${i}`);
    let refused = 0;
    for (const key of foreign) {
      try {
        useKey(backend, key);
      } catch (error) {
        assert.ok(hasCode(error, 'ASSERTION_FAILED'));
        refused++;
      }
    }
    assert.ok(refused > 30);
  },

  'keys of the same hash are apart in every kind of state': async (bench) => {
    const backend = await bench.create<unknown>({ keyType: undefined });
    const value = backend.getValueState(new ValueStateDescriptor('v', Types.LONG));
    const list = backend.getNamespacedListState(new ListStateDescriptor('l', Types.LONG), Types.STRING);
    const map = backend.getMapState(new MapStateDescriptor('m', Types.STRING, Types.LONG));
    const timers = backend.getTimerQueue('t', Types.STRING);
    // Bytes of a number and of a string that look alike: 3 begins with the length of '', and so on.
    const like = new Float64Array(Uint8Array.from([7, ...Buffer.from('abcdefg')]).buffer)[0]!;
    const strings = [
      'abcdefg',
      '',
      'a',
      'b',
      'ab',
      'Ā',
      'Ă',
      'x'.repeat(30),
      'y'.repeat(30),
      'z'.repeat(9000),
    ];
    const keys = [3, ...strings, like, 1, { k: 'a' }, ['a'], 2n];
    const hash = 12345;
    for (let round = 0; round < 3; round++) {
      keys.forEach((key, i) => {
        backend.setCurrentKey(key, hash);
        assert.equal(value.value(), round === 0 ? undefined : i + round - 1);
        value.update(i + round);
        for (const namespace of ['', 'n', 'nn']) {
          list.setNamespace(namespace);
          assert.equal(list.get().length, round);
          list.add(i);
          assert.equal(timers.register(i, namespace), round === 0);
          map.put(namespace, i);
        }
      });
    }
    keys.forEach((key, i) => {
      backend.setCurrentKey(key, hash);
      assert.deepEqual(
        new Map(map.entries()),
        new Map([
          ['', i],
          ['n', i],
          ['nn', i],
        ]),
      );
      for (const namespace of ['', 'n', 'nn']) {
        list.setNamespace(namespace);
        assert.deepEqual(list.get(), [i, i, i]);
      }
      if (i % 2 === 0) return;
      value.clear();
      map.clear();
    });
    keys.forEach((key, i) => {
      backend.setCurrentKey(key, hash);
      assert.equal(value.value(), i % 2 === 0 ? i + 2 : undefined);
      assert.equal(map.isEmpty(), i % 2 === 1);
    });
    for (let polled = 0; timers.poll(100); polled++) {
      assert.deepEqual(backend.currentKey, keys[timers.polledTimestamp]);
      assert.ok(polled < keys.length * 3);
    }
  },

  'prefetching takes any hashes and changes nothing': async (bench) => {
    const backend = await bench.create({ keyGroups: { first: 64, last: 127 } });
    const hashes = Int32Array.from({ length: 600 }, (_, i) => Math.imul(i, 0x9e3779b1));
    backend.prefetch(hashes, 600);
    const count = backend.getValueState(new ValueStateDescriptor('count', Types.LONG));
    backend.prefetch(hashes, 600);
    const keys = Array.from({ length: 400 }, (_, i) => `k${i}`).filter((key) => hasKey(backend, key));
    for (const key of keys) {
      useKey(backend, key);
      count.update(key.length);
    }
    backend.prefetch(hashes, 600);
    backend.prefetch(hashes, 1000);
    backend.prefetch(Int32Array.of(-(2 ** 31), 2 ** 31 - 1, 0, -1), 4);
    backend.prefetch(new Int32Array(0), 0);
    for (const key of keys) {
      useKey(backend, key);
      assert.equal(count.value(), key.length);
    }
    assert.equal(backend.statistics().entries, keys.length);
  },
};
