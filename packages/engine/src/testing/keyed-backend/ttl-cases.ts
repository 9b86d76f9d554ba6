/** The keyed backend contract: states with time-to-live, without restoring. Time is moved by hand. */
import assert from 'node:assert/strict';
import { hasCode } from '../../base/index.ts';
import {
  type KeyedStateBackend,
  ListStateDescriptor,
  MapStateDescriptor,
  ReducingStateDescriptor,
  type StateTtlOptions,
  ValueStateDescriptor,
} from '../../state/index.ts';
import { Types } from '../../types/index.ts';
import { type BackendCases, type BackendWorkbench, useKey, writeSnapshot } from './backend-workbench.ts';
import { openTextStates, TEXT_STATE_KINDS, TEXT_STATES } from './ttl-states.ts';

const TTL = 1000;
/** Of each length an own way of storing it. */
const LENGTHS = [1, 30, 200, 9000];

/** A backend at one key, and its states. */
async function openAt(bench: BackendWorkbench, ttl: Partial<StateTtlOptions> = {}) {
  const backend = await bench.create();
  useKey(backend, 'k');
  return { backend, states: openTextStates(backend, { ttl: TTL, ...ttl }) };
}

/** Gives another key's states accesses, so that the background work has its turns; how much it removed. */
function work(backend: KeyedStateBackend<string>, state: { read(): unknown }, times: number): number {
  let removed = 0;
  for (let i = 0; i < times; i++) {
    useKey(backend, `nobody${i % 7}`);
    state.read();
    removed += backend.cleanUpExpired();
  }
  return removed;
}

