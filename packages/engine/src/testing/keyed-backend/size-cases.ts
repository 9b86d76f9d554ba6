/** The keyed backend contract: large values, long lists, big maps, long and odd keys. */
import assert from 'node:assert/strict';
import { ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor } from '../../state/index.ts';
import { Types } from '../../types/index.ts';
import { type BackendCases, useKey } from './backend-workbench.ts';

/** Bytes that differ from those of another seed. */
function bytesOf(length: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = (i * 31 + seed * 17 + (i >> 8)) & 255;
  return bytes;
}

const KB = 1024;

/** Around the sizes at which a row, a page, a chunk of memory ends. */
const SIZES = [0, 1, 100, 3000, 8 * KB - 20, 8 * KB, 16 * KB, 40 * KB, 300 * KB];

const odd = [
  '',
  'ÿ',
  'Ā',
  '\ud800',
  'a\ud800b',
  '😀',
  'é'.repeat(23),
  'é'.repeat(24),
  'x'.repeat(85),
  '語'.repeat(40),
];

export const sizeCases: BackendCases = {
  'values of any size are kept, also after growing and shrinking': async (bench) => {
    const backend = await bench.create();
    const state = backend.getValueState(new ValueStateDescriptor('bytes', Types.BYTES));
    for (let round = 0; round < SIZES.length; round++) {
      SIZES.forEach((_, k) => {
        useKey(backend, `k${k}`);
        state.update(bytesOf(SIZES[(k + round) % SIZES.length]!, k));
      });
      SIZES.forEach((_, k) => {
        useKey(backend, `k${k}`);
        assert.deepEqual(state.value(), bytesOf(SIZES[(k + round) % SIZES.length]!, k));
      });
    }
    const restored = await bench.restoreOf(backend);
    const again = restored.getValueState(new ValueStateDescriptor('bytes', Types.BYTES));
    SIZES.forEach((_, k) => {
      useKey(restored, `k${k}`);
      assert.deepEqual(again.value(), bytesOf(SIZES[(k + SIZES.length - 1) % SIZES.length]!, k));
      again.clear();
    });
    assert.deepEqual(restored.statistics(), { entries: 0, sizeBytes: 0 });
  },

  'a value may be larger than a chunk of memory': async (bench) => {
    const backend = await bench.create();
    const state = backend.getValueState(new ValueStateDescriptor('bytes', Types.BYTES));
    const large = bytesOf(5 * KB * KB, 3);
    useKey(backend, 'a');
    state.update(large);
    useKey(backend, 'b');
    state.update(bytesOf(10, 1));
    const restored = await bench.restoreOf(backend);
    const again = restored.getValueState(new ValueStateDescriptor('bytes', Types.BYTES));
    useKey(restored, 'a');
    assert.ok(Buffer.from(large).equals(again.value()!));
    again.update(bytesOf(1, 1));
    useKey(restored, 'b');
    assert.deepEqual(again.value(), bytesOf(10, 1));
  },

  'a list may have very many elements and elements of any size': async (bench) => {
    const backend = await bench.create();
    const numbers = backend.getListState(new ListStateDescriptor('numbers', Types.LONG));
    const blobs = backend.getListState(new ListStateDescriptor('blobs', Types.BYTES));
    const expected: number[] = [];
    const expectedBlobs: Uint8Array[] = [];
    useKey(backend, 'a');
    for (let i = 0; i < 100_000; i++) {
      numbers.add(i);
      expected.push(i);
      if (i % 1000 === 0) {
        const blob = bytesOf(SIZES[(i / 1000) % SIZES.length]!, i);
        blobs.add(blob);
        expectedBlobs.push(blob);
      }
    }
    assert.deepEqual(numbers.get(), expected);
    assert.deepEqual(blobs.get(), expectedBlobs);
    const restored = await bench.restoreOf(backend);
    useKey(restored, 'a');
    const again = restored.getListState(new ListStateDescriptor('numbers', Types.LONG));
    again.add(-1);
    assert.deepEqual(again.get(), [...expected, -1]);
    const blobsAgain = restored.getListState(new ListStateDescriptor('blobs', Types.BYTES));
    assert.deepEqual(blobsAgain.get(), expectedBlobs);
    blobsAgain.update(expectedBlobs.reverse());
    assert.deepEqual(blobsAgain.get(), expectedBlobs);
    blobsAgain.clear();
    again.clear();
    assert.deepEqual(restored.statistics(), { entries: 0, sizeBytes: 0 });
  },

  'a map may have very many entries': async (bench) => {
    const backend = await bench.create();
    const state = backend.getMapState(new MapStateDescriptor('m', Types.STRING, Types.LONG));
    const model = new Map<string, number>();
    useKey(backend, 'a');
    for (let i = 0; i < 20_000; i++) {
      state.put(`user-${i}`, i);
      model.set(`user-${i}`, i);
      if (i % 3 === 0) {
        state.remove(`user-${i / 3}`);
        model.delete(`user-${i / 3}`);
      }
    }
    assert.deepEqual(new Map(state.entries()), model);
    const restored = await bench.restoreOf(backend);
    useKey(restored, 'a');
    const again = restored.getMapState(new MapStateDescriptor('m', Types.STRING, Types.LONG));
    assert.deepEqual(new Map(again.entries()), model);
    for (const [key, value] of model) assert.equal(again.get(key), value);
    assert.equal(restored.statistics().entries, model.size);
    again.clear();
    assert.deepEqual(restored.statistics(), { entries: 0, sizeBytes: 0 });
  },

  'strings of any characters and lengths are keys, user keys and namespaces': async (bench) => {
    const backend = await bench.create();
    const keys = [...odd, 'k'.repeat(3000), 'K'.repeat(9000), `${'K'.repeat(8999)}L`, '語'.repeat(20_000)];
    const value = backend.getValueState(new ValueStateDescriptor('v', Types.LONG));
    const map = backend.getMapState(new MapStateDescriptor('m', Types.STRING, Types.STRING));
    const inWindow = backend.getNamespacedValueState(new ValueStateDescriptor('w', Types.LONG), Types.STRING);
    const timers = backend.getTimerQueue('t', Types.STRING);
    keys.forEach((key, i) => {
      useKey(backend, key);
      value.update(i);
      keys.forEach((other, j) => {
        map.put(other, `${i}/${j}`);
        inWindow.setNamespace(other);
        inWindow.update(i * 100 + j);
        timers.register(j, other);
      });
    });
    const restored = await bench.restoreOf(backend);
    for (const each of [backend, restored]) {
      const values = each.getValueState(new ValueStateDescriptor('v', Types.LONG));
      const maps = each.getMapState(new MapStateDescriptor('m', Types.STRING, Types.STRING));
      const windows = each.getNamespacedValueState(new ValueStateDescriptor('w', Types.LONG), Types.STRING);
      const queue = each.getTimerQueue('t', Types.STRING);
      keys.forEach((key, i) => {
        useKey(each, key);
        assert.equal(values.value(), i);
        keys.forEach((other, j) => {
          assert.equal(maps.get(other), `${i}/${j}`);
          windows.setNamespace(other);
          assert.equal(windows.value(), i * 100 + j);
        });
      });
      assert.deepEqual([...each.keys('v')].sort(), [...keys].sort());
      let polled = 0;
      for (; queue.poll(keys.length); polled++) {
        assert.equal(queue.polledNamespace, keys[queue.polledTimestamp]);
        assert.ok(keys.includes(each.currentKey));
      }
      assert.equal(polled, keys.length ** 2);
    }
  },

  'objects are keys by their contents': async (bench) => {
    const keyType = Types.POJO('Key', { user: Types.STRING, shop: Types.LONG });
    const backend = await bench.create({ keyType });
    const state = backend.getValueState(new ValueStateDescriptor('v', Types.LONG));
    for (let i = 0; i < 200; i++) {
      useKey(backend, { user: `u${i % 20}`, shop: i });
      state.update(i);
    }
    const restored = await bench.restoreOf(backend, { keyType });
    const again = restored.getValueState(new ValueStateDescriptor('v', Types.LONG));
    for (let i = 0; i < 200; i++) {
      useKey(restored, { user: `u${i % 20}`, shop: i });
      assert.equal(again.value(), i);
    }
    useKey(restored, { user: 'u1', shop: 2 });
    assert.equal(again.value(), undefined);
    assert.equal([...restored.keys('v')].length, 200);
  },

  'numbers are keys, NaN and both zeros included': async (bench) => {
    for (const keyType of [Types.DOUBLE, undefined]) {
      const backend = await bench.create<number>({ keyType });
      const state = backend.getValueState(new ValueStateDescriptor('v', Types.LONG));
      const keys = [0, 1, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 1e-300, 23, 24, 128];
      keys.forEach((key, i) => {
        useKey(backend, key);
        assert.equal(state.value(), undefined);
        state.update(i);
      });
      useKey(backend, -0);
      assert.equal(state.value(), 0);
      useKey(backend, Number.NaN);
      assert.equal(state.value(), 4);
      assert.equal(backend.statistics().entries, keys.length);
    }
  },
};
