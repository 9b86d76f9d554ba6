/**
 * The keyed backend contract: the writer of a snapshot is paused after some number of slices, and everything that changes
 * state happens meanwhile: updates, deletes, timers that fire, tables and pages that grow, expired values that are swept,
 * more snapshots. (From apache/flink#19310, #5934, #3466.)
 */
import assert from 'node:assert/strict';
import {
  type KeyedStateBackend,
  type KeyedStateSnapshot,
  MapStateDescriptor,
  ReducingStateDescriptor,
  ValueStateDescriptor,
} from '../../state/index.ts';
import { Types } from '../../types/index.ts';
import { seededRandom } from '../seeded-random.ts';
import { type BackendCases, MemorySink, toRestore, useKey } from './backend-workbench.ts';
import { checkAll, clear, fill, fillAll, sampleStates } from './sample-states.ts';
import { openTextStates, type TextState } from './ttl-states.ts';

const KEYS = 40;
const SLICE = 1024;
const TTL = 1000;

/** Everything that can happen to the keys of `model`; returns what is then there. */
function change(backend: KeyedStateBackend<string>, model: ReadonlyMap<string, number>, seed: number) {
  const random = seededRandom(seed);
  const states = sampleStates(backend);
  const next = new Map(model);
  for (const key of model.keys()) {
    useKey(backend, key);
    const dice = random.below(5);
    if (dice < 2) {
      clear(states);
      next.delete(key);
    } else if (dice < 4) {
      const n = random.below(5000);
      fill(states, n);
      next.set(key, n);
    }
  }
  // More keys than before: tables of key groups are rebuilt, pages that were given back are used again.
  for (let i = 0; i < KEYS * 2; i++) {
    useKey(backend, `new ${seed}-${i}`);
    fill(states, i);
    next.set(`new ${seed}-${i}`, i);
  }
  return next;
}

/** Advances by `slices`; true if the snapshot is complete. */
function advance(snapshot: KeyedStateSnapshot, slices: number): boolean {
  for (let slice = 0; slice < slices; slice++) if (snapshot.advance(SLICE)) return true;
  return false;
}

/** Runs `atPause` for numbers of slices from none to all: every one at the beginning, then fewer and fewer. */
async function atPauses(atPause: (slices: number) => Promise<boolean>): Promise<void> {
  let pauses = 0;
  for (let slices = 0; !(await atPause(slices)); slices = Math.max(slices + 1, Math.floor(slices * 1.7)))
    pauses++;
  assert.ok(pauses > 3, `there are only ${pauses} pauses`);
}

