/** The keyed backend contract: a snapshot is exactly the state of its moment, whatever happens while it is written. */
import assert from 'node:assert/strict';
import { type KeyedStateBackend, ValueStateDescriptor } from '../../state/index.ts';
import { Types } from '../../types/index.ts';
import { seededRandom } from '../seeded-random.ts';
import {
  ALL_KEY_GROUPS,
  type BackendCases,
  MemorySink,
  toRestore,
  useKey,
  writeSnapshot,
} from './backend-workbench.ts';
import { checkAll, clear, fill, fillAll, sampleStates } from './sample-states.ts';

const SLICE = 2048;

/** Updates, deletes and inserts many keys; returns what is then there. */
function churn(backend: KeyedStateBackend<string>, model: ReadonlyMap<string, number>, seed: number) {
  const random = seededRandom(seed);
  const states = sampleStates(backend);
  const next = new Map(model);
  for (const key of model.keys()) {
    useKey(backend, key);
    const dice = random.below(4);
    if (dice === 0) {
      clear(states);
      next.delete(key);
    } else if (dice < 3) {
      const n = random.below(5000);
      fill(states, n);
      next.set(key, n);
    }
  }
  for (let i = 0; i < model.size; i++) {
    const key = `new${seed}-${i}`;
    useKey(backend, key);
    fill(states, i);
    next.set(key, i);
  }
  return next;
}