export const ttlCases: BackendCases = {
  'a value lives until its time has passed since it was written, and is gone then': async (bench) => {
    for (const length of LENGTHS) {
      const { backend, states } = await openAt(bench);
      const text = 'x'.repeat(length);
      for (const state of states.values()) state.write(text);
      bench.nowMs += TTL - 1;
      for (const [kind, state] of states) assert.equal(state.read(), text, `${kind} of ${length}`);
      bench.nowMs += 1;
      for (const [kind, state] of states) assert.equal(state.read(), undefined, `${kind} of ${length}`);
      assert.equal(backend.statistics().entries, 0);
      assert.equal(backend.cleanUpExpired(), TEXT_STATE_KINDS.length);
      for (const [kind, state] of states) {
        state.write('again');
        assert.equal(state.read(), 'again', kind);
      }
    }
  },

  'writing makes a value live on, reading does only if it is said so': async (bench) => {
    for (const updateType of ['OnCreateAndWrite', 'OnReadAndWrite'] as const) {
      for (const length of LENGTHS) {
        const { states } = await openAt(bench, { updateType });
        const text = 'x'.repeat(length);
        for (const state of states.values()) state.write(text);
        bench.nowMs += TTL - 1;
        for (const [kind, state] of states) assert.equal(state.read(), text, kind);
        bench.nowMs += TTL - 1;
        const expected = updateType === 'OnReadAndWrite' ? text : undefined;
        for (const [kind, state] of states) assert.equal(state.read(), expected, `${kind} ${updateType}`);
        for (const kind of ['value', 'map', 'reducing', 'aggregating'] as const) {
          const state = states.get(kind)!;
          state.write('a');
          bench.nowMs += TTL - 1;
          state.write('b');
          bench.nowMs += TTL - 1;
          assert.ok(state.read()?.endsWith('b'), `${kind} was written`);
        }
      }
    }
  },

  'an expired value that is still there is returned once, if it is said so': async (bench) => {
    for (const updateType of ['OnCreateAndWrite', 'OnReadAndWrite'] as const) {
      for (const length of LENGTHS) {
        const visibility = 'ReturnExpiredIfNotCleanedUp';
        const { backend, states } = await openAt(bench, { visibility, updateType });
        const text = 'x'.repeat(length);
        for (const state of states.values()) state.write(text);
        bench.nowMs += TTL;
        for (const [kind, state] of states) assert.equal(state.read(), text, `${kind} is returned`);
        for (const [kind, state] of states) assert.equal(state.read(), undefined, `${kind} was returned`);
        assert.equal(backend.statistics().entries, 0);
      }
    }
  },

  'what is added to an expired value begins anew, unless expired values are returned': async (bench) => {
    for (const kind of ['reducing', 'aggregating'] as const) {
      const { states } = await openAt(bench);
      const state = states.get(kind)!;
      state.write('old ');
      bench.nowMs += TTL;
      state.write('new');
      assert.equal(state.read(), 'new');
      const other = await openAt(bench, { visibility: 'ReturnExpiredIfNotCleanedUp' });
      other.states.get(kind)!.write('old ');
      bench.nowMs += TTL;
      other.states.get(kind)!.write('new');
      assert.equal(other.states.get(kind)!.read(), 'old new');
    }
  },

  'the default of a value state comes back when its value has expired': async (bench) => {
    const backend = await bench.create();
    const state = backend.getValueState(
      new ValueStateDescriptor('n', Types.LONG, 7).enableTimeToLive({ ttl: TTL }),
    );
    useKey(backend, 'k');
    state.update(1);
    assert.equal(state.value(), 1);
    bench.nowMs += TTL;
    assert.equal(state.value(), 7);
  },

  'a write that fails makes nothing live on': async (bench) => {
    const backend = await bench.create();
    const number = backend.getValueState(
      new ValueStateDescriptor<unknown>('n', Types.LONG).enableTimeToLive({ ttl: TTL }),
    );
    useKey(backend, 'k');
    number.update(1);
    bench.nowMs += TTL - 1;
    assert.throws(() => number.update('text'), { code: 'TYPE_MISMATCH' });
    assert.equal(number.value(), 1);
    bench.nowMs += 1;
    assert.equal(number.value(), undefined);
  },

  'each entry of a map expires by itself': async (bench) => {
    const backend = await bench.create();
    const map = backend.getMapState(
      new MapStateDescriptor('m', Types.LONG, Types.STRING).enableTimeToLive({ ttl: TTL }),
    );
    useKey(backend, 'k');
    const began = bench.nowMs;
    for (let i = 0; i < 10; i++) {
      map.put(i, 'v'.repeat(i * 100));
      bench.nowMs += 100;
    }
    map.put(3, 'renewed');
    const expired = (passed: number) => Math.floor((passed - TTL) / 100) + 1;
    for (const passed of [1000, 1050, 1399, 1700]) {
      bench.nowMs = began + passed;
      const gone = expired(passed);
      const keys = [3, 0, 1, 2, 4, 5, 6, 7, 8, 9].filter((i) => i === 3 || i >= gone).sort();
      assert.deepEqual([...map.keys()].sort(), keys);
      assert.deepEqual([...map.values()].length, keys.length);
      assert.deepEqual(
        new Map(map.entries()),
        new Map(keys.map((i) => [i, i === 3 ? 'renewed' : 'v'.repeat(i * 100)])),
      );
      for (let i = 0; i < 10; i++) assert.equal(map.contains(i), keys.includes(i), `${i} after ${passed}`);
      assert.equal(map.isEmpty(), false);
      assert.equal(backend.statistics().entries, keys.length);
    }
    bench.nowMs = began + 2000;
    assert.equal(map.isEmpty(), true);
    assert.equal(map.get(3), undefined);
    assert.equal(backend.statistics().entries, 0);
    map.put(1, 'new');
    assert.deepEqual([...map.entries()], [[1, 'new']]);
  },

  'an iterator over a map passes over what expires while it is open': async (bench) => {
    const backend = await bench.create();
    const map = backend.getMapState(
      new MapStateDescriptor('m', Types.LONG, Types.LONG).enableTimeToLive({ ttl: TTL }),
    );
    useKey(backend, 'k');
    for (let i = 0; i < 6; i++) {
      map.put(i, i);
      bench.nowMs += 10;
    }
    const seen: number[] = [];
    for (const key of map.keys()) {
      seen.push(key);
      if (key === 1) bench.nowMs += TTL - 25;
      if (key === 4) bench.nowMs += TTL;
    }
    assert.deepEqual(seen, [0, 1, 4]);
    assert.equal(map.isEmpty(), true);
  },

  'reading an entry of a map, or asking for it, makes that one live on': async (bench) => {
    const backend = await bench.create();
    const map = backend.getMapState(
      new MapStateDescriptor('m', Types.LONG, Types.LONG).enableTimeToLive({
        ttl: TTL,
        updateType: 'OnReadAndWrite',
      }),
    );
    useKey(backend, 'k');
    for (let i = 0; i < 4; i++) map.put(i, i);
    bench.nowMs += TTL - 1;
    map.get(1);
    map.contains(2);
    bench.nowMs += TTL - 1;
    assert.deepEqual([...map.keys()].sort(), [1, 2]);
    bench.nowMs += TTL - 1;
    assert.deepEqual([...map.keys()].sort(), [1, 2]);
  },

  'each element of a list expires by itself, however it is stored': async (bench) => {
    for (const length of LENGTHS) {
      const backend = await bench.create();
      const list = backend.getListState(
        new ListStateDescriptor('l', Types.STRING).enableTimeToLive({ ttl: TTL }),
      );
      useKey(backend, 'k');
      const began = bench.nowMs;
      const text = (i: number) => `${i}${'x'.repeat(length)}`;
      const all = Array.from({ length: 40 }, (_, i) => text(i));
      for (const each of all) {
        list.add(each);
        bench.nowMs += 10;
      }
      assert.deepEqual(list.get(), all);
      for (const passed of [1000, 1005, 1010, 1155, 1290]) {
        bench.nowMs = began + passed;
        assert.deepEqual(list.get(), all.slice(Math.floor((passed - TTL) / 10) + 1), `${length} ${passed}`);
      }
      list.addAll(['a', 'b']);
      assert.deepEqual(list.get(), [...all.slice(30), 'a', 'b']);
      bench.nowMs = began + 1400;
      assert.deepEqual(list.get(), ['a', 'b']);
      list.update(['c']);
      bench.nowMs = began + 1290 + TTL;
      assert.deepEqual(list.get(), ['c']);
      bench.nowMs += TTL;
      assert.deepEqual(list.get(), []);
      assert.equal(backend.statistics().entries, 0);
    }
  },

  'reading a list makes all its elements live on, if it is said so': async (bench) => {
    for (const length of LENGTHS) {
      const { states } = await openAt(bench, { updateType: 'OnReadAndWrite' });
      const list = states.get('list')!;
      const all = Array.from({ length: 12 }, (_, i) => `${i} ${'x'.repeat(length)}`);
      for (const each of all) {
        list.write(each);
        bench.nowMs += 100;
      }
      const living = all.slice(3).join('');
      for (let i = 0; i < 3; i++) {
        assert.equal(list.read(), living, `${length} ${i}`);
        bench.nowMs += TTL - 1;
      }
      assert.equal(list.read(), living);
      bench.nowMs += TTL;
      assert.equal(list.read(), undefined);
    }
  },

  'elements without bytes expire as others do': async (bench) => {
    const backend = await bench.create();
    const list = backend.getListState(
      new ListStateDescriptor('l', Types.VOID).enableTimeToLive({ ttl: TTL }),
    );
    useKey(backend, 'k');
    list.addAll([undefined, undefined]);
    bench.nowMs += 1;
    list.add(undefined);
    bench.nowMs += TTL - 1;
    assert.deepEqual(list.get(), [undefined]);
  },

  'windows are merged without what has expired': async (bench) => {
    const backend = await bench.create();
    const sum = backend.getNamespacedReducingState(
      new ReducingStateDescriptor<number>('sum', (a, b) => a + b, Types.LONG).enableTimeToLive({ ttl: TTL }),
      Types.LONG,
    );
    const list = backend.getNamespacedListState(
      new ListStateDescriptor('list', Types.LONG).enableTimeToLive({ ttl: TTL }),
      Types.LONG,
    );
    useKey(backend, 'k');
    for (let window = 0; window < 4; window++) {
      for (const state of [sum, list]) {
        state.setNamespace(window);
        state.add(10 ** window);
      }
      bench.nowMs += 400;
    }
    for (const state of [sum, list]) state.mergeNamespaces(9, [0, 1, 2, 3]);
    for (const state of [sum, list]) state.setNamespace(9);
    assert.equal(sum.get(), 1100);
    assert.deepEqual(list.get(), [100, 1000]);
    assert.equal(sum.addIfPresent?.(1), true);
    bench.nowMs += TTL;
    assert.equal(sum.addIfPresent?.(1), false);
    assert.equal(list.addIfPresent?.(1), false);
    assert.equal(backend.statistics().entries, 0);
  },

  'what expired is removed in the background, while other keys are worked with': async (bench) => {
    for (const kind of TEXT_STATE_KINDS) {
      for (const length of [3, 400]) {
        const backend = await bench.create();
        const state = TEXT_STATES[kind](backend, { ttl: TTL });
        for (let i = 0; i < 300; i++) {
          useKey(backend, `k${i}`);
          state.write('x'.repeat(length));
          if (i === 199) bench.nowMs += TTL / 2;
        }
        bench.nowMs += TTL / 2;
        let removed = work(backend, state, 500);
        // A round that had begun before goes to its end first; the next one begins a while after that.
        bench.nowMs += TTL / 16;
        removed += work(backend, state, 500);
        assert.equal(removed, 200, kind);
        assert.equal(backend.statistics().entries, 100);
        for (let i = 0; i < 300; i++) {
          useKey(backend, `k${i}`);
          assert.equal(state.read(), i < 200 ? undefined : 'x'.repeat(length));
        }
      }
    }
  },

  'records of one key clean the state of all keys': async (bench) => {
    const everyRecord = { cleanupIncrementally: { cleanupSize: 100, runCleanupForEveryRecord: true } };
    for (const ttl of [everyRecord, { cleanupIncrementally: { cleanupSize: 100 } }, {}]) {
      for (const kind of TEXT_STATE_KINDS) {
        const backend = await bench.create();
        const state = TEXT_STATES[kind](backend, { ttl: TTL, ...ttl });
        for (let i = 0; i < 1000; i++) {
          useKey(backend, `k${i}`);
          state.write('x');
          if (i % 100 === 99) backend.cleanUpExpired();
        }
        bench.nowMs += 2 * TTL;
        for (let i = 1; i <= 500; i++) {
          useKey(backend, 'one');
          state.write('x');
          state.read();
          const removed = backend.cleanUpExpired();
          assert.ok(removed <= 1000, `${removed} at once`);
        }
        assert.equal(backend.statistics().entries, 1, `${kind} ${JSON.stringify(ttl)}`);
      }
    }
  },

  'nothing is removed in the background where that was switched off': async (bench) => {
    const backend = await bench.create();
    const state = TEXT_STATES.value(backend, { ttl: TTL, disableCleanupInBackground: true });
    useKey(backend, 'k');
    state.write('x');
    bench.nowMs += TTL;
    assert.equal(work(backend, state, 500), 0);
    assert.equal(backend.statistics().entries, 1);
    useKey(backend, 'k');
    assert.equal(state.read(), undefined);
    assert.equal(backend.cleanUpExpired(), 1);
  },

  'records that do not touch the state let it be cleaned only if it is said so': async (bench) => {
    for (const runCleanupForEveryRecord of [false, true]) {
      const backend = await bench.create();
      const ttl = { ttl: TTL, cleanupIncrementally: { cleanupSize: 3, runCleanupForEveryRecord } };
      const state = TEXT_STATES.value(backend, ttl);
      for (let i = 0; i < 50; i++) {
        useKey(backend, `k${i}`);
        state.write('x');
      }
      backend.cleanUpExpired();
      bench.nowMs += TTL;
      const removed = work(backend, { read: () => {} }, 200);
      assert.equal(removed, runCleanupForEveryRecord ? 50 : 0);
    }
  },

  'the current key is right after its own state was removed in the background': async (bench) => {
    for (const kind of TEXT_STATE_KINDS) {
      const backend = await bench.create();
      const state = TEXT_STATES[kind](backend, { ttl: TTL, cleanupIncrementally: { cleanupSize: 1000 } });
      useKey(backend, 'k');
      state.write('old');
      state.read();
      bench.nowMs += TTL;
      assert.equal(backend.cleanUpExpired(), 1, kind);
      state.write('new');
      assert.equal(state.read(), 'new', kind);
      assert.equal(backend.statistics().entries, 1, kind);
    }
  },

  'a clock that goes back makes values live longer, and breaks nothing': async (bench) => {
    for (const updateType of ['OnCreateAndWrite', 'OnReadAndWrite'] as const) {
      const { backend, states } = await openAt(bench, { updateType });
      const began = bench.nowMs;
      bench.nowMs = began + 5000;
      for (const state of states.values()) state.write('later');
      bench.nowMs = began;
      work(backend, states.get('value')!, 100);
      useKey(backend, 'k');
      for (const [kind, state] of states) assert.equal(state.read(), 'later', kind);
      const list = backend.getListState(
        new ListStateDescriptor('s-list', Types.STRING).enableTimeToLive({ ttl: TTL, updateType }),
      );
      list.add('earlier');
      bench.nowMs = began + TTL;
      assert.equal(list.get().includes('earlier'), false);
      bench.nowMs = began + 5000 + TTL;
      for (const [kind, state] of states) assert.equal(state.read(), undefined, kind);
      assert.equal(backend.statistics().entries, 0);
    }
  },

  'reading that makes values live on does not change a snapshot that was taken': async (bench) => {
    for (const length of LENGTHS) {
      const { backend, states } = await openAt(bench, { updateType: 'OnReadAndWrite' });
      for (const state of states.values()) state.write('x'.repeat(length));
      bench.nowMs += TTL - 1;
      const snapshot = backend.snapshot();
      for (const state of states.values()) state.read();
      const saved = writeSnapshot(snapshot);
      bench.nowMs += 1;
      const restored = await bench.create({ restore: [saved] });
      const others = openTextStates(restored, { ttl: TTL, updateType: 'OnReadAndWrite' });
      useKey(restored, 'k');
      for (const [kind, state] of others) assert.equal(state.read(), undefined, `${kind} of ${length}`);
      for (const [kind, state] of states) assert.equal(state.read()?.length, length, kind);
    }
  },

  'a state has one time-to-live': async (bench) => {
    const backend = await bench.create();
    const state = TEXT_STATES.value(backend, { ttl: TTL });
    useKey(backend, 'k');
    state.write('x');
    assert.equal(TEXT_STATES.value(backend, { ttl: '1 s' }).read(), 'x');
    for (const other of [{ ttl: TTL + 1 }, { ttl: TTL, updateType: 'OnReadAndWrite' as const }, undefined]) {
      assert.throws(
        () => TEXT_STATES.value(backend, other),
        (error) => hasCode(error, 'STATE_DESCRIPTOR_CONFLICT') && /time-to-live/.test(String(error)),
      );
    }
    TEXT_STATES.list(backend, { ttl: TTL, updateType: 'Disabled' });
    useKey(backend, 'k');
    TEXT_STATES.list(backend, undefined).write('forever');
    bench.nowMs += 1e12;
    assert.equal(TEXT_STATES.list(backend, undefined).read(), 'forever');
  },
};