export const pausedSnapshotCases: BackendCases = {
  'a writer that is paused after any slice writes what was there at the barrier': (bench) =>
    atPauses(async (slices) => {
      const backend = await bench.create();
      const model = fillAll([backend], KEYS);
      const snapshot = backend.snapshot();
      const sink = new MemorySink();
      snapshot.start(sink);
      const isOver = advance(snapshot, slices);
      const changed = change(backend, model, slices);
      while (!snapshot.advance(SLICE));
      checkAll([await bench.create({ restore: [toRestore(snapshot, sink.bytes())] })], model);
      checkAll([backend], changed);
      return isOver;
    }),

  'three snapshots whose writers are paused at any slice are exact, each in its own way': (bench) =>
    atPauses(async (slices) => {
      const backend = await bench.create();
      let model = fillAll([backend], KEYS);
      const open = [0, 1, 2].map((round) => {
        const snapshot = backend.snapshot();
        const sink = new MemorySink(round);
        const taken = { snapshot, sink, model };
        snapshot.start(sink);
        const isOver = advance(snapshot, round === 1 ? 1 : slices);
        model = change(backend, model, slices * 3 + round);
        return { ...taken, isOver };
      });
      // The last is completed first.
      for (const { snapshot, sink, model: wanted } of open.toReversed()) {
        while (!snapshot.advance(SLICE));
        checkAll([await bench.create({ restore: [toRestore(snapshot, sink.bytes())] })], wanted);
        snapshot.release();
      }
      checkAll([backend], model);
      return open[0]!.isOver;
    }),

  'timers that fire while a snapshot is written fire again after its restore': (bench) =>
    atPauses(async (slices) => {
      const backend = await bench.create();
      const { timers } = sampleStates(backend);
      const model = fillAll([backend], KEYS);
      const snapshot = backend.snapshot();
      const sink = new MemorySink();
      snapshot.start(sink);
      const isOver = advance(snapshot, slices);
      let fired = 0;
      while (timers.poll((KEYS * 10) / 2)) fired++;
      assert.ok(fired > 10);
      while (!snapshot.advance(SLICE));
      checkAll([await bench.create({ restore: [toRestore(snapshot, sink.bytes())] })], model);
      return isOver;
    }),

  'what expires and is swept while a snapshot is written is in it, as alive as it was': (bench) =>
    atPauses(async (slices) => {
      const backend = await bench.create();
      const states = openTextStates(backend, { ttl: TTL });
      const barrierMs = bench.nowMs;
      for (let i = 0; i < KEYS; i++) {
        useKey(backend, `k${i}`);
        for (const state of states.values()) state.write(`${i} ${'x'.repeat(i * 3)}`);
      }
      const snapshot = backend.snapshot();
      const sink = new MemorySink();
      snapshot.start(sink);
      const isOver = advance(snapshot, slices);
      bench.nowMs = barrierMs + TTL * 2;
      for (let record = 0; record < 1000 && backend.statistics().entries > 0; record++) {
        useKey(backend, 'another');
        for (const state of states.values()) state.read();
        backend.cleanUpExpired();
      }
      assert.equal(backend.statistics().entries, 0, 'the sweep removes everything');
      while (!snapshot.advance(SLICE));
      bench.nowMs = barrierMs + TTL - 1;
      const restored = await bench.create({ restore: [toRestore(snapshot, sink.bytes())] });
      const restoredStates = openTextStates(restored, { ttl: TTL });
      for (let i = 0; i < KEYS; i++) {
        useKey(restored, `k${i}`);
        for (const [kind, state] of restoredStates)
          assert.equal(state.read(), `${i} ${'x'.repeat(i * 3)}`, `${kind} of key ${i}`);
      }
      bench.nowMs = barrierMs;
      return isOver;
    }),

  'values that are changed in place while a snapshot is written are in it as they were': (bench) =>
    atPauses(async (slices) => {
      const backend = await bench.create();
      const type = Types.ROW({ n: Types.LONG, text: Types.STRING });
      const open = (of: KeyedStateBackend<string>) => ({
        value: of.getValueState(new ValueStateDescriptor('row', type)),
        map: of.getMapState(new MapStateDescriptor('map', Types.STRING, Types.LONG)),
        sum: of.getReducingState(new ReducingStateDescriptor('sum', (a, b) => a + b, Types.LONG)),
      });
      const states = open(backend);
      for (let i = 0; i < KEYS; i++) {
        useKey(backend, `k${i}`);
        states.value.update({ n: i, text: 'as it was' });
        states.map.put('user key', i);
        states.sum.add(i);
      }
      const snapshot = backend.snapshot();
      const sink = new MemorySink();
      snapshot.start(sink);
      const isOver = advance(snapshot, slices);
      for (let i = 0; i < KEYS; i++) {
        useKey(backend, `k${i}`);
        states.value.update({ n: -i, text: 'otherwise' });
        states.map.put('user key', -i);
        states.sum.add(1_000_000);
      }
      while (!snapshot.advance(SLICE));
      const restored = await bench.create({ restore: [toRestore(snapshot, sink.bytes())] });
      const { value, map, sum } = open(restored);
      for (let i = 0; i < KEYS; i++) {
        useKey(restored, `k${i}`);
        assert.deepEqual(
          [value.value(), map.get('user key'), sum.get()],
          [{ n: i, text: 'as it was' }, i, i],
        );
      }
      return isOver;
    }),

  'what is read while a snapshot is written is no younger in it for that': (bench) =>
    atPauses(async (slices) => {
      const barrierMs = bench.nowMs;
      const ttl = { ttl: TTL, updateType: 'OnReadAndWrite' } as const;
      const backend = await bench.create();
      const states = openTextStates(backend, ttl);
      const all = (of: KeyedStateBackend<string>, act: (state: TextState) => void): void => {
        const opened = of === backend ? states : openTextStates(of, ttl);
        for (let i = 0; i < KEYS; i++) {
          useKey(of, `k${i}`);
          for (const state of opened.values()) act(state);
        }
      };
      all(backend, (state) => state.write('text'));
      const snapshot = backend.snapshot();
      const sink = new MemorySink();
      snapshot.start(sink);
      const isOver = advance(snapshot, slices);
      bench.nowMs += TTL / 2;
      all(backend, (state) => assert.equal(state.read(), 'text'));
      while (!snapshot.advance(SLICE));
      bench.nowMs = barrierMs + TTL;
      all(backend, (state) => assert.equal(state.read(), 'text'));
      const restored = await bench.create({ restore: [toRestore(snapshot, sink.bytes())] });
      all(restored, (state) => assert.equal(state.read(), undefined));
      bench.nowMs = barrierMs;
      return isOver;
    }),

  'a writer that gives up at any slice disturbs neither the state nor the next snapshot': (bench) =>
    atPauses(async (slices) => {
      const backend = await bench.create();
      const model = fillAll([backend], KEYS);
      const snapshot = backend.snapshot();
      snapshot.start(new MemorySink());
      const isOver = advance(snapshot, slices);
      const changed = change(backend, model, slices);
      snapshot.release();
      checkAll([await bench.restoreOf(backend)], changed);
      return isOver;
    }),
};