export const snapshotCases: BackendCases = {
  'a snapshot restores every kind of state, empty ones included': async (bench) => {
    const backend = await bench.create();
    const model = fillAll([backend], 500);
    const snapshot = backend.snapshot();
    assert.deepEqual(snapshot.keyGroups, ALL_KEY_GROUPS);
    assert.ok(snapshot.remainingBytes > 0);
    const saved = writeSnapshot(snapshot);
    assert.equal(snapshot.remainingBytes, 0);
    const entries = Object.fromEntries(snapshot.metadata().map(({ name, entries }) => [name, entries]));
    assert.deepEqual([entries.count, entries.empty], [500, 0]);
    snapshot.release();
    checkAll([await bench.create({ restore: [saved] })], model);
    checkAll([backend], model);
  },

  'a snapshot of nothing restores nothing': async (bench) => {
    const bare = await bench.create();
    const saved = writeSnapshot(bare.snapshot());
    const restored = await bench.create({ restore: [saved] });
    assert.equal(restored.statistics().entries, 0);
    checkAll([restored], new Map());
    checkAll([await bench.restoreOf(restored)], new Map());
  },

  'changes while a snapshot is written are not in it': async (bench) => {
    const backend = await bench.create();
    const model = fillAll([backend], 1000);
    const snapshot = backend.snapshot();
    const total = snapshot.remainingBytes;
    const sink = new MemorySink();
    snapshot.start(sink);
    while (snapshot.remainingBytes > total * 0.9) assert.equal(snapshot.advance(SLICE), false);
    const changed = churn(backend, model, 1);
    while (!snapshot.advance(SLICE));
    checkAll([await bench.create({ restore: [toRestore(snapshot, sink.bytes())] })], model);
    checkAll([await bench.restoreOf(backend)], changed);
    checkAll([backend], changed);
  },

  'changes between the moment of a snapshot and its start are not in it': async (bench) => {
    const backend = await bench.create();
    const model = fillAll([backend], 600);
    const snapshot = backend.snapshot();
    const changed = churn(backend, model, 2);
    const saved = writeSnapshot(snapshot, SLICE);
    checkAll([await bench.create({ restore: [saved] })], model);
    checkAll([backend], changed);
  },

  'snapshots may overlap, and each is exact': async (bench) => {
    const backend = await bench.create();
    const models = [fillAll([backend], 500)];
    const open = [{ snapshot: backend.snapshot(), sink: new MemorySink(7) }];
    for (let round = 1; round < 4; round++) {
      models.push(churn(backend, models[round - 1]!, round));
      open.push({ snapshot: backend.snapshot(), sink: new MemorySink(round) });
      // The second is not started before all changes are over; the others advance a little each round.
      for (const [i, { snapshot, sink }] of open.entries()) {
        if (i === round && i !== 1) snapshot.start(sink);
        if (i === 0 && round === 1) snapshot.start(sink);
        if (i !== 1 && sink.bytes().length > 0) snapshot.advance(SLICE * 4);
      }
    }
    const last = churn(backend, models[3]!, 9);
    open[1]!.snapshot.start(open[1]!.sink);
    for (const i of [2, 1, 3, 0]) while (!open[i]!.snapshot.advance(SLICE));
    for (const [i, { snapshot, sink }] of open.entries()) {
      checkAll([await bench.create({ restore: [toRestore(snapshot, sink.bytes())] })], models[i]!);
      snapshot.release();
    }
    checkAll([backend], last);
  },

  'a released snapshot disturbs no other, at whatever point it is released': async (bench) => {
    const backend = await bench.create();
    const model = fillAll([backend], 300);
    const kept = backend.snapshot();
    const unstarted = backend.snapshot();
    const half = backend.snapshot();
    half.start(new MemorySink());
    half.advance(SLICE);
    unstarted.release();
    const changed = churn(backend, model, 5);
    half.release();
    half.release();
    assert.equal(half.remainingBytes, 0);
    checkAll([await bench.create({ restore: [writeSnapshot(kept, SLICE)] })], model);
    kept.release();
    checkAll([backend], changed);
  },

  'what was restored and not asked for goes on into the next snapshots': async (bench) => {
    const backend = await bench.create();
    const model = fillAll([backend], 200);
    const first = writeSnapshot(backend.snapshot());
    const second = await bench.create({ restore: [first] });
    assert.equal(second.statistics().entries, backend.statistics().entries);
    const count = second.getValueState(new ValueStateDescriptor('count', Types.LONG));
    useKey(second, 'k7');
    assert.equal(count.value(), 7);
    const saved = writeSnapshot(second.snapshot());
    const summary = ({ handle }: typeof saved) =>
      handle.states.map(({ name, entries }) => `${name} ${entries}`).sort();
    assert.deepEqual(summary(saved), summary(first));
    const third = await bench.restoreOf(await bench.create({ restore: [saved] }));
    checkAll([third], model);
  },

  'the names of states that were restored and those that begin empty are told': async (bench) => {
    const value = (name: string) => new ValueStateDescriptor(name, Types.LONG);
    const backend = await bench.create();
    for (const name of ['a', 'b']) backend.getValueState(value(name));
    backend.getTimerQueue('timers', Types.VOID);
    assert.deepEqual(backend.restoredNames(), { added: ['a', 'b'], unclaimed: [] });
    const renamed = await bench.restoreOf(backend);
    for (const name of ['b', 'c']) renamed.getValueState(value(name));
    assert.deepEqual(renamed.restoredNames(), { added: ['c'], unclaimed: ['a'] });
    const again = await bench.restoreOf(renamed);
    for (const name of ['b', 'c']) again.getValueState(value(name));
    assert.deepEqual(again.restoredNames(), { added: [], unclaimed: ['a'] });
  },

  'state that was emptied is empty in the next snapshot': async (bench) => {
    const backend = await bench.create();
    const full = await bench.restoreOf(backend);
    const model = fillAll([full], 400);
    const large = writeSnapshot(full.snapshot()).input.lengthBytes;
    const states = sampleStates(full);
    for (const key of model.keys()) {
      useKey(full, key);
      clear(states);
    }
    assert.equal(full.statistics().entries, 0);
    const saved = writeSnapshot(full.snapshot());
    assert.ok(saved.input.lengthBytes < large / 5, `${saved.input.lengthBytes} of ${large} bytes are left`);
    checkAll([await bench.create({ restore: [saved] })], new Map());
  },
};
